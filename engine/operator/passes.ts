import { DISTINCT_PASSES_MAX } from '../limits.ts';
import { HeldTooMuchError } from '../query-error.ts';
import type { AggregateSink } from './aggregate.ts';
import type { Sink } from './sink.ts';

/** Part by which a try must get further than the one before, for the next to be worth it. */
const FURTHER_PART = 1 / 16;

/** A try that held too much. The error itself would keep alive what it was thrown through, the values among it. */
type FailedTry = {
  readonly message: string;
  /** About how many values it has met: of the other parts about as many as of this one. */
  readonly valueCount: number;
};

/**
 * Groups rows whose distinct values may be too many for memory. When a pass over the rows holds too much, they are
 * grouped anew in two passes, each of which takes in one half of the values; else in four, and so on.
 *
 * As a rule a try fails in its first pass, after as large a part of the rows as its memory is enough for: all tries that
 * fail take about as long as one pass. `feed` gives all rows to a sink, the same ones each time.
 */
export function groupInPasses(
  newSink: () => AggregateSink,
  feed: (rows: Sink) => void,
): AggregateSink {
  let before: FailedTry | undefined;
  for (let passCount = 1; ; passCount *= 2) {
    const tried = tryPasses(newSink(), passCount, feed);
    if (!('message' in tried)) return tried;
    if (before !== undefined && !isFurther(tried, before)) throw heldTooMuch(before.message);
    if (passCount === DISTINCT_PASSES_MAX) throw heldTooMuch(`${tried.message}${PASSES}`);
    before = tried;
  }
}

const PASSES = `, although each of ${DISTINCT_PASSES_MAX} passes over its rows took in a part of the distinct values, and there may be at most ${DISTINCT_PASSES_MAX} (DISTINCT_PASSES_MAX)`;

function tryPasses(
  sink: AggregateSink,
  count: number,
  feed: (rows: Sink) => void,
): AggregateSink | FailedTry {
  let index = 0;
  try {
    for (; index < count; index++) {
      if (count > 1) sink.beginPart({ index, count });
      feed(sink);
    }
    return sink;
  } catch (error) {
    if (!(error instanceof HeldTooMuchError) || !sink.isDivisible) throw error;
    const { message } = error;
    // A later pass fails by chance: its part is a larger one, or others hold more now.
    const valueCount = index === 0 ? sink.keptCount * count : Number.POSITIVE_INFINITY;
    return { message, valueCount: Math.max(valueCount, 1) };
  }
}

/** Otherwise it is not these values that take the memory. */
function isFurther(tried: FailedTry, before: FailedTry): boolean {
  return tried.valueCount >= (1 + FURTHER_PART) * before.valueCount;
}

function heldTooMuch(message: string): HeldTooMuchError {
  return new HeldTooMuchError('query_limit', message);
}

import { rejects } from 'node:assert/strict';

/** Whoever stops at its next look is quick at least once in so many calls, though others may have the processor at times. */
const CALLS_MAX = 20;

/** Milliseconds that calls take to stop once their callers hang up; the last is the first that is below 100, if any is. */
export async function stopTimes(
  begin: (
    call: number,
  ) => Promise<{ readonly caller: AbortController; readonly running: Promise<unknown> }>,
): Promise<readonly number[]> {
  const times: number[] = [];
  do {
    const { caller, running } = await begin(times.length + 1);
    const abortMs = performance.now();
    caller.abort();
    await rejects(running, { code: 'query_cancelled' });
    times.push(performance.now() - abortMs);
  } while (times.at(-1)! >= 100 && times.length < CALLS_MAX);
  return times;
}

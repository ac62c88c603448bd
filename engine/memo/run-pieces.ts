import { must } from '../assert.ts';
import type { Segment } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { ScanCounters } from '../operator/scan.ts';
import { type ExecutionContext, executeFragment, withinWindow } from '../plan/execute.ts';
import { ALL_TIME, type TimeWindow } from '../plan/logical-plan.ts';
import { breakerOf, type PhysicalPlan, scansOf } from '../plan/physical-plan.ts';
import { packLarge, type SentPartial } from './sent-partial.ts';

/** Which rows of a segment are to be looked at. */
export type PieceOrder = {
  readonly window: TimeWindow;
  /** There when these are all that it has: from so many rows on their state is one to be remembered. */
  readonly keptRowsMin?: number | undefined;
  /** These are all that it has, and few: one state is made of all such segments. */
  readonly isFew?: boolean | undefined;
  /** There are rows to come: of few no state is kept, and all is said of those before. */
  readonly isGrowing?: boolean;
  /** The state of rows before these, which is taken into theirs. */
  readonly base?: AggregatePartial | undefined;
};

/**
 * `few`: its rows were taken together with those of others, for they are too few to be remembered. `rowCount`: rows
 * looked at for it.
 */
export type KeptResult = 'few' | { readonly partial: SentPartial; readonly rowCount: number };

export type PiecesResult = {
  /** By the index of the piece; `undefined` where nothing is kept. */
  readonly kept: readonly (KeptResult | undefined)[];
  /** Of the segments with few rows. */
  readonly together?: TogetherResult | undefined;
  /** Of all other rows. */
  readonly others: readonly SentPartial[];
};

export type TogetherResult = {
  /** Which of the pieces. */
  readonly indexes: readonly number[];
  readonly partial: SentPartial;
  readonly rowCount: number;
};

/** All states of a result. */
export function partialsOf({ kept, together, others }: PiecesResult): readonly SentPartial[] {
  return [
    ...others,
    ...kept.flatMap((result) => (typeof result === 'object' ? result.partial : [])),
    ...(together === undefined ? [] : [together.partial]),
  ];
}

/** The same result with its large states packed. */
export function packLargeOf({ kept, together, others }: PiecesResult): PiecesResult {
  const packed = <T extends { readonly partial: SentPartial }>(result: T): T => ({
    ...result,
    partial: packLarge(result.partial),
  });
  return {
    kept: kept.map((result) => (typeof result === 'object' ? packed(result) : result)),
    together: together && packed(together),
    others: others.map(packLarge),
  };
}

/**
 * Runs a plan up to the grouping it may be cut at over pieces of segments: the segments of the context's
 * only scan, one for each order.
 */
export function runPieces(
  plan: PhysicalPlan,
  context: ExecutionContext & { readonly counters: ScanCounters },
  orders: readonly PieceOrder[],
): PiecesResult {
  const segments = must(context.segments[0], 'a plan that may be cut has one scan');
  const scan = must(scansOf(must(breakerOf(plan)))[0], 'a plan that may be cut has one scan');
  const { projectKey } = context.bounds?.[scan.index] ?? scan;
  const areEnough = (segment: Segment, rowsMin: number): boolean =>
    segment.countRows({ projectKey, ...ALL_TIME }, rowsMin) >= rowsMin;
  const run = (
    window: TimeWindow,
    some: readonly Segment[],
    base?: AggregatePartial,
  ): AggregatePartial =>
    executeFragment(plan, withinWindow({ ...context, segments: [some] }, scan, window), base);
  const kept: (KeptResult | undefined)[] = [];
  const few: number[] = [];
  const others = new Map<string, { readonly window: TimeWindow; readonly segments: Segment[] }>();
  for (const [index, { window, keptRowsMin, isFew, isGrowing, base }] of orders.entries()) {
    const segment = segments[index]!;
    if (base !== undefined || (keptRowsMin !== undefined && areEnough(segment, keptRowsMin))) {
      const rowCountBefore = rowsSeen(context.counters);
      const partial = run(window, [segment], base);
      kept[index] = { partial, rowCount: rowsSeen(context.counters) - rowCountBefore };
      continue;
    }
    const isKept = keptRowsMin !== undefined && isGrowing !== true;
    kept[index] = isKept ? 'few' : undefined;
    if (isFew === true || isKept) {
      few.push(index);
      continue;
    }
    const key = `${window.startUs} ${window.endUs}`;
    const together = others.get(key) ?? { window, segments: [] };
    together.segments.push(segment);
    others.set(key, together);
  }
  const rowCountBefore = rowsSeen(context.counters);
  const fewSegments = few.map((index) => segments[index]!);
  // All of their rows are inside of each of their windows.
  const partial = few.length === 0 ? undefined : run(orders[few[0]!]!.window, fewSegments);
  const rowCount = rowsSeen(context.counters) - rowCountBefore;
  return {
    kept,
    together: partial && { indexes: few, partial, rowCount },
    others: Array.from(others.values(), (together) => run(together.window, together.segments)),
  };
}

function rowsSeen({ rowsScanned, rowsSkipped }: ScanCounters): number {
  return rowsScanned + rowsSkipped;
}

import type { LargeKind } from './large-events.ts';

const MEBIBYTE = 2 ** 20;

/** How much is stored, and how often it is asked. */
export type LargeSize = {
  readonly eventCounts: ReadonlyMap<LargeKind, number>;
  /** Bytes that the service may take; others may take as much for their data. */
  readonly memoryBytes: number;
  /** Projects of each rank that each question is asked of, once. */
  readonly callCount: number;
  /** How long others are asked before: V8 goes on compiling for some seconds. */
  readonly warmUpMs: number;
  /** Calls of each window of the busiest project. */
  readonly repeatCount: number;
  readonly idleMs: number;
};

const MEMORY_BYTES = 256 * MEBIBYTE;

export const SIZES: ReadonlyMap<string, LargeSize> = new Map([
  [
    'small',
    {
      eventCounts: countsOf({ full: 6_000, invocations: 6_000 }),
      ...{ memoryBytes: MEMORY_BYTES, callCount: 5, warmUpMs: 0, repeatCount: 3, idleMs: 500 },
    },
  ],
  [
    'short',
    {
      eventCounts: countsOf({ full: 120_000, invocations: 40_000 }),
      ...{ memoryBytes: MEMORY_BYTES, callCount: 10, warmUpMs: 500, repeatCount: 5 },
      idleMs: 2_000,
    },
  ],
  [
    'medium',
    {
      eventCounts: countsOf({ full: 1_200_000, invocations: 1_200_000 }),
      ...{ memoryBytes: MEMORY_BYTES, callCount: 40, warmUpMs: 4_000, repeatCount: 40 },
      idleMs: 30_000,
    },
  ],
  [
    'large',
    {
      eventCounts: countsOf({ full: 5_000_000, invocations: 5_000_000 }),
      ...{ memoryBytes: MEMORY_BYTES, callCount: 100, warmUpMs: 4_000, repeatCount: 100 },
      idleMs: 30_000,
    },
  ],
]);

function countsOf(counts: {
  readonly full: number;
  readonly invocations: number;
}): ReadonlyMap<LargeKind, number> {
  return new Map([
    ['full', counts.full],
    ['invocations', counts.invocations],
  ]);
}

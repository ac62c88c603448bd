import { assert, must } from '../engine/columns.ts';

/** Sequence numbers [fromSequence, throughSequence] of log records, both inclusive. */
export type SequenceInterval = {
  readonly fromSequence: number;
  readonly throughSequence: number;
};

/** Joins intervals of sequences into disjoint ones, ascending. */
export function unionOfIntervals(intervals: readonly SequenceInterval[]): SequenceInterval[] {
  const union: { fromSequence: number; throughSequence: number }[] = [];
  const ascending = [...intervals].sort((left, right) => left.fromSequence - right.fromSequence);
  for (const { fromSequence, throughSequence } of ascending) {
    assert(fromSequence <= throughSequence, 'an interval of sequences is not empty');
    const last = union.at(-1);
    if (last !== undefined && fromSequence <= last.throughSequence + 1) {
      last.throughSequence = Math.max(last.throughSequence, throughSequence);
    } else {
      union.push({ fromSequence, throughSequence });
    }
  }
  return union;
}

/** Whether a sequence is in one of the intervals, which must be disjoint and ascending. */
export function coversSequence(union: readonly SequenceInterval[], sequence: number): boolean {
  let low = 0;
  let high = union.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { throughSequence } = must(union[middle], 'the middle is among the intervals');
    if (throughSequence < sequence) low = middle + 1;
    else high = middle;
  }
  const interval = union[low];
  return interval !== undefined && interval.fromSequence <= sequence;
}

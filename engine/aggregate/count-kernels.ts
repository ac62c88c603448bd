import type { Vector } from '../column/vector.ts';
import { UNKNOWN, valueAt } from '../column/vector.ts';
import { comesInRuns, runEnd } from './group-runs.ts';
import { grownInt32, NO_INT32 } from './growth.ts';

/** Adds to each group's count its rows. */
export function countRows(counts: Float64Array, groups: Int32Array, count: number): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      counts[groups[start]!]! += end - start;
    }
    return;
  }
  if (count >= ROWS_PER_GROUP * counts.length) {
    countInTurn(counts, groups, count);
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]!++;
}

/** Counters for each group cost as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/** Four counters a group, one behind the other; all 0 between two calls. */
let turns: Int32Array<ArrayBuffer> = NO_INT32;

/**
 * Counters taken in turn: to add to what was just written waits for that. The slow form adds to `counts` row by
 * row.
 */
function countInTurn(counts: Float64Array, groups: Int32Array, count: number): void {
  const second = counts.length;
  const third = 2 * second;
  const fourth = 3 * second;
  turns = grownInt32(turns, 4 * second);
  const counters = turns;
  let row = 0;
  for (; row + 3 < count; row += 4) {
    counters[groups[row]!]!++;
    counters[second + groups[row + 1]!]!++;
    counters[third + groups[row + 2]!]!++;
    counters[fourth + groups[row + 3]!]!++;
  }
  for (; row < count; row++) counters[groups[row]!]!++;
  for (let at = 0, group = 0; at < 4 * second; at++) {
    counts[group]! += counters[at]!;
    counters[at] = 0;
    if (++group === second) group = 0;
  }
}

/** Adds to each group's count its rows where the vector is not NULL. */
export function countPresent(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  vector: Vector,
): void {
  switch (vector.kind) {
    case 'number':
      if (vector.nulls === undefined) countRows(counts, groups, count);
      else countZeros(counts, groups, count, vector.nulls);
      return;
    case 'boolean': {
      const { values } = vector;
      const unknown = UNKNOWN;
      for (let row = 0; row < count; row++) {
        counts[groups[row]!]! += Number(values[row] !== unknown);
      }
      return;
    }
    case 'dictionary':
      countNotNegative(counts, groups, count, vector.codes);
      return;
    case 'nested':
      countNotNegative(counts, groups, count, vector.nodes);
      return;
    case 'value': {
      const { values } = vector;
      for (let row = 0; row < count; row++) counts[groups[row]!]! += Number(values[row] !== null);
      return;
    }
    case 'constant':
      if (vector.value !== null) countRows(counts, groups, count);
  }
}

/** `flags` are 0 and 1. */
function countZeros(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  flags: Uint8Array,
): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      let ones = 0;
      for (let row = start; row < end; row++) ones += flags[row]!;
      counts[groups[start]!]! += end - start - ones;
    }
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]! += 1 - flags[row]!;
}

/** Codes and nodes below 0 are NULL; the sign bit is their 1. */
function countNotNegative(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  codes: Int32Array,
): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      let negative = 0;
      for (let row = start; row < end; row++) negative += codes[row]! >>> 31;
      counts[groups[start]!]! += end - start - negative;
    }
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]! += 1 - (codes[row]! >>> 31);
}

/** Adds to each group's count its rows where the vector is TRUE. */
export function countTrue(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  vector: Vector,
): void {
  if (vector.kind === 'boolean') {
    countTrueBytes(counts, groups, count, vector.values);
    return;
  }
  for (let row = 0; row < count; row++) {
    if (valueAt(vector, row) === true) counts[groups[row]!]!++;
  }
}

/** Of FALSE, TRUE and UNKNOWN only TRUE is odd. */
function countTrueBytes(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  truths: Uint8Array,
): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      let trues = 0;
      for (let row = start; row < end; row++) trues += truths[row]! & 1;
      counts[groups[start]!]! += trues;
    }
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]! += truths[row]! & 1;
}

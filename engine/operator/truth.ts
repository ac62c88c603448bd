import { carvedUint8 } from '../column/carved-arrays.ts';
import type { Vector } from '../column/vector.ts';
import { FALSE, TRUE, UNKNOWN, valueAt } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';

/** A BOOL vector of any form as bytes: FALSE, TRUE or UNKNOWN. Not to be written to. */
export function truthBytes(vector: Vector): Uint8Array {
  if (vector.kind === 'boolean') return vector.values;
  if (vector.kind === 'constant') {
    return carvedUint8(vector.count).fill(truthOf(vector.value));
  }
  const truths = carvedUint8(vector.count);
  for (let i = 0; i < vector.count; i++) truths[i] = truthOf(valueAt(vector, i));
  return truths;
}

/** Anything but TRUE and FALSE is NULL here: a BOOL has no other values. */
export function truthOf(value: unknown): number {
  return value === true ? TRUE : value === false ? FALSE : UNKNOWN;
}

export type Positions = { readonly positions: Int32Array; readonly count: number };

/** Where positions are written before it is known how many there are. */
let scratch = new Int32Array(CHUNK_ROWS_MAX);

/** Where `truths[0, count)` equals `wanted`, ascending: without a branch, for which do is not to be guessed. */
export function positionsWhere(truths: Uint8Array, count: number, wanted: number): Positions {
  if (scratch.length < count) scratch = new Int32Array(count);
  const positions = scratch;
  let found = 0;
  for (let i = 0; i < count; i++) {
    positions[found] = i;
    found += Number(truths[i] === wanted);
  }
  return { positions: positions.slice(0, found), count: found };
}

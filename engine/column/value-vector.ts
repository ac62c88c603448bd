import type { SqlValue } from './value.ts';
import {
  booleanVector,
  constantVector,
  FALSE,
  numberVector,
  TRUE,
  UNKNOWN,
  type Vector,
  valueVector,
} from './vector.ts';

/** The best form for values read one by one. */
export function vectorOf(values: readonly SqlValue[]): Vector {
  const count = values.length;
  if (values.every((value) => value === null)) return constantVector(null, count);
  if (values.every((value) => value === null || typeof value === 'number')) {
    const nulls = values.includes(null)
      ? Uint8Array.from(values, (value) => (value === null ? 1 : 0))
      : undefined;
    return numberVector(Float64Array.from(values, Number), count, nulls);
  }
  if (values.every((value) => value === null || typeof value === 'boolean')) {
    const truths = values.map((value) => (value === null ? UNKNOWN : value ? TRUE : FALSE));
    return booleanVector(Uint8Array.from(truths), count);
  }
  return valueVector(values);
}

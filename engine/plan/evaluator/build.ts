import type { VectorFunction } from '../../column/chunk.ts';
import type { SqlValue } from '../../column/value.ts';
import { constantVector, valueAt, valueVector } from '../../column/vector.ts';

/** A STRUCT or an ARRAY from its parts, one array of values a row. */
export function arrayBuilder(parts: readonly VectorFunction[]): VectorFunction {
  return (chunk) => {
    const vectors = parts.map((part) => part(chunk));
    if (vectors.every((vector) => vector.kind === 'constant')) {
      return constantVector(
        vectors.map((vector) => vector.value),
        chunk.count,
      );
    }
    const rows = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) {
      rows[row] = vectors.map((vector) => valueAt(vector, row));
    }
    return valueVector(rows);
  };
}

/** A field of a STRUCT by position; NULL of a NULL. */
export function structField(input: VectorFunction, index: number): VectorFunction {
  return (chunk) => {
    const vector = input(chunk);
    if (vector.kind === 'constant') {
      return constantVector(fieldOf(vector.value, index), chunk.count);
    }
    const values = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) values[row] = fieldOf(valueAt(vector, row), index);
    return valueVector(values);
  };
}

function fieldOf(struct: SqlValue, index: number): SqlValue {
  return Array.isArray(struct) ? (struct[index] as SqlValue) : null;
}

import { JsonBuffer } from './json-buffer.ts';
import { JsonNested } from './json-nested.ts';
import { isNested, type SqlValue } from './value.ts';
import { type Vector, valueAt, valueVector } from './vector.ts';

/**
 * The same values in memory of their own, so that the segment they were read from can be let go:
 * strings as they are, records and lists as their JSON text.
 */
export function detachedVector(vector: Vector): Vector {
  switch (vector.kind) {
    case 'number':
    case 'boolean':
      return vector;
    case 'dictionary':
    case 'nested':
    case 'value':
    case 'constant': {
      const values: SqlValue[] = [];
      for (let i = 0; i < vector.count; i++) values.push(detachedValue(valueAt(vector, i)));
      return valueVector(values);
    }
  }
}

/** Where one record at a time becomes text. */
const text = new JsonBuffer();

/** The value without anything that lies in a segment: records and lists become their JSON text. */
export function detachedValue(value: SqlValue): SqlValue {
  if (Array.isArray(value)) return value.map(detachedValue);
  if (!isNested(value)) return value;
  value.writeJson(text);
  const bytes = text.take();
  return new JsonNested(bytes, 0, bytes.length);
}

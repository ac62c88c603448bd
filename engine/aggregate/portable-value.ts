import { JsonNested } from '../column/json-nested.ts';
import { type Interval, isInterval, isNested, type SqlValue } from '../column/value.ts';
import { nestedText } from '../function/json/json-text.ts';

/** A value fit for `postMessage`: a record or a list of an event is its JSON. */
export type PortableValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Interval
  | { readonly json: string }
  | readonly PortableValue[];

export function toPortable(value: SqlValue): PortableValue {
  if (typeof value !== 'object' || value === null || isInterval(value)) return value;
  return isNested(value) ? { json: nestedText(value) } : value.map(toPortable);
}

export function fromPortable(value: PortableValue): SqlValue {
  if (typeof value !== 'object' || value === null) return value;
  if ('json' in value) {
    const bytes = new TextEncoder().encode(value.json);
    return new JsonNested(bytes, 0, bytes.length);
  }
  return 'months' in value ? value : value.map(fromPortable);
}

import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { isNested } from '../../engine/column/value.ts';
import { type Vector, valueAt } from '../../engine/column/vector.ts';

/** Each value of a vector as text, a record or list as JSON. */
export function textsOf(vector: Vector): string[] {
  return Array.from({ length: vector.count }, (_, i) => {
    const value = valueAt(vector, i);
    if (!isNested(value)) return String(value);
    const out = new JsonBuffer();
    value.writeJson(out);
    return Buffer.from(out.take()).toString();
  });
}

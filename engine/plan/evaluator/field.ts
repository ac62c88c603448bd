import { unreachable } from '../../assert.ts';
import type { VectorFunction } from '../../column/chunk.ts';
import type { SqlValue } from '../../column/value.ts';
import { isNested } from '../../column/value.ts';
import { constantVector, isOfStrings, valueAt, valueVector } from '../../column/vector.ts';

/** The field `name` of a DYNAMIC value; NULL of whatever has no fields. */
export function dynamicField(input: VectorFunction, name: string): VectorFunction {
  return (chunk) => {
    const vector = input(chunk);
    switch (vector.kind) {
      case 'nested':
        return vector.source.field(vector, name);
      case 'constant':
        return constantVector(fieldOf(vector.value, name), chunk.count);
      case 'number':
      case 'boolean':
        return constantVector(null, chunk.count);
      case 'dictionary':
        // A dictionary with a block of strings holds nothing else.
        if (isOfStrings(vector.dictionary)) return constantVector(null, chunk.count);
        break;
      case 'value':
        break;
      default:
        return unreachable(vector);
    }
    const values = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) values[row] = fieldOf(valueAt(vector, row), name);
    return valueVector(values);
  };
}

function fieldOf(value: SqlValue, name: string): SqlValue {
  return isNested(value) ? value.field(name) : null;
}

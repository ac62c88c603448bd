import { carvedFloat64, carvedUint8 } from '../column/carved-arrays.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { booleanVector, numberVector, valueVector } from '../column/vector.ts';
import { truthOf } from './truth.ts';

/** The values of one expression of type `type` in the best form for it. */
export function vectorOfValues(values: readonly SqlValue[], type: SqlType): Vector {
  switch (type.kind) {
    case 'BOOL':
      return booleanVector(Uint8Array.from(values, truthOf), values.length);
    case 'INT64':
    case 'FLOAT64':
    case 'NUMBER':
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return numbersOf(values) ?? valueVector(values);
    default:
      return valueVector(values);
  }
}

/** `undefined` when a value is a bigint: no double holds it. */
function numbersOf(values: readonly SqlValue[]): Vector | undefined {
  const numbers = carvedFloat64(values.length);
  let nulls: Uint8Array | undefined;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'number') {
      numbers[i] = value;
    } else if (value === null) {
      nulls ??= carvedUint8(values.length);
      nulls[i] = 1;
    } else {
      return undefined;
    }
  }
  return numberVector(numbers, values.length, nulls);
}

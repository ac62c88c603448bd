import type { SqlType } from '../column/type.ts';
import { DYNAMIC, INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { QueryError } from '../query-error.ts';
import { scalarFunction, typed } from './definition.ts';
import { elementsOf } from './dynamic.ts';
import type { Int64 } from './int64.ts';
import type { ScalarFunction, ScalarOverload } from './scalar-function.ts';

export const arrayFunctions: readonly ScalarFunction[] = [
  scalarFunction('array_length', {
    parameters: ['list'],
    result: INT64,
    nulls: 'propagate',
    evaluate: (array) => elementsOf(array as SqlValue)?.length ?? null,
  }),
  scalarFunction('array_offset', element({ base: 0, safe: false })),
  scalarFunction('array_safe_offset', element({ base: 0, safe: true })),
  scalarFunction('array_ordinal', element({ base: 1, safe: false })),
  scalarFunction('array_safe_ordinal', element({ base: 1, safe: true })),
];

/**
 * `array[OFFSET(i)]` and its kin: counted from `base`; beyond the ends an error, or NULL when
 * `safe`. A DYNAMIC value that is no list has no elements to be beyond, so it gives NULL.
 */
function element(mode: { readonly base: 0 | 1; readonly safe: boolean }): ScalarOverload {
  return {
    parameters: ['list', INT64],
    result: elementType,
    nulls: 'propagate',
    evaluate: typed((array: SqlValue, position: Int64) => {
      const elements = elementsOf(array);
      if (elements === null) return null;
      const index = Number(position) - mode.base;
      if (index >= 0 && index < elements.length) return elements[index] as SqlValue;
      if (mode.safe) return null;
      const what = mode.base === 0 ? 'OFFSET' : 'ORDINAL';
      throw new QueryError(
        'query_failed',
        `array index out of bounds: ${what}(${position}) of an array of ${elements.length}`,
      );
    }),
  };
}

function elementType(types: readonly SqlType[]): SqlType {
  const array = types[0] as SqlType;
  return array.kind === 'ARRAY' ? array.element : DYNAMIC;
}

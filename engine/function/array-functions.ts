import {
  arrayOf,
  BOOL,
  BYTES,
  DYNAMIC,
  elementTypeOf,
  FLOAT64,
  INT64,
  type SqlType,
  STRING,
} from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { GENERATED_ARRAY_MAX, MADE_TEXT_LENGTH_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { equalValues } from './comparison.ts';
import { elementsOf, readerBeside } from './dynamic.ts';
import { canonicalInteger, type Int64 } from './number/int64.ts';
import {
  type Evaluate,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
} from './scalar-function.ts';
import { checkTextSize } from './text/text-units.ts';

/** Elements of an array joined of others: as many as the lists of an event, and some. */
const ARRAY_ELEMENTS_MAX = 8_388_608;

export const arrayFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'array_length',
    ['The number of elements, including NULLs.', "ARRAY_LENGTH(['a', NULL])", '2'],
    {
      parameters: ['list'],
      result: INT64,
      nulls: 'propagate',
      facts: { fails: 'never' },
      inPlace: ([lists]) => (lists!.form === 'text lists' ? lists!.lengths() : undefined),
      evaluate: (array) => elementsOf(array as SqlValue)?.length ?? null,
    },
  ),
  scalarFunction(
    'array_offset',
    [
      'The element at a position, from 0; an error out of range. Same as `array[n]`.',
      '[10, 20, 30][OFFSET(1)]',
      '20',
    ],
    element({ base: 0, safe: false }),
  ),
  scalarFunction(
    'array_safe_offset',
    [
      'The element at a position, from 0; NULL out of range.',
      '[10, 20, 30][SAFE_OFFSET(3)]',
      'NULL',
    ],
    element({ base: 0, safe: true }),
  ),
  scalarFunction(
    'array_ordinal',
    ['The element at a position, from 1; an error out of range.', '[10, 20, 30][ORDINAL(1)]', '10'],
    element({ base: 1, safe: false }),
  ),
  scalarFunction(
    'array_safe_ordinal',
    [
      'The element at a position, from 1; NULL out of range.',
      '[10, 20, 30][SAFE_ORDINAL(0)]',
      'NULL',
    ],
    element({ base: 1, safe: true }),
  ),
  scalarFunction(
    'array_first',
    ['The first element; an error if there is none.', 'ARRAY_FIRST([30, 10, 20])', '30'],
    endElement('ARRAY_FIRST', 0),
  ),
  scalarFunction(
    'array_last',
    ['The last element; an error if there is none.', 'ARRAY_LAST([30, 10, 20])', '20'],
    endElement('ARRAY_LAST', -1),
  ),
  scalarFunction(
    'array_reverse',
    ['The elements in reverse order.', 'ARRAY_REVERSE([1, 2, 3])', '[3, 2, 1]'],
    {
      parameters: ['list'],
      result: listType,
      nulls: 'propagate',
      evaluate: (array) => elementsOf(array as SqlValue)?.toReversed() ?? null,
    },
  ),
  scalarFunction(
    'array_slice',
    [
      'The elements from one position to another, both inclusive, from 0. A negative position counts from the end; one out of range is moved to the nearest end.',
      "ARRAY_SLICE(['a', 'b', 'c', 'd'], 1, -2)",
      "['b', 'c']",
    ],
    {
      parameters: ['list', INT64, INT64],
      result: listType,
      nulls: 'propagate',
      evaluate: typed((array: SqlValue, start: Int64, end: Int64) => {
        const elements = elementsOf(array);
        return elements === null ? null : slice(elements, Number(start), Number(end));
      }),
    },
  ),
  scalarFunction(
    'array_concat',
    ['The elements of all arrays, concatenated.', 'ARRAY_CONCAT([1, 2], [3])', '[1, 2, 3]'],
    joinedArrays('ARRAY_CONCAT'),
    {
      ...joinedArrays('ARRAY_CONCAT'),
      parameters: [arrayOf(DYNAMIC)],
      variadic: arrayOf(DYNAMIC),
      result: arrayOf(DYNAMIC),
    },
  ),
  scalarFunction(
    'array_to_string',
    [
      'The elements joined with a separator. NULLs are omitted, or replaced with the third argument.',
      "ARRAY_TO_STRING(['a', NULL, 'c'], '-', '?')",
      "'a-?-c'",
    ],
    joining(STRING),
    joining(BYTES),
  ),
  scalarFunction(
    'array_includes',
    [
      'Whether an element equals the value. NULL elements equal nothing.',
      'ARRAY_INCLUDES([1, NULL], 2)',
      'FALSE',
    ],
    {
      parameters: ['list', 'any'],
      result: BOOL,
      nulls: 'propagate',
      evaluate: includes(DYNAMIC, DYNAMIC),
      evaluateTyped: ([array, wanted]) => includes(elementType([array!]), wanted!),
    },
  ),
  scalarFunction(
    'generate_array',
    [
      'Numbers from the first to the second, inclusive, with the third as the step (default 1). Empty if the step points away from the end; an error for a step of 0.',
      'GENERATE_ARRAY(1, 10, 4)',
      '[1, 5, 9]',
    ],
    {
      parameters: [INT64, INT64, INT64],
      optionalCount: 1,
      result: arrayOf(INT64),
      nulls: 'propagate',
      evaluate: typed(integers),
      elementCount: typed(countIntegers),
    },
    {
      parameters: [FLOAT64, FLOAT64, FLOAT64],
      optionalCount: 1,
      result: arrayOf(FLOAT64),
      nulls: 'propagate',
      evaluate: typed(floats),
      elementCount: typed(countFloats),
    },
  ),
];

/** By the rules of `=`, by which a field and an element of unknown kind are read as what the other is. */
function includes(element: SqlType, value: SqlType): Evaluate {
  const readElement = readerBeside(element, value);
  const readValue = readerBeside(value, element);
  return typed((array: SqlValue, wanted: SqlValue) => {
    const sought = readValue === undefined ? wanted : readValue(wanted);
    const elements = elementsOf(array);
    if (elements === null || sought === null) return null;
    return elements.some((each) => {
      const compared = readElement === undefined ? each : readElement(each);
      return compared !== null && equalValues(compared, sought) === true;
    });
  });
}

/**
 * `array[OFFSET(i)]` and its kin: counted from `base`; beyond the ends an error, or NULL when
 * `safe`. A DYNAMIC value that is no list has no elements to be beyond, so it gives NULL.
 */
function element(mode: { readonly base: 0 | 1; readonly safe: boolean }): ScalarOverload {
  return {
    parameters: ['list', INT64],
    result: elementType,
    nulls: 'propagate',
    facts: mode.safe ? { fails: 'never' } : undefined,
    inPlace: ([lists, position]) => elementOfEach(lists!, position!, mode),
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

/** Of lists of one length the element is there in all, or in none. Of others it may be beyond the end, where that is no error. */
function elementOfEach(
  lists: Vector,
  position: Vector,
  { base, safe }: { readonly base: 0 | 1; readonly safe: boolean },
): Vector | undefined {
  if (position.kind !== 'constant' || typeof position.value !== 'number') return undefined;
  const index = position.value - base;
  if (lists.form === 'text lists') return safe ? lists.element(index) : undefined;
  if (lists.form !== 'number lists') return undefined;
  return index >= 0 && index < lists.length ? lists.element(index) : undefined;
}

function elementType(types: readonly SqlType[]): SqlType {
  return elementTypeOf(types[0]!);
}

/** An ARRAY as it is; what a DYNAMIC list becomes when it is made anew. */
function listType(types: readonly SqlType[]): SqlType {
  const array = types[0] as SqlType;
  return array.kind === 'ARRAY' ? array : arrayOf(DYNAMIC);
}

function endElement(name: string, index: 0 | -1): ScalarOverload {
  return {
    parameters: ['list'],
    result: elementType,
    nulls: 'propagate',
    evaluate: typed((array: SqlValue) => {
      const elements = elementsOf(array);
      if (elements === null) return null;
      if (elements.length > 0) return elements.at(index) as SqlValue;
      throw new QueryError(
        'query_failed',
        `${name} takes an array with elements; got an empty one`,
      );
    }),
  };
}

/**
 * ARRAY_SLICE: both ends are included; negative ones count from the end. Ends beyond the array are
 * moved to its own.
 */
function slice(elements: readonly SqlValue[], start: number, end: number): readonly SqlValue[] {
  const count = elements.length;
  const first = start < 0 ? Math.max(0, count + start) : start;
  const last = end < 0 ? count + end : end;
  return elements.slice(first, Math.max(first, last + 1));
}

/** `||` and ARRAY_CONCAT of arrays. */
export function joinedArrays(name: string): ScalarOverload {
  const isOperator = name === '||';
  return {
    parameters: isOperator ? ['array', 'array'] : ['array'],
    variadic: isOperator ? undefined : 'array',
    result: listType,
    nulls: 'propagate',
    facts: { fails: 'by size' },
    evaluate: (...arrays) => {
      const all = arrays.map((array) => elementsOf(array));
      const count = all.reduce((sum, elements) => sum + (elements?.length ?? 0), 0);
      if (count > ARRAY_ELEMENTS_MAX) {
        throw new QueryError(
          'query_limit',
          `${name} makes arrays of at most ${ARRAY_ELEMENTS_MAX} elements; got ${count}`,
        );
      }
      return all.flatMap((elements) => elements ?? []);
    },
  };
}

/** What the elements bring may be long; what stands between them or for NULL makes it longer by a MiB at most. */
function joinTexts(
  array: readonly (string | null)[],
  delimiter: string,
  nullText?: string,
): string {
  const texts = array.flatMap((each) => each ?? nullText ?? []);
  let given = 0;
  for (const each of array) given += each?.length ?? 0;
  let length = delimiter.length * Math.max(0, texts.length - 1);
  for (const text of texts) length += text.length;
  checkTextSize('ARRAY_TO_STRING', length, given + MADE_TEXT_LENGTH_MAX);
  return texts.join(delimiter);
}

/** ARRAY_TO_STRING: NULLs are left out, or written as the third argument says. */
function joining(type: SqlType): ScalarOverload {
  return {
    parameters: [arrayOf(type), type, type],
    optionalCount: 1,
    result: type,
    nulls: 'propagate',
    evaluate: typed(joinTexts),
  };
}

function integers(start: Int64, end: Int64, step: Int64 = 1): readonly Int64[] {
  const count = countIntegers(start, end, step);
  return Array.from({ length: count }, (_, index) =>
    canonicalInteger(BigInt(start) + BigInt(index) * BigInt(step)),
  );
}

function countIntegers(start: Int64, end: Int64, step: Int64 = 1): number {
  checkStep(step);
  const distance = BigInt(end) - BigInt(start);
  if (distance !== 0n && distance < 0n !== step < 0) return 0;
  return checkedCount(distance / BigInt(step) + 1n);
}

function floats(start: Int64, end: Int64, step: Int64 = 1): readonly number[] {
  const count = countFloats(start, end, step);
  return Array.from({ length: count }, (_, index) => Number(start) + index * Number(step));
}

function countFloats(start: Int64, end: Int64, step: Int64 = 1): number {
  checkStep(step);
  const [first, last, distance] = [Number(start), Number(end), Number(step)];
  if (![first, last, distance].every(Number.isFinite)) {
    throw new QueryError(
      'query_failed',
      `GENERATE_ARRAY takes finite numbers; got ${first}, ${last} and ${distance}`,
    );
  }
  if (first !== last && last < first !== distance < 0) return 0;
  let count = Math.floor((last - first) / distance) + 1;
  // The quotient is rounded: the last element is the last that does not pass the end.
  while (count > 1 && Math.abs((count - 1) * distance) > Math.abs(last - first)) count--;
  return checkedCount(count);
}

function checkStep(step: Int64): void {
  if (Number(step) === 0) {
    throw new QueryError('query_failed', 'GENERATE_ARRAY takes a step other than 0');
  }
}

function checkedCount(count: bigint | number): number {
  if (count > GENERATED_ARRAY_MAX) {
    throw new QueryError(
      'query_limit',
      `a generated array has at most ${GENERATED_ARRAY_MAX} elements; got ${count}`,
    );
  }
  return Number(count);
}

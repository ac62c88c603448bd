import { assert } from '../assert.ts';
import { arrayFunctions } from './array-functions.ts';
import { comparisonFunctions } from './comparison-functions.ts';
import { jsonFunctions } from './json/json-functions.ts';
import { arithmeticFunctions, safeOverload } from './number/arithmetic-functions.ts';
import { bitFunctions } from './number/bit-functions.ts';
import { mathFunctions } from './number/math-functions.ts';
import type { ScalarFunction } from './scalar-function.ts';
import { byteFunctions, codePointFunctions } from './text/byte-functions.ts';
import { formatFunctions } from './text/format-functions.ts';
import { hashFunctions } from './text/hash-functions.ts';
import { letterFunctions } from './text/letter-functions.ts';
import { netFunctions } from './text/net-functions.ts';
import { regexFunctions } from './text/regex-functions.ts';
import { searchFunctions } from './text/search-functions.ts';
import { textFunctions } from './text/text-functions.ts';
import { intervalFunctions } from './time/interval-functions.ts';
import { timeArrayFunctions } from './time/time-array-functions.ts';
import {
  EXTRACT,
  timeConversionFunctions,
  timeTextFunctions,
} from './time/time-conversion-functions.ts';
import { timeShiftFunctions } from './time/time-shift-functions.ts';
import { errorFunctions, truthFunctions } from './truth-functions.ts';

const all: readonly ScalarFunction[] = [
  ...truthFunctions,
  ...comparisonFunctions,
  ...arithmeticFunctions,
  ...textFunctions,
  ...searchFunctions,
  ...letterFunctions,
  ...codePointFunctions,
  ...regexFunctions,
  ...byteFunctions,
  ...hashFunctions,
  ...mathFunctions,
  ...bitFunctions,
  ...errorFunctions,
  ...timeConversionFunctions,
  EXTRACT,
  ...timeTextFunctions,
  ...timeShiftFunctions,
  ...intervalFunctions,
  ...timeArrayFunctions,
  ...arrayFunctions,
  ...jsonFunctions,
  ...formatFunctions,
  ...netFunctions,
];

const functions: ReadonlyMap<string, ScalarFunction> = new Map(
  all.map((each) => [each.name, each]),
);
assert(functions.size === all.length, 'no two functions have one name');

/** Names for what the language writes in another way: as operators, `x[0]`, EXTRACT. */
const OPERATORS: ReadonlySet<string> = new Set([
  ...['and', 'or', 'not', 'neg', 'in', 'in_array', 'like', 'extract', 'interval'],
  ...['is_null', 'is_true', 'is_false', 'is_distinct'],
  ...['json_field', 'json_of'],
  ...['array_offset', 'array_safe_offset', 'array_ordinal', 'array_safe_ordinal'],
]);

/** Whether this name of the registry is no function's, which a call in a text may bear. */
export function isOperator(name: string): boolean {
  return !/^[a-z]/.test(name) || OPERATORS.has(name);
}

/** `SAFE.` before a function's name: NULL in place of an error. */
export const SAFE_PREFIX = 'safe.';

const safeFunctions: ReadonlyMap<string, ScalarFunction> = new Map(
  [...functions.values()]
    .filter(({ name }) => /^[a-z]/.test(name))
    .map((each) => {
      const name = SAFE_PREFIX + each.name;
      return [name, { ...each, name, overloads: each.overloads.map(safeOverload) }];
    }),
);

/** The scalar function or operator of that name, in any case; `safe.` may stand before a word. */
export function findScalarFunction(name: string): ScalarFunction | undefined {
  const lower = name.toLowerCase();
  return functions.get(lower) ?? safeFunctions.get(lower);
}

/** All names, lower case, operators among them; without the `safe.` forms. */
export function scalarFunctionNames(): string[] {
  return [...functions.keys()];
}

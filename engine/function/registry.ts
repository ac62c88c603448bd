import { assert } from '../assert.ts';
import { arithmeticFunctions, safeOverload } from './arithmetic-functions.ts';
import { arrayFunctions } from './array-functions.ts';
import { bitFunctions } from './bit-functions.ts';
import { byteFunctions } from './byte-functions.ts';
import { codePointFunctions } from './code-point-functions.ts';
import { comparisonFunctions } from './comparison-functions.ts';
import { containsFunctions } from './contains-function.ts';
import { errorFunctions } from './error-functions.ts';
import { fillFunctions } from './fill-functions.ts';
import { formatFunctions } from './format-functions.ts';
import { hashFunctions } from './hash-functions.ts';
import { jsonFunctions } from './json-functions.ts';
import { jsonKindFunctions } from './json-kind-functions.ts';
import { letterFunctions } from './letter-functions.ts';
import { mathFunctions } from './math-functions.ts';
import { netFunctions } from './net-functions.ts';
import { numberArrayFunctions } from './number-array-functions.ts';
import { regexFunctions } from './regex-functions.ts';
import type { ScalarFunction } from './scalar-function.ts';
import { searchFunctions } from './search-functions.ts';
import { textFunctions } from './text-functions.ts';
import { timeArrayFunctions } from './time-array-functions.ts';
import { timeFunctions } from './time-functions.ts';
import { trimFunctions } from './trim-functions.ts';
import { truthFunctions } from './truth-functions.ts';

const all: readonly ScalarFunction[] = [
  ...truthFunctions,
  ...comparisonFunctions,
  ...containsFunctions,
  ...arithmeticFunctions,
  ...textFunctions,
  ...trimFunctions,
  ...fillFunctions,
  ...searchFunctions,
  ...letterFunctions,
  ...codePointFunctions,
  ...regexFunctions,
  ...byteFunctions,
  ...hashFunctions,
  ...mathFunctions,
  ...bitFunctions,
  ...numberArrayFunctions,
  ...errorFunctions,
  ...timeFunctions,
  ...timeArrayFunctions,
  ...arrayFunctions,
  ...jsonFunctions,
  ...jsonKindFunctions,
  ...formatFunctions,
  ...netFunctions,
];

const functions: ReadonlyMap<string, ScalarFunction> = new Map(
  all.map((each) => [each.name, each]),
);
assert(functions.size === all.length, 'no two functions have one name');

/** `SAFE.` before a function's name: NULL in place of an error. */
const SAFE_PREFIX = 'safe.';

const safeFunctions: ReadonlyMap<string, ScalarFunction> = new Map(
  [...functions.values()]
    .filter(({ name }) => /^[a-z]/.test(name))
    .map(({ name, overloads }) => [
      SAFE_PREFIX + name,
      { name: SAFE_PREFIX + name, overloads: overloads.map(safeOverload) },
    ]),
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

import { arithmeticFunctions, safeOverload } from './arithmetic-functions.ts';
import { arrayFunctions } from './array-functions.ts';
import { comparisonFunctions } from './comparison-functions.ts';
import { jsonFunctions } from './json-functions.ts';
import type { ScalarFunction } from './scalar-function.ts';
import { textFunctions } from './text-functions.ts';
import { timeArrayFunctions } from './time-array-functions.ts';
import { timeFunctions } from './time-functions.ts';
import { truthFunctions } from './truth-functions.ts';

const functions: ReadonlyMap<string, ScalarFunction> = new Map(
  [
    ...truthFunctions,
    ...comparisonFunctions,
    ...arithmeticFunctions,
    ...textFunctions,
    ...timeFunctions,
    ...timeArrayFunctions,
    ...arrayFunctions,
    ...jsonFunctions,
  ].map((each) => [each.name, each]),
);

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

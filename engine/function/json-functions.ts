import { STRING } from '../column/type.ts';
import type { Evaluate } from './definition.ts';
import { scalarFunction, typed } from './definition.ts';
import { compactJson, findJson, parseJsonPath } from './json-path.ts';
import type { ScalarFunction } from './scalar-function.ts';

/** The older names take the same paths here. */
export const jsonFunctions: readonly ScalarFunction[] = [
  jsonFunction('json_value', typed(jsonValue)),
  jsonFunction('json_extract_scalar', typed(jsonValue)),
  jsonFunction('json_query', typed(jsonQuery)),
  jsonFunction('json_extract', typed(jsonQuery)),
];

function jsonFunction(name: string, evaluate: Evaluate): ScalarFunction {
  return scalarFunction(name, {
    parameters: [STRING, STRING],
    optionalCount: 1,
    result: STRING,
    nulls: 'propagate',
    evaluate,
  });
}

/** The scalar at the path as text; NULL for a record, a list, a null, and for text that is no JSON. */
function jsonValue(json: string, path = '$'): string | null {
  const found = findJson(json, parseJsonPath(path));
  if (found === undefined || found === 'null') return null;
  if (found.startsWith('"')) return JSON.parse(found) as string;
  return found.startsWith('{') || found.startsWith('[') ? null : found;
}

/** The value at the path as JSON; NULL for a null, and for text that is no JSON. */
function jsonQuery(json: string, path = '$'): string | null {
  const found = findJson(json, parseJsonPath(path));
  return found === undefined || found === 'null' ? null : compactJson(found);
}

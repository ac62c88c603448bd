import type { SqlType } from '../../column/type.ts';
import { arrayOf, BOOL, DYNAMIC, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type { Evaluate } from '../definition.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { compactJson, jsonElements, parseJsonPath } from './json-path.ts';
import { findJsonIn, jsonTextOf, parseJson, prettyJson } from './json-value.ts';

/**
 * JSON is what a STRING says, or what a DYNAMIC value is: a record of an event, or what PARSE_JSON
 * made. The older names take the same paths here.
 */
export const jsonFunctions: readonly ScalarFunction[] = [
  readingJson('json_value', STRING, typed(jsonValue)),
  readingJson('json_extract_scalar', STRING, typed(jsonValue)),
  readingJson('json_query', STRING, typed(jsonQuery)),
  readingJson('json_extract', STRING, typed(jsonQuery)),
  readingJson('json_value_array', arrayOf(STRING), typed(jsonValues)),
  readingJson('json_extract_string_array', arrayOf(STRING), typed(jsonValues)),
  readingJson('json_query_array', arrayOf(STRING), typed(jsonTexts)),
  readingJson('json_extract_array', arrayOf(STRING), typed(jsonTexts)),
  scalarFunction('to_json_string', {
    parameters: ['any', BOOL],
    optionalCount: 1,
    result: STRING,
    nulls: 'handle',
    evaluate: typed(writing(DYNAMIC)),
    evaluateTyped: (types) => typed(writing(types[0]!)),
  }),
  scalarFunction('parse_json', {
    parameters: [STRING],
    result: DYNAMIC,
    nulls: 'propagate',
    evaluate: typed(parseJson),
  }),
];

/** `(json[, path])`; without a path the whole. */
function readingJson(name: string, result: SqlType, evaluate: Evaluate): ScalarFunction {
  const overload = { optionalCount: 1, result, nulls: 'propagate', evaluate } as const;
  return scalarFunction(
    name,
    { ...overload, parameters: [STRING, STRING] },
    { ...overload, parameters: [DYNAMIC, STRING] },
    // `metadata` itself.
    { ...overload, parameters: [arrayOf(DYNAMIC), STRING] },
  );
}

/** The scalar at the path as text; NULL for a record, a list, a null, and for text that is no JSON. */
function jsonValue(json: SqlValue, path = '$'): string | null {
  const found = findJsonIn(json, parseJsonPath(path));
  return found === undefined ? null : scalarText(found);
}

function scalarText(json: string): string | null {
  if (json === 'null' || json.startsWith('{') || json.startsWith('[')) return null;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** The value at the path as JSON; NULL for a null, and for text that is no JSON. */
function jsonQuery(json: SqlValue, path = '$'): string | null {
  const found = findJsonIn(json, parseJsonPath(path));
  return found === undefined || found === 'null' ? null : compactJson(found);
}

/** The elements of the list at the path, if all are scalars or null. */
function jsonValues(json: SqlValue, path = '$'): readonly (string | null)[] | null {
  const elements = elementsAt(json, path);
  if (elements?.some((each) => each.startsWith('{') || each.startsWith('['))) return null;
  return elements?.map(scalarText) ?? null;
}

/** The elements of the list at the path, each as JSON. */
function jsonTexts(json: SqlValue, path = '$'): readonly string[] | null {
  return elementsAt(json, path)?.map(compactJson) ?? null;
}

function elementsAt(json: SqlValue, path: string): readonly string[] | undefined {
  const found = findJsonIn(json, parseJsonPath(path));
  return found === undefined ? undefined : jsonElements(found);
}

/** TO_JSON_STRING; NULL is `null`, but where nobody says whether to print it pretty it is NULL. */
function writing(type: SqlType): (value: SqlValue, isPretty?: boolean | null) => string | null {
  return (value, isPretty = false) => {
    if (isPretty === null) return null;
    const json = jsonTextOf(value, type);
    return isPretty ? prettyJson(json) : json;
  };
}

import type { SqlType } from '../../column/type.ts';
import { arrayOf, BOOL, DYNAMIC, INT64, JSON_TYPE, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import type { JsonStep } from './json-path.ts';
import { compactJson, findInJson, jsonElements, parseJsonPath } from './json-path.ts';
import { findJsonIn, jsonOf, jsonTextOf, parseJson, prettyJson } from './json-value.ts';

/**
 * JSON is a value of that type, what a STRING says, or what a DYNAMIC value is: a record of an event,
 * or a text of one, which is read as a STRING is. The older names take the same paths here.
 */
export const jsonFunctions: readonly ScalarFunction[] = [
  readingJson('json_value', [STRING, scalarText]),
  readingJson('json_extract_scalar', [STRING, scalarText]),
  readingJson('json_query', [STRING, queryText], [JSON_TYPE, whole]),
  readingJson('json_extract', [STRING, queryText], [JSON_TYPE, whole]),
  readingJson('json_value_array', [arrayOf(STRING), scalarTexts]),
  readingJson('json_extract_string_array', [arrayOf(STRING), scalarTexts]),
  readingJson('json_query_array', [arrayOf(STRING), elementTexts], [arrayOf(JSON_TYPE), elements]),
  readingJson(
    'json_extract_array',
    [arrayOf(STRING), elementTexts],
    [arrayOf(JSON_TYPE), elements],
  ),
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
    result: JSON_TYPE,
    nulls: 'propagate',
    evaluate: typed(parseJson),
  }),
  scalarFunction('to_json', makingJson('handle')),
  // What a DYNAMIC value beside a JSON one becomes: NULL stays NULL.
  scalarFunction('json_of', makingJson('propagate')),
  // `json.name`, `json['name']` and `json[0]`.
  scalarFunction('json_field', steppingIn(STRING), steppingIn(INT64)),
];

/** The type of what a function reads, and how it is made of the JSON text at the path. */
type Reading = readonly [result: SqlType, read: (found: string) => SqlValue];

/** `(json[, path])`; without a path the whole. Where `ofJson` is left out, a JSON value is read alike. */
function readingJson(name: string, reading: Reading, ofJson: Reading = reading): ScalarFunction {
  return scalarFunction(
    name,
    readingFrom(STRING, findJsonIn, reading),
    readingFrom(JSON_TYPE, (json, steps) => findInJson(json as string, steps), ofJson),
    readingFrom(DYNAMIC, findJsonIn, reading),
    // `metadata` itself.
    readingFrom(arrayOf(DYNAMIC), findJsonIn, reading),
  );
}

function readingFrom(
  type: SqlType,
  find: (json: SqlValue, steps: readonly JsonStep[], type: SqlType) => string | undefined,
  [result, read]: Reading,
): ScalarOverload {
  const evaluate = (given: SqlType) =>
    typed((json: SqlValue, path = '$') => {
      const found = find(json, parseJsonPath(path as string), given);
      return found === undefined ? null : read(found);
    });
  return {
    parameters: [type, STRING],
    optionalCount: 1,
    result,
    nulls: 'propagate',
    evaluate: evaluate(type),
    evaluateTyped: ([given]) => evaluate(given!),
  };
}

/** A scalar as text; NULL for a record, a list and a null. */
function scalarText(json: string): string | null {
  if (json === 'null' || json.startsWith('{') || json.startsWith('[')) return null;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** Of a text, where a null is NULL. */
function queryText(json: string): string | null {
  return json === 'null' ? null : compactJson(json);
}

/** Of a JSON value, where a null is one. */
function whole(json: string): string {
  return json;
}

/** The elements of a list, if all are scalars or null. */
function scalarTexts(json: string): readonly (string | null)[] | null {
  const texts = elements(json);
  if (texts?.some((each) => each.startsWith('{') || each.startsWith('['))) return null;
  return texts?.map(scalarText) ?? null;
}

function elementTexts(json: string): readonly string[] | null {
  return elements(json)?.map(compactJson) ?? null;
}

function elements(json: string): readonly string[] | null {
  return jsonElements(json) ?? null;
}

/** TO_JSON_STRING; NULL is `null`, but where nobody says whether to print it pretty it is NULL. */
function writing(type: SqlType): (value: SqlValue, isPretty?: boolean | null) => string | null {
  return (value, isPretty = false) => {
    if (isPretty === null) return null;
    const json = jsonTextOf(value, type);
    return isPretty ? prettyJson(json) : json;
  };
}

function makingJson(nulls: ScalarOverload['nulls']): ScalarOverload {
  return {
    parameters: ['any'],
    result: JSON_TYPE,
    nulls,
    evaluate: (value) => jsonOf(value!, DYNAMIC),
    evaluateTyped: (types) => (value) => jsonOf(value!, types[0]!),
  };
}

/** NULL where there is no such member or element. */
function steppingIn(step: SqlType): ScalarOverload {
  return {
    parameters: [JSON_TYPE, step],
    result: JSON_TYPE,
    nulls: 'propagate',
    evaluate: typed((json: string, step: JsonStep) => findInJson(json, [step]) ?? null),
  };
}

import { JsonBuffer } from '../../column/json-buffer.ts';
import { readInteger } from '../../column/json-nested.ts';
import { FLAT_BYTES_MAX, flatTextsIn } from '../../column/text-block.ts';
import {
  arrayOf,
  BOOL,
  DYNAMIC,
  FLOAT64,
  INT64,
  JSON_TYPE,
  NUMBER,
  type SqlType,
  STRING,
} from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type { StringBlock, Vector } from '../../column/vector.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { readAs } from '../dynamic.ts';
import {
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
  withAlias,
} from '../scalar-function.ts';
import type { PartFinder } from '../text/text-units.ts';
import { spendSteps } from '../work-meter.ts';
import { JsonScalarFinder } from './json-finder.ts';
import {
  compactJson,
  dynamicJson,
  findInJson,
  findJsonIn,
  type JsonStep,
  jsonElements,
  jsonMembers,
  jsonOf,
  jsonTextOf,
  parseJson,
  parseJsonPath,
  prettyJson,
} from './json-value.ts';

/**
 * JSON is a value of that type, what a STRING says, or what a DYNAMIC value is: a record of an event,
 * or a text of one, which is read as a STRING is. The older names take the same paths here.
 */
export const jsonFunctions: readonly ScalarFunction[] = [
  ...withAlias(
    ['json_value', 'json_extract_scalar'],
    [
      'The text, number or boolean at a JSON path, as a text; NULL if there is none, and for a null, a record or a list. The default path is `$`, the whole value.',
      "JSON_VALUE('{\"a\": [1, 2]}', '$.a[1]')",
      "'2'",
    ],
    ...readingJson([STRING, scalarText]).map(withFinder),
  ),
  ...withAlias(
    ['json_query', 'json_extract'],
    [
      'The JSON at a JSON path, as a text for a text and as JSON for JSON; NULL if there is none. The default path is `$`, the whole value.',
      "JSON_QUERY('{\"a\": [1, 2]}', '$.a')",
      "'[1,2]'",
    ],
    ...readingJson([STRING, queryText], [JSON_TYPE, whole]),
  ),
  ...withAlias(
    ['json_value_array', 'json_extract_string_array'],
    [
      'The elements of the list at a path, as texts; NULL if there is no list, or if it contains records or lists.',
      'JSON_VALUE_ARRAY(\'["a", 1]\')',
      "['a', '1']",
    ],
    ...readingJson([arrayOf(STRING), scalarTexts]),
  ),
  ...withAlias(
    ['json_query_array', 'json_extract_array'],
    [
      'The elements of the list at a path, each as JSON: texts for a text, JSON for JSON; NULL if there is no list.',
      'JSON_QUERY_ARRAY(\'{"a": [1, {"b": 2}]}\', \'$.a\')',
      "['1', '{\"b\":2}']",
    ],
    ...readingJson([arrayOf(STRING), elementTexts], [arrayOf(JSON_TYPE), elements]),
  ),
  scalarFunction(
    'to_json_string',
    [
      'A value as JSON in a text; NULL becomes `null`. An INT64 beyond 2^53 becomes a JSON text. With TRUE as the second argument, the result has several lines.',
      "TO_JSON_STRING(STRUCT(200 AS status, ['a'] AS tags))",
      '\'{"status":200,"tags":["a"]}\'',
    ],
    {
      parameters: ['any', BOOL],
      optionalCount: 1,
      result: STRING,
      nulls: 'handle',
      evaluate: typed(writing(DYNAMIC)),
      evaluateTyped: (types) => typed(writing(types[0]!)),
      kernel: writeLists,
    },
  ),
  scalarFunction(
    'parse_json',
    [
      'Parses a text as JSON; an error if it is not JSON.',
      'PARSE_JSON(\'{"a": 1}\')',
      'JSON \'{"a":1}\'',
    ],
    {
      parameters: [STRING],
      result: JSON_TYPE,
      nulls: 'propagate',
      evaluate: typed(parseJson),
    },
  ),
  scalarFunction(
    'to_json',
    [
      'A value as JSON; NULL becomes a JSON null. An INT64 keeps all its digits.',
      "TO_JSON(STRUCT(1 AS a, 'x' AS b))",
      'JSON \'{"a":1,"b":"x"}\'',
    ],
    makingJson('handle'),
  ),
  // What a DYNAMIC value beside a JSON one becomes: NULL stays NULL.
  scalarFunction(
    'json_of',
    [
      'A field of an event, converted to JSON because it is combined with a JSON value; NULL stays NULL.',
      "COALESCE(m.status, JSON '0') FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m",
      "JSON '200'",
    ],
    makingJson('propagate'),
  ),
  // `json.name`, `json['name']` and `json[0]`.
  scalarFunction(
    'json_field',
    [
      'The field of a JSON record, or the element of a JSON list, from 0; NULL if there is none.',
      'PARSE_JSON(\'{"a": [1, 2]}\').a[1]',
      "JSON '2'",
    ],
    steppingIn(STRING),
    steppingIn(INT64),
  ),
  scalarFunction(
    'json_type',
    [
      'The kind of a JSON value: `object`, `array`, `string`, `number`, `boolean` or `null`.',
      "JSON_TYPE(JSON '[1]')",
      "'array'",
    ],
    ...ofJson(STRING, kindOf),
  ),
  scalarFunction(
    'json_keys',
    [
      'The names of all fields of a JSON record, sorted. Fields of nested records are written with dots.',
      'JSON_KEYS(JSON \'{"b": 1, "a": {"c": 2}}\')',
      "['a', 'a.c', 'b']",
    ],
    ...ofJson(arrayOf(STRING), keysOf),
  ),
  scalarFunction(
    'bool',
    [
      'The value of a JSON boolean; an error for any other JSON value.',
      "BOOL(JSON 'true')",
      'TRUE',
    ],
    ...asKind(BOOL),
  ),
  scalarFunction(
    'int64',
    [
      'The whole number in a JSON value; an error for other JSON values and beyond INT64.',
      "INT64(JSON '200')",
      '200',
    ],
    ...asKind(INT64),
  ),
  scalarFunction(
    'float64',
    ['The number in a JSON value; an error for other JSON values.', "FLOAT64(JSON '1.5')", '1.5'],
    ...asKind(FLOAT64),
  ),
  scalarFunction(
    'lax_bool',
    [
      'A JSON value converted to a boolean: from a boolean, the texts `true` and `false`, or a number, of which only 0 is FALSE; else NULL.',
      "LAX_BOOL(JSON '0')",
      'FALSE',
    ],
    ...ofJson(BOOL, laxBool),
  ),
  scalarFunction(
    'lax_int64',
    [
      'A JSON value converted to a whole number: from a number or text, rounded, or from a boolean; else NULL.',
      'LAX_INT64(JSON \'"1.6"\')',
      '2',
    ],
    ...ofJson(INT64, laxInt64),
  ),
  scalarFunction(
    'lax_float64',
    [
      'A JSON number or text converted to a number; else NULL.',
      'LAX_FLOAT64(JSON \'"1.5"\')',
      '1.5',
    ],
    ...ofJson(FLOAT64, laxFloat64),
  ),
  scalarFunction(
    'lax_string',
    [
      'A JSON text, number or boolean converted to a text; else NULL.',
      "LAX_STRING(JSON 'true')",
      "'true'",
    ],
    ...ofJson(STRING, laxString),
  ),
];

/** The type of what a function reads, and how it is made of the JSON text at the path. */
type Reading = readonly [result: SqlType, read: (found: string) => SqlValue];

/** `(json[, path])`; without a path the whole. Where `ofJson` is left out, a JSON value is read alike. */
function readingJson(reading: Reading, ofJson: Reading = reading): readonly ScalarOverload[] {
  return [
    readingFrom(STRING, findJsonIn, reading),
    readingFrom(JSON_TYPE, (json, steps) => findInJson(json as string, steps), ofJson),
    readingFrom(DYNAMIC, findJsonIn, reading),
    // `metadata` itself.
    readingFrom(arrayOf(DYNAMIC), findJsonIn, reading),
  ];
}

/** The finder of JSON_VALUE, for texts. */
function withFinder(overload: ScalarOverload): ScalarOverload {
  return { ...overload, part: ([path = '$']) => finderOf(path as string) };
}

/** `undefined` for what is no path, an error of each row that has a value. */
function finderOf(path: string): PartFinder | undefined {
  try {
    return new JsonScalarFinder(parseJsonPath(path));
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
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

/** Where the texts of a chunk are written. */
const buffer = new JsonBuffer();

/** TO_JSON_STRING of lists of texts that lie as bytes. */
function writeLists([lists, pretty]: readonly Vector[], count: number): Vector | undefined {
  if (lists?.form !== 'text lists' || lists.nulls !== undefined || pretty !== undefined)
    return undefined;
  const { starts, strings } = lists;
  const offsets = new Uint32Array(count + 1);
  buffer.clear();
  for (let row = 0; row < count; row++) {
    buffer.raw('[');
    for (let code = starts[row]!; code < starts[row + 1]!; code++) {
      if (code > starts[row]!) buffer.raw(',');
      const { bytes, start, end } = strings.range(code);
      buffer.stringBytes(bytes, start, end);
    }
    buffer.raw(']');
    offsets[row + 1] = buffer.size;
    if (buffer.size > FLAT_BYTES_MAX) return undefined;
  }
  spendSteps(starts[count]! + (buffer.size >> 2));
  const texts = flatTextsIn({ bytes: buffer.take(), offsets });
  return texts.dictionary.isAscii || !hasSeparators(texts.dictionary.strings) ? texts : undefined;
}

/** Whether a line or paragraph separator is there, which GoogleSQL writes as an escape. */
function hasSeparators({ bytes }: StringBlock): boolean {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return all.includes('\u2028') || all.includes('\u2029');
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

/** Of a JSON value, and of a field of an event, where a record is an object: both as the JSON that they are. */
function ofJson(
  result: SqlType,
  evaluate: (json: string) => SqlValue,
): readonly [ScalarOverload, ScalarOverload] {
  const overload = { result, nulls: 'propagate' } as const;
  return [
    { ...overload, parameters: [JSON_TYPE], evaluate: typed(evaluate) },
    {
      ...overload,
      parameters: [DYNAMIC],
      evaluate: (value) => evaluate(dynamicJson(value as SqlValue)),
    },
  ];
}

function kindOf(json: string): string {
  switch (json[0]) {
    case '{':
      return 'object';
    case '[':
      return 'array';
    case '"':
      return 'string';
    case 'n':
      return 'null';
    case 't':
    case 'f':
      return 'boolean';
    default:
      return 'number';
  }
}

/** The names of the fields of a record, the inner ones with dots between, each once and in order. */
function keysOf(json: string): readonly string[] {
  const keys = new Set<string>();
  gatherKeys(json, '', keys);
  return [...keys].sort();
}

function gatherKeys(json: string, prefix: string, keys: Set<string>): void {
  for (const [name, value] of jsonMembers(json) ?? []) {
    const word = /^\w+$/.test(name) ? name : JSON.stringify(name);
    keys.add(prefix + word);
    gatherKeys(value, `${prefix}${word}.`, keys);
  }
}

/** INT64(json) and its kin: the value of that kind; another kind is an error, as in GoogleSQL. */
export function asKind(type: SqlType): readonly [ScalarOverload, ScalarOverload] {
  return ofJson(type, (json) => {
    const value = valueOfKind(json, type);
    if (value !== null) return value;
    throw new QueryError(
      'query_failed',
      `${type.kind} takes JSON of that kind; got a JSON ${kindOf(json)}`,
    );
  });
}

function valueOfKind(json: string, { kind }: SqlType): SqlValue {
  const value = scalarOf(json);
  const isNumber = kindOf(json) === 'number';
  switch (kind) {
    case 'INT64':
      return isNumber ? readAs(value, INT64) : null;
    case 'FLOAT64':
      return isNumber ? Number(value) : null;
    default:
      return typeof value === (kind === 'BOOL' ? 'boolean' : 'string') ? value : null;
  }
}

/** The value of a scalar; NULL for a null, a record and a list. A number is an INT64, else the nearest double. */
function scalarOf(json: string): SqlValue {
  switch (kindOf(json)) {
    case 'string':
      return JSON.parse(json) as string;
    case 'boolean':
      return json === 'true';
    case 'number':
      return isWhole(json) ? readAs(readInteger(json) ?? Number(json), NUMBER) : Number(json);
    default:
      return null;
  }
}

function isWhole(number: string): boolean {
  return !/[.eE]/.test(number);
}

/** Whatever CAST makes of it; NULL where it makes nothing. */
function laxly(value: SqlValue, type: SqlType): SqlValue {
  return castValue(value, DYNAMIC, type, true);
}

function laxBool(json: string): SqlValue {
  const value = scalarOf(json);
  return typeof value === 'number' ? value !== 0 : laxly(value, BOOL);
}

function laxFloat64(json: string): SqlValue {
  const value = scalarOf(json);
  return typeof value === 'boolean' ? null : laxly(value, FLOAT64);
}

function laxString(json: string): SqlValue {
  return kindOf(json) === 'number' && isWhole(json) ? json : laxly(scalarOf(json), STRING);
}

/** A number is rounded, also one that is written as text. */
function laxInt64(json: string): SqlValue {
  const value = scalarOf(json);
  if (typeof value === 'number') return castValue(value, FLOAT64, INT64, true);
  if (typeof value !== 'string') return laxly(value, INT64);
  const number = castValue(value, STRING, FLOAT64, true);
  const exact = castValue(value, STRING, INT64, true);
  return exact ?? (number === null ? null : castValue(number, FLOAT64, INT64, true));
}

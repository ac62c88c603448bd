import { readInteger } from '../../column/json-nested.ts';
import type { SqlType } from '../../column/type.ts';
import {
  arrayOf,
  BOOL,
  DYNAMIC,
  FLOAT64,
  INT64,
  JSON_TYPE,
  NUMBER,
  STRING,
} from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { scalarFunction, typed } from '../definition.ts';
import { readAs } from '../dynamic.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { jsonMembers } from './json-path.ts';
import { dynamicJson } from './json-value.ts';

/** What kind a JSON value is of, and its value as one of that kind. */
export const jsonKindFunctions: readonly ScalarFunction[] = [
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

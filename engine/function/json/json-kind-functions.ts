import type { SqlType } from '../../column/type.ts';
import { arrayOf, BOOL, DYNAMIC, FLOAT64, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { isNested } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { scalarFunction, typed } from '../definition.ts';
import { readAs } from '../dynamic.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { jsonMembers } from './json-path.ts';
import { nestedText } from './json-text.ts';

/** What kind a JSON value is of, and its value as one of that kind. */
export const jsonKindFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'json_type',
    ofJson(STRING, (json) => kindOf(json)),
  ),
  scalarFunction('json_keys', ofJson(arrayOf(STRING), keysOf)),
  scalarFunction('bool', asKind('BOOL', BOOL)),
  scalarFunction('int64', asKind('INT64', INT64)),
  scalarFunction('float64', asKind('FLOAT64', FLOAT64)),
  scalarFunction(
    'lax_bool',
    ofJson(BOOL, (json) => laxly(json, BOOL)),
  ),
  scalarFunction('lax_int64', ofJson(INT64, laxInt64)),
  scalarFunction(
    'lax_float64',
    ofJson(FLOAT64, (json) => laxly(json, FLOAT64)),
  ),
  scalarFunction(
    'lax_string',
    ofJson(STRING, (json) => laxly(json, STRING)),
  ),
];

function ofJson(result: SqlType, evaluate: (json: SqlValue) => SqlValue): ScalarOverload {
  return { parameters: [DYNAMIC], result, nulls: 'propagate', evaluate: typed(evaluate) };
}

function kindOf(json: SqlValue): string {
  if (json === null) return 'null';
  if (isNested(json)) return json.isList ? 'array' : 'object';
  if (typeof json === 'object') return 'array';
  return typeof json === 'bigint' ? 'number' : typeof json;
}

/** The names of the fields of a record, the inner ones with dots between, each once and in order. */
function keysOf(json: SqlValue): readonly string[] {
  const keys = new Set<string>();
  if (isNested(json) && !json.isList) gatherKeys(nestedText(json), '', keys);
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
export function asKind(name: string, type: SqlType): ScalarOverload {
  return ofJson(type, (json) => {
    const value = readAs(json, type);
    if (value !== null) return type.kind === 'FLOAT64' ? Number(value) : value;
    const got = kindOf(json);
    throw new QueryError('query_failed', `${name} takes JSON of that kind; got a JSON ${got}`);
  });
}

/** Whatever CAST makes of it; NULL where it makes nothing. */
function laxly(json: SqlValue, type: SqlType): SqlValue {
  if (isNested(json)) return null;
  if (type.kind === 'BOOL' && typeof json === 'number') return json !== 0;
  if (type.kind === 'FLOAT64' && typeof json === 'boolean') return null;
  return castValue(json, DYNAMIC, type, true);
}

/** A number is rounded, also one that is written as text. */
function laxInt64(json: SqlValue): SqlValue {
  if (typeof json !== 'string') return laxly(json, INT64);
  const number = castValue(json, STRING, FLOAT64, true);
  const exact = castValue(json, STRING, INT64, true);
  return exact ?? (number === null ? null : castValue(number, FLOAT64, INT64, true));
}

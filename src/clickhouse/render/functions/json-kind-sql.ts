import type { SqlType } from '../../../../engine/columns.ts';
import { castSql } from '../cast-sql.ts';
import { floatText } from '../dynamic-sql.ts';
import { preparedJson, scalarText } from '../json-text-sql.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes, strict } from './function-sql.ts';

/** What kind a JSON value is of, and its value as one of that kind. */
export const jsonKindSql: Readonly<Record<string, FunctionSql>> = {
  json_type: (call) => {
    if (call.types[0]!.kind !== 'JSON') return refuseTypes(call);
    return strict(call, kindOf);
  },
  bool: jsonOfKind,
  int64: jsonOfKind,
  float64: jsonOfKind,
  lax_bool: (call) =>
    ofScalar(call, (text, kind) => {
      const isTrue = `lower(${text}) = 'true'`;
      const word = `if(lower(${text}) IN ('true', 'false'), ${isTrue}, NULL)`;
      return `multiIf(${kind} = 'number', ${doubleOf(text)} != 0, ${kind} IN ('boolean', 'string'), ${word}, NULL)`;
    }),
  lax_int64: (call) =>
    ofScalar(call, (text, kind) => {
      const whole = safeCast(text, { from: STRING, to: INT64 }, call);
      // Digits of a whole number are kept; other numbers are rounded, also those that are written as text.
      const near = safeCast(doubleIn(text, kind, call), { from: FLOAT64, to: INT64 }, call);
      const isWhole = `match(${text}, '^-?[0-9]+$')`;
      const number = `if(${isWhole}, ifNull(${whole}, ${near}), ${near})`;
      return `multiIf(${kind} = 'number', ${number}, ${kind} = 'string', ifNull(${whole}, ${near}), ${kind} = 'boolean', toInt64(${text} = 'true'), NULL)`;
    }),
  lax_float64: (call) => ofScalar(call, (text, kind) => doubleIn(text, kind, call)),
  lax_string: (call) =>
    ofScalar(call, (text, kind) => {
      const isWhole = `match(${text}, '^-?[0-9]+$')`;
      const number = `if(${isWhole}, ${text}, ${floatOf(text, call)})`;
      return `multiIf(${kind} = 'number', ${number}, ${kind} IN ('boolean', 'string'), ${text}, NULL)`;
    }),
};

const STRING: SqlType = { kind: 'STRING' };
const INT64: SqlType = { kind: 'INT64' };
const FLOAT64: SqlType = { kind: 'FLOAT64' };

/** What CAST makes of a value, NULL where it makes nothing. */
function safeCast(
  value: string,
  { from, to }: { readonly from: SqlType; readonly to: SqlType },
  { parts, span }: CallSql,
): string {
  const input = { op: 'literal', type: from, value: null } as const;
  return castSql(value, { op: 'cast', input, type: to, safe: true, span }, parts);
}

/** The double of a number or of a text. */
function doubleIn(text: string, kind: string, call: CallSql): string {
  const written = safeCast(text, { from: STRING, to: FLOAT64 }, call);
  return `multiIf(${kind} = 'number', ${doubleOf(text)}, ${kind} = 'string', ${written}, NULL)`;
}

/** The double of a JSON number. ClickHouse has no answer for one beyond doubles. */
function doubleOf(text: string): string {
  const beyond = `if(startsWith(ifNull(${text}, ''), '-'), -inf, inf)`;
  return `ifNull(toFloat64OrNull(ifNull(${text}, '')), ${beyond})`;
}

/** By the first character; `json` is the text of a value. */
function kindOf(json: string | undefined): string {
  const first = `substring(${json}, 1, 1)`;
  return `multiIf(${first} = '{', 'object', ${first} = '[', 'array', ${first} = '"', 'string', ${first} = 'n', 'null', ${first} IN ('t', 'f'), 'boolean', 'number')`;
}

/** A scalar's text and the kind of the value, as names. */
function ofScalar(call: CallSql, body: (text: string, kind: string) => string): string {
  const { parts } = call;
  if (call.types[0]!.kind !== 'JSON') return refuseTypes(call);
  return strict(call, (json) =>
    parts.once(kindOf(json), (kind) =>
      parts.once(scalarText(`JSONExtractRaw(${preparedJson(json!, call)})`, call), (text) =>
        body(text, kind),
      ),
    ),
  );
}

/** Another kind is an error. */
export function jsonOfKind(call: CallSql): string {
  const { parts } = call;
  return ofScalar(call, (text, kind) => {
    const wanted = { bool: 'boolean', string: 'string' }[call.name] ?? 'number';
    const value = valueInText(text, call);
    return parts.once(`if(${kind} = '${wanted}', ${value}, NULL)`, (found) => {
      const message = `${call.name.toUpperCase()} takes JSON of that kind`;
      return checked(call, found, `isNull(${found})`, message);
    });
  });
}

function valueInText(text: string, { name }: CallSql): string {
  const double = doubleOf(text);
  switch (name) {
    case 'bool':
      return `(${text} = 'true')`;
    case 'float64':
      return double;
    case 'int64': {
      const whole = `toInt128OrNull(ifNull(${text}, ''))`;
      const fits = `${whole} >= -9223372036854775808 AND ${whole} <= 9223372036854775807`;
      // 2^63 and more is no INT64.
      const isWhole = `${double} = trunc(${double}) AND ${double} >= -9223372036854775808. AND ${double} < 9223372036854775808.`;
      const isWritten = `match(${text}, '^-?[0-9]{1,20}$')`;
      return `multiIf(ifNull(${isWritten} AND ${fits}, 0), toInt64(${whole}), ifNull(NOT ${isWritten} AND ${isWhole}, 0), toInt64(${double}), NULL)`;
    }
    default:
      return text;
  }
}

function floatOf(text: string, { parts }: CallSql): string {
  return floatText(doubleOf(text), parts);
}

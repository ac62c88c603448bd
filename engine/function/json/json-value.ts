import { assert } from '../../assert.ts';
import { numberText } from '../../column/json-buffer.ts';
import type { SqlType } from '../../column/type.ts';
import { DYNAMIC, elementTypeOf, FLOAT64, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { isNested } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { elementsOf, isWhole } from '../dynamic.ts';
import { formatFloat64 } from '../number/float-text.ts';
import type { Int64 } from '../number/int64.ts';
import { base64OfBytes } from '../text/byte-text.ts';
import { datetimeIsoText } from '../time/timestamp-text.ts';
import { doubleJson, normalJson } from './json-normal-form.ts';
import type { JsonStep } from './json-path.ts';
import { findJson, isJson, jsonElements, jsonMembers } from './json-path.ts';
import { nestedText, shownText } from './json-text.ts';

/** PARSE_JSON, or a literal, as `reader` says. */
export function parseJson(text: string, reader = 'PARSE_JSON'): string {
  if (!isJson(text)) {
    throw new QueryError(
      'query_failed',
      `${reader} takes JSON; got ${JSON.stringify(text.slice(0, 256))}`,
    );
  }
  return normalJson(text);
}

/**
 * The JSON text of the value that the steps lead to, as an answer shows it; `undefined` when there is none. A text is JSON
 * itself. In records the steps go as fields and elements do: a record is a list of itself, and a
 * list of one record is read as that record.
 */
export function findJsonIn(
  json: SqlValue,
  steps: readonly JsonStep[],
  type: SqlType,
): string | undefined {
  return typeof json === 'string' ? findJson(json, steps) : findInRecord(json, steps, type);
}

function findInRecord(
  record: SqlValue,
  steps: readonly JsonStep[],
  type: SqlType,
): string | undefined {
  let at = record;
  for (const step of steps) {
    const elements = elementsOf(at);
    if (elements === null) return undefined;
    if (typeof step === 'number') {
      at = elements[step] ?? null;
    } else {
      const record = isNested(at) ? at : elements.length === 1 ? elements[0]! : null;
      at = isNested(record) ? record.field(step) : null;
    }
  }
  if (at === null) return undefined;
  const last = steps.at(-1);
  if (last === undefined) return jsonTextOf(at, type);
  return jsonTextOf(at, typeof last === 'number' ? elementTypeOf(DYNAMIC) : DYNAMIC);
}

/** TO_JSON: as TO_JSON_STRING, but whole numbers keep their digits, and a FLOAT64 shows that it is one. */
export function jsonOf(value: SqlValue, type: SqlType): string {
  return type.kind === 'JSON' && value !== null
    ? (value as string)
    : normalJson(textOf(value, type, exactNumber));
}

/** Up to here, 2^53, every integer is a double of its own. */
const EXACT_MAX = 2n ** 53n;

/** A value as TO_JSON_STRING writes it. */
export function jsonTextOf(value: SqlValue, type: SqlType): string {
  return textOf(value, type, plainNumber);
}

type NumberText = (value: number | bigint, kind: 'INT64' | 'FLOAT64') => string;

/** For readers whose numbers are doubles. */
function plainNumber(value: number | bigint, kind: 'INT64' | 'FLOAT64'): string {
  if (kind === 'FLOAT64') return formatFloat64(Number(value));
  const isExact = BigInt(value) <= EXACT_MAX && BigInt(value) >= -EXACT_MAX;
  return isExact ? String(value) : `"${value}"`;
}

/** A FLOAT64 of -0 is 0, as everywhere in SQL. */
function exactNumber(value: number | bigint, kind: 'INT64' | 'FLOAT64'): string {
  return kind === 'FLOAT64' ? doubleJson(Number(value) + 0) : String(value);
}

function textOf(value: SqlValue, type: SqlType, numberOf: NumberText): string {
  if (value === null) return 'null';
  if (isNested(value)) return shownText(value, type);
  switch (type.kind) {
    case 'JSON':
      return value as string;
    case 'INT64':
      return numberOf(value as Int64, type.kind);
    case 'FLOAT64': {
      const double = Number(value);
      return Number.isFinite(double) ? numberOf(double, type.kind) : wordOf(double);
    }
    case 'NUMBER':
      return textOf(value, isWhole(value) ? INT64 : FLOAT64, numberOf);
    case 'BYTES':
      return `"${base64OfBytes(value as string)}"`;
    case 'TIMESTAMP':
      return `"${datetimeIsoText(value as Int64)}Z"`;
    case 'DATETIME':
      return `"${datetimeIsoText(value as Int64)}"`;
    case 'DATE':
    case 'TIME':
    case 'INTERVAL':
      return JSON.stringify(castValue(value, type, STRING, false));
    case 'ARRAY':
      return `[${(value as readonly SqlValue[]).map((each) => textOf(each, elementTypeOf(type), numberOf)).join(',')}]`;
    case 'STRUCT': {
      const fields = type.fields.map(
        ({ name, type: fieldType }, index) =>
          `${quoted(name ?? '')}:${textOf((value as readonly SqlValue[])[index]!, fieldType, numberOf)}`,
      );
      return `{${fields.join(',')}}`;
    }
    default:
      return dynamicJson(value);
  }
}

/** As GoogleSQL quotes: JSON itself may hold the two, older JavaScript not. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u2028\u2029]/g, (unit) =>
    unit === '\u2028' ? '\\u2028' : '\\u2029',
  );
}

/** A value of the kind that it has by itself; a record as an object. */
export function dynamicJson(value: SqlValue): string {
  if (value === null) return 'null';
  if (isNested(value)) return nestedText(value);
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Number.isFinite(value) ? numberText(value) : wordOf(value);
    case 'object':
      assert(Array.isArray(value), 'no DYNAMIC value is an INTERVAL');
      return `[${(value as readonly SqlValue[]).map(dynamicJson).join(',')}]`;
    default:
      return String(value);
  }
}

/** What is no finite number. */
function wordOf(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  return value > 0 ? '"Infinity"' : '"-Infinity"';
}

/** The same JSON with a line for each element and member, two spaces deeper within each. */
export function prettyJson(json: string, indent = ''): string {
  const deeper = `${indent}  `;
  const elements = jsonElements(json)?.map((each) => prettyJson(each, deeper));
  const parts =
    elements ??
    jsonMembers(json)?.map(
      ([name, value]) => `${JSON.stringify(name)}: ${prettyJson(value, deeper)}`,
    );
  if (parts === undefined) return json;
  const [open, close] = elements === undefined ? ['{', '}'] : ['[', ']'];
  if (parts.length === 0) return open + close;
  return `${open}\n${deeper}${parts.join(`,\n${deeper}`)}\n${indent}${close}`;
}

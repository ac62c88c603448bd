import { assert } from '../../assert.ts';
import { keepLast } from '../../column/caches.ts';
import { numberText } from '../../column/json-buffer.ts';
import { nestedText, shownText } from '../../column/json-nested.ts';
import { DYNAMIC, elementTypeOf, FLOAT64, INT64, type SqlType, STRING } from '../../column/type.ts';
import { isNested, type SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { compareText } from '../comparison.ts';
import { elementsOf, isWhole } from '../dynamic.ts';
import { formatFloat64 } from '../number/float64.ts';
import { INT64_MIN, type Int64 } from '../number/int64.ts';
import { base64OfBytes } from '../text/text-units.ts';
import { datetimeIsoText } from '../time/timestamp-text.ts';

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

/** Levels of a value of type JSON, as in BigQuery: whoever reads one may recurse. */
export const JSON_VALUE_DEPTH_MAX = 500;

/** Whole numbers up to here, 2^64 - 1, are whole numbers of JSON; larger ones are doubles. */
const UINT64_MAX = 2n ** 64n - 1n;

/** Longer numbers stay as they are: a double has 309 digits before its point at most. */
const NUMBER_LENGTH_MAX = 400;

/**
 * Valid JSON as a value of type JSON is held, which is as Google's engine writes one: no space between
 * tokens, members by their names, the first of those with one name, characters as they are. A number
 * that is written as a fraction is a double, and shows it: `1.0`, `1e+20`. One that no double is
 * keeps its digits.
 */
function normalJson(json: string): string {
  return new NormalForm(json).value(0);
}

/** Reads a text once, from its start; `#at` is where the next token begins. */
class NormalForm {
  readonly #json: string;
  #at = 0;

  constructor(json: string) {
    this.#json = json;
  }

  value(depth: number): string {
    this.#skipSpace();
    const first = this.#json[this.#at];
    if (first === '"') return normalString(this.#string());
    if (first !== '{' && first !== '[') return normalScalar(this.#word());
    if (depth === JSON_VALUE_DEPTH_MAX) {
      throw new QueryError('query_limit', `JSON may have at most ${JSON_VALUE_DEPTH_MAX} levels`);
    }
    this.#at++;
    return first === '[' ? `[${this.#elements(depth + 1)}]` : `{${this.#members(depth + 1)}}`;
  }

  #elements(depth: number): string {
    const elements: string[] = [];
    while (!this.#ends(']')) elements.push(this.value(depth));
    return elements.join(',');
  }

  #members(depth: number): string {
    const members = new Map<string, string>();
    while (!this.#ends('}')) {
      const name = JSON.parse(this.#string()) as string;
      this.#skipSpace();
      this.#at++; // The colon.
      const value = this.value(depth);
      if (!members.has(name)) members.set(name, value);
    }
    return [...members]
      .sort(([left], [right]) => compareText(left, right))
      .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
      .join(',');
  }

  /** Steps over a comma, or over the end. */
  #ends(end: string): boolean {
    this.#skipSpace();
    if (this.#json[this.#at] === ',') {
      this.#at++;
      this.#skipSpace();
    }
    if (this.#json[this.#at] !== end) return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    this.#at = skipString(this.#json, start);
    return this.#json.slice(start, this.#at);
  }

  /** A number, `true`, `false` or `null`. */
  #word(): string {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.#json) as RegExpExecArray;
    this.#at = WORD.lastIndex;
    return word;
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.#json, this.#at);
  }
}

const WORD = /[^\s,\]}]+/y;

/** Of what JSON allows between quotes, all but escapes and lone surrogates stands there as it is. */
function normalString(quoted: string): string {
  return /[\\\ud800-\udfff]/.test(quoted) ? JSON.stringify(JSON.parse(quoted)) : quoted;
}

function normalScalar(word: string): string {
  if (word === 'true' || word === 'false' || word === 'null') return word;
  if (word.length > NUMBER_LENGTH_MAX) return word;
  if (!/[.eE]/.test(word)) {
    const whole = BigInt(word);
    if (whole >= INT64_MIN && whole <= UINT64_MAX) return String(whole);
  }
  const value = Number(word);
  if (!Number.isFinite(value)) return word;
  const text = doubleJson(value);
  return decimalOf(text) === decimalOf(word) ? text : word;
}

/** A finite double as JSON writes it, never as a whole number: the shortest digits that are it. */
function doubleJson(value: number): string {
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 15) {
    const text = Object.is(value, -0) ? '-0' : String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** One text for all ways to write a number: its digits without zeros at the ends, and their place. */
function decimalOf(number: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return `${sign}0`;
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A step into a JSON value: a member's name or an element's index. */
export type JsonStep = string | number;

const STEP = /\.([^.[\]"\s]+)|\."((?:[^"\\]|\\.)*)"|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]/y;

/** The steps of a path such as `$.request.headers[0]."x-real-ip"`; throws for any other text. */
export const parseJsonPath = keepLast((path: string): readonly JsonStep[] => {
  const steps: JsonStep[] = [];
  let at = 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (match === null) break;
    const quoted = match[2] ?? match[4];
    if (match[3] !== undefined) steps.push(Number(match[3]));
    else steps.push(match[1] ?? (quoted as string).replace(/\\(.)/g, '$1'));
    at = STEP.lastIndex;
  }
  if (!path.startsWith('$') || at !== path.length) {
    throw new QueryError(
      'query_failed',
      `JSON path must be written like $.name[0]."other name"; got ${JSON.stringify(path.slice(0, 256))}`,
    );
  }
  return steps;
});

/**
 * The text of the value that the steps lead to, as it stands in `json`; `undefined` when there is
 * none or `json` is no JSON. Of members of one name the first counts. The text is kept, not the
 * parsed value, for its integers may be beyond doubles.
 */
function findJson(json: string, steps: readonly JsonStep[]): string | undefined {
  return isJson(json) ? findInJson(json, steps) : undefined;
}

/** The same of a text that is JSON, as each value of type JSON is. */
export function findInJson(json: string, steps: readonly JsonStep[]): string | undefined {
  let at = skipSpace(json, 0);
  for (const step of steps) {
    const next =
      typeof step === 'string' ? findMember(json, at, step) : findElement(json, at, step);
    if (next === undefined) return undefined;
    at = next;
  }
  return json.slice(at, skipValue(json, at));
}

/** The texts of the elements of a valid JSON list; `undefined` for another value. */
export function jsonElements(json: string): string[] | undefined {
  const start = skipSpace(json, 0);
  if (json[start] !== '[') return undefined;
  const elements: string[] = [];
  let next = skipSpace(json, start + 1);
  while (next < json.length && json[next] !== ']') {
    const end = skipValue(json, next);
    elements.push(json.slice(next, end));
    next = skipComma(json, end);
  }
  return elements;
}

/** The names of the members of a valid JSON map, and their values' texts; `undefined` for another value. */
export function jsonMembers(json: string): [name: string, value: string][] | undefined {
  const start = skipSpace(json, 0);
  if (json[start] !== '{') return undefined;
  const members: [string, string][] = [];
  let next = skipSpace(json, start + 1);
  while (json[next] === '"') {
    const end = skipString(json, next);
    const valueAt = skipSpace(json, skipSpace(json, end) + 1);
    const valueEnd = skipValue(json, valueAt);
    members.push([JSON.parse(json.slice(next, end)) as string, json.slice(valueAt, valueEnd)]);
    next = skipComma(json, valueEnd);
  }
  return members;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Below, `json` is valid from `at` on, so what is not one thing is the other. */
function findMember(json: string, at: number, name: string): number | undefined {
  if (json[at] !== '{') return undefined;
  let next = skipSpace(json, at + 1);
  while (json[next] === '"') {
    const end = skipString(json, next);
    const valueAt = skipSpace(json, skipSpace(json, end) + 1);
    if (JSON.parse(json.slice(next, end)) === name) return valueAt;
    next = skipComma(json, skipValue(json, valueAt));
  }
  return undefined;
}

function findElement(json: string, at: number, index: number): number | undefined {
  if (json[at] !== '[') return undefined;
  let next = skipSpace(json, at + 1);
  for (let skipped = 0; json[next] !== ']' && next < json.length; skipped++) {
    if (skipped === index) return next;
    next = skipComma(json, skipValue(json, next));
  }
  return undefined;
}

function skipComma(json: string, at: number): number {
  const next = skipSpace(json, at);
  return json[next] === ',' ? skipSpace(json, next + 1) : next;
}

function skipSpace(json: string, at: number): number {
  let next = at;
  while (next < json.length && json.charCodeAt(next) <= 0x20) next++;
  return next;
}

/** After the closing quote. */
function skipString(json: string, at: number): number {
  let next = at + 1;
  while (json[next] !== '"') next += json[next] === '\\' ? 2 : 1;
  return next + 1;
}

function skipValue(json: string, at: number): number {
  if (json[at] === '"') return skipString(json, at);
  let depth = 0;
  let next = at;
  while (next < json.length) {
    const character = json[next] as string;
    if (character === '"') {
      next = skipString(json, next);
      continue;
    }
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') {
      if (depth === 0) return next;
      depth--;
      if (depth === 0) return next + 1;
    }
    if (depth === 0 && (character === ',' || character.charCodeAt(0) <= 0x20)) return next;
    next++;
  }
  return next;
}

/** Valid JSON without the white space between its tokens. */
export function compactJson(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? token : ''));
}

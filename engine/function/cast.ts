import { unreachable } from '../assert.ts';
import { type JsonWriter, numberText } from '../column/json-buffer.ts';
import { shownText } from '../column/json-nested.ts';
import { type ScalarKind, type SqlType, typeName, typesEqual } from '../column/type.ts';
import { type Interval, isNested, type Nested, type SqlValue } from '../column/value.ts';
import { QueryError } from '../query-error.ts';
import { fitsDynamic, isWhole, scalarText } from './dynamic.ts';
import { formatFloat64, parseFloat64, trimAscii } from './number/float64.ts';
import { canonicalInteger, INT64_MAX, INT64_MIN, type Int64 } from './number/int64.ts';
import { bytesOfText, textOfBytes } from './text/text-units.ts';
import { joinUs, splitUs } from './time/calendar.ts';
import { formatInterval, parseInterval } from './time/interval.ts';
import {
  formatDate,
  formatDatetime,
  formatTimeOfDay,
  formatTimestamp,
  parseDate,
  parseDatetime,
  parseTimeOfDay,
  parseTimestamp,
} from './time/timestamp-text.ts';

/** Kinds that a value of each kind can be cast to, besides its own. */
const CASTS: Readonly<Record<ScalarKind, readonly ScalarKind[]>> = {
  BOOL: ['INT64', 'STRING'],
  INT64: ['BOOL', 'FLOAT64', 'STRING'],
  FLOAT64: ['INT64', 'STRING'],
  STRING: [
    ...(['BOOL', 'INT64', 'FLOAT64', 'BYTES'] as const),
    ...(['TIMESTAMP', 'DATETIME', 'DATE', 'TIME', 'INTERVAL'] as const),
  ],
  TIMESTAMP: ['STRING', 'DATETIME', 'DATE', 'TIME'],
  DATETIME: ['STRING', 'TIMESTAMP', 'DATE', 'TIME'],
  DATE: ['STRING', 'DATETIME', 'TIMESTAMP'],
  TIME: ['STRING'],
  INTERVAL: ['STRING'],
  BYTES: ['STRING'],
  JSON: [],
};

/** What a NUMBER can be cast to: it is an INT64, or a FLOAT64. */
const NUMBER_CASTS: readonly string[] = CASTS.INT64.concat('INT64');

/**
 * Whether CAST knows a way. DYNAMIC can be cast to every scalar type (and fails by the value's
 * kind), and takes what it has kinds for.
 */
export function canCast(from: SqlType, to: SqlType): boolean {
  if (typesEqual(from, to) || from.kind === 'NULL') return true;
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY') return canCast(from.element, to.element);
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    return (
      from.fields.length === to.fields.length &&
      from.fields.every((field, index) => canCast(field.type, to.fields[index]!.type))
    );
  }
  if (from.kind === 'DYNAMIC')
    return CASTS.STRING.includes(to.kind as ScalarKind) || to.kind === 'STRING';
  if (to.kind === 'DYNAMIC') return fitsDynamic(from);
  if (from.kind === 'NUMBER') return NUMBER_CASTS.includes(to.kind);
  if (to.kind === 'NUMBER') return from.kind === 'INT64' || from.kind === 'FLOAT64';
  const kinds = CASTS[from.kind as ScalarKind] as readonly string[] | undefined;
  return kinds?.includes(to.kind) === true;
}

/**
 * CAST, or SAFE_CAST with `safe`, for types that `canCast`. A value that has no counterpart throws,
 * or is NULL when `safe`.
 */
export function castValue(value: SqlValue, from: SqlType, to: SqlType, safe: boolean): SqlValue {
  if (!safe) return cast(value, from, to);
  try {
    return cast(value, from, to);
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

function cast(value: SqlValue, from: SqlType, to: SqlType): SqlValue {
  if (value === null) return null;
  if (to.kind === 'DYNAMIC') return Array.isArray(value) ? new MadeList(value) : value;
  if (from.kind === to.kind) return castNested(value, from, to);
  if (from.kind === 'DYNAMIC' || from.kind === 'NUMBER') return castDynamic(value, from, to);
  switch (to.kind) {
    case 'BOOL':
      return castToBool(value, from);
    case 'INT64':
      return castToInt64(value, from);
    case 'FLOAT64':
      return castToFloat64(value, from);
    case 'STRING':
      return castToString(value, from);
    case 'TIMESTAMP':
      return typeof value === 'string' ? parseTimestamp(value) : civilUsOf(value, from);
    case 'DATETIME':
      return typeof value === 'string' ? parseDatetime(value) : civilUsOf(value, from);
    case 'DATE':
      return typeof value === 'string' ? parseDate(value) : splitUs(value as Int64).dayNumber;
    case 'TIME':
      return typeof value === 'string'
        ? parseTimeOfDay(value)
        : splitUs(value as Int64).timeOfDayUs;
    case 'INTERVAL':
      return parseInterval(value as string);
    case 'BYTES':
      return bytesOfText(value as string); // Of all types only a STRING is cast to BYTES.
    case 'NUMBER':
      return value;
    case 'NULL':
    case 'ARRAY':
    case 'STRUCT':
    case 'JSON':
      throw noCast(value, from, to);
    default:
      return unreachable(to);
  }
}

/** A DATE is its midnight; zones are UTC. */
function civilUsOf(value: SqlValue, from: SqlType): SqlValue {
  return from.kind === 'DATE' ? joinUs(value as number, 0) : value;
}

function castNested(value: SqlValue, from: SqlType, to: SqlType): SqlValue {
  if (!Array.isArray(value)) return value;
  const elements = value as readonly SqlValue[];
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY') {
    return elements.map((element) => cast(element, from.element, to.element));
  }
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    return elements.map((element, index) =>
      cast(element, from.fields[index]!.type, to.fields[index]!.type),
    );
  }
  return value;
}

/** A DYNAMIC value has the type of its kind: a whole number is an INT64. */
function castDynamic(value: SqlValue, dynamic: SqlType, to: SqlType): SqlValue {
  if (isNested(value)) {
    if (to.kind === 'STRING') return shownText(value, dynamic);
    throw noCast(value, dynamic, to);
  }
  const from: SqlType = { kind: scalarKindOf(value) };
  if (!canCast(from, to)) throw noCast(value, from, to);
  if (to.kind === 'STRING' && typeof value !== 'string') return scalarText(value);
  // A whole number beyond 64 bits is a FLOAT64.
  return cast(from.kind === 'FLOAT64' ? Number(value) : value, from, to);
}

function scalarKindOf(value: SqlValue): ScalarKind {
  if (typeof value === 'string') return 'STRING';
  if (typeof value === 'boolean') return 'BOOL';
  return isWhole(value) ? 'INT64' : 'FLOAT64';
}

function castToBool(value: SqlValue, from: SqlType): boolean {
  if (typeof value !== 'string') return value !== 0;
  const word = value.toLowerCase();
  if (word !== 'true' && word !== 'false') throw badText(value, from, { kind: 'BOOL' });
  return word === 'true';
}

function castToInt64(value: SqlValue, from: SqlType): Int64 {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') return parseInt64(value);
  const rounded = typeof value === 'number' ? roundHalfAwayFromZero(value) : (value as bigint);
  if (typeof rounded === 'number' && !Number.isFinite(rounded)) {
    throw noCast(value, from, { kind: 'INT64' });
  }
  return toInt64(BigInt(rounded), from);
}

function toInt64(exact: bigint, from: SqlType): Int64 {
  if (exact < INT64_MIN || exact > INT64_MAX) throw noCast(exact, from, { kind: 'INT64' });
  return canonicalInteger(exact);
}

/** The nearest integer; of two equally near ones the one farther from zero. */
function roundHalfAwayFromZero(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

/** Decimal or hexadecimal text with a sign; white space around it is let pass. */
function parseInt64(text: string): Int64 {
  const trimmed = trimAscii(text);
  const match = /^([+-]?)(0[xX][0-9a-fA-F]+|\d+)$/.exec(trimmed);
  // Longer digits would be costly to read; leading zeros alone do not make a number longer.
  const digits = match?.[2]?.replace(/^(0[xX])?0+(?=[0-9a-fA-F])/, '$1');
  if (match === null || digits === undefined || digits.length > 20) {
    throw badText(text, { kind: 'STRING' }, { kind: 'INT64' });
  }
  const magnitude = BigInt(digits);
  const exact = match[1] === '-' ? -magnitude : magnitude;
  if (exact < INT64_MIN || exact > INT64_MAX) {
    throw badText(text, { kind: 'STRING' }, { kind: 'INT64' });
  }
  return canonicalInteger(exact);
}

function castToFloat64(value: SqlValue, from: SqlType): number {
  if (typeof value !== 'string') return Number(value);
  const parsed = parseFloat64(value);
  if (parsed === undefined) throw badText(value, from, { kind: 'FLOAT64' });
  return parsed;
}

function castToString(value: SqlValue, from: SqlType): string {
  switch (from.kind) {
    case 'FLOAT64':
      return formatFloat64(value as number);
    case 'TIMESTAMP':
      return formatTimestamp(value as Int64);
    case 'DATETIME':
      return formatDatetime(value as Int64);
    case 'BYTES':
      return textOfBytes(value as string);
    case 'DATE':
      return formatDate(value as number);
    case 'TIME':
      return formatTimeOfDay(value as number);
    case 'INTERVAL':
      return formatInterval(value as Interval);
    default:
      return String(value);
  }
}

function badText(text: string, from: SqlType, to: SqlType): QueryError {
  const shown = text.length > 64 ? `${text.slice(0, 64)}…` : text;
  return new QueryError(
    'query_failed',
    `cannot cast ${typeName(from)} ${JSON.stringify(shown)} to ${typeName(to)}`,
  );
}

function noCast(value: SqlValue, from: SqlType, to: SqlType): QueryError {
  if (isNested(value) || Array.isArray(value)) {
    const kind = isNested(value) && !value.isList ? 'a record' : 'a list';
    return new QueryError('query_failed', `cannot cast ${kind} to ${typeName(to)}`);
  }
  return badText(String(value), from, to);
}

/** An ARRAY that became DYNAMIC, beside lists of events, whose JSON it has too: its elements are DYNAMIC values. */
class MadeList implements Nested {
  readonly isList = true;
  readonly #elements: readonly SqlValue[];

  constructor(elements: readonly SqlValue[]) {
    this.#elements = elements;
  }

  field(name: string): SqlValue {
    const [only] = this.#elements;
    if (this.#elements.length !== 1 || only === undefined) return null;
    return isNested(only) && !only.isList ? only.field(name) : null;
  }

  elements(): readonly SqlValue[] {
    return this.#elements;
  }

  writeJson(out: JsonWriter): void {
    out.raw('[');
    for (const [index, element] of this.#elements.entries()) {
      if (index > 0) out.raw(',');
      writeElement(element, out);
    }
    out.raw(']');
  }
}

function writeElement(element: SqlValue, out: JsonWriter): void {
  if (isNested(element)) element.writeJson(out);
  else if (typeof element === 'string') out.string(element);
  else if (typeof element === 'number' && !Number.isFinite(element)) out.string(String(element));
  else if (typeof element === 'number') out.raw(numberText(element));
  else out.raw(String(element));
}

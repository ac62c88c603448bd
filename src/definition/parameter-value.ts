import {
  BOOL,
  canonicalInteger,
  FLOAT64,
  INT64,
  INT64_MAX,
  INT64_MIN,
  type SqlType,
  type SqlValue,
  STRING,
  TIMESTAMP,
} from '../../engine/columns.ts';
import type { ParameterType } from './definition.ts';
import { parseIsoTimestampUs } from './iso-timestamp.ts';

type TypeEntry = {
  readonly type: SqlType;
  /** The expected form of a text, for messages. */
  readonly wanted: string;
  /** Returns `undefined` for a text of another form. */
  readonly parse: (text: string) => SqlValue | undefined;
};

const TYPES: Readonly<Record<ParameterType, TypeEntry>> = {
  string: { type: STRING, wanted: 'text', parse: (text) => text },
  int64: { type: INT64, wanted: 'a whole number within 64 bits', parse: parseInt64 },
  float64: { type: FLOAT64, wanted: 'a decimal number', parse: parseFloat64 },
  bool: { type: BOOL, wanted: 'true or false', parse: parseBool },
  timestamp: {
    type: TIMESTAMP,
    wanted: 'an ISO 8601 time such as 2026-01-15T12:00:00Z',
    parse: parseIsoTimestampUs,
  },
};

/** The engine's type of a declared type. */
export function toSqlType(type: ParameterType): SqlType {
  return TYPES[type].type;
}

/** The expected form of a text of the type, for messages. */
export function wantedBy(type: ParameterType): string {
  return TYPES[type].wanted;
}

/** Parses a text to its value; `undefined` if it is not of the type. */
export function parseParameterText(type: ParameterType, text: string): SqlValue | undefined {
  return TYPES[type].parse(text);
}

function parseInt64(text: string): SqlValue | undefined {
  if (!/^[+-]?\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value < INT64_MIN || value > INT64_MAX ? undefined : canonicalInteger(value);
}

function parseFloat64(text: string): SqlValue | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function parseBool(text: string): SqlValue | undefined {
  const word = text.toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

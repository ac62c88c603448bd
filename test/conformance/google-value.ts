import { unreachable } from '../../engine/assert.ts';
import { numberText } from '../../engine/column/json-buffer.ts';
import type { SqlType, StructField } from '../../engine/column/type.ts';
import { fractionText, intervalOfBytes, timeText } from './google-time.ts';

/**
 * A value as it goes to Google's engine: INT64 a number or bigint, TIMESTAMP and DATETIME
 * microseconds since the epoch, a STRUCT an object by field name; a field left out is NULL.
 */
export type GoogleInput =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | readonly GoogleInput[]
  | { readonly [field: string]: GoogleInput };

/**
 * A value as it comes back, in the form that weir's answers give it: TIMESTAMP in microseconds, an
 * integer beyond 2^53 as its digits, DATETIME, DATE and TIME as ISO text, INTERVAL as its canonical
 * text, BYTES in base64, NaN and infinities by name, a NULL array as an empty one.
 */
export type GoogleValue =
  | null
  | boolean
  | number
  | string
  | readonly GoogleValue[]
  | { readonly [field: string]: GoogleValue };

/** `zetasql.TypeProto` as the proto loader gives it. */
export type TypeMessage = {
  readonly type_kind: string;
  readonly array_type?: { readonly element_type: TypeMessage };
  readonly struct_type?: { readonly field?: readonly FieldMessage[] };
};

type FieldMessage = { readonly field_name?: string; readonly field_type: TypeMessage };

/** `zetasql.ValueProto`: at most one of its keys is there, and none for NULL. */
export type ValueMessage = {
  readonly bool_value?: boolean;
  readonly int64_value?: string;
  readonly double_value?: number;
  readonly string_value?: string;
  readonly bytes_value?: Uint8Array;
  /** What is zero may be left out, here and below. */
  readonly timestamp_value?: { readonly seconds?: string; readonly nanos?: number };
  readonly datetime_value?: {
    readonly bit_field_datetime_seconds?: string;
    readonly nanos?: number;
  };
  /** Days since the epoch. */
  readonly date_value?: number;
  readonly time_value?: string;
  readonly interval_value?: Uint8Array;
  readonly json_value?: string;
  readonly array_value?: { readonly element?: readonly ValueMessage[] };
  readonly struct_value?: { readonly field?: readonly ValueMessage[] };
};

const KINDS = {
  BOOL: 'TYPE_BOOL',
  INT64: 'TYPE_INT64',
  FLOAT64: 'TYPE_DOUBLE',
  STRING: 'TYPE_STRING',
  TIMESTAMP: 'TYPE_TIMESTAMP',
  DATETIME: 'TYPE_DATETIME',
  DATE: 'TYPE_DATE',
  TIME: 'TYPE_TIME',
  BYTES: 'TYPE_BYTES',
  INTERVAL: 'TYPE_INTERVAL',
  JSON: 'TYPE_JSON',
} as const;

const KINDS_BACK: ReadonlyMap<string, keyof typeof KINDS> = new Map(
  (Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => [KINDS[kind], kind]),
);

export function typeMessage(type: SqlType): TypeMessage {
  switch (type.kind) {
    case 'ARRAY':
      return {
        type_kind: 'TYPE_ARRAY',
        array_type: { element_type: typeMessage(type.element) },
      };
    case 'STRUCT': {
      const field = type.fields.map((each) => ({
        field_name: each.name ?? '',
        field_type: typeMessage(each.type),
      }));
      return { type_kind: 'TYPE_STRUCT', struct_type: { field } };
    }
    case 'DYNAMIC':
    case 'NUMBER':
    case 'NULL':
      throw new Error(`Google's engine has no type ${type.kind}`);
    default:
      return { type_kind: KINDS[type.kind] };
  }
}

/** The type, or undefined when weir has none such (NUMERIC and others). */
export function findType(message: TypeMessage): SqlType | undefined {
  if (message.array_type !== undefined) {
    const element = findType(message.array_type.element_type);
    return element && { kind: 'ARRAY', element };
  }
  if (message.struct_type !== undefined) {
    const fields: StructField[] = [];
    for (const { field_name, field_type } of message.struct_type.field ?? []) {
      const type = findType(field_type);
      if (type === undefined) return undefined;
      fields.push({ name: field_name === '' ? undefined : field_name, type });
    }
    return { kind: 'STRUCT', fields };
  }
  const kind = KINDS_BACK.get(message.type_kind);
  return kind && { kind };
}

export function valueMessage(value: GoogleInput, type: SqlType): ValueMessage {
  if (value === null || value === undefined) return {};
  switch (type.kind) {
    case 'BOOL':
      return { bool_value: value as boolean };
    case 'INT64':
      return { int64_value: String(value) };
    case 'FLOAT64':
      return { double_value: Number(value) };
    case 'STRING':
      return { string_value: value as string };
    case 'TIMESTAMP':
      return { timestamp_value: timestampMessage(BigInt(value as number | bigint)) };
    case 'DATETIME':
      return { datetime_value: datetimeMessage(BigInt(value as number | bigint)) };
    case 'ARRAY': {
      const list = value as readonly GoogleInput[];
      return { array_value: { element: list.map((item) => valueMessage(item, type.element)) } };
    }
    case 'STRUCT': {
      const record = value as { readonly [field: string]: GoogleInput };
      const field = type.fields.map((each) => valueMessage(record[each.name ?? ''], each.type));
      return { struct_value: { field } };
    }
    case 'DATE':
    case 'TIME':
    case 'BYTES':
    case 'INTERVAL':
    case 'JSON':
    case 'DYNAMIC':
    case 'NUMBER':
    case 'NULL':
      throw new Error(`Google's engine is given no ${type.kind}`);
    default:
      return unreachable(type);
  }
}

const SECOND_US = 1_000_000n;

function timestampMessage(us: bigint): { readonly seconds: string; readonly nanos: number } {
  const micros = ((us % SECOND_US) + SECOND_US) % SECOND_US;
  return { seconds: String((us - micros) / SECOND_US), nanos: Number(micros) * 1000 };
}

function datetimeMessage(us: bigint): {
  readonly bit_field_datetime_seconds: string;
  readonly nanos: number;
} {
  const { seconds, nanos } = timestampMessage(us);
  const date = new Date(Number(seconds) * 1000);
  const parts: readonly (readonly [value: number, shift: bigint])[] = [
    [date.getUTCFullYear(), 26n],
    [date.getUTCMonth() + 1, 22n],
    [date.getUTCDate(), 17n],
    [date.getUTCHours(), 12n],
    [date.getUTCMinutes(), 6n],
    [date.getUTCSeconds(), 0n],
  ];
  const bits = parts.reduce((sum, [value, shift]) => sum + (BigInt(value) << shift), 0n);
  return { bit_field_datetime_seconds: String(bits), nanos };
}

/** Year, month, day, hour, minute, second: bits from the 26th, 22nd, 17th, 12th, 6th and 0th. */
function datetimeText(message: NonNullable<ValueMessage['datetime_value']>): string {
  const bits = BigInt(message.bit_field_datetime_seconds ?? '0');
  const part = (shift: bigint, width: bigint) =>
    String((bits >> shift) & ((1n << width) - 1n)).padStart(2, '0');
  const day = `${part(26n, 14n).padStart(4, '0')}-${part(22n, 4n)}-${part(17n, 5n)}`;
  const time = `${part(12n, 5n)}:${part(6n, 6n)}:${part(0n, 6n)}`;
  const micros = Math.trunc((message.nanos ?? 0) / 1000);
  return `${day}T${time}${fractionText(micros)}`;
}

const EXACT_MAX = 2n ** 53n;

function integerValue(value: bigint): number | string {
  return value >= -EXACT_MAX && value <= EXACT_MAX ? Number(value) : String(value);
}

function floatValue(value: number): number | string {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

export function decodedValue(message: ValueMessage, type: SqlType): GoogleValue {
  if (type.kind === 'ARRAY') {
    return (message.array_value?.element ?? []).map((item) => decodedValue(item, type.element));
  }
  if (type.kind === 'STRUCT') return recordOf(message, type);
  if (message.bool_value !== undefined) return message.bool_value;
  if (message.int64_value !== undefined) return integerValue(BigInt(message.int64_value));
  if (message.double_value !== undefined) return floatValue(message.double_value);
  if (message.string_value !== undefined) return message.string_value;
  if (message.bytes_value !== undefined) return Buffer.from(message.bytes_value).toString('base64');
  if (message.timestamp_value !== undefined) {
    const { seconds = '0', nanos = 0 } = message.timestamp_value;
    return integerValue(BigInt(seconds) * SECOND_US + BigInt(Math.trunc(nanos / 1000)));
  }
  if (message.datetime_value !== undefined) return datetimeText(message.datetime_value);
  if (message.date_value !== undefined) return dateText(message.date_value);
  if (message.time_value !== undefined) return timeText(BigInt(message.time_value));
  if (message.interval_value !== undefined) return intervalOfBytes(message.interval_value);
  if (message.json_value !== undefined) return JSON.parse(message.json_value) as GoogleValue;
  return null;
}

function dateText(dayNumber: number): string {
  return new Date(dayNumber * 86_400_000).toISOString().slice(0, 10);
}

function recordOf(message: ValueMessage, type: SqlType & { readonly kind: 'STRUCT' }): GoogleValue {
  if (message.struct_value === undefined) return null;
  const values = message.struct_value.field ?? [];
  return Object.fromEntries(
    type.fields.map((field, index) => [
      field.name ?? `_field_${index + 1}`,
      decodedValue(values[index]!, field.type),
    ]),
  );
}

/** The JSON text of a value as weir writes it; -0 keeps its sign. */
export function googleJson(value: GoogleValue): string {
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map(googleJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(
      ([name, field]) => `${JSON.stringify(name)}:${googleJson(field as GoogleValue)}`,
    );
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value);
}

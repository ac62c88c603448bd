import type { SqlType } from '../column/type.ts';
import { elementTypeOf, STRING } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { isNested } from '../column/value.ts';
import { castValue } from './cast.ts';
import { shownText } from './json/json-text.ts';
import { formatFloat64 } from './number/float-text.ts';

/** A value as `%t` of FORMAT writes it: as CAST to STRING does, the parts of others in brackets. */
export function plainTextOf(value: SqlValue, type: SqlType): string {
  if (value === null) return 'NULL';
  const parts = partsOf(value, type, plainTextOf);
  if (parts !== undefined) return parts;
  if (type.kind === 'FLOAT64') return floatText(value);
  if (type.kind === 'BYTES') return escaped(value as string, '');
  if (type.kind === 'JSON') return value as string;
  return String(castValue(value, type, STRING, false));
}

/** A value as `%T` writes it: as a literal of GoogleSQL. */
export function literalTextOf(value: SqlValue, type: SqlType): string {
  if (value === null) return 'NULL';
  const parts = partsOf(value, type, literalTextOf);
  if (parts !== undefined) return parts;
  switch (type.kind) {
    case 'FLOAT64': {
      const text = floatText(value);
      return /\d/.test(text) ? text : `CAST("${text}" AS FLOAT64)`;
    }
    case 'BYTES':
      return `b${quoted(value as string, escaped)}`;
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return `${type.kind} "${castValue(value, type, STRING, false)}"`;
    case 'JSON':
      return `JSON ${quoted(value as string, escapedText)}`;
    default:
      if (typeof value === 'string') return quoted(value, escapedText);
      return plainTextOf(value, type);
  }
}

type Write = (value: SqlValue, type: SqlType) => string;

/** An ARRAY, a STRUCT or a record; `undefined` for a scalar. */
function partsOf(value: SqlValue, type: SqlType, write: Write): string | undefined {
  if (isNested(value)) return shownText(value, type);
  if (!Array.isArray(value)) return undefined;
  const parts = value as readonly SqlValue[];
  if (type.kind === 'STRUCT') {
    const texts = parts.map((part, index) => write(part, type.fields[index]!.type));
    return texts.length === 1 && write === literalTextOf
      ? `STRUCT(${texts[0]})`
      : `(${texts.join(', ')})`;
  }
  const element = elementTypeOf(type);
  return `[${parts.map((part) => write(part, element)).join(', ')}]`;
}

/** A whole FLOAT64 shows that it is none of INT64. */
function floatText(value: SqlValue): string {
  const text = formatFloat64(Number(value));
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function quoted(text: string, escapeAll: (text: string, quote: string) => string): string {
  const quote = text.includes('"') && !text.includes("'") ? "'" : '"';
  return quote + escapeAll(text, quote) + quote;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function escapedText(text: string, quote: string): string {
  return text.replace(/[\\\n\r\t"']/g, (unit) =>
    unit === quote ? `\\${unit}` : (ESCAPES.get(unit) ?? unit),
  );
}

/** Bytes that are no visible character of ASCII as `\xNN`. */
function escaped(bytes: string, quote: string): string {
  return escapedText(bytes, quote).replace(
    /[^ -~]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

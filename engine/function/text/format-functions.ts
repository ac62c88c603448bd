import { keepLast } from '../../column/caches.ts';
import { shownText } from '../../column/json-nested.ts';
import { DYNAMIC, elementTypeOf, type SqlType, STRING, typeName } from '../../column/type.ts';
import { isNested, type SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { castValue } from '../cast.ts';
import { isWhole } from '../dynamic.ts';
import { jsonTextOf, prettyJson } from '../json/json-value.ts';
import { formatFloat64 } from '../number/float64.ts';
import type { Int64 } from '../number/int64.ts';
import { type ScalarFunction, scalarFunction, typed } from '../scalar-function.ts';
import { charactersOf, checkTextSize } from './text-units.ts';

export const formatFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'format',
    [
      'Formats values with a format string: `%s` for a text, `%d` for a whole number, `%.2f` for two decimal places, `%t` for any value, `%T` for any value as an SQL literal, and others as in C. NULL if a value is NULL, except for `%t`, `%T`, `%p` and `%P`, which write it.',
      "FORMAT('%s took %.1f ms', 'GET', 12.34)",
      "'GET took 12.3 ms'",
    ],
    {
      parameters: [STRING],
      variadic: 'any',
      result: STRING,
      nulls: 'handle',
      evaluate: (pattern, ...values) => format(pattern as string | null, values, []),
      evaluateTyped: (types) => {
        const argumentTypes = types.slice(1);
        return typed((pattern: string | null, ...values: SqlValue[]) =>
          format(pattern, values, argumentTypes),
        );
      },
    },
  ),
];

type Argument = { readonly value: SqlValue; readonly type: SqlType };

/** NULL for a NULL beside another letter than t, T, p and P, which write it as `NULL` or `null`. */
function format(
  pattern: string | null,
  values: readonly SqlValue[],
  types: readonly SqlType[],
): string | null {
  if (pattern === null) return null;
  const given = values.map((value, index) => ({ value, type: types[index] ?? DYNAMIC }));
  const queue = given[Symbol.iterator]();
  let text = '';
  let isNull = false;
  for (const piece of parseFormat(pattern)) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const place = withNumbers(piece, queue);
    const argument = next(queue, piece);
    const isMissing = argument.value === null && !'tTpP'.includes(piece.letter);
    if (place === undefined || isMissing) isNull = true;
    else text += padded(written(argument, place), place);
    checkTextSize('FORMAT', text.length);
  }
  if (queue.next().done !== true) {
    throw new QueryError(
      'query_failed',
      'FORMAT has more arguments than its format string has specifiers',
    );
  }
  return isNull ? null : text;
}

/** `undefined` when an argument for `*` is NULL. A negative width is one from the left. */
function withNumbers(place: FormatPlace, queue: Iterator<Argument>): FixedPlace | undefined {
  const width = place.width === '*' ? starOf(queue, place) : (place.width ?? 0);
  const precision = place.precision === '*' ? starOf(queue, place) : place.precision;
  if (width === null || precision === null) return undefined;
  const flags = width < 0 ? `${place.flags}-` : place.flags;
  checkTextSize('FORMAT', Math.max(Math.abs(width), precision ?? 0));
  const isLeft = precision !== undefined && precision < 0;
  return {
    flags,
    width: Math.abs(width),
    precision: isLeft ? undefined : precision,
    letter: place.letter,
  };
}

/** Types whose values may be whole numbers. */
const INTEGER_TYPES: ReadonlySet<string> = new Set(['INT64', 'NUMBER', 'DYNAMIC']);

function starOf(queue: Iterator<Argument>, place: FormatPlace): number | null {
  const { value, type } = next(queue, place);
  if (value === null) return null;
  if (!INTEGER_TYPES.has(type.kind)) throw wrongType('*', type);
  return Number(value);
}

function next(queue: Iterator<Argument>, place: FormatPlace): Argument {
  const { value, done } = queue.next();
  if (done === true) {
    throw new QueryError(
      'query_failed',
      `FORMAT has no argument for the specifier %${place.letter}`,
    );
  }
  return value as Argument;
}

function written({ value, type }: Argument, place: FixedPlace): string {
  const { letter, precision } = place;
  switch (letter) {
    case 's':
      return cut(textOf(value, type), precision);
    case 't':
      return cut(plainTextOf(value, type), precision);
    case 'T':
      return cut(literalTextOf(value, type), precision);
    case 'p':
      return cut(jsonTextOf(value, type), precision);
    case 'P':
      return cut(prettyJson(jsonTextOf(value, type)), precision);
    case 'd':
    case 'i':
    case 'o':
    case 'x':
    case 'X':
      return formatInteger(integerOf(value, type, letter), place);
    default:
      return formatFloat(floatOf(value, type, letter), place);
  }
}

function textOf(value: SqlValue, type: SqlType): string {
  if (type.kind !== 'STRING' && type.kind !== 'DYNAMIC') throw wrongType('s', type);
  return plainTextOf(value, type);
}

function integerOf(value: SqlValue, type: SqlType, letter: string): Int64 {
  if (!isWhole(value) || !INTEGER_TYPES.has(type.kind)) throw wrongType(letter, type);
  return value;
}

function floatOf(value: SqlValue, type: SqlType, letter: string): number {
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  if (!isNumber || !(type.kind === 'FLOAT64' || INTEGER_TYPES.has(type.kind))) {
    throw wrongType(letter, type);
  }
  return Number(value);
}

function wrongType(letter: string, type: SqlType): QueryError {
  const wanted = letter === 's' ? 'STRING' : 'fFeEgG'.includes(letter) ? 'FLOAT64' : 'INT64';
  const place = letter === '*' ? '*' : `%${letter}`;
  return new QueryError(
    'query_failed',
    `FORMAT wants ${wanted} at ${place}; got ${typeName(type)}`,
  );
}

/** The first `precision` characters of a text. */
function cut(text: string, precision: number | undefined): string {
  return precision === undefined ? text : charactersOf(text).slice(0, precision).join('');
}

/** Numbers have their zeros already; what is left are spaces. */
function padded(text: string, { flags, width }: FixedPlace): string {
  const missing = width - charactersOf(text).length;
  if (missing <= 0) return text;
  const spaces = ' '.repeat(missing);
  return flags.includes('-') ? text + spaces : spaces + text;
}

/** An integer as `%d %i %o %x %X` of C write it; a negative one has its sign in every base. */
function formatInteger(value: Int64, place: FixedPlace): string {
  const { flags, letter, precision } = place;
  const magnitude = BigInt(value) < 0n ? -BigInt(value) : BigInt(value);
  const base = letter === 'o' ? 8 : letter === 'x' || letter === 'X' ? 16 : 10;
  let digits = magnitude.toString(base);
  if (letter === 'X') digits = digits.toUpperCase();
  if (precision !== undefined) digits = digits.padStart(precision, '0');
  if (flags.includes("'")) digits = grouped(digits, base === 10 ? 3 : 4, base === 10 ? ',' : ':');
  const prefix = flags.includes('#') && magnitude !== 0n ? PREFIXES.get(letter) : undefined;
  const sign = signOf(BigInt(value) < 0n, flags) + (prefix ?? '');
  return precision === undefined ? withZeros(sign, digits, place) : sign + digits;
}

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['o', '0'],
  ['x', '0x'],
  ['X', '0X'],
]);

/** A double as `%f %e %g` and their capitals of C write it. */
function formatFloat(value: number, place: FixedPlace): string {
  const { flags, letter } = place;
  const isNegative = value < 0 || Object.is(value, -0);
  if (!Number.isFinite(value)) {
    const word = Number.isNaN(value) ? 'nan' : 'inf';
    const text = letter === letter.toUpperCase() ? word.toUpperCase() : word;
    return signOf(isNegative, Number.isNaN(value) ? '' : flags) + text;
  }
  let digits = magnitudeText(Math.abs(value), place);
  if (flags.includes("'")) {
    const [whole = '', rest = ''] = digits.split(/(?=[.e])(.*)/s);
    digits = grouped(whole, 3, ',') + rest;
  }
  if (letter === letter.toUpperCase()) digits = digits.toUpperCase();
  return withZeros(signOf(isNegative, flags), digits, place);
}

function magnitudeText(value: number, { letter, precision = 6, flags }: FixedPlace): string {
  const keepsPoint = flags.includes('#');
  const kind = letter.toLowerCase();
  if (kind === 'f') return pointed(fixedText(value, precision), keepsPoint);
  if (kind === 'e') return pointed(exponentText(value, precision), keepsPoint);
  const digitCount = Math.max(1, precision);
  const exponent = Number(value.toExponential(Math.min(100, digitCount - 1)).split('e')[1]);
  if (exponent < -4 || exponent >= digitCount) {
    const text = exponentText(value, digitCount - 1);
    return keepsPoint
      ? pointed(text, true)
      : text.replace(/\.?0*e/, (end) => (text.includes('.') ? 'e' : end));
  }
  const text = fixedText(value, digitCount - 1 - exponent);
  if (keepsPoint) return pointed(text, true);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Digits that JavaScript writes at most; what a double has beyond them is written as zeros. */
const DIGITS_MAX = 100;

/** JavaScript writes a large double by its exponent; such a one is whole. */
function fixedText(value: number, precision: number): string {
  const known = Math.min(precision, DIGITS_MAX);
  const text =
    value < 1e21
      ? roundedToEven(value.toFixed(known), value.toFixed(DIGITS_MAX))
      : BigInt(value) + (known === 0 ? '' : `.${'0'.repeat(known)}`);
  return text + '0'.repeat(precision - known);
}

/** At least two digits of exponent, as C has it. */
function exponentText(value: number, precision: number): string {
  const known = Math.min(precision, DIGITS_MAX);
  const [exact, exponent] = value.toExponential(DIGITS_MAX).split('e') as [string, string];
  const [digits, rounded] = value.toExponential(known).split('e') as [string, string];
  const even = rounded === exponent ? roundedToEven(digits, exact) : digits;
  const size = rounded.slice(1).padStart(2, '0');
  return `${even}${'0'.repeat(precision - known)}e${rounded[0]}${size}`;
}

/**
 * Of two nearest decimals JavaScript takes the larger, C the one with an even last digit. `exact` has
 * all the digits that a double halfway between two decimals can have.
 */
function roundedToEven(rounded: string, exact: string): string {
  const whole = exact.indexOf('.');
  const isWhole = !rounded.includes('.');
  const end = isWhole ? whole : whole + rounded.length - rounded.indexOf('.');
  const rest = isWhole ? exact.slice(end + 1) : exact.slice(end);
  if (!/^50*$/.test(rest)) return rounded;
  return Number(exact[end - 1]) % 2 === 0 ? exact.slice(0, end) : rounded;
}

/** The flag `#` keeps a point behind which there are no digits. */
function pointed(text: string, keepsPoint: boolean): string {
  return keepsPoint && !text.includes('.') ? text.replace(/^\d+/, (digits) => `${digits}.`) : text;
}

function signOf(isNegative: boolean, flags: string): string {
  if (isNegative) return '-';
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

/** The flag `0` fills the width between sign and digits, unless `-` asks for spaces behind. */
function withZeros(sign: string, digits: string, { flags, width }: FixedPlace): string {
  const fills = flags.includes('0') && !flags.includes('-');
  return sign + (fills ? digits.padStart(width - sign.length, '0') : digits);
}

function grouped(digits: string, size: number, separator: string): string {
  return digits.replace(new RegExp(`(?<=.)(?=(?:.{${size}})+$)`, 'g'), separator);
}

/** A piece of a pattern of FORMAT: text that stands for itself, or a place for an argument. */
type FormatPiece = string | FormatPlace;

/** `%[flags][width][.precision]letter`; `*` takes the number from an argument of its own. */
export type FormatPlace = {
  readonly flags: string;
  readonly width: number | '*' | undefined;
  readonly precision: number | '*' | undefined;
  readonly letter: string;
};

/** A place whose width and precision are numbers, if there are any. */
type FixedPlace = {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly letter: string;
};

const PLACE = /%([-+ #0']*)(\*|\d{1,7})?(?:\.(\*|\d{0,7}))?([a-zA-Z%])/y;

/** The pieces of a pattern; throws for a `%` that begins no place. */
export const parseFormat = keepLast((pattern: string): readonly FormatPiece[] => {
  const pieces: FormatPiece[] = [];
  for (let at = 0; at < pattern.length; ) {
    const percent = pattern.indexOf('%', at);
    const end = percent < 0 ? pattern.length : percent;
    if (end > at) pieces.push(pattern.slice(at, end));
    if (percent < 0) break;
    PLACE.lastIndex = percent;
    const [whole, flags, width, precision, letter] = PLACE.exec(pattern) ?? [];
    if (whole === undefined || !'dioxXfFeEgGstTpP%'.includes(letter!)) {
      throw new QueryError(
        'query_failed',
        'FORMAT allows specifiers such as %d, %s, %t and %10.2f, and %% for a percent sign; ' +
          `got ${JSON.stringify(pattern.slice(percent, percent + 16))}`,
      );
    }
    if (letter === '%') pieces.push('%');
    else {
      pieces.push({
        flags: flags!,
        width: numberOf(width),
        precision: numberOf(precision),
        letter: letter!,
      });
    }
    at = PLACE.lastIndex;
  }
  return pieces;
});

/** A point without digits is a precision of 0, as in C. */
function numberOf(text: string | undefined): number | '*' | undefined {
  return text === undefined || text === '*' ? text : Number(text);
}

/** A value as `%t` of FORMAT writes it: as CAST to STRING does, the parts of others in brackets. */
function plainTextOf(value: SqlValue, type: SqlType): string {
  if (value === null) return 'NULL';
  const parts = partsOf(value, type, plainTextOf);
  if (parts !== undefined) return parts;
  if (type.kind === 'FLOAT64') return floatText(value);
  if (type.kind === 'BYTES') return escaped(value as string, '');
  if (type.kind === 'JSON') return value as string;
  return String(castValue(value, type, STRING, false));
}

/** A value as `%T` writes it: as a literal of GoogleSQL. */
function literalTextOf(value: SqlValue, type: SqlType): string {
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

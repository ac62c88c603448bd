import { QueryError } from '../../query-error.ts';
import { divisionByZero, type Int64 } from './int64.ts';

/**
 * Arithmetic on FLOAT64. A finite result is wanted of finite operands: GoogleSQL raises an error
 * where IEEE 754 gives an infinity. Operands may be integers beyond 2^53, of INT64 or NUMBER; they are
 * rounded here.
 */
export function addFloat64(left: Int64, right: Int64): number {
  const sum = Number(left) + Number(right);
  return Number.isFinite(sum) ? sum : checkedFloat64(sum, left, '+', right);
}

export function subtractFloat64(left: Int64, right: Int64): number {
  const difference = Number(left) - Number(right);
  return Number.isFinite(difference) ? difference : checkedFloat64(difference, left, '-', right);
}

export function multiplyFloat64(left: Int64, right: Int64): number {
  const product = Number(left) * Number(right);
  return Number.isFinite(product) ? product : checkedFloat64(product, left, '*', right);
}

export function divideFloat64(left: Int64, right: Int64): number {
  if (Number(right) === 0) throw divisionByZero(`${left} / ${right}`);
  const quotient = Number(left) / Number(right);
  return Number.isFinite(quotient) ? quotient : checkedFloat64(quotient, left, '/', right);
}

function checkedFloat64(result: number, left: Int64, operator: string, right: Int64): number {
  if (Number.isFinite(Number(left)) && Number.isFinite(Number(right))) {
    throw new QueryError(
      'query_failed',
      `floating point overflow: ${left} ${operator} ${right} does not fit FLOAT64`,
    );
  }
  return result;
}

/**
 * ROUND: half away from zero, judged by the exact value of the double. `digits` counts decimals;
 * negative ones stand before the point.
 */
export function roundFloat64(value: number, digits: number): number {
  return byMagnitude(value, digits, (magnitude) => Number(magnitude.toFixed(digits)), nearest);
}

/**
 * TRUNC: toward zero, judged by the exact value of the double: 0.29 lies below 29 hundredths and
 * becomes 0.28.
 */
export function truncateFloat64(value: number, digits: number): number {
  return byMagnitude(value, digits, (magnitude) => truncateDecimals(magnitude, digits), below);
}

/** Doubles of this size and up are whole, and more decimals than this change no double. */
const WHOLE_MIN = 2 ** 52;
const DECIMALS_MAX = 100;
const TENS_MAX = 308;

function byMagnitude(
  value: number,
  digits: number,
  atDecimals: (magnitude: number) => number,
  atTens: (magnitude: number, unit: number) => number,
): number {
  const magnitude = Math.abs(value);
  if (!Number.isFinite(magnitude)) return value;
  const sign = value < 0 ? -1 : 1;
  if (digits >= 0) {
    if (digits > DECIMALS_MAX || magnitude >= WHOLE_MIN) return value;
    return sign * atDecimals(magnitude);
  }
  return digits < -TENS_MAX ? 0 : sign * atTens(magnitude, 10 ** -digits);
}

/** The nearest multiple of `unit`; the remainder of doubles is exact. */
function nearest(magnitude: number, unit: number): number {
  const rest = magnitude % unit;
  return rest * 2 >= unit ? magnitude - rest + unit : magnitude - rest;
}

function below(magnitude: number, unit: number): number {
  return magnitude - (magnitude % unit);
}

function truncateDecimals(magnitude: number, digits: number): number {
  if (digits === 0) return Math.floor(magnitude);
  const text = magnitude.toFixed(DECIMALS_MAX);
  return Number(text.slice(0, text.indexOf('.') + 1 + digits));
}

/**
 * A FLOAT64 as CAST writes it: the fewest of 15 or 17 digits that read back as the same value,
 * `1e+20` from 1e15 up, `1e-05` below 0.0001, `inf`, `-inf`, `nan`, and `0` for both zeros.
 */
export function formatFloat64(value: number): string {
  if (value === 0) return '0';
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const short = withDigits(value, 15);
  return Number(short) === value ? short : withDigits(value, 17);
}

/** As `%.<count>g` of C writes it. */
function withDigits(value: number, count: number): string {
  const [mantissa, exponentText] = value.toExponential(count - 1).split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < count) {
    return withoutTrailingZeros(value.toFixed(count - 1 - exponent));
  }
  const sign = exponent < 0 ? '-' : '+';
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${withoutTrailingZeros(mantissa)}e${sign}${digits}`;
}

function withoutTrailingZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/**
 * Text as FLOAT64: decimal digits with a point and an exponent, hexadecimal ones as C writes them
 * (`0x1.8p3`), `inf`, `infinity` or `nan` in any case, a sign, white space around. Text too large is an infinity.
 * `undefined` for other text.
 */
export function parseFloat64(text: string): number | undefined {
  const trimmed = trimAscii(text);
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) return Number(trimmed);
  const hexadecimal = HEXADECIMAL.exec(trimmed);
  if (hexadecimal !== null) {
    const [, sign, whole = '', fraction = '', exponent = '0'] = hexadecimal;
    const digits = Number(`0x${whole}${fraction}`);
    const value = digits * 2 ** (Number(exponent) - 4 * fraction.length);
    return sign === '-' ? -value : value;
  }
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(trimmed);
  if (word === null) return undefined;
  if (word[2]?.toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

const HEXADECIMAL =
  /^([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?\d{1,5}))?$/;

/** Without the white space of ASCII at both ends. */
export function trimAscii(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start++;
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isAsciiSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

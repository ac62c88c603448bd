import type { Int64 } from '../number/int64.ts';
import type { FixedPlace } from './format-pattern.ts';

/** An integer as `%d %i %o %x %X` of C write it; a negative one has its sign in every base. */
export function formatInteger(value: Int64, place: FixedPlace): string {
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
export function formatFloat(value: number, place: FixedPlace): string {
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

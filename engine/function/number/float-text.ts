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

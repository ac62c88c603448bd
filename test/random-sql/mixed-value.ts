/**
 * A value of an event as plain loops have it: a whole number a bigint of any size, any other number a number, a
 * list an array, a record an object.
 */
export type MixedValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly unknown[]
  | { readonly [key: string]: unknown };

const INT64_MAX = 2n ** 63n - 1n;

/** Where a number is wanted: an INT64, or a FLOAT64. */
export function numberOf(value: MixedValue): bigint | number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'bigint') return null;
  return fits(value) ? value : Number(value);
}

/** What was computed; `undefined` when it does not fit. A result that could have been sent whole is whole. */
export function inRange(value: bigint | number): bigint | number | undefined {
  if (typeof value === 'bigint') return fits(value) ? value : undefined;
  if (!Number.isFinite(value)) return undefined;
  return Number.isSafeInteger(value) ? BigInt(value) : value;
}

function fits(value: bigint): boolean {
  return value >= -INT64_MAX - 1n && value <= INT64_MAX;
}

/** Where a text is wanted. */
export function textOf(value: MixedValue): string | null {
  if (value === null || typeof value === 'object') return null;
  return typeof value === 'number' ? fractionText(value) : String(value);
}

/** With as few of 15 or 17 digits as tell it from others, as GoogleSQL has it. */
function fractionText(value: number): string {
  const digits = Number(value.toPrecision(15)) === value ? 15 : 17;
  return value.toPrecision(digits).replace(/\.?0+(?=e|$)/, '');
}

/** Where a condition is wanted. */
export function booleanOf(value: MixedValue): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

function rankOf(value: MixedValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'bigint' || typeof value === 'number') return 2;
  if (typeof value === 'string') return 3;
  return Array.isArray(value) ? 4 : 5;
}

/** By kind, then by value; lists and records by their JSON. All texts here are ASCII. */
export function compareKinds(left: MixedValue, right: MixedValue): number {
  const ranks = rankOf(left) - rankOf(right);
  if (ranks !== 0) return ranks;
  const [one, other] = [left, right].map((value) =>
    typeof value === 'object' ? JSON.stringify(value) : value,
  ) as [string, string];
  return one < other ? -1 : one > other ? 1 : 0;
}

export function equalKinds(left: MixedValue, right: MixedValue): boolean {
  return compareKinds(left, right) === 0;
}

/** Of patterns whose only sign is a `%` at the end. */
export function isLike(text: string, pattern: string): boolean {
  return text.startsWith(pattern.slice(0, -1));
}

/** As a literal. */
export function sqlOf(value: MixedValue): string {
  if (typeof value === 'string') return `'${value}'`;
  return value === null ? 'NULL' : String(value).toUpperCase();
}

const EXACT_MAX = 2n ** 53n;

/** As an answer has it; what was computed is quoted beyond 2^53. */
export function jsonOf(value: MixedValue, isComputed: boolean): string {
  if (typeof value === 'bigint') {
    const isQuoted = isComputed && (value > EXACT_MAX || value < -EXACT_MAX);
    return isQuoted ? `"${value}"` : String(value);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return `[${JSON.stringify(value)}]`;
  }
  return JSON.stringify(value);
}

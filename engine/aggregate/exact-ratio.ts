/**
 * numerator / denominator · 2^exponent, rounded once, to nearest, ties to even; ±Infinity beyond a
 * double. The denominator is positive.
 */
export function exactRatio(numerator: bigint, denominator: bigint, exponent = 0): number {
  const { head, shift } = quotient(numerator, denominator);
  // A quotient of 64 bits or more is rounded by Number, and scaling is exact; below the normal
  // doubles the bits that would be lost twice are dropped here, in the same rounding.
  return scaledOnce(head, exponent - shift);
}

/** The root of numerator / denominator · 2^exponent, within a unit in the last place. */
export function rootOfRatio(numerator: bigint, denominator: bigint, exponent = 0): number {
  const { head, shift } = quotient(numerator, denominator);
  const power = exponent - shift;
  const half = Math.floor(power / 2);
  const root = Math.sqrt(Number(power === 2 * half ? head : head << 1n));
  return scaled(root, half);
}

/** Bits of a quotient before the sticky one: more than twice a double's would be no better. */
const QUOTIENT_BITS = 64;

/** `head` / 2^`shift` is the quotient, but for a last bit that stands for all that is below. */
function quotient(
  numerator: bigint,
  denominator: bigint,
): { readonly head: bigint; readonly shift: number } {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const shift = QUOTIENT_BITS + bitLength(denominator) - bitLength(magnitude);
  const dividend = shift > 0 ? magnitude << BigInt(shift) : magnitude;
  const divisor = shift < 0 ? denominator << BigInt(-shift) : denominator;
  const whole = dividend / divisor;
  const sticky = whole * divisor === dividend ? 0n : 1n;
  const head = (whole << 1n) | sticky;
  return { head: numerator < 0n ? -head : head, shift: shift + 1 };
}

/** head · 2^power rounded once. `head` is 0 or has more than QUOTIENT_BITS bits, the last sticky. */
function scaledOnce(head: bigint, power: number): number {
  const magnitude = head < 0n ? -head : head;
  // The least double is 2^-1074: bits below it are gathered in a sticky one before rounding.
  const excess = bitLength(magnitude) + power + 1074 - 53;
  if (magnitude === 0n || excess >= 0) return scaled(Number(head), power);
  const dropped = BigInt(-1074 - power);
  if (dropped > BigInt(bitLength(magnitude)) + 1n) return head < 0n ? -0 : 0;
  const half = 1n << (dropped - 1n);
  const rest = magnitude & ((1n << dropped) - 1n);
  const kept = magnitude >> dropped;
  const isUp = rest > half || (rest === half && (kept & 1n) === 1n);
  const rounded = Number(isUp ? kept + 1n : kept) * 2 ** -1074;
  return head < 0n ? -rounded : rounded;
}

/** value · 2^power; 2^power alone may be beyond a double, and so may a third of it not. */
function scaled(value: number, power: number): number {
  const third = Math.trunc(power / 3);
  return value * 2 ** third * 2 ** third * 2 ** (power - 2 * third);
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

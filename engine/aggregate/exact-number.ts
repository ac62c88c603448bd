/** A number without rounding: units · 2^exponent. */
export type ExactNumber = { readonly units: bigint; readonly exponent: number };

export function exactInteger(value: number): ExactNumber {
  return { units: BigInt(value), exponent: 0 };
}

export function exactSum(left: ExactNumber, right: ExactNumber): ExactNumber {
  if (left.units === 0n) return right;
  if (right.units === 0n) return left;
  const exponent = Math.min(left.exponent, right.exponent);
  return { units: unitsAt(left, exponent) + unitsAt(right, exponent), exponent };
}

export function exactProduct(left: ExactNumber, right: ExactNumber): ExactNumber {
  return { units: left.units * right.units, exponent: left.exponent + right.exponent };
}

export function exactDifference(left: ExactNumber, right: ExactNumber): ExactNumber {
  return exactSum(left, { units: -right.units, exponent: right.exponent });
}

/** Of a number without a fraction. */
export function wholeOf({ units, exponent }: ExactNumber): bigint {
  return exponent < 0 ? units >> BigInt(-exponent) : units << BigInt(exponent);
}

function unitsAt(number: ExactNumber, exponent: number): bigint {
  return number.units << BigInt(number.exponent - exponent);
}

import { UNSUPPORTED } from './refusal.ts';
import type { StatementParts } from './statement-parts.ts';

/** Some doubles as integers in units of one power of two. */
export type ExactList = {
  /** Array(Int256). */
  readonly units: string;
  /** The power of two. */
  readonly exponent: string;
  /** Bits that none of the integers has more of. */
  readonly bits: string;
};

/** Of a zero: above the exponents of all other doubles. */
const NO_EXPONENT = 4096;

/** Bits of the widest integer that a fixed type holds, less those of its sign and of rounding. */
export const INTEGER_BITS_MAX = 250;

/** Names the parts of a list of finite doubles, an Array(Float64), which is a name. */
export function withExactList(
  doubles: string,
  parts: StatementParts,
  body: (list: ExactList) => string,
): string {
  const [value, entry] = [parts.variable(), parts.variable()];
  return parts.once(`arrayMap(${value} -> ${oddForm(value, parts)}, ${doubles})`, (entries) => {
    const least = `arrayMin(arrayMap(${entry} -> ${entry}.2, arrayPushBack(${entries}, (toInt64(0), toInt16(${NO_EXPONENT}), toInt16(0)))))`;
    return parts.once(`toInt16(if(${least} = ${NO_EXPONENT}, 0, ${least}))`, (exponent) => {
      const distance = `greatest(0, if(${entry}.1 = 0, 0, ${entry}.2 - ${exponent}))`;
      const shift = `toUInt16(least(${distance}, 255))`;
      const units = `arrayMap(${entry} -> bitShiftLeft(toInt256(${entry}.1), ${shift}), ${entries})`;
      const bits = `arrayMax(arrayMap(${entry} -> ${entry}.3 + ${distance}, ${entries}))`;
      return parts.once(units, (unitsName) =>
        parts.once(bits, (bitsName) => body({ units: unitsName, exponent, bits: bitsName })),
      );
    });
  });
}

/** A double as an odd integer, or 0, the power of two that it is times, and how many bits it may have (IEEE 754, binary64). */
function oddForm(value: string, parts: StatementParts): string {
  return parts.once(`reinterpretAsUInt64(assumeNotNull(${value}))`, (bits) => {
    const power = `bitAnd(bitShiftRight(${bits}, 52), 2047)`;
    const fraction = `bitAnd(${bits}, 4503599627370495)`;
    const mantissa = `if(${power} = 0, ${fraction}, ${fraction} + 4503599627370496)`;
    return parts.once(`toInt64(${mantissa})`, (whole) => {
      const zeros = `toInt16(bitCount(bitXor(${whole}, ${whole} - 1)) - 1)`;
      return parts.once(zeros, (zeroCount) => {
        const odd = `intDiv(${whole}, bitShiftLeft(toInt64(1), toUInt8(${zeroCount}))) * if(bitShiftRight(${bits}, 63) = 1, -1, 1)`;
        const exponent = `toInt16(greatest(${power}, 1)) - 1075 + ${zeroCount}`;
        return `if(${whole} = 0, (toInt64(0), toInt16(${NO_EXPONENT}), toInt16(0)), (toInt64(${odd}), toInt16(${exponent}), toInt16(53 - ${zeroCount})))`;
      });
    });
  });
}

/** Bits of a quotient before the last one, which stands for all below: more than a double holds. */
const QUOTIENT_BITS = 60;

/** numerator / denominator · 2^exponent, rounded once; of `root` its root. The denominator is positive. */
export function roundedRatio(
  {
    numerator,
    denominator,
    exponent,
    form,
  }: {
    readonly numerator: string;
    readonly denominator: string;
    readonly exponent: string;
    readonly form: 'ratio' | 'root';
  },
  parts: StatementParts,
): string {
  return parts.once(`toInt256(${numerator})`, (above) =>
    parts.once(`toInt256(${denominator})`, (below) => {
      const wanted = `toInt16(${QUOTIENT_BITS} + floor(log2(toFloat64(${below}))) - floor(log2(toFloat64(abs(${above})))))`;
      return parts.once(`if(${above} = 0, toInt16(0), ${wanted})`, (shift) => {
        const dividend = `bitShiftLeft(toInt256(abs(${above})), toUInt16(greatest(${shift}, 0)))`;
        const divisor = `bitShiftLeft(${below}, toUInt16(greatest(-${shift}, 0)))`;
        return parts.once(dividend, (over) =>
          parts.once(divisor, (under) => {
            const head = `toUInt64(intDiv(${over}, ${under}))`;
            const sticky = `toUInt64(${over} % ${under} != 0)`;
            const double = `toFloat64(bitOr(${head}, ${sticky}))`;
            const power = `toInt32(${exponent} - ${shift})`;
            const sign = `if(${above} < 0, -1., 1.)`;
            const result =
              form === 'ratio'
                ? scaled(double, power, parts)
                : parts.once(power, (whole) =>
                    scaled(
                      `sqrt(${double} * if(${whole} % 2 = 0, 1, 2))`,
                      `intDiv(${whole} - if(${whole} % 2 = 0, 0, 1), 2)`,
                      parts,
                    ),
                  );
            return `if(${above} = 0, 0., ${sign} * ${result})`;
          }),
        );
      });
    }),
  );
}

/** value · 2^power. Below the normal doubles it would be rounded twice. */
function scaled(value: string, power: string, parts: StatementParts): string {
  return parts.once(power, (whole) => {
    const third = `intDiv(${whole}, 3)`;
    const factors = [third, third, `${whole} - 2 * ${third}`].map(powerOfTwo);
    return parts.once(`${value} * ${factors.join(' * ')}`, (result) => {
      const raised = parts.raise(`abs(${result}) < 2.2250738585072014e-308`, {
        code: 'query_failed',
        message: `${UNSUPPORTED} an answer below the normal doubles`,
        span: undefined,
      });
      return `if(${raised} = 0, ${result}, 0)`;
    });
  });
}

/** Of an integer from -1022 to 1023. */
function powerOfTwo(exponent: string): string {
  const bounded = `greatest(-1022, least(1023, ${exponent}))`;
  return `reinterpretAsFloat64(bitShiftLeft(toUInt64(${bounded} + 1023), 52))`;
}

/** Beyond so many binary places a fraction of any number of rows is less than one: 53 bits of it, and 63 of the number. */
const SHIFT_MAX = 190;

/** `fraction * count`, exactly: its whole part, and the rest in parts of a power of two. `fraction` is from 0 to 1. */
export function exactProduct(
  fraction: number,
  count: string,
): { readonly whole: string; readonly rest: string; readonly shift: number } {
  let mantissa = fraction;
  let shift = 0;
  // Doubling is exact.
  for (; !Number.isInteger(mantissa); mantissa *= 2) shift++;
  const product = `(toInt256('${BigInt(mantissa)}') * ${count})`;
  if (shift > SHIFT_MAX) return { whole: 'toInt64(0)', rest: product, shift };
  const one = `toInt256('${1n << BigInt(shift)}')`;
  return {
    whole: `toInt64(intDiv(${product}, ${one}))`,
    rest: `(${product} % ${one})`,
    shift,
  };
}

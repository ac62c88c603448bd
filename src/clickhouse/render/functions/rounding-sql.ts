import { asFloat } from '../number-sql.ts';
import { refuse } from '../refusal.ts';
import { nullOf } from '../sql-type.ts';
import { type CallSql, certain, constantOf, type FunctionSql, strict } from './function-sql.ts';

/** ROUND, halves away from zero, and TRUNC, judged by the exact value of the double. */
export const roundingSql: Readonly<Record<string, FunctionSql>> = {
  round: rounding({ toNearest: true }),
  trunc: rounding({ toNearest: false }),
};

type Rounding = { readonly toNearest: boolean };

/** More decimals than this change no double. */
const DECIMALS_MAX = 100;
/** So many are rounded here: a double's 53 bits times 10^50 fit 256 bits. */
const EXACT_DECIMALS_MAX = 50;
const TENS_MAX = 308;

function rounding(to: Rounding): FunctionSql {
  return (call) => {
    const { parts } = call;
    const constant = call.arguments.length === 1 ? 0 : constantOf(call, 1);
    if (constant === null) return nullOf(call.type);
    const digits = Number(constant);
    return strict(call, (given) =>
      parts.once(asFloat(given!, call.types[0]!, parts), (value) => {
        if (digits > DECIMALS_MAX) return value;
        if (digits < -TENS_MAX) return `if(isFinite(${value}), 0., ${value})`;
        const sign = `if(${value} < 0, -1., 1.)`;
        return parts.once(`abs(${value})`, (magnitude) => {
          if (digits < 0) {
            const tens = atTens(magnitude, -digits, to, call);
            return `if(isFinite(${value}), ${sign} * ${tens}, ${value})`;
          }
          if (digits > EXACT_DECIMALS_MAX) {
            return refuse(
              `${call.name.toUpperCase()} to more than ${EXACT_DECIMALS_MAX} digits`,
              call.span,
            );
          }
          // Doubles of 2^52 and up are whole.
          const isWhole = `NOT isFinite(${value}) OR ${magnitude} >= 4503599627370496.`;
          return `if(${isWhole}, ${value}, ${sign} * ${atDecimals(magnitude, digits, to, call)})`;
        });
      }),
    );
  };
}

/** The mantissa times a power of ten, divided by a power of two in whole numbers. */
function atDecimals(
  magnitude: string,
  digits: number,
  { toNearest }: Rounding,
  call: CallSql,
): string {
  const { parts } = call;
  if (digits === 0)
    return toNearest
      ? `(floor(${magnitude}) + if(${magnitude} - floor(${magnitude}) >= 0.5, 1, 0))`
      : `floor(${magnitude})`;
  return parts.once(`reinterpretAsUInt64(${magnitude})`, (bits) =>
    parts.once(`bitShiftRight(${bits}, 52)`, (exponent) => {
      const mantissa = `(bitAnd(${bits}, 4503599627370495) + if(${exponent} = 0, 0, 4503599627370496))`;
      // By more than 250 bits nothing is left of the product in any case.
      const shift = `toUInt16(greatest(least(1075 - toInt32(greatest(${exponent}, 1)), 250), 1))`;
      return parts.once(shift, (count) => {
        const product = `toUInt256(${mantissa}) * toUInt256('1${'0'.repeat(digits)}')`;
        const half = `bitShiftLeft(toUInt256(1), ${count} - 1)`;
        const whole = `bitShiftRight(${product}${toNearest ? ` + ${half}` : ''}, ${count})`;
        return `toFloat64(concat(toString(${whole}), 'e-${digits}'))`;
      });
    }),
  );
}

/** From here on the remainder of two doubles is not computed. */
const INTEGER_MAX = 2 ** 200;

/** To the nearest multiple of a power of ten, or the one below. */
function atTens(magnitude: string, tens: number, { toNearest }: Rounding, call: CallSql): string {
  const { parts } = call;
  const unit = 10 ** tens;
  const double = `JSONExtractFloat('${unit.toExponential()}')`;
  const most = 'exp2(200)';
  const whole = `toUInt256(trunc(least(${magnitude}, ${most})))`;
  const ofWhole =
    unit < INTEGER_MAX
      ? `toFloat64(${whole} % toUInt256('${BigInt(unit)}')) + (${magnitude} - trunc(${magnitude}))`
      : magnitude;
  const rest = `multiIf(${magnitude} < ${double}, ${magnitude}, ${magnitude} < 2 * ${double}, ${magnitude} - ${double}, ${ofWhole})`;
  const value = parts.once(rest, (left) => {
    const below = `(${magnitude} - ${left})`;
    return toNearest ? `if(${left} * 2 >= ${double}, ${below} + ${double}, ${below})` : below;
  });
  const isUncertain = `${magnitude} >= ${most} AND ${magnitude} >= 2 * ${double} AND isFinite(${magnitude})`;
  return certain(call, value, isUncertain, `${call.name.toUpperCase()} of numbers this large`);
}

import type { SqlType } from '../../../../engine/columns.ts';
import { asFloat } from '../number-sql.ts';
import { nullOf } from '../sql-type.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes, strict } from './function-sql.ts';

/** Functions of doubles. A finite number has a finite answer, or an error. The last digit may differ between libraries. */
export const mathSql: Readonly<Record<string, FunctionSql>> = {
  ...Object.fromEntries(
    [
      ...['cbrt', 'exp', 'log10', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan'],
      ...['sinh', 'cosh', 'asinh', 'acosh', 'atanh'],
    ].map((name) => [name, unary((number) => `${name}(${number})`)]),
  ),
  tanh: unary(hyperbolicTangent),
  ln: unary((number) => `log(${number})`),
  cot: unary((number) => `1. / tan(${number})`),
  csc: unary((number) => `1. / sin(${number})`),
  sec: unary((number) => `1. / cos(${number})`),
  coth: unary((number) => `1. / ${hyperbolicTangent(number)}`),
  csch: unary((number) => `1. / sinh(${number})`),
  sech: unary((number) => `1. / cosh(${number})`),
  atan2: ofDoubles((_, y, x) => `atan2(${y}, ${x})`),
  ieee_divide: ofDoubles((_, left, right) => `(${left} / ${right})`),
  pow: ofDoubles(power),
  power: ofDoubles(power),
  log: ofDoubles(logarithm),
  range_bucket: bucketOf,
};

/** ClickHouse's own is off by far near 0. */
function hyperbolicTangent(number: string): string {
  return `multiIf(abs(${number}) > 20, sign(${number}), ${number} = 0, ${number}, sinh(${number}) / cosh(${number}))`;
}

const NUMERIC: ReadonlySet<string> = new Set(['INT64', 'FLOAT64', 'NUMBER']);

type OfDoubles = (call: CallSql, ...numbers: readonly string[]) => string;

/** Of numbers that are no NULL, as doubles under names. */
function ofDoubles(body: OfDoubles): FunctionSql {
  return (call) => {
    const { parts, types } = call;
    if (types.some(({ kind }) => !NUMERIC.has(kind))) return refuseTypes(call);
    return strict(call, (...values) => {
      const bind = (numbers: readonly string[]): string => {
        const next = values[numbers.length];
        if (next === undefined) return body(call, ...numbers);
        const type = types[numbers.length] as SqlType;
        return parts.once(asFloat(next, type, parts), (number) => bind([...numbers, number]));
      };
      return bind([]);
    });
  };
}

function unary(compute: (number: string) => string): FunctionSql {
  return ofDoubles((call, number) =>
    call.parts.once(compute(number!), (result) => {
      const isBad = `NOT isFinite(${result}) AND isFinite(${number})`;
      return checked(call, result, isBad, `${call.name.toUpperCase()} has no value for a number`);
    }),
  );
}

function power(call: CallSql, base: string | undefined, exponent: string | undefined): string {
  return call.parts.once(`pow(${base}, ${exponent})`, (result) => {
    const isBad = `NOT isFinite(${result}) AND isFinite(${base}) AND isFinite(${exponent})`;
    return checked(call, result, isBad, 'POW has no FLOAT64 for two numbers');
  });
}

/** Of an infinite base nothing is a power. */
function logarithm(call: CallSql, number: string | undefined, base?: string): string {
  const isBad =
    base === undefined ? `${number} <= 0` : `${number} <= 0 OR ${base} <= 0 OR ${base} = 1`;
  const quotient = `multiIf(${base} = 2, log2(${number}), ${base} = 10, log10(${number}), log(${number}) / log(${base}))`;
  const value = base === undefined ? `log(${number})` : `if(isFinite(${base}), ${quotient}, nan)`;
  const isGiven = `isFinite(${number})${base === undefined ? '' : ` AND isFinite(${base})`}`;
  const message = 'LOG takes a number greater than 0, and a base that is none of 0 and 1';
  return checked(call, value, `${isGiven} AND (${isBad})`, message);
}

/** How many of the ascending bounds are at most a value. */
function bucketOf(call: CallSql): string {
  const [point, list] = call.types as [SqlType, SqlType];
  if (list.kind !== 'ARRAY') return refuseTypes(call);
  if (point.kind === 'NULL') return nullOf(call.type);
  const kinds = [point.kind, list.element.kind];
  const areNumbers = kinds.every((kind) => kind === 'INT64' || kind === 'FLOAT64');
  if (!areNumbers && (kinds[0] !== kinds[1] || kinds[0] !== 'STRING')) return refuseTypes(call);
  const [bound, before] = [call.parts.variable(), call.parts.variable()];
  const isLess = (left: string, right: string) =>
    areNumbers
      ? `(${left} < ${right} OR (isNaN(${left}) AND NOT isNaN(${right})))`
      : `${left} < ${right}`;
  return strict(call, (value, bounds) => {
    const count = `toInt64(arrayCount(${bound} -> NOT ${isLess(value!, bound)}, ${bounds}))`;
    const descends = `arrayExists((${before}, ${bound}) -> ${isLess(bound, before)}, arrayPopBack(${bounds}), arrayPopFront(${bounds}))`;
    const isBad = `has(${bounds}, NULL) OR ${descends}`;
    const found = checked(
      call,
      count,
      isBad,
      'RANGE_BUCKET takes bounds in ascending order, without NULL',
    );
    return areNumbers ? `if(isNaN(${value}), NULL, ${found})` : found;
  });
}

import { Failure, OutOfRange } from './failure.ts';
import type { Operation } from './operation.ts';
import { failing, strict } from './operation-maker.ts';
import type { Type, Value } from './query.ts';

const INT64_MAX = 2n ** 63n - 1n;

type Binary<T> = (left: T, right: T) => T;

export function numbers(): readonly Operation[] {
  return [
    ...arithmetic(
      '+',
      (left, right) => left + right,
      (left, right) => left + right,
    ),
    ...arithmetic(
      '-',
      (left, right) => left - right,
      (left, right) => left - right,
    ),
    ...arithmetic(
      '*',
      (left, right) => left * right,
      (left, right) => left * right,
    ),
    strict('(- ?)', ['INT64'], 'INT64', (value: bigint) => -value),
    strict('ABS(?)', ['INT64'], 'INT64', (value: bigint) => (value < 0n ? -value : value)),
    strict('ABS(?)', ['FLOAT64'], 'FLOAT64', (value: number) => Math.abs(value)),
    strict('SIGN(?)', ['INT64'], 'INT64', (value: bigint) => BigInt(Math.sign(Number(value)))),
    strict('FLOOR(?)', ['FLOAT64'], 'FLOAT64', (value: number) => Math.floor(value)),
    strict('CEIL(?)', ['FLOAT64'], 'FLOAT64', (value: number) => Math.ceil(value)),
    strict('MOD(?, 3)', ['INT64'], 'INT64', (value: bigint) => value % 3n),
    strict('DIV(?, 2)', ['INT64'], 'INT64', (value: bigint) => value / 2n),
    strict('(? & ?)', ['INT64', 'INT64'], 'INT64', (left: bigint, right: bigint) => left & right),
    strict('(? | ?)', ['INT64', 'INT64'], 'INT64', (left: bigint, right: bigint) => left | right),
    strict('(? ^ ?)', ['INT64', 'INT64'], 'INT64', (left: bigint, right: bigint) => left ^ right),
    strict('(~ ?)', ['INT64'], 'INT64', (value: bigint) => ~value),
    strict('TRUNC(?)', ['FLOAT64'], 'FLOAT64', (value: number) => Math.trunc(value)),
    strict('ROUND(?)', ['FLOAT64'], 'FLOAT64', (value: number) =>
      Number.isFinite(value) ? Math.sign(value) * Math.floor(Math.abs(value) + 0.5) : value,
    ),
    strict('IS_NAN(?)', ['FLOAT64'], 'BOOL', (value: number) => Number.isNaN(value)),
    strict('IS_INF(?)', ['FLOAT64'], 'BOOL', (value: number) => Math.abs(value) === Infinity),
    strict('GREATEST(?, ?)', ['INT64', 'INT64'], 'INT64', (left: bigint, right: bigint) =>
      left > right ? left : right,
    ),
    strict('LEAST(?, ?)', ['FLOAT64', 'FLOAT64'], 'FLOAT64', (left: number, right: number) =>
      Math.min(left, right),
    ),
    strict('GREATEST(?, ?)', ['FLOAT64', 'FLOAT64'], 'FLOAT64', (left: number, right: number) =>
      Math.max(left, right),
    ),
    // Cannot fail, but its quotients cannot be summed exactly, so it stands where they are not.
    failing('SAFE_DIVIDE(?, ?)', ['INT64', 'INT64'], 'FLOAT64', (left: bigint, right: bigint) =>
      right === 0n ? null : Number(left) / Number(right),
    ),
    ...conversions(),
    ...subscripts(),
    ...recordSubscripts(),
    failing('(? / ?)', ['INT64', 'INT64'], 'FLOAT64', (left: bigint, right: bigint) => {
      if (right === 0n) throw new Failure('division by zero');
      return Number(left) / Number(right);
    }),
    failing('(? / ?)', ['FLOAT64', 'FLOAT64'], 'FLOAT64', (left: number, right: number) => {
      if (right === 0) throw new Failure('division by zero');
      return left / right;
    }),
    failing('MOD(?, ?)', ['INT64', 'INT64'], 'INT64', (left: bigint, right: bigint) => {
      if (right === 0n) throw new Failure('division by zero');
      return left % right;
    }),
    failing('(? * 4000000000000000000)', ['INT64'], 'INT64', (value: bigint) => {
      const product = value * 4_000_000_000_000_000_000n;
      if (product > INT64_MAX || product < -INT64_MAX - 1n) throw new Failure('overflow');
      return product;
    }),
  ];
}

function arithmetic(
  sign: string,
  ofIntegers: Binary<bigint>,
  ofFloats: Binary<number>,
): readonly Operation[] {
  const text = `(? ${sign} ?)`;
  const mixed = (left: bigint | number, right: bigint | number) =>
    ofFloats(exactNumber(left), exactNumber(right));
  return [
    strict(text, ['INT64', 'INT64'], 'INT64', ofIntegers),
    strict(text, ['FLOAT64', 'FLOAT64'], 'FLOAT64', ofFloats),
    strict(text, ['FLOAT64', 'INT64'], 'FLOAT64', mixed),
    strict(text, ['INT64', 'FLOAT64'], 'FLOAT64', mixed),
  ];
}

/**
 * An INT64 beside a FLOAT64. Of a field weir knows by the value only that it is one, and computes with all digits
 * where it is whole; Google's engine knows it from its schema, and has no more than 53 bits.
 */
function exactNumber(value: bigint | number): number {
  const number = Number(value);
  if (typeof value === 'bigint' && !Number.isSafeInteger(number)) throw new OutOfRange();
  return number;
}

function conversions(): readonly Operation[] {
  const whole = (text: string): bigint | null => {
    const isWhole = /^\s*[+-]?\d+\s*$/.test(text) && text.length < 18;
    return isWhole ? BigInt(text.trim().replace('+', '')) : null;
  };
  return [
    strict('CAST(? AS INT64)', ['BOOL'], 'INT64', (value: boolean) => (value ? 1n : 0n)),
    strict('CAST(? AS BOOL)', ['INT64'], 'BOOL', (value: bigint) => value !== 0n),
    strict('CAST(? AS FLOAT64)', ['INT64'], 'FLOAT64', (value: bigint) => Number(value)),
    strict('SAFE_CAST(? AS INT64)', ['STRING'], 'INT64', whole),
    strict('SAFE_CAST(? AS INT64)', ['INT64'], 'INT64', (value: bigint) => value),
    failing('CAST(? AS INT64)', ['FLOAT64'], 'INT64', halfAwayFromZero),
    failing('CAST(? AS INT64)', ['STRING'], 'INT64', (text: string) => {
      const value = whole(text);
      if (value === null) throw new Failure(`not a whole number: ${text}`);
      return value;
    }),
  ];
}

/** Numbers here are far below 2^52, so adding a half is exact. */
function halfAwayFromZero(value: number): bigint {
  if (!Number.isFinite(value)) throw new Failure(`no whole number: ${value}`);
  return BigInt(Math.sign(value) * Math.floor(Math.abs(value) + 0.5));
}

function subscripts(): readonly Operation[] {
  const at = (list: readonly Value[], index: bigint) => list[Number(index)];
  return (['INT64', 'FLOAT64', 'STRING', 'TIMESTAMP', 'DATE'] as const).flatMap(
    (type): readonly Operation[] => {
      const takes: readonly Type[] = [`${type}[]`, 'INT64'];
      return [
        strict(
          '?[SAFE_OFFSET(?)]',
          takes,
          type,
          (list: readonly Value[], index: bigint) => at(list, index) ?? null,
        ),
        strict(
          '?[SAFE_ORDINAL(?)]',
          takes,
          type,
          (list: readonly Value[], index: bigint) => at(list, index - 1n) ?? null,
        ),
        failing('?[OFFSET(?)]', takes, type, (list: readonly Value[], index: bigint) => {
          const element = at(list, index);
          if (element === undefined) throw new Failure('array index out of bounds');
          return element;
        }),
        length(`${type}[]`),
      ];
    },
  );
}

/** Of the records of an event. */
function recordSubscripts(): readonly Operation[] {
  const record = (text: string, index: number) =>
    strict(text, ['RECORD[]'], 'RECORD', (list: readonly Value[]) => list[index] ?? null);
  return [record('?[SAFE_OFFSET(0)]', 0), record('?[SAFE_ORDINAL(2)]', 1), length('RECORD[]')];
}

function length(type: Type): Operation {
  return strict('ARRAY_LENGTH(?)', [type], 'INT64', (list: readonly Value[]) =>
    BigInt(list.length),
  );
}

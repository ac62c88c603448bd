import { BYTES, INT64 } from '../../column/type.ts';
import { QueryError } from '../../query-error.ts';
import {
  type FunctionDoc,
  type ScalarFunction,
  scalarFunction,
  typed,
} from '../scalar-function.ts';
import { canonicalInteger, type Int64 } from './int64.ts';

/** Operators on the 64 bits of an INT64, in two's complement, and on the bits of BYTES. */
export const bitFunctions: readonly ScalarFunction[] = [
  bitwise(
    '&',
    ['Bitwise AND of two INT64, or of BYTES of the same length.', '6 & 3', '2'],
    (left, right) => left & right,
    (left, right) => left & right,
  ),
  bitwise(
    '|',
    ['Bitwise OR of two INT64, or of BYTES of the same length.', '6 | 3', '7'],
    (left, right) => left | right,
    (left, right) => left | right,
  ),
  bitwise(
    '^',
    ['Bitwise XOR of two INT64, or of BYTES of the same length.', '6 ^ 3', '5'],
    (left, right) => left ^ right,
    (left, right) => left ^ right,
  ),
  scalarFunction(
    '~',
    ['Bitwise NOT of an INT64 or of BYTES.', '~5', '-6'],
    {
      parameters: [INT64],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((value: Int64) => canonicalInteger(~BigInt(value))),
    },
    {
      parameters: [BYTES],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((bytes: string) => mapBytes(bytes, (byte) => ~byte & 0xff)),
    },
  ),
  shift(
    '<<',
    [
      'The bits shifted left, filled with zeros; bits beyond the 64 are lost. An error for a negative count.',
      '1 << 10',
      '1024',
    ],
    (bits, count) => bits << count,
  ),
  // The sign moves with the other bits: zeros come in its place.
  shift(
    '>>',
    [
      'The bits shifted right, filled with zeros, even for negative numbers. An error for a negative count.',
      '-1 >> 60',
      '15',
    ],
    (bits, count) => bits >> count,
  ),
  scalarFunction(
    'bit_count',
    [
      "Number of bits that are 1, of an INT64 in two's complement or of BYTES.",
      'BIT_COUNT(-1)',
      '64',
    ],
    {
      parameters: [INT64],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((value: Int64) => countOnes(BigInt.asUintN(64, BigInt(value)))),
    },
    {
      parameters: [BYTES],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((bytes: string) => {
        let count = 0;
        for (let index = 0; index < bytes.length; index++) {
          count += countOnes(BigInt(bytes.charCodeAt(index)));
        }
        return count;
      }),
    },
  ),
];

function bitwise(
  name: string,
  doc: FunctionDoc,
  ofIntegers: (left: bigint, right: bigint) => bigint,
  ofBytes: (left: number, right: number) => number,
): ScalarFunction {
  return scalarFunction(
    name,
    doc,
    {
      parameters: [INT64, INT64],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((left: Int64, right: Int64) =>
        canonicalInteger(ofIntegers(BigInt(left), BigInt(right))),
      ),
    },
    {
      parameters: [BYTES, BYTES],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((left: string, right: string) => {
        if (left.length !== right.length) {
          throw new QueryError(
            'query_failed',
            `${name} takes BYTES of one length; got ${left.length} and ${right.length}`,
          );
        }
        return mapBytes(left, (byte, index) => ofBytes(byte, right.charCodeAt(index)));
      }),
    },
  );
}

function mapBytes(bytes: string, map: (byte: number, index: number) => number): string {
  let mapped = '';
  for (let index = 0; index < bytes.length; index++) {
    mapped += String.fromCharCode(map(bytes.charCodeAt(index), index));
  }
  return mapped;
}

/** Bits that move beyond the ends are gone; those that come are 0. */
function shift(
  name: string,
  doc: FunctionDoc,
  move: (bits: bigint, count: bigint) => bigint,
): ScalarFunction {
  return scalarFunction(
    name,
    doc,
    {
      parameters: [INT64, INT64],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((value: Int64, count: Int64) => {
        checkShift(name, count);
        if (count >= 64) return 0;
        const bits = BigInt.asUintN(64, BigInt(value));
        return canonicalInteger(BigInt.asIntN(64, move(bits, BigInt(count))));
      }),
    },
    {
      parameters: [BYTES, INT64],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((bytes: string, count: Int64) => {
        checkShift(name, count);
        return shiftBytes(bytes, name === '<<' ? Number(count) : -Number(count));
      }),
    },
  );
}

function checkShift(name: string, count: Int64): void {
  if (count < 0) {
    throw new QueryError('query_failed', `${name} takes a count of at least 0; got ${count}`);
  }
}

/** By `count` bits to the left, or to the right when negative. */
function shiftBytes(bytes: string, count: number): string {
  const whole = Math.floor(count / 8);
  const bits = count - whole * 8;
  const byteAt = (index: number) =>
    index >= 0 && index < bytes.length ? bytes.charCodeAt(index) : 0;
  return mapBytes(bytes, (_, index) => {
    const pair = (byteAt(index + whole) << 8) | byteAt(index + whole + 1);
    return (pair >> (8 - bits)) & 0xff;
  });
}

function countOnes(bits: bigint): number {
  let count = 0;
  for (let rest = bits; rest > 0n; rest &= rest - 1n) count++;
  return count;
}

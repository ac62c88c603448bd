import { grownInt32, grownUint8, NO_INT32, NO_UINT8 } from '../column/arrays.ts';
import { INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { canonicalInteger } from '../function/number/int64.ts';
import type { FunctionDoc } from '../function/scalar-function.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';

/** BIT_AND(x): of INT64, in two's complement. NULLs are left out; NULL when there is nothing else. */
export const BIT_AND: AggregateFunction = bitwise(
  'bit_and',
  [
    'Bitwise AND of all values. NULLs are ignored; NULL without other values.',
    'BIT_AND(x) FROM UNNEST([6, 3]) AS x',
    '2',
  ],
  {
    neutral: -1,
    join: (left, right) => left & right,
  },
);

/** BIT_OR(x), as BIT_AND. */
export const BIT_OR: AggregateFunction = bitwise(
  'bit_or',
  [
    'Bitwise OR of all values. NULLs are ignored; NULL without other values.',
    'BIT_OR(x) FROM UNNEST([6, 3]) AS x',
    '7',
  ],
  {
    neutral: 0,
    join: (left, right) => left | right,
  },
);

/** BIT_XOR(x), as BIT_AND. */
export const BIT_XOR: AggregateFunction = bitwise(
  'bit_xor',
  [
    'Bitwise XOR of all values. NULLs are ignored; NULL without other values.',
    'BIT_XOR(x) FROM UNNEST([6, 3]) AS x',
    '5',
  ],
  {
    neutral: 0,
    join: (left, right) => left ^ right,
  },
);

type BitOperation = {
  /** What, joined with a word, leaves it as it is. */
  readonly neutral: number;
  /** Of words of 32 bits. */
  readonly join: (left: number, right: number) => number;
};

function bitwise(name: string, doc: FunctionDoc, operation: BitOperation): AggregateFunction {
  return {
    name,
    doc,
    overloads: [{ parameters: [INT64], result: INT64, create: () => new BitsState(operation) }],
  };
}

type BitsPartial = {
  readonly saw: Uint8Array;
  readonly lows: Int32Array;
  readonly highs: Int32Array;
};

const WORD = 2 ** 32;

/** The joined values per group, as two words. */
class BitsState implements AggregateState {
  readonly #operation: BitOperation;
  /** 1 where the group has a value. */
  #saw: Uint8Array<ArrayBuffer> = NO_UINT8;
  #lows: Int32Array<ArrayBuffer> = NO_INT32;
  #highs: Int32Array<ArrayBuffer> = NO_INT32;

  constructor(operation: BitOperation) {
    this.#operation = operation;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#reserve(groupCount);
    for (let row = 0; row < count; row++) {
      const value = valueAt(vectors[0]!, row);
      if (typeof value === 'number') {
        // A shift takes the low word of a double below 2^53; division by 2^32 is exact.
        this.#add(groups[row]!, value | 0, Math.floor(value / WORD) | 0);
      } else if (typeof value === 'bigint') {
        this.#add(groups[row]!, Number(BigInt.asIntN(32, value)), Number(value >> 32n) | 0);
      }
    }
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as BitsPartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    for (let index = 0; index < theirs.saw.length; index++) {
      if (theirs.saw[index] === 0) continue;
      this.#add(groups[index]!, theirs.lows[index]!, theirs.highs[index]!);
    }
  }

  partial(groupCount: number): BitsPartial {
    return {
      saw: this.#saw.slice(0, groupCount),
      lows: this.#lows.slice(0, groupCount),
      highs: this.#highs.slice(0, groupCount),
    };
  }

  finalize(group: number): SqlValue {
    if ((this.#saw[group] ?? 0) === 0) return null;
    const low = BigInt(this.#lows[group]! >>> 0);
    return canonicalInteger((BigInt(this.#highs[group]!) << 32n) | low);
  }

  #reserve(groupCount: number): void {
    this.#saw = grownUint8(this.#saw, groupCount);
    this.#lows = grownInt32(this.#lows, groupCount, this.#operation.neutral);
    this.#highs = grownInt32(this.#highs, groupCount, this.#operation.neutral);
  }

  #add(group: number, low: number, high: number): void {
    const { join } = this.#operation;
    this.#saw[group] = 1;
    this.#lows[group] = join(this.#lows[group]!, low);
    this.#highs[group] = join(this.#highs[group]!, high);
  }
}

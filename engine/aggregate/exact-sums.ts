import { NO_FLOAT64 } from '../column/arrays.ts';
import { QueryError } from '../query-error.ts';
import { DOUBLE, WORDS } from './number-index.ts';

/** Doubles that the exact sums of one SUM or AVG may take: 256 MB. Ordinary data takes 4 to 6 a group. */
const SUM_LIMBS_MAX = 33_554_432;

/**
 * Sums of doubles without rounding, one per group, after Neal, "Fast exact summation using small and
 * large superaccumulators" (2015), with limbs in doubles because JavaScript has no 64-bit integers.
 *
 * Every finite double is an integer multiple of 2^-1074. A group's sum is kept as
 *
 *     Σ limb[k] · 2^(32·k − 1074),  k in [low, low + stride)
 *
 * where each limb is a signed integer below 2^53 in magnitude. The window [low, low + stride) is
 * common to all groups and widens as values ask for it: data of one scale needs 4 to 6 limbs, all
 * doubles there are need 67. Adding a value touches three limbs by less than 2^32 each; carries are
 * put off until `CARRY_PERIOD` additions have been made.
 */
export class ExactSums {
  #limbs: Float64Array<ArrayBuffer> = NO_FLOAT64;
  #low = 0;
  #stride = 0;
  #groupCapacity = 0;
  #additionsSinceCarry = 0;

  get isEmpty(): boolean {
    return this.#stride === 0;
  }

  /** Adds a finite value to the sum of a group below `groupCapacity`. */
  add(group: number, value: number, groupCapacity: number): void {
    // Zero has the least exponent there is: limbs down to it would be laid out for nothing.
    if (value === 0) return;
    DOUBLE[0] = value;
    const bin = binOf(WORDS[1]!);
    if (bin < this.#low || bin + LIMBS_PER_VALUE > this.#low + this.#stride) this.#widen(bin);
    if (group >= this.#groupCapacity) this.#reserve(groupCapacity);
    if (++this.#additionsSinceCarry >= CARRY_PERIOD) this.#carry();
    addLimbs(this.#limbs, group * this.#stride + bin - this.#low);
  }

  /**
   * Adds rows from `start` on, skipping NULLs, until one has to go through `add` (for its size, or
   * because carries are due) or is not finite; gives that row, or the count of rows.
   */
  addUntilMiss(numbers: GroupedNumbers, start: number, groupCapacity: number): number {
    if (groupCapacity > this.#groupCapacity) this.#reserve(groupCapacity);
    const { groups, values, nulls } = numbers;
    const limbs = this.#limbs;
    const low = this.#low;
    const stride = this.#stride;
    const binMax = low + stride - LIMBS_PER_VALUE;
    const end = Math.min(numbers.count, start + CARRY_PERIOD - this.#additionsSinceCarry - 1);
    let row = start;
    for (; row < end; row++) {
      if (nulls !== undefined && nulls[row] === 1) continue;
      DOUBLE[0] = values[row]!;
      const bin = binOf(WORDS[1]!);
      if (bin < low || bin > binMax || !Number.isFinite(values[row]!)) break;
      addLimbs(limbs, groups[row]! * stride + bin - low);
    }
    this.#additionsSinceCarry += row - start;
    while (row < numbers.count && nulls !== undefined && nulls[row] === 1) row++;
    return row;
  }

  /** The group's sum times 2^`scale`, rounded once, to nearest, ties to even; ±Infinity beyond. */
  rounded(group: number, scale = 0): number {
    if (group >= this.#groupCapacity) return 0;
    const stride = this.#stride;
    const limbs = this.#limbs.slice(group * stride, (group + 1) * stride);
    carryLimbs(limbs, 0, stride);
    const isNegative = limbs[stride - 1]! < 0;
    if (isNegative) {
      for (let k = 0; k < stride; k++) limbs[k] = -limbs[k]!;
      carryLimbs(limbs, 0, stride);
    }
    let top = stride - 1;
    while (top > 0 && limbs[top] === 0) top--;
    const bottom = Math.max(top - 3, 0);
    // Four limbs hold 97 bits or more below the leading one, so what lies under them can only
    // break a tie: one sticky bit stands for it.
    let head = 0n;
    for (let k = top; k >= bottom; k--) head = (head << 32n) + BigInt(limbs[k]!);
    for (let k = 0; k < bottom; k++) if (limbs[k] !== 0) head |= 1n;
    // Number() of a bigint rounds to nearest, ties to even. With 53 bits or fewer nothing is
    // rounded; with more the result is a normal double, so scaling it is exact.
    const magnitude = scaled(Number(head), 32 * (this.#low + bottom) - 1074 + scale);
    return isNegative ? -magnitude : magnitude;
  }

  /** The group's sum, not rounded. */
  exact(group: number): ExactNumber {
    const exponent = 32 * this.#low - 1074;
    if (group >= this.#groupCapacity) return { units: 0n, exponent };
    const stride = this.#stride;
    let units = 0n;
    for (let k = stride - 1; k >= 0; k--) {
      units = (units << 32n) + BigInt(this.#limbs[group * stride + k]!);
    }
    return { units, exponent };
  }

  /** The sums of groups [0, groupCount) as plain data; `undefined` when all are 0. */
  partial(groupCount: number): ExactSumsPartial | undefined {
    if (this.isEmpty) return undefined;
    this.#carry();
    const limbs = this.#limbs.slice(0, groupCount * this.#stride);
    return { low: this.#low, stride: this.#stride, limbs };
  }

  /** Adds the partial's group `i` to our group `groups[i]`. */
  combine(partial: ExactSumsPartial, groups: Int32Array, groupCapacity: number): void {
    const { low, stride, limbs } = partial;
    this.#carry();
    this.#widen(low);
    this.#widen(low + stride - LIMBS_PER_VALUE);
    this.#reserve(groupCapacity);
    for (let index = 0; index * stride < limbs.length; index++) {
      const at = groups[index]! * this.#stride + low - this.#low;
      for (let k = 0; k < stride; k++) this.#limbs[at + k]! += limbs[index * stride + k]!;
    }
    this.#carry();
  }

  #reserve(groupCapacity: number): void {
    if (groupCapacity > this.#groupCapacity) {
      this.#layOut(this.#low, this.#stride, Math.max(groupCapacity, 2 * this.#groupCapacity));
    }
  }

  #widen(bin: number): void {
    if (this.#stride === 0) {
      this.#layOut(bin, LIMBS_PER_VALUE, this.#groupCapacity);
      return;
    }
    const low = Math.min(this.#low, bin);
    const high = Math.max(this.#low + this.#stride, bin + LIMBS_PER_VALUE);
    if (high - low > this.#stride) this.#layOut(low, high - low, this.#groupCapacity);
  }

  #layOut(low: number, stride: number, groupCapacity: number): void {
    if (groupCapacity * stride > SUM_LIMBS_MAX) {
      throw new QueryError(
        'query_limit',
        `exact sums may take ${SUM_LIMBS_MAX} limbs (SUM_LIMBS_MAX); ` +
          `${groupCapacity} groups of ${stride} limbs are more`,
      );
    }
    const limbs = new Float64Array(groupCapacity * stride);
    if (stride === this.#stride) {
      limbs.set(this.#limbs);
    } else {
      for (let k = 0; k < this.#stride; k++) {
        const to = this.#low - low + k;
        for (let group = 0; group < this.#groupCapacity; group++) {
          limbs[group * stride + to] = this.#limbs[group * this.#stride + k]!;
        }
      }
    }
    this.#limbs = limbs;
    this.#low = low;
    this.#stride = stride;
    this.#groupCapacity = groupCapacity;
  }

  #carry(): void {
    for (let group = 0; group < this.#groupCapacity; group++) {
      carryLimbs(this.#limbs, group * this.#stride, this.#stride);
    }
    this.#additionsSinceCarry = 0;
  }
}

/** `limbs` holds `stride` limbs per group. All but a group's last are within [0, 2^32). */
export type ExactSumsPartial = {
  readonly low: number;
  readonly stride: number;
  readonly limbs: Float64Array;
};

/** Three that a value's 53 bits can fall on, and one that takes the carries of the third. */
const LIMBS_PER_VALUE = 4;

/** So many additions of less than 2^32 to a carried limb stay below 2^53. */
const CARRY_PERIOD = 2 ** 20;

const LIMB_BASE = 2 ** 32;

/** The limb, counted from 2^-1074, that takes the lowest bits of a double with this high word. */
function binOf(high: number): number {
  const exponent = (high >>> 20) & 0x7ff;
  return exponent === 0 ? 0 : (exponent - 1) >>> 5;
}

/** Adds the double in `DOUBLE` to the limbs, its lowest bits to `limbs[at]`. */
function addLimbs(limbs: Float64Array, at: number): void {
  const bottom = WORDS[0]!;
  const high = WORDS[1]!;
  const exponent = (high >>> 20) & 0x7ff;
  // The value is ± (top · 2^32 + bottom) · 2^position · 2^-1074; subnormals lack the implicit bit.
  const top = exponent === 0 ? high & 0xfffff : (high & 0xfffff) | 0x100000;
  const shift = exponent === 0 ? 0 : (exponent - 1) & 31;
  const sign = high >>> 31 === 0 ? 1 : -1;
  // A shift by 32 is a shift by 0 in JavaScript: shift by one, then by the rest.
  const backShift = 31 - shift;
  limbs[at]! += sign * ((bottom << shift) >>> 0);
  limbs[at + 1]! += sign * (((top << shift) | ((bottom >>> 1) >>> backShift)) >>> 0);
  limbs[at + 2]! += sign * ((top >>> 1) >>> backShift);
}

/** Brings all limbs but the last into [0, 2^32); the last keeps the sign of the whole. */
function carryLimbs(limbs: Float64Array, start: number, stride: number): void {
  let carry = 0;
  const last = start + stride - 1;
  for (let k = start; k < last; k++) {
    const limb = limbs[k]! + carry;
    carry = Math.floor(limb / LIMB_BASE);
    limbs[k] = limb - carry * LIMB_BASE;
  }
  if (stride > 0) limbs[last]! += carry;
}

/** value · 2^exponent in two exact steps: 2^exponent alone may be beyond a double. */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}

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

/** Values of a chunk and the groups of their rows. */
export type GroupedNumbers = {
  readonly groups: Int32Array;
  readonly count: number;
  readonly values: Float64Array;
  /** 1 where NULL; `undefined` when none is. */
  readonly nulls: Uint8Array | undefined;
};

import { randomInt } from 'node:crypto';
import { assert } from '../assert.ts';
import { OPEN_ROWS_MAX } from '../limits.ts';
import { sharedIntegers, sharedOffsets } from './arrays.ts';
import type { LeafPlan } from './leaf-plan.ts';
import { encodeNumbers } from './number-values.ts';
import type { SealedFooter } from './sealed-layout.ts';
import type { SkeletonArrays } from './skeleton.ts';
import type { SliceSink } from './slice.ts';
import type { StringEncoder } from './string-encoding.ts';
import {
  KIND_BITS,
  KIND_HAS_SLOT,
  KIND_IS_STRING,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
} from './token.ts';

const TOKENS_MIN = 16 * 1024;
const SKELETONS_MIN = 1024;
/** A segment of the most varied rows has more. */
const TOKENS_RESERVED = 4 * 1024 * 1024;
/** A token keeps 28 bits for its key. */
const KEYS_MAX = 2 ** 28;

/**
 * The distinct skeletons of an open segment, each under a number: 0, 1, 2 … in order of first
 * appearance. `#buckets` leads from the hash of a skeleton's tokens to the last skeleton with it,
 * `#nextOfHash` from there to the one before.
 */
export class SkeletonTable {
  count = 0;
  readonly #tokens = sharedIntegers(TOKENS_MIN, TOKENS_RESERVED);
  readonly #starts = sharedOffsets(SKELETONS_MIN + 1, OPEN_ROWS_MAX);
  readonly #buckets = new Map<number, number>();
  readonly #nextOfHash: number[] = [];
  readonly #slotsAreStrings: Uint8Array[] = [];
  /** Secret, so that nobody outside can choose skeletons of one hash. */
  readonly #seed = randomInt(2 ** 32) | 0;
  #scratch = new Int32Array(256);

  get tokens(): Int32Array {
    return this.#tokens.array;
  }

  /** `count + 1` entries in use. */
  get starts(): Uint32Array {
    return this.#starts.array;
  }

  get tokenCount(): number {
    return this.starts[this.count]!;
  }

  /** For each slot of the skeleton, 1 where it is a string, 0 where it is a number. */
  slotsAreStrings(skeleton: number): Uint8Array {
    return this.#slotsAreStrings[skeleton]!;
  }

  /**
   * The number of the skeleton `tokens[start, end)`, a new one if need be. `keyOf` gives the code
   * under which this segment keeps a key of the tokens.
   */
  intern(tokens: Int32Array, start: number, end: number, keyOf: (key: number) => number): number {
    const count = end - start;
    const translated = this.#translate(tokens, start, end, keyOf);
    const hash = hashTokens(translated, 0, count, this.#seed);
    const last = this.#buckets.get(hash) ?? -1;
    for (let skeleton = last; skeleton >= 0; skeleton = this.#nextOfHash[skeleton]!) {
      const from = this.starts[skeleton]!;
      const length = this.starts[skeleton + 1]! - from;
      if (length === count && equalTokens(this.tokens, from, translated, 0, count)) {
        return skeleton;
      }
    }
    this.#buckets.set(hash, this.count);
    this.#nextOfHash.push(last);
    return this.#append(translated, count);
  }

  #append(translated: Int32Array, count: number): number {
    const skeleton = this.count;
    const from = this.tokenCount;
    assert(from + count < 2 ** 31, 'tokens of one segment fit 31-bit positions');
    this.#tokens.reserve(from + count);
    this.#starts.reserve(skeleton + 2);
    this.tokens.set(translated.subarray(0, count), from);
    this.starts[skeleton + 1] = from + count;
    this.#slotsAreStrings.push(slotKinds(translated, count));
    this.count = skeleton + 1;
    return skeleton;
  }

  #translate(
    tokens: Int32Array,
    start: number,
    end: number,
    keyOf: (key: number) => number,
  ): Int32Array {
    if (this.#scratch.length < end - start) this.#scratch = new Int32Array((end - start) * 2);
    translateNode(tokens.subarray(start, end), 0, 0, keyOf, this.#scratch);
    return this.#scratch;
  }
}

/** A 32-bit hash of `tokens[start, end)`. */
export function hashTokens(tokens: Int32Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  for (let at = start; at < end; at++) {
    hash = Math.imul(hash ^ tokens[at]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

export function equalTokens(
  left: Int32Array,
  leftStart: number,
  right: Int32Array,
  rightStart: number,
  count: number,
): boolean {
  for (let index = 0; index < count; index++) {
    if (left[leftStart + index] !== right[rightStart + index]) return false;
  }
  return true;
}

/**
 * Copies the token at `at`, with all below it, under the key `key`; gives the position after it.
 * Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens.
 */
function translateNode(
  tokens: Int32Array,
  at: number,
  key: number,
  keyOf: (key: number) => number,
  translated: Int32Array,
): number {
  const kind = tokens[at]! & KIND_MASK;
  assert(key < KEYS_MAX, 'keys of one segment fit 28 bits');
  translated[at] = (key << KIND_BITS) | kind;
  if (kind !== RECORD && kind !== RECORD_LIST) return at + 1;
  translated[at + 1] = tokens[at + 1]!;
  translated[at + 2] = tokens[at + 2]!;
  const end = at + NODE_HEADER_SIZE + tokens[at + 1]!;
  let child = at + NODE_HEADER_SIZE;
  while (child < end) {
    const childKey = kind === RECORD ? keyOf(tokens[child]! >>> KIND_BITS) : 0;
    child = translateNode(tokens, child, childKey, keyOf, translated);
  }
  return end;
}

/** For each slot of a skeleton, whether it is a string. */
function slotKinds(tokens: Int32Array, count: number): Uint8Array {
  const kinds = new Uint8Array(tokens[2]!);
  let slot = 0;
  for (let at = 0; at < count; ) {
    const kind = tokens[at]! & KIND_MASK;
    if (KIND_HAS_SLOT[kind]) kinds[slot++] = KIND_IS_STRING[kind] ? 1 : 0;
    at += kind === RECORD || kind === RECORD_LIST ? NODE_HEADER_SIZE : 1;
  }
  assert(slot === kinds.length, 'a root record counts the slots of its subtree');
  return kinds;
}

/** Skeletons with the keys renumbered by first appearance, and the leaves' paths in those numbers. */
type EncodedSkeletons = Pick<SealedFooter, 'keys' | 'skeletons'> & {
  /** Of each column of the plan. */
  readonly paths: readonly (readonly number[])[];
  readonly arrays: SkeletonArrays;
};

/** `skeletons`: tokens of each; their keys, and those of the plan, are string codes of `strings`. */
export function encodeSkeletons(
  sink: SliceSink,
  strings: StringEncoder,
  skeletons: readonly Int32Array[],
  plan: LeafPlan,
): EncodedSkeletons {
  const keys = new KeyNumbers();
  const starts = new Uint32Array(skeletons.length + 1);
  skeletons.forEach((tokens, index) => {
    starts[index + 1] = starts[index]! + tokens.length;
  });
  const tokens = new Int32Array(starts.at(-1)!);
  skeletons.forEach((skeleton, index) => {
    tokens.set(skeleton, starts[index]);
    keys.renumber(tokens, starts[index]!);
  });
  const paths = plan.columns.map((leaf) => leaf.path.map((key) => keys.numberOf(key)));
  const block = strings.blockOf(Int32Array.from(keys.codes));
  const { bytes, offsets } = block;
  return {
    paths,
    arrays: {
      ...{ tokens, starts, placeStarts: plan.slotStarts, keys: block },
      count: skeletons.length,
    },
    keys: { count: keys.codes.length, bytes: sink.add(bytes), offsets: sink.add(offsets) },
    skeletons: {
      tokens: sink.add(tokens),
      starts: sink.add(starts),
      slotStarts: sink.add(plan.slotStarts),
      slotColumns: sink.add(plan.slotColumns),
      slotOrdinals: encodeNumbers(sink, plan.slotOrdinals, plan.slotOrdinals.length),
    },
  };
}

/** Numbers the keys of a sealed segment: 0, 1, 2 … in order of first appearance. */
class KeyNumbers {
  /** String code of each key. */
  readonly codes: number[] = [];
  readonly #numbers = new Map<number, number>();

  numberOf(code: number): number {
    let number = this.#numbers.get(code);
    if (number === undefined) {
      number = this.codes.length;
      this.codes.push(code);
      this.#numbers.set(code, number);
    }
    return number;
  }

  /** Renumbers the keys below `node`; gives the position after it. Bounded by RECORD_DEPTH_MAX. */
  renumber(tokens: Int32Array, node: number): number {
    const kind = tokens[node]! & KIND_MASK;
    if (kind !== RECORD && kind !== RECORD_LIST) return node + 1;
    const end = node + NODE_HEADER_SIZE + tokens[node + 1]!;
    let at = node + NODE_HEADER_SIZE;
    while (at < end) {
      if (kind === RECORD) {
        const key = this.numberOf(tokens[at]! >>> KIND_BITS);
        tokens[at] = (key << KIND_BITS) | (tokens[at]! & KIND_MASK);
      }
      at = this.renumber(tokens, at);
    }
    return end;
  }
}

import type { LeafPlan } from './leaf-plan.ts';
import { encodeNumbers } from './number-values.ts';
import type { SealedFooter } from './sealed-layout.ts';
import type { SkeletonArrays } from './skeleton.ts';
import type { SliceSink } from './slice.ts';
import type { StringEncoder } from './string-encoding.ts';
import { KIND_BITS, KIND_MASK, NODE_HEADER_SIZE, RECORD, RECORD_LIST } from './token.ts';

/** Skeletons with the keys renumbered by first appearance, and the leaves' paths in those numbers. */
export type EncodedSkeletons = Pick<SealedFooter, 'keys' | 'skeletons'> & {
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

import { must } from '../../assert.ts';
import { type NumbersFooter, NumberValues } from '../number-values.ts';
import type { SealedFooter } from '../sealed-layout.ts';
import type { Slice } from '../slice.ts';
import type { ExtractBuffer } from './extract-buffer.ts';
import type { Bounds, SliceBytes } from './slice-bytes.ts';
import type { ValuesExtract } from './values-extract.ts';

type From = {
  readonly bytes: SliceBytes;
  readonly buffer: ExtractBuffer;
  readonly values: ValuesExtract;
  readonly rows: Bounds;
};

export type ExtractedSkeletons = Pick<SealedFooter, 'skeletons' | 'rowSkeletons'>;

/** Those skeletons alone that some rows have, numbered anew: a segment may have thousands, each of some hundred bytes. */
export function extractSkeletons(
  { bytes, buffer, values, rows }: From,
  { skeletons, rowSkeletons }: SealedFooter,
): ExtractedSkeletons {
  const count = rows.end - rows.start;
  const all = Int32Array.from({ length: count }, (_, row) => row);
  const taken = new NumberValues(buffer.source, values.numbers(rowSkeletons, rows));
  const ofRow = taken.gatherIntegers(all, count);
  const met = Int32Array.from(new Set(ofRow)).sort();
  const numberOf = new Map(Array.from(met, (skeleton, number) => [skeleton, number]));
  const tokens = boundsOf(bytes, skeletons.starts, met);
  const slots = boundsOf(bytes, skeletons.slotStarts, met);
  return {
    skeletons: {
      tokens: buffer.add(joined(bytes, skeletons.tokens, tokens, 4)),
      starts: buffer.add(startsOf(tokens)),
      slotStarts: buffer.add(startsOf(slots)),
      slotColumns: buffer.add(joined(bytes, skeletons.slotColumns, slots, 2)),
      slotOrdinals: values.numbersOf(skeletons.slotOrdinals, slots),
    },
    rowSkeletons: numbers(
      buffer,
      Uint32Array.from(ofRow, (skeleton) => must(numberOf.get(skeleton))),
      met.length,
    ),
  };
}

/** Where some of many lists lie, of which `starts` has the first entry of each, and the end. */
function boundsOf(bytes: SliceBytes, starts: Slice, lists: Int32Array): Bounds[] {
  return Array.from(lists, (list) => {
    const [start, end] = bytes.pair32(starts, list);
    return { start, end };
  });
}

function startsOf(lists: readonly Bounds[]): Uint32Array {
  const starts = new Uint32Array(lists.length + 1);
  for (const [index, { start, end }] of lists.entries()) {
    starts[index + 1] = must(starts[index]) + end - start;
  }
  return starts;
}

function joined(bytes: SliceBytes, slice: Slice, lists: readonly Bounds[], width: number): Buffer {
  return Buffer.concat(
    lists.map(({ start, end }) => bytes.bytes(slice, width * start, width * end)),
  );
}

/** Integers below `limit`. */
function numbers(buffer: ExtractBuffer, values: Uint32Array, limit: number): NumbersFooter {
  const range = { base: 0, step: 1, min: 0, max: limit - 1 };
  if (limit === 1) return { ...range, encoding: 'constant', width: 0, slice: null };
  return { ...range, encoding: 'unsigned', width: 4, slice: buffer.add(values) };
}

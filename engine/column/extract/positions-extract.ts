import { unreachable } from '../../assert.ts';
import { bitCount, type PositionsFooter } from '../positions.ts';
import type { ExtractBuffer } from './extract-buffer.ts';
import { type Bounds, less, type SliceBytes } from './slice-bytes.ts';

/**
 * Entries that are packed together, in deflated strings and in the parts of others, begin at multiples of it: so does
 * what is taken out of a column.
 */
export const ENTRY_ALIGNMENT = 64;

/** Where the values of some rows are: in the segment they were taken out of, and among the values taken out. */
export type ExtractedPositions = { readonly bounds: Bounds; readonly footer: PositionsFooter };

/** `rows` begin at a multiple of ENTRY_ALIGNMENT. Values are taken from such a multiple on: those of the rows may begin behind it. */
export function extractPositions(
  from: { readonly bytes: SliceBytes; readonly buffer: ExtractBuffer; readonly rows: Bounds },
  footer: PositionsFooter,
): ExtractedPositions {
  switch (footer.kind) {
    case 'every-row':
      return { footer, bounds: from.rows };
    case 'bitmap':
      return bitmapOf(from, footer);
    case 'sparse':
      return ofSparse(from, footer);
    case 'offsets':
      return ofOffsets(
        from,
        from.bytes.unsigned32(footer.offsets, from.rows.start, from.rows.end + 1),
      );
    default:
      return unreachable(footer);
  }
}

type From = Parameters<typeof extractPositions>[0];

/** What is taken so that the values [first, end) are there: nothing where there are none. */
function boundsOf(first: number, end: number): Bounds {
  return { start: first === end ? first : first - (first % ENTRY_ALIGNMENT), end };
}

function ofOffsets({ buffer }: From, offsets: Uint32Array): ExtractedPositions {
  const bounds = boundsOf(offsets[0]!, offsets.at(-1)!);
  const footer = { kind: 'offsets', offsets: buffer.add(less(offsets, bounds.start)) } as const;
  return { footer, bounds };
}

function bitmapOf(
  { bytes, buffer, rows }: From,
  footer: Extract<PositionsFooter, { readonly kind: 'bitmap' }>,
): ExtractedPositions {
  const wordBounds = [rows.start >>> 5, (rows.end >>> 5) + 1] as const;
  const words = bytes.unsigned32(footer.words, ...wordBounds);
  const ranks = bytes.unsigned32(footer.ranks, ...wordBounds);
  const below = words.at(-1)! & ((1 << (rows.end & 31)) - 1);
  const bounds = boundsOf(ranks[0]!, ranks.at(-1)! + bitCount(below));
  return { footer: bitmap(buffer, words, less(ranks, bounds.start)), bounds };
}

/** As a bitmap, which has room for what lies before the first value; where a row has several, as offsets. */
function ofSparse(
  from: From,
  footer: Extract<PositionsFooter, { readonly kind: 'sparse' }>,
): ExtractedPositions {
  const { bytes, buffer, rows } = from;
  const first = bytes.firstAtLeast(footer.rows, rows.start);
  const end = bytes.firstAtLeast(footer.rows, rows.end);
  const held = bytes.unsigned32(footer.rows, first, end);
  const hasSeveral = held.some((row, index) => index > 0 && row === held[index - 1]);
  if (hasSeveral) return ofOffsets(from, offsetsOf(held, rows, first));
  const bounds = boundsOf(first, end);
  const words = new Uint32Array(((rows.end - rows.start) >>> 5) + 1);
  for (const row of held) words[(row - rows.start) >>> 5]! |= 1 << ((row - rows.start) & 31);
  const ranks = new Uint32Array(words.length);
  ranks[0] = first - bounds.start;
  for (let i = 1; i < words.length; i++) ranks[i] = ranks[i - 1]! + bitCount(words[i - 1]!);
  return { footer: bitmap(buffer, words, ranks), bounds };
}

function bitmap(buffer: ExtractBuffer, words: Uint32Array, ranks: Uint32Array): PositionsFooter {
  return { kind: 'bitmap', words: buffer.add(words), ranks: buffer.add(ranks) };
}

function offsetsOf(held: Uint32Array, { start, end }: Bounds, first: number): Uint32Array {
  let position = 0;
  return Uint32Array.from({ length: end - start + 1 }, (_, index) => {
    while (position < held.length && held[position]! < start + index) position++;
    return first + position;
  });
}

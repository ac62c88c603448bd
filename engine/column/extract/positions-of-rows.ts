import { unreachable } from '../../assert.ts';
import { bitCount, type PositionsFooter } from '../positions.ts';
import type { Bounds, SliceBytes } from './slice-bytes.ts';

/**
 * The position of the first value of each of some rows, and of the row behind them, as `offsets` of `PositionsFooter`
 * would have it; `undefined` where each row has one value.
 */
export function positionsOfRows(
  bytes: SliceBytes,
  footer: PositionsFooter,
  rows: Bounds,
): Uint32Array | undefined {
  switch (footer.kind) {
    case 'every-row':
      return undefined;
    case 'bitmap':
      return positionsOfBits(bytes, footer, rows);
    case 'sparse':
      return positionsOfSparse(bytes, footer, rows);
    case 'offsets':
      return bytes.unsigned32(footer.offsets, rows.start, rows.end + 1);
    default:
      return unreachable(footer);
  }
}

function positionsOfBits(
  bytes: SliceBytes,
  footer: Extract<PositionsFooter, { readonly kind: 'bitmap' }>,
  { start, end }: Bounds,
): Uint32Array {
  const firstWord = start >>> 5;
  const words = bytes.unsigned32(footer.words, firstWord, (end >>> 5) + 1);
  const ranks = bytes.unsigned32(footer.ranks, firstWord, (end >>> 5) + 1);
  return Uint32Array.from({ length: end - start + 1 }, (_, index) => {
    const row = start + index;
    const word = (row >>> 5) - firstWord;
    return ranks[word]! + bitCount(words[word]! & ((1 << (row & 31)) - 1));
  });
}

function positionsOfSparse(
  bytes: SliceBytes,
  footer: Extract<PositionsFooter, { readonly kind: 'sparse' }>,
  { start, end }: Bounds,
): Uint32Array {
  const first = bytes.firstAtLeast(footer.rows, start);
  const held = bytes.unsigned32(footer.rows, first, bytes.firstAtLeast(footer.rows, end));
  let position = 0;
  return Uint32Array.from({ length: end - start + 1 }, (_, index) => {
    while (position < held.length && held[position]! < start + index) position++;
    return first + position;
  });
}

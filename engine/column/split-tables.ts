import type { SliceSource } from './slice.ts';
import type { SplitFooter } from './split-footer.ts';
import type { SplitBlock, StringBlock } from './vector.ts';

/** Of strings that are taken apart what all of them have in common, without the bytes that each of them takes. */
export type SplitTables = Pick<
  SplitBlock,
  'heads' | 'headStarts' | 'headCodes' | 'shapes' | 'words' | 'textEntries'
>;

export function openSplitTables(source: SliceSource, footer: SplitFooter): SplitTables {
  const open = ({ bytes, offsets }: SplitFooter['heads']): StringBlock => ({
    bytes: source.bytes(bytes),
    offsets: source.unsigned32(offsets),
  });
  return {
    heads: open(footer.heads),
    headStarts: source.unsigned32(footer.headStarts),
    headCodes: source.unsigned32(footer.headCodes),
    shapes: open(footer.shapes),
    words: open(footer.words),
    textEntries: source.unsigned32(footer.textEntries),
  };
}

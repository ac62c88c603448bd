import { ENTRY_ALIGNMENT } from './extract/positions-extract.ts';
import { type RowColumns, SegmentExtract } from './extract/segment-extract.ts';
import type { Bounds, ReadSlice } from './extract/slice-bytes.ts';
import { type NumbersFooter, NumberValues } from './number-values.ts';
import { readFooter, type SealedFooter } from './sealed-layout.ts';
import type { SegmentImage } from './segment-image.ts';
import { SliceSource } from './slice.ts';
import type { StringBlock } from './vector.ts';

/** Which rows of a segment are of which project. */
export type RowGroups = {
  readonly hasNone: boolean;
  readonly hasMixed: boolean;
  /** Project keys in the order of their bytes. */
  readonly names: StringBlock & { readonly count: number };
  /** First row of each group, and the end. Rows before the first are in none. */
  readonly groupStarts: Uint32Array;
};

/** What a merge takes of a sealed segment: all of its rows, or some that lie together. */
export type MergeInput = {
  readonly groups: RowGroups;
  /** Rows that columns have: those of the groups, and perhaps some before them. */
  readonly rowCount: number;
  readonly columns: RowColumns;
  /** Where columns are. */
  readonly slices: SliceSource;
};

/** All rows of a segment that is in memory. */
export function wholeInput(buffer: SharedArrayBuffer): MergeInput {
  const footer = readFooter(buffer);
  const slices = new SliceSource(buffer);
  const groups = openGroups(footer, slices);
  const { rowCount } = footer;
  return { groups, rowCount, columns: footer, slices };
}

/** A sealed segment of which rows are taken that lie together; of its columns no more is read than these need. */
export class SegmentRows {
  readonly groups: RowGroups;
  readonly #footer: SealedFooter;
  readonly #imageSize: number;
  readonly #read: ReadSlice;

  /** What reads the segment throws `SegmentImage.need`'s errors. */
  constructor({ buffer, need, read }: Pick<SegmentImage, 'buffer' | 'need' | 'read'>) {
    this.#footer = readFooter(buffer);
    this.#imageSize = buffer.byteLength;
    this.#read = read;
    this.groups = openGroups(this.#footer, new SliceSource(buffer, need));
  }

  input(rows: Bounds): MergeInput {
    const { extract, before } = this.#extract(rows);
    const { rowCount, columns, source } = extract;
    const groups = groupsWithin(this.groups, rows, before);
    return { groups, rowCount, columns, slices: source };
  }

  timestampsUs(rows: Bounds): Float64Array {
    return this.#numbers(rows, ({ timestampsUs }) => timestampsUs);
  }

  arrivals(rows: Bounds): Float64Array {
    return this.#numbers(rows, ({ arrivals }) => arrivals);
  }

  #numbers(rows: Bounds, footerOf: (columns: RowColumns) => NumbersFooter): Float64Array {
    const { extract, before } = this.#extract(rows);
    const wanted = Int32Array.from({ length: rows.end - rows.start }, (_, row) => before + row);
    return new NumberValues(extract.source, footerOf(extract.columns)).gather(
      wanted,
      wanted.length,
    );
  }

  /** `before`: rows in it before those that are wanted. */
  #extract({ start, end }: Bounds): { readonly extract: SegmentExtract; readonly before: number } {
    const before = start % ENTRY_ALIGNMENT;
    const rows = { start: start - before, end };
    return {
      extract: new SegmentExtract(this.#footer, this.#imageSize, this.#read, rows),
      before,
    };
  }
}

function openGroups({ groups }: SealedFooter, slices: SliceSource): RowGroups {
  const { hasNone, hasMixed, names, starts } = groups;
  const { count, bytes, offsets } = names;
  return {
    hasNone,
    hasMixed,
    names: { count, bytes: slices.bytes(bytes), offsets: slices.unsigned32(offsets) },
    groupStarts: slices.unsigned32(starts),
  };
}

/** The groups of some rows, of which the first is then number `first`. */
function groupsWithin(groups: RowGroups, { start, end }: Bounds, first: number): RowGroups {
  const { hasNone, hasMixed, names, groupStarts } = groups;
  const groupCount = groupStarts.length - 1;
  let group = 0;
  while (groupStarts[group + 1]! <= start) group++;
  let groupEnd = group;
  while (groupEnd < groupCount && groupStarts[groupEnd]! < end) groupEnd++;
  const starts = groupStarts.slice(group, groupEnd + 1).map((row) => {
    return Math.min(Math.max(row, start), end) - start + first;
  });
  const isNone = hasNone && group === 0;
  const isMixed = hasMixed && groupEnd === groupCount;
  const ends = (isNone ? 1 : 0) + (isMixed ? 1 : 0);
  const count = groupEnd - group - ends;
  const firstName = group + (isNone ? 1 : 0) - (hasNone ? 1 : 0);
  const offsets = names.offsets.subarray(firstName, firstName + count + 1);
  return {
    hasNone: isNone,
    hasMixed: isMixed,
    names: { count, bytes: names.bytes, offsets },
    groupStarts: starts,
  };
}

import type { MergeOrder } from './merge-order.ts';
import { identity, type MergeSource, viewOf } from './merge-source.ts';
import { encodeNumbers, type NumbersFooter, NumberValues } from './number-values.ts';
import type { PositionsFooter } from './positions.ts';
import { type SliceSink, unsignedArray } from './slice.ts';
import { StringEncoder, type StringUse } from './string-encoding.ts';
import type { StringEntries } from './string-entries.ts';
import type { PackingFooter, StringsFooter } from './string-footer.ts';
import { StringTable } from './string-table.ts';

/** Where each value of a merged column comes from, row by row. */
export type ValueOrigins = {
  readonly count: number;
  /** Merged row of each value. */
  readonly rows: Uint32Array;
  readonly segments: Uint16Array;
  /** Position in the segment's column. */
  readonly positions: Int32Array;
  /** Values a row has at most. */
  readonly perRowMax: number;
};

/** `positions`: of the column in each segment; `undefined` in those that do not have it. */
export function valueOrigins(
  order: MergeOrder,
  sources: readonly MergeSource[],
  positions: readonly (PositionsFooter | undefined)[],
): ValueOrigins {
  if (positions.every((footer) => footer?.kind === 'every-row')) {
    const rows = new Uint32Array(identity(order.rowCount));
    const { segments, rows: rowsOf } = order;
    return { count: order.rowCount, rows, segments, positions: rowsOf, perRowMax: 1 };
  }
  const firstOf = positions.map((footer, segment) =>
    footer === undefined ? undefined : sources[segment]!.firstPositions(footer),
  );
  const count = valueCountOf(order, firstOf);
  const rows = new Uint32Array(count);
  const segments = new Uint16Array(count);
  const valuePositions = new Int32Array(count);
  let to = 0;
  let perRowMax = 0;
  for (let row = 0; row < order.rowCount; row++) {
    const segment = order.segments[row]!;
    const first = firstOf[segment];
    if (first === undefined) continue;
    const start = first[order.rows[row]!]!;
    const end = first[order.rows[row]! + 1]!;
    if (end - start > perRowMax) perRowMax = end - start;
    for (let position = start; position < end; position++) {
      rows[to] = row;
      segments[to] = segment;
      valuePositions[to++] = position;
    }
  }
  return { count, rows, segments, positions: valuePositions, perRowMax };
}

function valueCountOf(
  { rowCount, segments, rows }: MergeOrder,
  firstOf: readonly (Int32Array | undefined)[],
): number {
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    const first = firstOf[segments[row]!];
    if (first !== undefined) count += first[rows[row]! + 1]! - first[rows[row]!]!;
  }
  return count;
}

/** `footers`: of the column in each segment that has values. */
export function mergeNumbers(
  sink: SliceSink,
  sources: readonly MergeSource[],
  footers: readonly (NumbersFooter | undefined)[],
  origins: ValueOrigins,
): NumbersFooter {
  return encodeNumbers(sink, gatherNumbers(sources, footers, origins), origins.count);
}

function gatherNumbers(
  sources: readonly MergeSource[],
  footers: readonly (NumbersFooter | undefined)[],
  origins: ValueOrigins,
): Float64Array {
  const { count, segments, positions } = origins;
  const ends = positionEnds(sources.length, origins);
  const columns = footers.map((footer, segment) =>
    footer === undefined
      ? new Float64Array(0)
      : new NumberValues(sources[segment]!.slices, footer).gather(
          identity(ends[segment]!),
          ends[segment]!,
        ),
  );
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) values[i] = columns[segments[i]!]![positions[i]!]!;
  return values;
}

/** Behind the last position that is taken of each segment. */
function positionEnds(
  segmentCount: number,
  { count, segments, positions }: ValueOrigins,
): Uint32Array {
  const ends = new Uint32Array(segmentCount);
  for (let i = 0; i < count; i++) {
    if (positions[i]! >= ends[segments[i]!]!) ends[segments[i]!] = positions[i]! + 1;
  }
  return ends;
}

/**
 * The strings of a column. Packed ones of one kind are moved as they are; all others are made
 * distinct again, entry by entry where a segment has a dictionary.
 */
export function mergeStrings(
  sink: SliceSink,
  sources: readonly MergeSource[],
  footers: readonly (StringsFooter | undefined)[],
  origins: ValueOrigins,
  use: StringUse,
): StringsFooter {
  const present = footers.filter((footer) => footer !== undefined);
  const packing =
    origins.count > 0 && present.every((footer) => footer.codes === null)
      ? (mergePacked(sink, sources, footers, origins) ??
        mergeForms(sink, sources, footers, origins))
      : undefined;
  if (packing !== undefined) {
    return { entryCount: origins.count, isDistinct: false, codes: null, packing };
  }
  const table = new StringTable();
  const codes = gatherCodes(table, sources, footers, origins);
  const encoder = new StringEncoder(
    sink,
    { bytes: table.bytes, offsets: table.offsets },
    table.count,
  );
  return encoder.encode(codes, origins.count, use);
}

/** The ends of another merged column's strings, as they are in every segment that has any. */
export function mergeEnds(
  sink: SliceSink,
  sources: readonly MergeSource[],
  footers: readonly (StringsFooter | undefined)[],
  { count, segments, positions }: ValueOrigins,
  whole: number,
): StringsFooter {
  const columns = footers.map((footer, segment) =>
    footer?.packing.kind === 'suffix'
      ? sources[segment]!.slices.unsigned(footer.packing.sizes, footer.packing.sizeWidth)
      : new Uint8Array(0),
  );
  const width = Math.max(...columns.map((column) => column.BYTES_PER_ELEMENT)) as 1 | 2 | 4;
  const sizes = unsignedArray(count, 2 ** (8 * width));
  for (let i = 0; i < count; i++) sizes[i] = columns[segments[i]!]![positions[i]!]!;
  const packing = {
    kind: 'suffix',
    column: whole,
    sizes: sink.add(sizes),
    sizeWidth: width,
  } as const;
  return { entryCount: count, isDistinct: false, codes: null, packing };
}

/** Digits of one length, or UUIDs, in all segments; else `undefined`. */
function mergePacked(
  sink: SliceSink,
  sources: readonly MergeSource[],
  footers: readonly (StringsFooter | undefined)[],
  { count, segments, positions }: ValueOrigins,
): PackingFooter | undefined {
  let size = 0;
  let shape: PackingFooter | undefined;
  const columns: Uint8Array[] = [];
  for (const [segment, footer] of footers.entries()) {
    columns.push(new Uint8Array(0));
    if (footer === undefined) continue;
    const { packing } = footer;
    if (packing.kind !== 'hex' && packing.kind !== 'uuid') return undefined;
    const packedSize = packing.kind === 'uuid' ? UUID_SIZE : Math.ceil(packing.digitCount / 2);
    if (shape !== undefined && !areAlike(shape, packing)) return undefined;
    shape = packing;
    size = packedSize;
    columns[segment] = sources[segment]!.slices.bytes(packing.bytes);
  }
  if (shape === undefined) return undefined;
  const bytes = new Uint8Array(count * size);
  let to = 0;
  for (let i = 0; i < count; i++) {
    const column = columns[segments[i]!]!;
    let at = positions[i]! * size;
    for (const end = at + size; at < end; at++) bytes[to++] = column[at]!;
  }
  return { ...shape, bytes: sink.add(bytes) } as PackingFooter;
}

const UUID_SIZE = 16;

function areAlike(left: PackingFooter, right: PackingFooter): boolean {
  if (left.kind === 'hex' && right.kind === 'hex') return left.digitCount === right.digitCount;
  return left.kind === right.kind;
}

/** Numbers in one dress in all segments; else `undefined`. */
function mergeForms(
  sink: SliceSink,
  sources: readonly MergeSource[],
  footers: readonly (StringsFooter | undefined)[],
  origins: ValueOrigins,
): PackingFooter | undefined {
  const packings = footers.map((footer) => footer?.packing);
  const shape = packings.find((packing) => packing !== undefined);
  if (shape?.kind !== 'form') return undefined;
  const numbers: (NumbersFooter | undefined)[] = [];
  for (const packing of packings) {
    if (packing === undefined) numbers.push(undefined);
    else if (packing.kind === 'form' && packing.form === shape.form) numbers.push(packing.numbers);
    else return undefined;
  }
  return { ...shape, numbers: mergeNumbers(sink, sources, numbers, origins) };
}

/** The string of each value as a code of the table. */
function gatherCodes(
  table: StringTable,
  sources: readonly MergeSource[],
  footers: readonly (StringsFooter | undefined)[],
  origins: ValueOrigins,
): Float64Array {
  const { count, segments, positions } = origins;
  const ends = positionEnds(sources.length, origins);
  const columns = footers.map((footer, segment) => {
    if (footer === undefined) return undefined;
    const strings = sources[segment]!.strings(footer);
    const codes = strings.gather(identity(ends[segment]!), ends[segment]!);
    return { strings, codes, isMet: new Uint8Array(footer.entryCount) };
  });
  for (let i = 0; i < count; i++) {
    const { codes, isMet } = columns[segments[i]!]!;
    isMet[codes[positions[i]!]!] = 1;
  }
  const tableCodes = columns.map((column) => {
    return column && internEntries(table, column.strings.entries, column.isMet);
  });
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const segment = segments[i]!;
    values[i] = tableCodes[segment]![columns[segment]!.codes[positions[i]!]!]!;
  }
  return values;
}

/** Those that are met, in their order: those that are packed together are unpacked once. */
function internEntries(table: StringTable, entries: StringEntries, isMet: Uint8Array): Int32Array {
  const codes = new Int32Array(isMet.length);
  const interner = new RangeInterner(table);
  for (let entry = 0; entry < isMet.length; entry++) {
    if (isMet[entry] === 1) codes[entry] = interner.intern(entries.range(entry));
  }
  return codes;
}

/** Interns ranges of bytes, most of them of the same few arrays. */
export class RangeInterner {
  readonly #table: StringTable;
  #bytes: Uint8Array = new Uint8Array(0);
  #view = viewOf(this.#bytes);

  constructor(table: StringTable) {
    this.#table = table;
  }

  intern(range: { bytes: Uint8Array; start: number; end: number }): number {
    if (range.bytes !== this.#bytes) {
      this.#bytes = range.bytes;
      this.#view = viewOf(range.bytes);
    }
    return this.#table.intern(this.#view, range.start, range.end);
  }
}

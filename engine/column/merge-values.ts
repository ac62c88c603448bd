import { assert, must } from '../assert.ts';
import { type LeafPlan, RESIDUAL_COLUMN } from './leaf-plan.ts';
import { identity, type MergeOrder, type MergeSource, viewOf } from './merge-input.ts';
import { encodeNumbers, type NumbersFooter, NumberValues } from './number-values.ts';
import type { PositionsFooter } from './positions.ts';
import type { LeafFooter } from './sealed-layout.ts';
import { type SliceSink, unsignedArray } from './slice.ts';
import { StringEncoder, type StringUse } from './string-encoding.ts';
import type { PackingFooter, StringEntries, StringsFooter } from './string-footer.ts';
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
class RangeInterner {
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

/** Reads values of the merged rows one by one, wherever their segments keep them. */
export class PlaceReader {
  readonly plan: LeafPlan;
  readonly #sources: readonly MergeSource[];
  readonly #order: MergeOrder;
  readonly #skeletonOfRow: Float64Array;
  /** For each segment, 1 for each merged column that its rows have values of. */
  readonly #hasValues: readonly Uint8Array[];
  #slotsByColumn: Map<number, Map<number, number[]>> | undefined;
  #skeletonRows: SkeletonRows | undefined;

  constructor(
    sources: readonly MergeSource[],
    order: MergeOrder,
    plan: LeafPlan,
    skeletonOfRow: Float64Array,
  ) {
    this.plan = plan;
    this.#sources = sources;
    this.#order = order;
    this.#skeletonOfRow = skeletonOfRow;
    this.#hasValues = this.#presence();
  }

  /** Whether each segment that has values of a merged column has them in one of its own. */
  areInColumns(column: number, footers: readonly (LeafFooter | undefined)[]): boolean {
    return footers.every(
      (footer, segment) => footer !== undefined || this.#hasValues[segment]![column] === 0,
    );
  }

  /** The values of a merged column, strings as codes of the table, and their merged rows. */
  read(
    column: number,
    valueCount: number,
    table: StringTable,
  ): { readonly values: Float64Array; readonly rows: Uint32Array } {
    const values = new Float64Array(valueCount);
    const rows = new Uint32Array(valueCount);
    if (valueCount === 0) return { values, rows };
    this.#slotsByColumn ??= slotsByColumn(this.plan);
    const slotsOf = must(this.#slotsByColumn.get(column));
    const interner = new RangeInterner(table);
    const { slotIsString, slotStarts } = this.plan;
    let to = 0;
    for (const row of this.#rowsOf([...slotsOf.keys()])) {
      const skeleton = this.#skeletonOfRow[row]!;
      const source = this.#sources[this.#order.segments[row]!]!;
      const sourceRow = this.#order.rows[row]!;
      for (const slot of must(slotsOf.get(skeleton))) {
        const place = source.place(sourceRow, slot);
        const isString = slotIsString[slotStarts[skeleton]! + slot] === 1;
        rows[to] = row;
        values[to++] = isString
          ? interner.intern(source.store.verbatim(sourceRow, place))
          : source.store.number(sourceRow, place);
      }
    }
    assert(to === valueCount, 'a column has as many values as its plan counts');
    return { values, rows };
  }

  /** The merged rows of some skeletons, ascending. */
  #rowsOf(skeletons: readonly number[]): Int32Array {
    this.#skeletonRows ??= this.#groupRows();
    const { starts, rows } = this.#skeletonRows;
    const count = skeletons.reduce((sum, one) => sum + starts[one + 1]! - starts[one]!, 0);
    const taken = new Int32Array(count);
    let to = 0;
    for (const skeleton of skeletons) {
      taken.set(rows.subarray(starts[skeleton]!, starts[skeleton + 1]!), to);
      to += starts[skeleton + 1]! - starts[skeleton]!;
    }
    return taken.sort();
  }

  /** The rows of each skeleton, ascending, those of skeleton `s` at `[starts[s], starts[s + 1])`. */
  #groupRows(): SkeletonRows {
    const { rowCount } = this.#order;
    const starts = new Uint32Array(this.plan.slotStarts.length);
    for (let row = 0; row < rowCount; row++) starts[this.#skeletonOfRow[row]! + 1]!++;
    for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
    const next = starts.slice();
    const rows = new Int32Array(rowCount);
    for (let row = 0; row < rowCount; row++) rows[next[this.#skeletonOfRow[row]!]!++] = row;
    return { starts, rows };
  }

  #presence(): Uint8Array[] {
    const { slotColumns, slotStarts, columns } = this.plan;
    const hasValues = this.#sources.map(() => new Uint8Array(columns.length));
    const seen = this.#sources.map(() => new Uint8Array(slotStarts.length - 1));
    for (let row = 0; row < this.#order.rowCount; row++) {
      const segment = this.#order.segments[row]!;
      const skeleton = this.#skeletonOfRow[row]!;
      if (seen[segment]![skeleton] === 1) continue;
      seen[segment]![skeleton] = 1;
      for (let place = slotStarts[skeleton]!; place < slotStarts[skeleton + 1]!; place++) {
        const column = slotColumns[place]!;
        if (column !== RESIDUAL_COLUMN) must(hasValues[segment])[column] = 1;
      }
    }
    return hasValues;
  }
}

type SkeletonRows = { readonly starts: Uint32Array; readonly rows: Int32Array };

/** For each column, the skeletons that have slots in it, and which. */
function slotsByColumn({ slotColumns, slotStarts }: LeafPlan): Map<number, Map<number, number[]>> {
  const byColumn = new Map<number, Map<number, number[]>>();
  for (let skeleton = 0; skeleton < slotStarts.length - 1; skeleton++) {
    for (let place = slotStarts[skeleton]!; place < slotStarts[skeleton + 1]!; place++) {
      const column = slotColumns[place]!;
      const slot = place - slotStarts[skeleton]!;
      const bySkeleton = byColumn.get(column) ?? new Map<number, number[]>();
      byColumn.set(column, bySkeleton);
      const slots = bySkeleton.get(skeleton);
      if (slots === undefined) bySkeleton.set(skeleton, [slot]);
      else slots.push(slot);
    }
  }
  return byColumn;
}

import { must } from '../assert.ts';
import { type ImageReader, type RowColumns, SegmentExtract } from './extract/segment-extract.ts';
import type { Bounds } from './extract/slice-bytes.ts';
import { ENTRY_ALIGNMENT } from './extract/values-extract.ts';
import { RESIDUAL_COLUMN } from './leaf-plan.ts';
import { type NumbersFooter, NumberValues } from './number-values.ts';
import { openPositions, type PositionsFooter } from './positions.ts';
import {
  type LeafFooter,
  readFooter,
  type SealedColumnName,
  type SealedFooter,
} from './sealed-layout.ts';
import { openSlotPlaces, SealedSlotStore } from './sealed-slot-store.ts';
import type { SegmentImage } from './segment-image.ts';
import type { SkeletonTable } from './skeleton-table.ts';
import { SliceSource } from './slice.ts';
import type { StringEntries } from './string-footer.ts';
import type { StringTable } from './string-table.ts';
import { StringValues } from './string-values.ts';
import {
  KIND_HAS_SLOT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  NULL_KIND,
  RECORD,
  RECORD_LIST,
} from './token.ts';
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
  readonly #reader: ImageReader;

  /** What reads the segment throws `SegmentImage.need`'s errors. */
  constructor(of: Pick<SegmentImage, 'buffer' | 'need' | 'read' | 'expect'>) {
    const { buffer, need, read, expect } = of;
    this.#footer = readFooter(buffer);
    this.#reader = { imageSize: buffer.byteLength, read, expect };
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
      extract: new SegmentExtract(this.#footer, this.#reader, rows),
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

/** The rows of one sealed segment to be merged, as their order needs them. */
type OrderedRows = RowGroups & {
  readonly timestampsUs: Float64Array;
  readonly arrivals: Float64Array;
};

/** Which row of which segment each merged row is. */
export type MergeOrder = {
  readonly rowCount: number;
  readonly segments: Uint16Array;
  readonly rows: Int32Array;
  readonly hasNone: boolean;
  readonly hasMixed: boolean;
  /** Where each project key is: an index among the names of a segment that has it. */
  readonly names: readonly { readonly segment: number; readonly name: number }[];
  /** First merged row of each group, and the end. */
  readonly groupStarts: Uint32Array;
};

/** A stretch of rows of one segment, in the order of (timestamp, arrival). */
type Run = { readonly segment: number; row: number; readonly end: number };

/** The rows of all segments by (project key, timestamp, arrival). */
export function mergeOrder(inputs: readonly OrderedRows[]): MergeOrder {
  const rowCount = inputs.reduce((sum, input) => sum + rowCountOf(input), 0);
  const order = { segments: new Uint16Array(rowCount), rows: new Int32Array(rowCount) };
  const groupStarts: number[] = [];
  let end = 0;
  const append = (runs: Run[]): void => {
    if (runs.length === 0) return;
    groupStarts.push(end);
    end = mergeRuns(inputs, runs, order, end);
  };
  const ends = (isMixed: boolean): Run[] =>
    inputs.flatMap((input, segment) => {
      if (isMixed ? !input.hasMixed : !input.hasNone) return [];
      return [runOf(input, segment, isMixed ? input.groupStarts.length - 2 : 0)];
    });
  append(ends(false));
  const names = mergeNames(inputs);
  for (const holders of names) {
    append(
      holders.map(({ segment, name }) => {
        const input = inputs[segment]!;
        return runOf(input, segment, name + (input.hasNone ? 1 : 0));
      }),
    );
  }
  append(ends(true));
  groupStarts.push(end);
  return {
    ...order,
    rowCount,
    hasNone: inputs.some((input) => input.hasNone),
    hasMixed: inputs.some((input) => input.hasMixed),
    names: names.map((holders) => holders[0]!),
    groupStarts: Uint32Array.from(groupStarts),
  };
}

/** Rows of all groups. */
function rowCountOf({ groupStarts }: RowGroups): number {
  return groupStarts.at(-1)! - groupStarts[0]!;
}

function runOf({ groupStarts }: OrderedRows, segment: number, group: number): Run {
  return { segment, row: groupStarts[group]!, end: groupStarts[group + 1]! };
}

type Holder = { readonly segment: number; readonly name: number };

/** The project keys of all segments in the order of their bytes, each with the segments that have it. */
export function mergeNames(inputs: readonly RowGroups[]): Holder[][] {
  const bytesOf = ({ segment, name }: Holder): Uint8Array => {
    const { bytes, offsets } = inputs[segment]!.names;
    return bytes.subarray(offsets[name]!, offsets[name + 1]!);
  };
  const all = inputs.flatMap(({ names }, segment) =>
    Array.from({ length: names.count }, (_, name): Holder => ({ segment, name })),
  );
  all.sort(
    (left, right) => Buffer.compare(bytesOf(left), bytesOf(right)) || left.segment - right.segment,
  );
  const merged: Holder[][] = [];
  for (const holder of all) {
    const last = merged.at(-1);
    if (last !== undefined && Buffer.compare(bytesOf(last[0]!), bytesOf(holder)) === 0) {
      last.push(holder);
    } else {
      merged.push([holder]);
    }
  }
  return merged;
}

/**
 * Writes the rows of the runs in order from `start` on; gives the end. The run with the least row is
 * followed as long as it stays below the next: segments are mostly of different times, so that a step
 * costs one comparison, not one for each run.
 */
function mergeRuns(
  inputs: readonly OrderedRows[],
  runs: Run[],
  order: { readonly segments: Uint16Array; readonly rows: Int32Array },
  start: number,
): number {
  const isBefore = (left: Run, right: Run): boolean => {
    const leftInput = inputs[left.segment]!;
    const rightInput = inputs[right.segment]!;
    const leftUs = leftInput.timestampsUs[left.row]!;
    const rightUs = rightInput.timestampsUs[right.row]!;
    if (leftUs !== rightUs) return leftUs < rightUs;
    return leftInput.arrivals[left.row]! < rightInput.arrivals[right.row]!;
  };
  let to = start;
  let open = runs;
  while (open.length > 0) {
    let first = open[0]!;
    let second: Run | undefined;
    for (const run of open) {
      if (run === first) continue;
      if (isBefore(run, first)) {
        second = first;
        first = run;
      } else if (second === undefined || isBefore(run, second)) second = run;
    }
    do {
      order.segments[to] = first.segment;
      order.rows[to++] = first.row++;
    } while (first.row < first.end && (second === undefined || isBefore(first, second)));
    if (first.row === first.end) open = open.filter((run) => run !== first);
  }
  return to;
}

/** One of the sealed segments that are merged. */
export class MergeSource {
  readonly columns: RowColumns;
  readonly slices: SliceSource;
  readonly order: OrderedRows;
  /** Skeleton of each row, as the segment numbers them. */
  readonly rowSkeletons: Int32Array;
  /** The merged number of each of its skeletons. */
  readonly skeletons: Int32Array;
  /** Values by row and place, whatever column they are in. */
  readonly store: SealedSlotStore;
  readonly #rowCount: number;
  readonly #slotStarts: Uint32Array;
  readonly #slotColumns: Uint16Array;
  /** Columns that are not to be read. */
  readonly #lost: ReadonlySet<SealedColumnName>;
  /** For each skeleton with slots of lost columns: the slots that are left. */
  readonly #leftSlots = new Map<number, Int32Array>();
  /** From `leafKey` to the leaf column, of those that are to be read; and back. */
  readonly #leaves = new Map<string, number>();
  readonly #leafKeys: readonly string[];
  readonly #entries: (StringEntries | undefined)[] = [];

  /** Interns keys and skeletons of the segment in the tables of the merged one. */
  constructor(
    { groups, rowCount, columns, slices }: MergeInput,
    lost: ReadonlySet<SealedColumnName>,
    tables: { readonly keys: StringTable; readonly skeletons: SkeletonTable },
  ) {
    this.columns = columns;
    this.slices = slices;
    this.#rowCount = rowCount;
    this.#lost = lost;
    const rows = identity(rowCount);
    this.order = {
      ...groups,
      timestampsUs: new NumberValues(slices, columns.timestampsUs).gather(rows, rowCount),
      arrivals: new NumberValues(slices, columns.arrivals).gather(rows, rowCount),
    };
    const rowSkeletons = new NumberValues(slices, columns.rowSkeletons);
    this.rowSkeletons = rowSkeletons.gatherIntegers(rows, rowCount);
    this.store = new SealedSlotStore(slices, columns, openSlotPlaces(slices, columns.skeletons));
    this.#slotStarts = slices.unsigned32(columns.skeletons.slotStarts);
    this.#slotColumns = slices.unsigned16(columns.skeletons.slotColumns);
    const keyCodes = internKeys(columns, slices, tables.keys);
    this.skeletons = this.#internSkeletons(keyCodes, tables.skeletons);
    this.#leafKeys = columns.leaves.map(({ path, leafClass }) => {
      return leafKey({ path: path.map((key) => keyCodes[key]!), leafClass });
    });
    this.#leafKeys.forEach((key, column) => {
      if (!lost.has(column)) this.#leaves.set(key, column);
    });
  }

  isLost(column: SealedColumnName): boolean {
    return this.#lost.has(column);
  }

  /** The column of a leaf, by `leafKey`; `undefined` when there is none, or no row has a string in it. */
  findLeaf(key: string): LeafFooter | undefined {
    const column = this.#leaves.get(key);
    const leaf = column === undefined ? undefined : this.columns.leaves[column];
    return leaf?.strings?.entryCount === 0 ? undefined : leaf;
  }

  /** The `leafKey` of a leaf column. */
  keyOfLeaf(column: number): string {
    return this.#leafKeys[column]!;
  }

  /** The strings of a column. */
  strings(footer: NonNullable<LeafFooter['strings']>): StringValues {
    return new StringValues(this.slices, footer, (column) => {
      const whole = must(this.columns.leaves[column]?.strings);
      const entries = this.#entries[column] ?? this.strings(whole).entries;
      this.#entries[column] = entries;
      return entries;
    });
  }

  /** First position of each row in a column, and the end. */
  firstPositions(positions: PositionsFooter): Int32Array {
    const rowCount = this.#rowCount;
    if (positions.kind !== 'sparse') {
      const rows = identity(rowCount + 1);
      return openPositions(this.slices, positions).locate(rows, rowCount + 1);
    }
    const valueRows = this.slices.unsigned32(positions.rows);
    const first = new Int32Array(rowCount + 1);
    let position = 0;
    for (let row = 0; row <= rowCount; row++) {
      while (position < valueRows.length && valueRows[position]! < row) position++;
      first[row] = position;
    }
    return first;
  }

  /** The place of slot `slot` of the merged form of a row's skeleton, as this segment counts them. */
  place(row: number, slot: number): number {
    const skeleton = this.rowSkeletons[row]!;
    return this.#slotStarts[skeleton]! + (this.#leftSlots.get(skeleton)?.[slot] ?? slot);
  }

  #internSkeletons(keyCodes: Int32Array, table: SkeletonTable): Int32Array {
    const { skeletons } = this.columns;
    const tokens = this.slices.integers(skeletons.tokens);
    const starts = this.slices.unsigned32(skeletons.starts);
    const keyOf = (key: number): number => keyCodes[key]!;
    return Int32Array.from({ length: starts.length - 1 }, (_, skeleton) => {
      const own = this.#withoutLost(
        tokens.subarray(starts[skeleton], starts[skeleton + 1]),
        skeleton,
      );
      return table.intern(own, 0, own.length, keyOf);
    });
  }

  /** Tokens with NULL in place of the values that are lost. */
  #withoutLost(tokens: Int32Array, skeleton: number): Int32Array {
    if (this.#lost.size === 0) return tokens;
    const firstPlace = this.#slotStarts[skeleton]!;
    const slots = Array.from({ length: this.#slotStarts[skeleton + 1]! - firstPlace }, (_, i) => i);
    const left = slots.filter((slot) => {
      const column = this.#slotColumns[firstPlace + slot]!;
      return !this.#lost.has(column === RESIDUAL_COLUMN ? 'residual' : column);
    });
    if (left.length === slots.length) return tokens;
    this.#leftSlots.set(skeleton, Int32Array.from(left));
    const leftSlots = new Set(left);
    const changed = tokens.slice();
    let slot = 0;
    const visit = (node: number): { end: number; slotCount: number } => {
      const kind = changed[node]! & KIND_MASK;
      if (kind !== RECORD && kind !== RECORD_LIST) {
        if (!KIND_HAS_SLOT[kind]) return { end: node + 1, slotCount: 0 };
        if (leftSlots.has(slot++)) return { end: node + 1, slotCount: 1 };
        changed[node] = (changed[node]! & ~KIND_MASK) | NULL_KIND;
        return { end: node + 1, slotCount: 0 };
      }
      const end = node + NODE_HEADER_SIZE + changed[node + 1]!;
      let slotCount = 0;
      // Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens.
      for (let at = node + NODE_HEADER_SIZE; at < end; ) {
        const child = visit(at);
        slotCount += child.slotCount;
        at = child.end;
      }
      changed[node + 2] = slotCount;
      return { end, slotCount };
    };
    visit(0);
    return changed;
  }
}

/** One text for each leaf: its class and its path in merged key codes. */
export function leafKey(leaf: Pick<LeafFooter, 'path' | 'leafClass'>): string {
  return `${leaf.leafClass} ${leaf.path.join(' ')}`;
}

function internKeys({ keys }: RowColumns, slices: SliceSource, table: StringTable): Int32Array {
  const view = viewOf(slices.bytes(keys.bytes));
  const ends = slices.unsigned32(keys.offsets);
  return Int32Array.from({ length: keys.count }, (_, key) =>
    table.intern(view, ends[key]!, ends[key + 1]!),
  );
}

/** 0, 1, 2 … */
export function identity(count: number): Int32Array {
  const values = new Int32Array(count);
  for (let i = 0; i < count; i++) values[i] = i;
  return values;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

import { must } from '../assert.ts';
import type { RowColumns } from './extract/segment-extract.ts';
import { RESIDUAL_COLUMN } from './leaf-plan.ts';
import type { MergeInput } from './merge-input.ts';
import type { OrderedRows } from './merge-order.ts';
import { NumberValues } from './number-values.ts';
import { openPositions, type PositionsFooter } from './positions.ts';
import type { SealedColumnName } from './sealed-columns.ts';
import type { LeafFooter } from './sealed-layout.ts';
import { openSlotPlaces, SealedSlotStore } from './sealed-slot-store.ts';
import type { SkeletonTable } from './skeleton-table.ts';
import type { SliceSource } from './slice.ts';
import type { StringEntries } from './string-entries.ts';
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

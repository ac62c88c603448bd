import { assert, must } from '../assert.ts';
import { type LeafPlan, RESIDUAL_COLUMN } from './leaf-plan.ts';
import type { MergeOrder } from './merge-order.ts';
import type { MergeSource } from './merge-source.ts';
import { RangeInterner } from './merge-values.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { StringTable } from './string-table.ts';

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

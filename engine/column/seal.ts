import { assert } from '../assert.ts';
import { MIXED_PROJECTS, NO_STRING } from './batch.ts';
import {
  type ColumnValues,
  emptyColumn,
  LeafEncoder,
  type LeafPlan,
  planLeaves,
  RESIDUAL_COLUMN,
  withPlacesTold,
} from './leaf-plan.ts';
import { encodeNumbers } from './number-values.ts';
import { encodePositions, type PositionsFooter } from './positions.ts';
import {
  type GroupsFooter,
  type LeafFooter,
  newSliceSink,
  type ResidualFooter,
  type SealedFooter,
  type StringColumnFooter,
  writeSegment,
} from './sealed-layout.ts';
import type { OpenSegmentHandle } from './segment.ts';
import { encodeSkeletons } from './skeleton-table.ts';
import { ShapeCache } from './split-encoding.ts';
import { StringEncoder, type StringUse } from './string-encoding.ts';

type SealOptions = {
  /** Width of a partition of time, in microseconds; partitions begin at multiples of it (UTC). */
  readonly partitionUs: number;
  /** Called now and then; the sealing goes on when it returns. */
  readonly checkpoint?: () => void;
  /** Shapes of the segments sealed before. */
  readonly choices?: ShapeCache;
};

/**
 * The published rows of an open segment as sealed segments: one for each partition of time that has
 * rows, in order of time. Each buffer is laid out as `sealed-layout.ts` says and never changes.
 * Takes some seconds for a full segment: to be called in a worker.
 */
export function sealSegment(handle: OpenSegmentHandle, options: SealOptions): SharedArrayBuffer[] {
  const { partitionUs, checkpoint = () => {}, choices = new ShapeCache() } = options;
  assert(partitionUs >= 1, 'a partition is at least a microsecond wide');
  const { timestampsUs } = handle.arrays;
  const rowsOfPartition = new Map<number, number[]>();
  for (let row = 0; row < handle.rowCount; row++) {
    const partition = Math.floor(timestampsUs[row]! / partitionUs);
    const rows = rowsOfPartition.get(partition);
    if (rows === undefined) rowsOfPartition.set(partition, [row]);
    else rows.push(row);
  }
  const partitions = [...rowsOfPartition.keys()].sort((left, right) => left - right);
  return partitions.map((partition) =>
    sealRows(handle, Int32Array.from(rowsOfPartition.get(partition)!), { checkpoint, choices }),
  );
}

/**
 * Some rows of an open segment, at least one, as one sealed segment. `rows` is sorted in place. Calls `checkpoint` before
 * each column.
 */
function sealRows(
  handle: OpenSegmentHandle,
  rows: Int32Array,
  { checkpoint, choices }: { readonly checkpoint: () => void; readonly choices: ShapeCache },
): SharedArrayBuffer {
  return new Sealer(handle, rows, checkpoint, choices).seal();
}

class Sealer {
  readonly #handle: OpenSegmentHandle;
  /** Rows of the open segment, in the order of the sealed one. */
  readonly #rows: Int32Array;
  readonly #checkpoint: () => void;
  readonly #choices: ShapeCache;
  readonly #sink = newSliceSink();
  readonly #strings: StringEncoder;

  constructor(
    handle: OpenSegmentHandle,
    rows: Int32Array,
    checkpoint: () => void,
    choices: ShapeCache,
  ) {
    const { stringBytes, stringOffsets } = handle.arrays;
    this.#handle = handle;
    this.#rows = rows;
    this.#checkpoint = checkpoint;
    this.#choices = choices;
    const block = { bytes: stringBytes, offsets: stringOffsets };
    this.#strings = new StringEncoder(this.#sink, block, handle.stringCount);
  }

  seal(): SharedArrayBuffer {
    const { arrays } = this.#handle;
    const groups = this.#sort();
    this.#checkpoint();
    const used = this.#usedSkeletons();
    const plan = planLeaves(used.tokens, used.rowCounts);
    const rowCount = this.#rows.length;
    const timestampsUs = encodeNumbers(this.#sink, this.#perRow(arrays.timestampsUs), rowCount);
    const arrivals = encodeNumbers(this.#sink, this.#perRow(arrays.arrivals), rowCount, 'picked');
    this.#checkpoint();
    const columns = this.#gather(plan, used.ofRow);
    const footer: SealedFooter = {
      rowCount,
      timestampUsMin: timestampsUs.min,
      timestampUsMax: timestampsUs.max,
      arrivalMin: arrivals.min,
      arrivalMax: arrivals.max,
      groups,
      rowSkeletons: encodeNumbers(this.#sink, used.ofRow, rowCount),
      timestampsUs,
      arrivals,
      ids: this.#stringColumn(arrays.ids, 'text'),
      messages: this.#stringColumn(arrays.messages, 'message'),
      projects: this.#stringColumn(arrays.projects, 'text'),
      ...this.#skeletons(used.tokens, plan, columns.leaves),
      residual: this.#residual(plan, columns.residual, columns.residualIsString),
    };
    return writeSegment(this.#sink, footer);
  }

  /** Sorts the rows by (project key, timestamp, arrival); gives the groups. */
  #sort(): GroupsFooter {
    const { projectKeys, timestampsUs } = this.#handle.arrays;
    const rows = this.#rows;
    const names = this.#sortedProjects();
    const rank = new Map<number, number>([[NO_STRING, 0]]);
    names.forEach((code, index) => {
      rank.set(code, index + 1);
    });
    rank.set(MIXED_PROJECTS, names.length + 1);
    const rankOf = Float64Array.from(rows, (row) => rank.get(projectKeys[row]!)!);
    const order = Int32Array.from(rows, (_, index) => index);
    // Rows come in order of arrival, which the index breaks ties by.
    order.sort(
      (left, right) =>
        rankOf[left]! - rankOf[right]! ||
        timestampsUs[rows[left]!]! - timestampsUs[rows[right]!]! ||
        left - right,
    );
    const starts: number[] = [];
    for (let i = 0; i < order.length; i++) {
      if (i === 0 || rankOf[order[i]!] !== rankOf[order[i - 1]!]) starts.push(i);
    }
    starts.push(order.length);
    const hasNone = rankOf[order[0]!] === 0;
    const hasMixed = rankOf[order.at(-1)!] === names.length + 1;
    rows.set(Int32Array.from(order, (index) => rows[index]!));
    const entries = new Int32Array(names.length);
    return {
      hasNone,
      hasMixed,
      names: this.#strings.encodeBlock(Float64Array.from(names), names.length, entries),
      starts: this.#sink.add(Uint32Array.from(starts)),
    };
  }

  /** String codes of the project keys, in the order of their bytes. */
  #sortedProjects(): number[] {
    const { projectKeys, stringBytes, stringOffsets } = this.#handle.arrays;
    const codes = new Set<number>();
    for (const row of this.#rows) if (projectKeys[row]! >= 0) codes.add(projectKeys[row]!);
    const bytesOf = (code: number): Uint8Array =>
      stringBytes.subarray(stringOffsets[code]!, stringOffsets[code + 1]!);
    return [...codes].sort((left, right) => Buffer.compare(bytesOf(left), bytesOf(right)));
  }

  /** The skeletons of the rows, renumbered by first appearance. */
  #usedSkeletons(): { tokens: Int32Array[]; rowCounts: number[]; ofRow: Float64Array } {
    const { skeletons, skeletonStarts, tokens } = this.#handle.arrays;
    const numberOf = new Map<number, number>();
    const used: Int32Array[] = [];
    const rowCounts: number[] = [];
    const ofRow = new Float64Array(this.#rows.length);
    this.#rows.forEach((row, index) => {
      const skeleton = skeletons[row]!;
      let number = numberOf.get(skeleton);
      if (number === undefined) {
        number = used.length;
        numberOf.set(skeleton, number);
        used.push(tokens.subarray(skeletonStarts[skeleton]!, skeletonStarts[skeleton + 1]!));
        rowCounts.push(0);
      }
      rowCounts[number]!++;
      ofRow[index] = number;
    });
    return { tokens: used, rowCounts, ofRow };
  }

  #perRow(values: Float64Array | Int32Array): Float64Array {
    return Float64Array.from(this.#rows, (row) => values[row]!);
  }

  /** Deals the slots of all rows out to their columns. */
  #gather(
    plan: LeafPlan,
    skeletonOfRow: Float64Array,
  ): { leaves: ColumnValues[]; residual: ColumnValues; residualIsString: Uint8Array } {
    const { slots, slotStarts } = this.#handle.arrays;
    const leaves = plan.columns.map((leaf) => emptyColumn(leaf.valueCount));
    const residual = emptyColumn(plan.residual.valueCount);
    const residualIsString = new Uint8Array(plan.residual.valueCount);
    const { slotColumns } = plan;
    for (let row = 0; row < this.#rows.length; row++) {
      const skeleton = skeletonOfRow[row]!;
      const firstPlace = plan.slotStarts[skeleton]!;
      const placesEnd = plan.slotStarts[skeleton + 1]!;
      let slot = slotStarts[this.#rows[row]!]!;
      for (let place = firstPlace; place < placesEnd; place++, slot++) {
        const id = slotColumns[place]!;
        const column = id === RESIDUAL_COLUMN ? residual : leaves[id]!;
        if (id === RESIDUAL_COLUMN) residualIsString[column.count] = plan.slotIsString[place]!;
        column.values[column.count] = slots[slot]!;
        column.rows[column.count++] = row;
      }
    }
    return { leaves, residual, residualIsString };
  }

  /** A declared column: one string in each row, or none. */
  #stringColumn(codes: Int32Array, use: StringUse): StringColumnFooter {
    this.#checkpoint();
    const column = emptyColumn(this.#rows.length);
    for (let row = 0; row < this.#rows.length; row++) {
      const code = codes[this.#rows[row]!]!;
      if (code < 0) continue;
      column.values[column.count] = code;
      column.rows[column.count++] = row;
    }
    return {
      positions: this.#positions(column, 1),
      strings: this.#strings.encode(column.values, column.count, use),
    };
  }

  #positions(column: ColumnValues, perRowMax: number): PositionsFooter {
    const { rows, count } = column;
    return encodePositions(this.#sink, { rows, valueCount: count, perRowMax }, this.#rows.length);
  }

  /** Skeletons, their keys and the leaf columns, with the keys renumbered by first appearance. */
  #skeletons(
    skeletons: readonly Int32Array[],
    plan: LeafPlan,
    columns: readonly ColumnValues[],
  ): Pick<SealedFooter, 'keys' | 'skeletons' | 'leaves'> {
    const encoder = new LeafEncoder(this.#sink, this.#strings, this.#rows.length, this.#choices);
    const encoded = encoder.encode(plan.columns, columns, this.#checkpoint);
    const encodedSkeletons = encodeSkeletons(this.#sink, this.#strings, skeletons, plan);
    const { keys, skeletons: footer, paths, arrays } = encodedSkeletons;
    const leaves = plan.columns.map(({ leafClass }, index): LeafFooter => {
      return { path: paths[index]!, leafClass, ...encoded[index]! };
    });
    return { keys, skeletons: footer, leaves: withPlacesTold(leaves, arrays, plan) };
  }

  #residual(plan: LeafPlan, column: ColumnValues, isString: Uint8Array): ResidualFooter {
    const { values, count } = column;
    const strings = values.filter((_, index) => isString[index] === 1);
    const entries = new Int32Array(strings.length);
    const block = this.#strings.encodeBlock(strings, strings.length, entries);
    let string = 0;
    for (let i = 0; i < count; i++) if (isString[i] === 1) values[i] = entries[string++]!;
    return {
      positions: this.#positions(column, plan.residual.perRowMax),
      slots: this.#sink.add(values),
      strings: block,
    };
  }
}

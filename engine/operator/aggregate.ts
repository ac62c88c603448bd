import type { AggregateState } from '../aggregate/aggregate-function.ts';
import { DeferredState, valuesOrError } from '../aggregate/deferred.ts';
import { type GroupKeys, GroupTable, selectedKeys } from '../aggregate/group-table.ts';
import type { SpillSpace } from '../aggregate/spilled-pairs.ts';
import { assert, must } from '../assert.ts';
import { carvedInt32 } from '../column/arrays.ts';
import {
  type Chunk,
  type ColumnSource,
  consecutivePositions,
  LazyChunk,
  VectorChunk,
  type VectorFunction,
} from '../column/chunk.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import type { OrderDirection } from '../function/comparison.ts';
import { QueryError } from '../query-error.ts';
import { vectorOfValues } from './merge-vectors.ts';
import { type Checkpoint, pushInChunks, type Sink } from './sink.ts';
import { sortedRows } from './sort.ts';

export type AggregateOptions = {
  readonly keys: readonly { readonly expression: VectorFunction; readonly type: SqlType }[];
  readonly aggregates: readonly {
    /** What is evaluated per row: the arguments, then the keys of an order. */
    readonly arguments: readonly VectorFunction[];
    /** The type of the result. */
    readonly type: SqlType;
    /** A fresh state, called once. */
    readonly create: () => AggregateState;
  }[];
  readonly checkpoint?: Checkpoint | undefined;
  /** Where states write what does not fit into memory; with it, the sink gives no `partial`. */
  readonly spill?: SpillSpace | undefined;
  /** Hears after each chunk how many groups, or values of groups, all rows so far have come to. */
  readonly onGrowth?: ((entryCount: number, rowCount: number) => void) | undefined;
};

const UNWANTED = -1;

/** How groups stand by each of their keys where nothing else orders them. */
export const GROUP_ORDER: OrderDirection = { descending: false, nullsFirst: true };

/** Groups finished between two checkpoints: a thousand quantiles of each take some milliseconds. */
const CHECKPOINT_GROUPS = 16;

/** Groups of a state from which combining it comes to checkpoints; to come to one takes as long as some dozen groups. */
const CHECKPOINT_COMBINED_MIN = 4_096;

/** What one sink knows, fit for `postMessage`; another of the same query takes it in. */
export type AggregatePartial = {
  readonly keys: GroupKeys;
  /** What the state of each aggregate gave. */
  readonly states: readonly unknown[];
  /** 1 for each group that counts; absent: all do. */
  readonly wanted?: Uint8Array;
};

/**
 * Groups rows by their keys (without keys: all rows are one group, even when there are none) and
 * aggregates each group. Groups come sorted by their keys, so that the order does not depend on
 * how the rows were split or when they came.
 */
export class AggregateSink implements Sink {
  readonly #options: AggregateOptions;
  readonly #table: GroupTable;
  readonly #states: readonly AggregateState[];
  #rowCount = 0;

  constructor(options: AggregateOptions) {
    this.#options = options;
    this.#table = new GroupTable(options.keys.map((key) => key.type));
    this.#states = options.aggregates.map((aggregate) => aggregate.create());
    const { spill } = options;
    if (spill !== undefined) for (const state of this.#states) state.spillTo?.(spill);
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    const keys = this.#options.keys.map((key) => key.expression(chunk));
    const runs = this.#table.assignRuns(keys, chunk.count);
    let groups = runs === undefined ? this.#table.assign(keys, chunk.count) : undefined;
    const groupCount = this.#table.size;
    for (const [index, aggregate] of this.#options.aggregates.entries()) {
      const state = this.#states[index]!;
      const functions = aggregate.arguments;
      const vectors =
        state instanceof DeferredState
          ? valuesOrError(functions, chunk)
          : functions.map((argument) => argument(chunk));
      if (vectors instanceof QueryError) {
        groups ??= this.#table.spread(must(runs));
        const { checkpoint } = this.#options;
        const rows = { chunk, functions };
        (state as DeferredState).updateApart(groups, groupCount, rows, checkpoint);
        continue;
      }
      if (runs !== undefined && state.updateRuns?.(runs, groupCount, vectors) === true) continue;
      groups ??= this.#table.spread(must(runs));
      state.update(groups, chunk.count, groupCount, vectors);
    }
    this.#rowCount += chunk.count;
    this.#options.onGrowth?.(this.#countEntries(), this.#rowCount);
    return true;
  }

  /** Of the table of groups, or of the state that holds most. */
  #countEntries(): number {
    const counts = this.#states.map(({ entryCount = 0 }) => entryCount);
    return Math.max(this.#table.size, ...counts);
  }

  /** Groups met so far. */
  get size(): number {
    return this.#table.size;
  }

  /** Whether no answer of a group can fail. */
  get isCertain(): boolean {
    return this.#states.every((state) => state.isCertain === true);
  }

  /** What one of the aggregates comes to so far, of each group. */
  answers(aggregate: number): Vector {
    const all = this.#groups(consecutivePositions(0, this.size));
    return all.column(this.#options.keys.length + aggregate);
  }

  /** What has been aggregated so far. Ends the use of this sink. */
  partial(): AggregatePartial {
    const groupCount = this.#table.size;
    const states = this.#states.map((state) => state.partial(groupCount));
    return { keys: this.#table.keys(), states };
  }

  /**
   * Adds what other sinks of the same query, perhaps in other threads, have aggregated. Keeps nothing
   * of it. Nothing is added afterwards: the group behind the last takes in what is not wanted.
   */
  combineAll(partials: readonly AggregatePartial[]): void {
    const all = partials.map((partial) => this.#combineKeys(partial));
    const { size } = this.#table;
    const isSome = partials.some(({ wanted }) => wanted !== undefined);
    for (const [at, { states }] of partials.entries()) {
      assert(states.length === this.#states.length, 'both sinks have the same aggregates');
      const groups = all[at]!.map((group) => (group === UNWANTED ? size : group));
      for (const [index, state] of this.#states.entries()) {
        state.combine(states[index], groups, isSome ? size + 1 : size);
        this.#checkpointFor(groups.length)?.();
      }
    }
  }

  /** Our group for each of theirs. */
  #combineKeys({ keys, wanted }: AggregatePartial): Int32Array {
    const checkpoint = this.#checkpointFor(keys.size);
    if (wanted === undefined) return this.#table.combine(keys, checkpoint);
    const ours = this.#table.combine(selectedKeys(keys, wanted), checkpoint);
    const groups = carvedInt32(keys.size).fill(UNWANTED);
    for (let group = 0, next = 0; group < keys.size; group++) {
      if (wanted[group] === 1) groups[group] = ours[next++]!;
    }
    return groups;
  }

  /** `undefined` for a state of few groups. */
  #checkpointFor(groupCount: number): Checkpoint | undefined {
    return groupCount < CHECKPOINT_COMBINED_MIN ? undefined : this.#options.checkpoint;
  }

  /** One row a group: the keys, then the aggregates, in one chunk of any length. */
  finalize(): Chunk {
    const { size } = this.#table;
    const all = consecutivePositions(0, size);
    const keyVectors = this.#options.keys.map((_, column) => this.#table.keyVector(all, column));
    const directions = keyVectors.map(() => GROUP_ORDER);
    const source = this.#groups(sortedRows(directions, keyVectors, size));
    const width = this.#options.keys.length + this.#states.length;
    return new VectorChunk(
      Array.from({ length: width }, (_, column) => source.column(column)),
      size,
    );
  }

  /** Pushes the rows of `finalize`; what `sink` answered last. */
  emit(sink: Sink): boolean {
    return pushInChunks(this.finalize(), sink);
  }

  /**
   * The same rows in the order in which groups were first met, for a sink that orders them itself and may
   * want few of them: what is not read of a group is not computed, unless that might fail.
   */
  emitUnordered(sink: Sink): boolean {
    const { size } = this.#table;
    const rows = new LazyChunk(this.#groups(consecutivePositions(0, size)), size);
    for (const [index, state] of this.#states.entries()) {
      if (state.isCertain !== true) rows.column(this.#options.keys.length + index);
    }
    return pushInChunks(rows, sink);
  }

  #groups(groups: Int32Array): FinishedGroups {
    const { keys, aggregates, checkpoint } = this.#options;
    const [table, states] = [this.#table, this.#states];
    return new FinishedGroups({ keys, aggregates, checkpoint, table, states }, groups);
  }
}

type Aggregation = AggregateOptions & {
  readonly table: GroupTable;
  readonly states: readonly AggregateState[];
};

/** The keys and answers of some groups of an aggregation that is over. */
class FinishedGroups implements ColumnSource {
  readonly #aggregation: Aggregation;
  readonly #groups: Int32Array;

  constructor(aggregation: Aggregation, groups: Int32Array) {
    this.#aggregation = aggregation;
    this.#groups = groups;
  }

  column(index: number): Vector {
    const { keys, table, states, aggregates, checkpoint } = this.#aggregation;
    if (index < keys.length) return table.keyVector(this.#groups, index);
    const groups = this.#groups;
    const state = states[index - keys.length]!;
    checkpoint?.();
    const all = state.finalizeAll?.(groups, () => checkpoint?.());
    if (all !== undefined) return all;
    const results: SqlValue[] = [];
    for (let position = 0; position < groups.length; position++) {
      if (position % CHECKPOINT_GROUPS === 0) checkpoint?.();
      results.push(state.finalize(groups[position]!));
    }
    return vectorOfValues(results, aggregates[index - keys.length]!.type);
  }

  select(positions: Int32Array, count: number): ColumnSource {
    const groups = carvedInt32(count);
    for (let i = 0; i < count; i++) groups[i] = this.#groups[positions[i]!]!;
    return new FinishedGroups(this.#aggregation, groups);
  }
}

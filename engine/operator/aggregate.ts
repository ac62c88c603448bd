import type { AggregateState } from '../aggregate/aggregate-function.ts';
import type { GroupKeys } from '../aggregate/group-table.ts';
import { GroupTable } from '../aggregate/group-table.ts';
import { assert } from '../assert.ts';
import type { Chunk, VectorFunction } from '../column/chunk.ts';
import { consecutivePositions, VectorChunk } from '../column/chunk.ts';
import type { SqlType } from '../column/type.ts';
import type { Vector } from '../column/vector.ts';
import { vectorOfValues } from './result-vector.ts';
import type { Checkpoint, Sink } from './sink.ts';
import { pushInChunks } from './sink.ts';
import { sortedRows } from './sort-order.ts';

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
};

/** Groups finished between two checkpoints: a thousand quantiles of each take some milliseconds. */
const CHECKPOINT_GROUPS = 16;

/** What one sink knows, fit for `postMessage`; another of the same query takes it in. */
export type AggregatePartial = {
  readonly keys: GroupKeys;
  /** What the state of each aggregate gave. */
  readonly states: readonly unknown[];
};

/**
 * Groups rows by their keys (without keys: all rows are one group, even when there are none) and
 * aggregates each group. Groups come sorted by their keys, so that the order tells nothing of how
 * the rows were split or when they came.
 */
export class AggregateSink implements Sink {
  readonly #options: AggregateOptions;
  readonly #table: GroupTable;
  readonly #states: readonly AggregateState[];

  constructor(options: AggregateOptions) {
    this.#options = options;
    this.#table = new GroupTable(options.keys.map((key) => key.type));
    this.#states = options.aggregates.map((aggregate) => aggregate.create());
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    const keys = this.#options.keys.map((key) => key.expression(chunk));
    const groups = this.#table.assign(keys, chunk.count);
    const groupCount = this.#table.size;
    for (const [index, aggregate] of this.#options.aggregates.entries()) {
      const vectors = aggregate.arguments.map((argument) => argument(chunk));
      this.#states[index]!.update(groups, chunk.count, groupCount, vectors);
    }
    return true;
  }

  /** What has been aggregated so far. Ends the use of this sink. */
  partial(): AggregatePartial {
    const groupCount = this.#table.size;
    const states = this.#states.map((state) => state.partial(groupCount));
    return { keys: this.#table.keys(), states };
  }

  /** Adds what another sink of the same query, perhaps in another thread, has aggregated. */
  combine(partial: AggregatePartial): void {
    assert(partial.states.length === this.#states.length, 'both sinks have the same aggregates');
    const groups = this.#table.combine(partial.keys);
    const groupCount = this.#table.size;
    for (const [index, state] of this.#states.entries()) {
      state.combine(partial.states[index], groups, groupCount);
    }
  }

  /** One row a group: the keys, then the aggregates, in one chunk of any length. */
  finalize(): Chunk {
    const { size } = this.#table;
    const all = consecutivePositions(0, size);
    const keyVectors = this.#options.keys.map((_, column) => this.#table.keyVector(all, column));
    const directions = keyVectors.map(() => ({ descending: false, nullsFirst: true }));
    const groups = sortedRows(directions, keyVectors, size);
    const columns: Vector[] = this.#options.keys.map((_, column) =>
      this.#table.keyVector(groups, column),
    );
    for (const [index, aggregate] of this.#options.aggregates.entries()) {
      const state = this.#states[index]!;
      const results = Array.from(groups, (group, position) => {
        if (position % CHECKPOINT_GROUPS === 0) this.#options.checkpoint?.();
        return state.finalize(group);
      });
      columns.push(vectorOfValues(results, aggregate.type));
    }
    return new VectorChunk(columns, size);
  }

  /** Pushes the rows of `finalize`; what `sink` answered last. */
  emit(sink: Sink): boolean {
    return pushInChunks(this.finalize(), sink);
  }
}

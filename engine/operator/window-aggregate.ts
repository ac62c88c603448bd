import type { AggregateState } from '../aggregate/aggregate-function.ts';
import {
  type DeferredAnswer,
  DeferredState,
  type RowsApart,
  valueInAnswer,
} from '../aggregate/deferred.ts';
import { assert } from '../assert.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { takeVector, type Vector } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { vectorOfValues } from './result-vector.ts';
import type { Checkpoint } from './sink.ts';
import type { FrameBounds } from './window-frame.ts';
import { forEachStanding, type WindowRows } from './window-rows.ts';

/**
 * Elements of the lists and characters of the texts that one aggregate gives over frames: frames
 * that grow by a row each give lists whose lengths add up to the square of the rows. 256 MB.
 */
const WINDOW_VALUES_MAX = 33_554_432;

/** An aggregate called with OVER. */
export type FramedAggregate = {
  /** A fresh state each time. */
  readonly create: () => AggregateState;
  /** What is evaluated per row, for the rows as they came. */
  readonly vectors: readonly Vector[];
  /** The type of the result. */
  readonly type: SqlType;
  /**
   * Whether it collects rows in an order. Then its answers grow with their frames, a frame has to
   * be added from its first row on, and no rows can be added once an answer was asked for.
   */
  readonly collects: boolean;
  /** Of a deferred one where some row has no values: there are no vectors then, and frames evaluate these rows. */
  readonly apart?: RowsApart;
};

/** Which rows a frame has in common with the one before it, and so how it is computed. */
export type FrameShape =
  /** All rows of the partition. */
  | 'whole'
  /** From the first row of the partition: rows are only ever added. */
  | 'growing'
  /** Up to the last row: the same, from the end. */
  | 'shrinking'
  | 'sliding';

/** The values of an aggregate for all rows, as they came. */
export function aggregateFrames(
  rows: WindowRows,
  aggregate: FramedAggregate,
  frames: { readonly bounds: () => FrameBounds; readonly shape: FrameShape },
  checkpoint: Checkpoint,
): Vector {
  const run = new FrameRun(rows, aggregate, checkpoint);
  if (frames.shape === 'whole') run.whole();
  else if (frames.shape === 'sliding' || aggregate.collects) run.sliding(frames.bounds());
  else if (frames.shape === 'growing') run.growing(frames.bounds());
  else run.shrinking(frames.bounds());
  return vectorOfValues(run.values, aggregate.type);
}

/** Adds rows to states of an aggregate and notes its answers. */
class FrameRun {
  readonly values: SqlValue[];
  readonly #rows: WindowRows;
  readonly #aggregate: FramedAggregate;
  readonly #checkpoint: Checkpoint;
  readonly #groups = new Int32Array(CHUNK_ROWS_MAX);
  #last: SqlValue = null;
  #valueCount = 0;

  constructor(rows: WindowRows, aggregate: FramedAggregate, checkpoint: Checkpoint) {
    this.#rows = rows;
    this.#aggregate = aggregate;
    this.#checkpoint = checkpoint;
    this.values = new Array<SqlValue>(rows.count).fill(null);
  }

  /** Each partition is a group. */
  whole(): void {
    const { partitions } = this.#rows;
    const partitionCount = partitions.length - 1;
    const state = this.#aggregate.create();
    for (let partition = 0; partition < partitionCount; partition++) {
      const [start, end] = [partitions[partition]!, partitions[partition + 1]!];
      this.#add(state, { start, end, group: partition, groupCount: partitionCount });
    }
    for (let partition = 0; partition < partitionCount; partition++) {
      const value = this.#finalized(state, partition);
      this.#note(value, partitions[partition]!, partitions[partition + 1]!);
    }
  }

  growing({ ends }: FrameBounds): void {
    const state = this.#aggregate.create();
    let group = -1;
    let added = 0;
    let value: SqlValue = null;
    forEachStanding(this.#rows, ({ position, partitionStart }) => {
      const isFirst = position === partitionStart;
      if (isFirst) {
        group++;
        added = partitionStart;
      }
      const end = ends[position]!;
      if (isFirst || end > added) {
        this.#add(state, { start: added, end, group, groupCount: group + 1 });
        added = end;
        value = this.#finalized(state, group);
      }
      this.#note(value, position, position + 1);
    });
  }

  shrinking({ starts }: FrameBounds): void {
    const { partitions } = this.#rows;
    const state = this.#aggregate.create();
    for (let group = 0; group + 1 < partitions.length; group++) {
      let added = partitions[group + 1]!;
      let value: SqlValue = null;
      for (let position = added - 1; position >= partitions[group]!; position--) {
        const start = starts[position]!;
        if (start < added || position === partitions[group + 1]! - 1) {
          this.#add(state, { start, end: added, group, groupCount: group + 1 });
          added = start;
          value = this.#finalized(state, group);
        }
        this.#note(value, position, position + 1);
      }
    }
  }

  /** Each frame is a group of its own, of states that take some frames each. */
  sliding({ starts, ends }: FrameBounds): void {
    const { count } = this.#rows;
    let position = 0;
    while (position < count) {
      const first = position;
      const state = this.#aggregate.create();
      const groupOf: number[] = [];
      let group = -1;
      let added = 0;
      for (; position < count && group + 1 < STATE_FRAMES_MAX; position++) {
        if (added > STATE_ROWS_MAX) break;
        const [start, end] = [starts[position]!, ends[position]!];
        const isSame =
          position > first && start === starts[position - 1] && end === ends[position - 1];
        if (!isSame) {
          group++;
          added += end - start;
          this.#add(state, { start, end, group, groupCount: group + 1 });
        }
        groupOf.push(group);
      }
      let known = -1;
      let value: SqlValue = null;
      for (const [index, each] of groupOf.entries()) {
        if (each !== known) value = this.#finalized(state, each);
        known = each;
        this.#note(value, first + index, first + index + 1);
      }
    }
  }

  /** Adds the rows at the positions [start, end) to a group, which may be none. */
  #add(
    state: AggregateState,
    to: {
      readonly start: number;
      readonly end: number;
      readonly group: number;
      readonly groupCount: number;
    },
  ): void {
    const { start, end, group, groupCount } = to;
    let position = start;
    do {
      const count = Math.min(CHUNK_ROWS_MAX, end - position);
      const rows = this.#rows.order.subarray(position, position + count);
      this.#groups.fill(group, 0, count);
      const { vectors, apart } = this.#aggregate;
      if (apart === undefined) {
        const taken = vectors.map((vector) => takeVector(vector, rows, count));
        state.update(this.#groups, count, groupCount, taken);
      } else {
        assert(state instanceof DeferredState, 'only what is deferred has errors');
        const chunk = apart.chunk.select(rows, count);
        state.updateApart(this.#groups, groupCount, { ...apart, chunk }, this.#checkpoint);
      }
      position += count;
      this.#checkpoint();
    } while (position < end);
  }

  /** Lists and texts that frames make one for each are counted: they grow with the square of the rows. */
  #finalized(state: AggregateState, group: number): SqlValue {
    const answer = state.finalize(group);
    const value = state instanceof DeferredState ? valueInAnswer(answer as DeferredAnswer) : answer;
    const isLong = Array.isArray(value) || typeof value === 'string';
    // The greatest of many is mostly the one it was before.
    if (isLong && value !== this.#last) this.#valueCount += value.length;
    this.#last = value;
    if (this.#valueCount > WINDOW_VALUES_MAX) {
      throw new QueryError(
        'query_limit',
        `an aggregate over frames may give lists and texts of at most ${WINDOW_VALUES_MAX} elements and characters together (WINDOW_VALUES_MAX); got more`,
      );
    }
    return answer;
  }

  #note(value: SqlValue, start: number, end: number): void {
    for (let position = start; position < end; position++) {
      this.values[this.#rows.order[position]!] = value;
    }
  }
}

/** Frames that one state takes: what it keeps of them is let go after so many, */
const STATE_FRAMES_MAX = 1024;

/** … or after so many of their rows, counted in each. */
const STATE_ROWS_MAX = 65_536;

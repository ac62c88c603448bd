import type { AggregateState } from '../aggregate/aggregate-function.ts';
import {
  addDeferredAnswers,
  type DeferredAnswer,
  DeferredState,
  deferredAnswer,
  failureOf,
  type RowsApart,
  valueInAnswer,
  valuesOrError,
} from '../aggregate/deferred.ts';
import { GroupTable } from '../aggregate/group-table.ts';
import { assert } from '../assert.ts';
import { type Chunk, PairChunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { constantVector, takeVector, type Vector, valueAt, valueVector } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { concatVectors, vectorOfValues } from './merge-vectors.ts';
import { type Checkpoint, CollectSink, ConcatChunk, pushInChunks, type Sink } from './sink.ts';
import type { OrderKey } from './sort.ts';
import {
  DEFAULT_FRAME,
  type Frame,
  type FrameBounds,
  forEachStanding,
  frameBounds,
  type WindowKernel,
  type WindowRows,
  windowRows,
} from './window-frame.ts';

export type WindowOptions = {
  readonly partitionBy: readonly { readonly expression: VectorFunction; readonly type: SqlType }[];
  readonly orderBy: readonly OrderKey[];
  /** What decides between rows that are equal in all keys of the order. */
  readonly ties: readonly OrderKey[];
  readonly calls: readonly WindowCallOptions[];
  /** Columns of the rows that come in. */
  readonly width: number;
  readonly checkpoint: Checkpoint;
};

export type WindowCallOptions = {
  /** What is evaluated per row. */
  readonly arguments: readonly VectorFunction[];
  /** Absent: what holds where the text gives none. */
  readonly frame?: Frame | undefined;
  readonly run:
    | {
        readonly kind: 'function';
        readonly kernel: WindowKernel;
        readonly ignoresNulls: boolean;
        readonly isDeferred?: boolean;
      }
    | {
        readonly kind: 'aggregate';
        readonly create: () => AggregateState;
        readonly type: SqlType;
        readonly collects: boolean;
        /** Whether it is a deferred one, which keeps the errors of its arguments and of the window's keys. */
        readonly isDeferred?: boolean;
      };
};

/** Keeps all rows and gives them as they came, with a column for each call. */
export class WindowSink implements Sink {
  readonly #options: WindowOptions;
  readonly #rows: CollectSink;

  /** Holds as many rows as a `CollectSink` may. */
  constructor(options: WindowOptions) {
    this.#options = options;
    this.#rows = new CollectSink(options.width);
  }

  push(chunk: Chunk): boolean {
    return this.#rows.push(chunk);
  }

  /** All rows in one chunk of any length; at least one must have been pushed. */
  finalize(): Chunk {
    const { width } = this.#options;
    const results = new VectorChunk(this.#results(), this.#rows.rowCount);
    return new PairChunk(new ConcatChunk(this.#rows.chunks), width, results);
  }

  /** Pushes all rows; what `sink` answered last. */
  emit(sink: Sink): boolean {
    return this.#rows.rowCount === 0 || pushInChunks(this.finalize(), sink);
  }

  #results(): readonly Vector[] {
    const { orderBy, calls } = this.#options;
    const ordered = this.#ordered();
    if (ordered instanceof QueryError) {
      const failures = valueVector(new Array(this.#rows.rowCount).fill(failureOf(ordered)));
      return calls.map(() => failures);
    }
    const { keys, rows } = ordered;
    const framesOf = ({ frame = DEFAULT_FRAME }: WindowCallOptions) => {
      const key = keys[0] && { vector: keys[0], descending: orderBy[0]!.descending };
      return frameBounds(rows, frame, key);
    };
    return calls.map((call) => this.#result(call, rows, () => framesOf(call)));
  }

  /** The rows in the window's order; the error of a key where all calls are deferred, so that it is theirs. */
  #ordered(): { readonly keys: readonly Vector[]; readonly rows: WindowRows } | QueryError {
    try {
      const keys = this.#options.orderBy.map((key) => this.#evaluated(key.expression));
      return { keys, rows: this.#windowRows(keys) };
    } catch (error) {
      const isValueError = error instanceof QueryError && error.code === 'query_failed';
      if (isValueError && this.#options.calls.every(({ run }) => run.isDeferred === true))
        return error;
      throw error;
    }
  }

  #windowRows(keys: readonly Vector[]): WindowRows {
    const { partitionBy, orderBy, ties } = this.#options;
    const tieVectors = ties.map((key) => this.#evaluated(key.expression));
    return windowRows(
      {
        partitionOf: this.#partitionNumbers(partitionBy),
        directions: orderBy,
        vectors: keys,
        ties: { directions: ties, vectors: tieVectors },
      },
      this.#rows.rowCount,
    );
  }

  #partitionNumbers(partitionBy: WindowOptions['partitionBy']): Int32Array {
    const numbers = new Int32Array(this.#rows.rowCount);
    if (partitionBy.length === 0) return numbers;
    const table = new GroupTable(partitionBy.map(({ type }) => type));
    let start = 0;
    for (const chunk of this.#rows.chunks) {
      const keys = partitionBy.map(({ expression }) => expression(chunk));
      numbers.set(table.assign(keys, chunk.count).subarray(0, chunk.count), start);
      start += chunk.count;
    }
    return numbers;
  }

  #result(call: WindowCallOptions, rows: WindowRows, frames: () => FrameBounds): Vector {
    const { run, frame = DEFAULT_FRAME, arguments: functions } = call;
    if (run.kind === 'function') {
      const { kernel, ignoresNulls, isDeferred = false } = run;
      const [argument] = functions;
      if (!isDeferred || argument === undefined) {
        const vectors = functions.map((each) => this.#evaluated(each));
        const values = kernel(rows, { vectors, ignoresNulls, isDeferred: false, frames });
        return isDeferred ? asAnswers(values, rows.count) : values;
      }
      const vectors = [this.#answers(argument)];
      return kernel(rows, { vectors, ignoresNulls, isDeferred, frames });
    }
    const shape = shapeOf(frame, this.#options.orderBy.length > 0);
    const { checkpoint } = this.#options;
    const values = this.#argumentsOf(functions, run.isDeferred);
    return aggregateFrames(rows, { ...run, ...values }, { shape, bounds: frames }, checkpoint);
  }

  /** Those of a deferred aggregate are left to the frames where a row has none. */
  #argumentsOf(
    functions: readonly VectorFunction[],
    isDeferred = false,
  ): Pick<FramedAggregate, 'vectors' | 'apart'> {
    if (!isDeferred) return { vectors: functions.map((each) => this.#evaluated(each)) };
    const parts = this.#rows.chunks.map((chunk) => valuesOrError(functions, chunk));
    if (parts.some((part) => part instanceof QueryError)) {
      return { vectors: [], apart: { chunk: this.#rows.materialize(), functions } };
    }
    const all = parts as readonly (readonly Vector[])[];
    return { vectors: functions.map((_, index) => concatVectors(all.map((part) => part[index]!))) };
  }

  /** What a deferred function is given of each row. */
  #answers(argument: VectorFunction): Vector {
    const answers: DeferredAnswer[] = [];
    for (const chunk of this.#rows.chunks) {
      addDeferredAnswers(argument, chunk, answers, this.#options.checkpoint);
    }
    return valueVector(answers);
  }

  #evaluated(expression: VectorFunction): Vector {
    return concatVectors(this.#rows.chunks.map(expression));
  }
}

function asAnswers(values: Vector, count: number): Vector {
  return valueVector(
    Array.from({ length: count }, (_, row) => deferredAnswer(valueAt(values, row))),
  );
}

/** Without an order all rows are peers, so that no RANGE leaves one out. */
function shapeOf({ unit, start, end }: Frame, isOrdered: boolean): FrameShape {
  if (unit === 'range' && !isOrdered) return 'whole';
  const isGrowing = start.kind === 'unbounded-preceding';
  if (end.kind === 'unbounded-following') return isGrowing ? 'whole' : 'shrinking';
  return isGrowing ? 'growing' : 'sliding';
}

/**
 * Elements of the lists and characters of the texts that one aggregate gives over frames: frames
 * that grow by a row each give lists whose lengths add up to the square of the rows. 256 MB.
 */
const WINDOW_VALUES_MAX = 33_554_432;

/** An aggregate called with OVER. */
type FramedAggregate = {
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
type FrameShape =
  /** All rows of the partition. */
  | 'whole'
  /** From the first row of the partition: rows are only ever added. */
  | 'growing'
  /** Up to the last row: the same, from the end. */
  | 'shrinking'
  | 'sliding';

/** The values of an aggregate for all rows, as they came. */
function aggregateFrames(
  rows: WindowRows,
  aggregate: FramedAggregate,
  frames: { readonly bounds: () => FrameBounds; readonly shape: FrameShape },
  checkpoint: Checkpoint,
): Vector {
  const run = new FrameAnswers(rows, aggregate, checkpoint);
  if (frames.shape === 'whole') run.whole();
  else if (frames.shape === 'sliding' || aggregate.collects) run.sliding(frames.bounds());
  else if (frames.shape === 'growing') run.growing(frames.bounds());
  else run.shrinking(frames.bounds());
  return vectorOfValues(run.values, aggregate.type);
}

type GroupRows = { readonly start: number; readonly end: number; readonly group: number };

/**
 * Gives one state the rows of frames, which are its groups, in the order of their groups: those of many frames at
 * once, for an update takes as long as some dozen rows.
 */
class FrameFeed {
  readonly #state: AggregateState;
  readonly #rows: WindowRows;
  readonly #aggregate: FramedAggregate;
  readonly #checkpoint: Checkpoint;
  /** Rows that wait to be added, and their groups. */
  readonly #waiting = new Int32Array(CHUNK_ROWS_MAX);
  readonly #groups = new Int32Array(CHUNK_ROWS_MAX);
  #waitingCount = 0;
  #groupCount = 0;
  /** Groups that the state knows of. */
  #knownCount = 0;
  /** Rows that the work since the last checkpoint amounts to. */
  #sinceCheckpoint = 0;

  constructor(rows: WindowRows, aggregate: FramedAggregate, checkpoint: Checkpoint) {
    this.#state = aggregate.create();
    this.#rows = rows;
    this.#aggregate = aggregate;
    this.#checkpoint = checkpoint;
  }

  /** Adds the rows at the positions [start, end), which may be none, to a group. */
  add({ start, end, group }: GroupRows): void {
    this.#groupCount = group + 1;
    for (let position = start; position < end; ) {
      if (this.#waitingCount === CHUNK_ROWS_MAX) this.#flush();
      const count = Math.min(CHUNK_ROWS_MAX - this.#waitingCount, end - position);
      this.#append(position, count);
      position += count;
    }
  }

  finalize(group: number): SqlValue {
    if (this.#waitingCount > 0 || this.#groupCount > this.#knownCount) this.#flush();
    this.#noteWork(ANSWER_ROWS);
    return this.#state.finalize(group);
  }

  get isDeferred(): boolean {
    return this.#state instanceof DeferredState;
  }

  #append(position: number, count: number): void {
    const group = this.#groupCount - 1;
    for (let index = 0; index < count; index++) {
      this.#waiting[this.#waitingCount] = this.#rows.order[position + index]!;
      this.#groups[this.#waitingCount++] = group;
    }
  }

  #flush(): void {
    const count = this.#waitingCount;
    this.#waitingCount = 0;
    this.#knownCount = this.#groupCount;
    const { vectors, apart } = this.#aggregate;
    if (apart !== undefined) this.#addApart(apart, count);
    else if (count === 1) {
      const [row] = this.#waiting;
      const one = vectors.map((vector) => constantVector(valueAt(vector, row!), 1));
      this.#state.update(this.#groups, 1, this.#groupCount, one);
    } else {
      const rows = this.#waiting.slice(0, count);
      const taken = vectors.map((vector) => takeVector(vector, rows, count));
      this.#state.update(this.#groups, count, this.#groupCount, taken);
    }
    this.#noteWork(count);
  }

  #noteWork(rowCount: number): void {
    this.#sinceCheckpoint += rowCount;
    if (this.#sinceCheckpoint < CHUNK_ROWS_MAX) return;
    this.#sinceCheckpoint = 0;
    this.#checkpoint();
  }

  #addApart({ chunk, functions }: RowsApart, count: number): void {
    assert(this.#state instanceof DeferredState, 'only what is deferred has errors');
    const rows = { chunk: chunk.select(this.#waiting.slice(0, count), count), functions };
    this.#state.updateApart(this.#groups, this.#groupCount, rows, this.#checkpoint);
  }
}

/** An answer may take as long as to add so many rows: that of quantiles does. */
const ANSWER_ROWS = 128;

/** The answers of an aggregate over frames: adds rows to its states, and notes what these come to. */
class FrameAnswers {
  readonly values: SqlValue[];
  readonly #rows: WindowRows;
  readonly #aggregate: FramedAggregate;
  readonly #checkpoint: Checkpoint;
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
    const feed = this.#newFeed();
    for (let partition = 0; partition < partitionCount; partition++) {
      const [start, end] = [partitions[partition]!, partitions[partition + 1]!];
      feed.add({ start, end, group: partition });
    }
    for (let partition = 0; partition < partitionCount; partition++) {
      const value = this.#finalized(feed, partition);
      this.#note(value, partitions[partition]!, partitions[partition + 1]!);
    }
  }

  growing({ ends }: FrameBounds): void {
    const feed = this.#newFeed();
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
        feed.add({ start: added, end, group });
        added = end;
        value = this.#finalized(feed, group);
      }
      this.#note(value, position, position + 1);
    });
  }

  shrinking({ starts }: FrameBounds): void {
    const { partitions } = this.#rows;
    const feed = this.#newFeed();
    for (let group = 0; group + 1 < partitions.length; group++) {
      let added = partitions[group + 1]!;
      let value: SqlValue = null;
      for (let position = added - 1; position >= partitions[group]!; position--) {
        const start = starts[position]!;
        if (start < added || position === partitions[group + 1]! - 1) {
          feed.add({ start, end: added, group });
          added = start;
          value = this.#finalized(feed, group);
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
      const feed = this.#newFeed();
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
          feed.add({ start, end, group });
        }
        groupOf.push(group);
      }
      let known = -1;
      let value: SqlValue = null;
      for (const [index, each] of groupOf.entries()) {
        if (each !== known) value = this.#finalized(feed, each);
        known = each;
        this.#note(value, first + index, first + index + 1);
      }
    }
  }

  #newFeed(): FrameFeed {
    return new FrameFeed(this.#rows, this.#aggregate, this.#checkpoint);
  }

  /** Lists and texts that frames make one for each are counted: they grow with the square of the rows. */
  #finalized(feed: FrameFeed, group: number): SqlValue {
    const answer = feed.finalize(group);
    const value = feed.isDeferred ? valueInAnswer(answer as DeferredAnswer) : answer;
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

/** Frames that one state takes; then another begins, and what it kept of them is released. */
const STATE_FRAMES_MAX = 1024;

/** Rows of these frames, counted in each, after which another state begins. */
const STATE_ROWS_MAX = 65_536;

import type { AggregateState } from '../aggregate/aggregate-function.ts';
import {
  addDeferredAnswers,
  type DeferredAnswer,
  deferredAnswer,
  failureOf,
  valuesOrError,
} from '../aggregate/deferred.ts';
import { GroupTable } from '../aggregate/group-table.ts';
import { type Chunk, PairChunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import type { SqlType } from '../column/type.ts';
import { type Vector, valueAt, valueVector } from '../column/vector.ts';
import { QueryError } from '../query-error.ts';
import { CollectSink } from './collect.ts';
import { concatVectors } from './merge-vectors.ts';
import { type Checkpoint, pushInChunks, type Sink } from './sink.ts';
import type { OrderKey } from './sort-order.ts';
import { aggregateFrames, type FramedAggregate, type FrameShape } from './window-aggregate.ts';
import { DEFAULT_FRAME, type Frame, type FrameBounds, frameBounds } from './window-frame.ts';
import type { WindowKernel } from './window-function.ts';
import { type WindowRows, windowRows } from './window-rows.ts';

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
    return new PairChunk(this.#rows.materialize(), width, results);
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

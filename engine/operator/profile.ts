import type { Chunk } from '../column/chunk.ts';
import type { Vector } from '../column/vector.ts';
import type { Sink } from './sink.ts';

/** What one operator did. */
export type OperatorProfile = {
  /** Rows and chunks it gave to the operator above. */
  readonly rowCount: number;
  readonly chunkCount: number;
  /** Milliseconds of its own: without the operators above it and below it. */
  readonly selfMs: number;
};

type Tally = { rowCount: number; chunkCount: number; selfMs: number };

/**
 * Divides a run's time among its operators, which are known by number. Rows are pushed up and lazy
 * columns are read down, so operators call each other in both directions; the profiler keeps which
 * one is at work, and every moment belongs to exactly that one.
 *
 * Invariant: `#working` is the stack of operators that were entered and not left; the time from
 * `#sinceMs` on belongs to its last.
 */
export class Profiler {
  readonly #nowMs: () => number;
  readonly #tallies: readonly Tally[];
  readonly #working: number[];
  #sinceMs: number;

  /** `base` is the operator that whatever happens outside of all others belongs to. */
  constructor(options: {
    readonly operatorCount: number;
    readonly base: number;
    readonly nowMs: () => number;
  }) {
    this.#nowMs = options.nowMs;
    this.#tallies = Array.from({ length: options.operatorCount }, () => ({
      rowCount: 0,
      chunkCount: 0,
      selfMs: 0,
    }));
    this.#working = [options.base];
    this.#sinceMs = options.nowMs();
  }

  /** The operator at work. */
  get current(): number {
    return this.#working.at(-1)!;
  }

  /** Does some work that is the operator's. */
  within<T>(operator: number, work: () => T): T {
    this.#settle();
    this.#working.push(operator);
    try {
      return work();
    } finally {
      this.#settle();
      this.#working.pop();
    }
  }

  countChunk(operator: number, rowCount: number): void {
    const tally = this.#tallies[operator]!;
    tally.rowCount += rowCount;
    tally.chunkCount += 1;
  }

  /** What each operator did up to now, by its number. */
  profiles(): readonly OperatorProfile[] {
    this.#settle();
    return this.#tallies.map((tally) => ({ ...tally }));
  }

  #settle(): void {
    const nowMs = this.#nowMs();
    this.#tallies[this.current]!.selfMs += nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
  }
}

/**
 * Stands between two operators: what is pushed was given by `from`, and taking it in is the work of
 * `to`. Reading a column of it that is not there yet is the work of `from` again.
 */
export class ProfiledSink implements Sink {
  readonly #profiler: Profiler;
  readonly #from: number;
  readonly #to: number;
  readonly #sink: Sink;

  constructor(
    profiler: Profiler,
    ends: { readonly from: number; readonly to: number },
    sink: Sink,
  ) {
    this.#profiler = profiler;
    this.#from = ends.from;
    this.#to = ends.to;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    this.#profiler.countChunk(this.#from, chunk.count);
    const profiled = new ProfiledChunk(this.#profiler, this.#from, chunk);
    return this.#profiler.within(this.#to, () => this.#sink.push(profiled));
  }
}

class ProfiledChunk implements Chunk {
  readonly count: number;
  readonly #profiler: Profiler;
  readonly #operator: number;
  readonly #chunk: Chunk;
  readonly #read: (Vector | undefined)[] = [];

  constructor(profiler: Profiler, operator: number, chunk: Chunk) {
    this.#profiler = profiler;
    this.#operator = operator;
    this.#chunk = chunk;
    this.count = chunk.count;
  }

  column(index: number): Vector {
    this.#read[index] ??= this.#profiler.within(this.#operator, () => this.#chunk.column(index));
    return this.#read[index];
  }

  select(positions: Int32Array, count: number): Chunk {
    return new ProfiledChunk(this.#profiler, this.#operator, this.#chunk.select(positions, count));
  }
}

import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { assert } from '../assert.ts';
import type { OpenSegmentHandle, SegmentHandle } from '../column/segment.ts';
import type { DroppedSegments } from '../column/snapshot.ts';
import { FRAGMENT_BYTES_MIN, QUERY_TIME_MS_MAX } from '../limits.ts';
import type { Column } from '../plan/expression.ts';
import { breakerOf, type PhysicalPlan } from '../plan/physical-plan.ts';
import { QueryError } from '../query-error.ts';
import type { PartialAnswer, RowsAnswer, Task, TaskAnswer, TaskStats } from './task.ts';

/** A query ready to run: its plan and the segments each of its scans reads. */
export type QueryRun = {
  readonly plan: PhysicalPlan;
  readonly output: readonly Column[];
  readonly segments: readonly (readonly SegmentHandle[])[];
  readonly dropped: DroppedSegments;
};

/**
 * The worker threads. A query over little data is one task; one that groups much data is cut by
 * segments into a fragment for each worker, whose partial states a last task combines. The answer
 * is the same either way.
 */
export class QueryPool {
  readonly #piscina: Piscina<Task, TaskAnswer>;
  readonly #workerCount: number;

  constructor(workerCount: number = availableParallelism()) {
    this.#workerCount = workerCount;
    // The same file compiled and not: the extension follows our own.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    this.#piscina = new Piscina<Task, TaskAnswer>({
      filename: new URL(`./worker.${extension}`, import.meta.url).href,
      name: 'runTask',
      minThreads: workerCount,
      maxThreads: workerCount,
      idleTimeout: Number.POSITIVE_INFINITY,
    });
  }

  /** Once `signal` is aborted the run ends soon, with `query_cancelled`, waiting or not. */
  async run(query: QueryRun, signal?: AbortSignal | undefined): Promise<RowsAnswer> {
    const cancelled = new Int32Array(new SharedArrayBuffer(4));
    const cancel = () => Atomics.store(cancelled, 0, 1);
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await this.#runTasks(query, cancelled);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #runTasks(query: QueryRun, cancelled: Int32Array): Promise<RowsAnswer> {
    const part = { ...query, cancelled, timeMsMax: QUERY_TIME_MS_MAX };
    const shares = this.#sharesOf(query);
    if (shares === undefined) return rowsOf(await this.#piscina.run({ kind: 'query', ...part }));
    const answers = await Promise.all(
      shares.map((share) => this.#piscina.run({ kind: 'fragment', ...part, segments: [share] })),
    );
    const fragments = answers.map(partialOf);
    const partials = fragments.map(({ partial }) => partial);
    const finish = { kind: 'finish' as const, ...part, segments: [], partials };
    const rows = rowsOf(await this.#piscina.run(finish));
    return {
      ...rows,
      stats: statsOfAll(
        fragments.map(({ stats }) => stats),
        rows.stats,
      ),
    };
  }

  /** Seals in a worker. One segment for each partition of time that has rows. */
  async seal(
    handle: OpenSegmentHandle,
    partitionUs: number,
  ): Promise<readonly SharedArrayBuffer[]> {
    const answer = succeeded(await this.#piscina.run({ kind: 'seal', handle, partitionUs }));
    assert(answer.kind === 'sealed', 'a seal task answers with sealed segments');
    return answer.buffers;
  }

  /** Finishes what is under way, then ends the workers. */
  async close(): Promise<void> {
    await this.#piscina.close();
  }

  /** Segments dealt out by size, the largest first to the lightest share; undefined: not worth it. */
  #sharesOf(query: QueryRun): readonly (readonly SegmentHandle[])[] | undefined {
    const segments = query.segments[0];
    if (query.segments.length !== 1 || segments === undefined) return undefined;
    if (this.#workerCount < 2 || segments.length < 2) return undefined;
    if (breakerOf(query.plan) === undefined) return undefined;
    const sized = segments.map((handle) => ({ handle, size: sizeOf(handle) }));
    const total = sized.reduce((sum, item) => sum + item.size, 0);
    if (total < FRAGMENT_BYTES_MIN) return undefined;
    sized.sort((left, right) => right.size - left.size);
    const shares = Array.from({ length: this.#workerCount }, () => ({
      size: 0,
      handles: [] as SegmentHandle[],
    }));
    for (const { handle, size } of sized) {
      const lightest = shares.reduce((least, share) => (share.size < least.size ? share : least));
      lightest.handles.push(handle);
      lightest.size += size;
    }
    return shares.filter((share) => share.handles.length > 0).map((share) => share.handles);
  }
}

function sizeOf(handle: SegmentHandle): number {
  return handle.kind === 'sealed'
    ? handle.buffer.byteLength
    : handle.arrays.slots.byteLength + handle.arrays.stringBytes.byteLength;
}

function rowsOf(answer: TaskAnswer): RowsAnswer {
  const rows = succeeded(answer);
  assert(rows.kind === 'rows', 'a query task answers with rows');
  return rows;
}

function partialOf(answer: TaskAnswer): PartialAnswer {
  const partial = succeeded(answer);
  assert(partial.kind === 'partial', 'a fragment task answers with a partial state');
  return partial;
}

/** Of a query in fragments, which ran side by side: it took as long as its longest, and the finish. */
function statsOfAll(fragments: readonly TaskStats[], finish: TaskStats): TaskStats {
  const sum = (of: (stats: TaskStats) => number) =>
    fragments.reduce((total, stats) => total + of(stats), of(finish));
  return {
    runMs: finish.runMs + Math.max(...fragments.map(({ runMs }) => runMs)),
    rowsScanned: sum(({ rowsScanned }) => rowsScanned),
    segmentsScanned: sum(({ segmentsScanned }) => segmentsScanned),
    segmentsSkipped: sum(({ segmentsSkipped }) => segmentsSkipped),
  };
}

function succeeded(answer: TaskAnswer): Exclude<TaskAnswer, { kind: 'failure' }> {
  if (answer.kind === 'failure') throw new QueryError(answer.code, answer.message, answer.span);
  return answer;
}

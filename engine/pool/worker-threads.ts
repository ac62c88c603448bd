import { EventEmitter } from 'node:events';
import { Piscina } from 'piscina';
import {
  SegmentDamagedError,
  SegmentGoneError,
  SegmentReadError,
} from '../column/segment-image.ts';
import { packedBuffersOf } from '../memo/run-pieces.ts';
import { QueryError } from '../query-error.ts';
import { HeldMemory } from './heap-guard.ts';
import type { ThreadBounds, ThreadData } from './pool-limits.ts';
import type { Task, TaskAnswer, UnreadableAnswer } from './task.ts';

/** A task on its way to a thread, on it, or done. */
export type ThreadTask = {
  /** Rejects with a `worker_lost` when the thread dies, with what `end` was given, or with a bug. */
  readonly answer: Promise<Exclude<TaskAnswer, { kind: 'bug' }>>;
  /** Ends the thread that runs it, whatever it is doing; another takes its place. */
  end(error: Error): void;
};

type WorkerThreadsOptions = {
  readonly count: number;
  /** Threads that stay when there is nothing to do. */
  readonly keptCount: number;
  /** Milliseconds that the others have nothing to do before they end. */
  readonly idleMsMax: number;
  /** Module with the function `runTask` of a task. */
  readonly workerUrl: URL;
  readonly heapBytesMax: number;
  /** Bytes of new objects, apart from that heap. */
  readonly newObjectsBytesMax: number;
  /** Bytes that what the threads run may hold together. */
  readonly heldBytesMax: number;
  readonly bounds: ThreadBounds;
  /** Where tasks write what does not fit into memory; nowhere when left out. */
  readonly spillFolder?: string | undefined;
  /**
   * By how much the system is asked to let others go before them (nice, 0 to 19).
   * Where it cannot be asked, they are as the others.
   */
  readonly nice: number;
};

const MEGABYTE = 1024 * 1024;

/**
 * Piscina first calls `require` for the worker's module. A thread that is ended while `require` loads
 * an ES module aborts the whole process (Node 20.19 to 24); while `import` does, it just ends.
 */
const IMPORT_ONLY = '--no-experimental-require-module';

/**
 * Flags of the process that say how its modules are loaded. A thread refuses flags of V8 and of the process, which hold
 * for all threads.
 */
const LOADING_FLAG =
  /^(?:--import|--require|-r|--(?:experimental-)?loader|--conditions|-C|--enable-source-maps)(?:=|$)/;

/** Threads that end still have theirs while others start. */
const SLOTS_PER_THREAD = 2;

/**
 * Threads that each run one task at a time; they start when they are needed, and those that are not
 * for a while end, with all the memory that they hold. A thread that dies fails the task it was
 * running, and is replaced; the process and the other threads go on.
 *
 * A thread dies when its heap is full, when something throws outside of a task, or when the pool
 * ends it. The failure of a task is in its answer (`failure`, `bug`), so that a rejection by the pool
 * means that the thread is gone.
 */
export class WorkerThreads {
  readonly #piscina: Piscina<Task, TaskAnswer>;
  readonly count: number;
  readonly #heapBytesMax: number;
  readonly #memory: HeldMemory;
  #lostCount = 0;
  #endedCount = 0;
  /** What has no answer yet: to be called when it will get none. */
  readonly #unanswered = new Set<(cause: unknown) => void>();

  constructor(options: WorkerThreadsOptions) {
    this.count = options.count;
    this.#heapBytesMax = options.heapBytesMax;
    this.#memory = HeldMemory.create(options.heldBytesMax, SLOTS_PER_THREAD * options.count);
    this.#piscina = new Piscina<Task, TaskAnswer>({
      filename: options.workerUrl.href,
      name: 'runTask',
      minThreads: options.keptCount,
      maxThreads: options.count,
      idleTimeout: options.idleMsMax,
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(options.heapBytesMax / MEGABYTE),
        maxYoungGenerationSizeMb: options.newObjectsBytesMax / MEGABYTE,
      },
      workerData: {
        memory: this.#memory.use,
        bounds: options.bounds,
        spillFolder: options.spillFolder,
      } satisfies ThreadData,
      execArgv: [...findLoadingFlags(process.execArgv), IMPORT_ONLY],
      recordTiming: false,
      niceIncrement: options.nice,
    });
    this.#piscina.on('workerDestroy', () => {
      this.#memory.forgetAllBut(this.#piscina.threads.map((thread) => thread.threadId));
    });
    // A thread that died between two tasks, or as it started: what waits for the last one is lost too.
    this.#piscina.on('error', (cause: unknown) => {
      this.#lostCount++;
      if (this.aliveCount === 0) for (const lose of this.#unanswered) lose(cause);
    });
  }

  /** Threads that there are now. */
  get aliveCount(): number {
    return this.#piscina.threads.length;
  }

  /** Bytes that their tasks hold, and that they keep beside. */
  get memory(): Pick<HeldMemory, 'heldBytes' | 'keptBytes'> {
    return this.#memory;
  }

  /** Threads that died of themselves. */
  get lostCount(): number {
    return this.#lostCount;
  }

  /** Threads that `end` ended. */
  get endedCount(): number {
    return this.#endedCount;
  }

  /** Give it no more tasks at a time than there may be threads. */
  run(task: Task): ThreadTask {
    // Piscina takes this as it takes an AbortSignal, which costs several microseconds to make.
    const abort = new EventEmitter();
    let endedBy: Error | undefined;
    const transferList = movedBuffersOf(task);
    const answer = this.#piscina.run(task, { signal: abort, transferList }).then(
      (value) => {
        this.#unanswered.delete(lose);
        if (value.kind === 'bug') throw bugOf(value);
        return value;
      },
      (cause: unknown) => {
        this.#unanswered.delete(lose);
        if (endedBy !== undefined) throw endedBy;
        // A task that could not be sent: no thread has seen it.
        if (cause instanceof Error && cause.name === 'DataCloneError') throw cause;
        this.#lostCount++;
        throw new QueryError('worker_lost', this.#describeLoss(cause), undefined, { cause });
      },
    );
    const stop = (error: Error): boolean => {
      if (endedBy !== undefined) return false;
      endedBy = error;
      abort.emit('abort');
      return true;
    };
    const lose = (cause: unknown): void => {
      stop(new QueryError('worker_lost', this.#describeLoss(cause), undefined, { cause }));
    };
    this.#unanswered.add(lose);
    const end = (error: Error): void => {
      if (stop(error)) this.#endedCount++;
    };
    return { answer, end };
  }

  /** Ends all threads. Nothing may be running. */
  async close(): Promise<void> {
    await this.#piscina.close();
  }

  #describeLoss(cause: unknown): string {
    const isMemory =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
    return isMemory
      ? `the thread of this query may fill ${Math.ceil(this.#heapBytesMax / MEGABYTE)} MiB of heap; the query filled more`
      : 'the thread of this query ended before the answer';
  }
}

/** Packed states go to the thread that combines them as they are. */
function movedBuffersOf(task: Task): ArrayBuffer[] {
  return task.kind === 'finish' ? [...packedBuffersOf(task.partials)] : [];
}

function bugOf(bug: Extract<TaskAnswer, { kind: 'bug' }>): Error {
  const error = new Error(bug.message);
  error.stack = bug.stack;
  return error;
}

/** A part of a query came to partial states that are too large to be handed over: it is to run as a whole. */
export class OversizedStatesError extends Error {}

/** The error that a thread could only tell of. */
export function unreadableError({ path, damage, refusal }: UnreadableAnswer): Error {
  if (refusal !== undefined) return new SegmentReadError(refusal.segmentId, path, refusal.reason);
  return damage === undefined
    ? new SegmentGoneError(path)
    : new SegmentDamagedError(damage.segmentId, path, damage.reason);
}

/** The flags with their values, which are words of their own unless the flag has a `=`. */
function findLoadingFlags(words: readonly string[]): readonly string[] {
  return words.filter((word, index) => {
    const flag = word.startsWith('-') ? word : (words[index - 1] ?? '');
    return LOADING_FLAG.test(flag);
  });
}

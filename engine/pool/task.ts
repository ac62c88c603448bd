import type { PartRows } from '../column/divide-rows.ts';
import type { FieldCounts, FieldScope } from '../column/field-counts.ts';
import type { PackedImage } from '../column/packed-image.ts';
import type {
  DroppedSegments,
  OpenSegmentHandle,
  SealedSegmentHandle,
  SegmentHandle,
} from '../column/segment.ts';
import { ANSWER_BLOCK_BYTES_MAX, ANSWER_BLOCKS_MAX } from '../limits.ts';
import type { PreparedStates, StatesOrder } from '../memo/prepare-states.ts';
import type { PieceOrder, PiecesResult, SentPartial } from '../memo/run-pieces.ts';
import type { RowSlice, ScanCounters } from '../operator/scan.ts';
import type { SentTemplate, TemplateContent } from '../plan/plan-cache.ts';
import type { PlanProfile } from '../plan/plan-profile.ts';
import { type QueryErrorCode, RunStoppedError, type Span } from '../query-error.ts';
import type { Tenant } from './fair-queue.ts';
import type { SharedProgress } from './pool-stats.ts';
import type { MsByKind, WorkKind } from './work-shares.ts';

/** What the main thread asks of a worker. Plain values and shared memory only. */
export type Task = QueryPartTask | SegmentTask | TidyTask;

export type QueryPart = {
  /** Plan and columns of the answer, or how to come by them. */
  readonly work: TemplateContent | SentTemplate;
  /** By the index of the scan. */
  readonly segments: readonly (readonly SegmentHandle[])[];
  readonly dropped: DroppedSegments;
  /** Milliseconds the task may run; those in which it is parked do not count. */
  readonly timeMsMax: number;
  /** Whether nothing counts that earlier runs have found out (`column/caches.ts`). */
  readonly isAnew?: boolean | undefined;
  /** There when somebody may ask how far the run is. */
  readonly progress?: SharedProgress | undefined;
  /** Whether each operator is to be measured. */
  readonly isProfiled?: boolean | undefined;
};

/** What of a query one thread does; the main thread can park it, and stop it. */
export type QueryPartTask = QueryTask | FragmentTask | PiecesTask | FinishTask | FieldsTask;

type Signalled = { readonly signal: TaskSignal };

/** The whole of a query, to its bytes. */
export type QueryTask = QueryPart & Signalled & { readonly kind: 'query' };

/** Some segments of a query, or a part of the rows of each, up to the partial state of its grouping. */
type FragmentTask = QueryPart &
  Signalled & {
    readonly kind: 'fragment';
    readonly slice?: RowSlice | undefined;
  };

/** The same, over pieces of segments, some of whose states are wanted one by one. */
type PiecesTask = QueryPart &
  Signalled & {
    readonly kind: 'pieces';
    /** One for each segment of the only scan. */
    readonly orders: readonly PieceOrder[];
  };

/** Combines the partial states of all fragments and runs the rest of the plan. */
type FinishTask = QueryPart &
  Signalled & {
    readonly kind: 'finish';
    readonly partials: SentPartial[];
  };

/** Counts the fields of the events of some segments. */
export type FieldsTask = Signalled & {
  readonly kind: 'fields';
  readonly segments: readonly SegmentHandle[];
  readonly dropped: DroppedSegments;
  readonly timeMsMax: number;
  readonly scope: FieldScope;
};

type FieldsAnswer = { readonly kind: 'fields'; readonly counts: FieldCounts };

/** Makes sealed segments, files of them, or what is remembered of them. */
export type SegmentWork = SealTask | MergeTask | DivideTask | PackTask | StatesTask;

/** The main thread can park it. */
export type SegmentTask = SegmentWork & Signalled;

/** Turns a full open segment into sealed ones. */
export type SealTask = {
  readonly kind: 'seal';
  readonly handle: OpenSegmentHandle;
  readonly partitionUs: number;
};

/** Makes one sealed segment of several. */
export type MergeTask = {
  readonly kind: 'merge';
  readonly handles: readonly SealedSegmentHandle[];
  /** The rows that are merged; all unless given. */
  readonly part?: PartRows | undefined;
};

/** Divides the rows of several sealed segments into parts to be merged. */
export type DivideTask = {
  readonly kind: 'divide';
  readonly handles: readonly SealedSegmentHandle[];
  readonly rowsMax: number;
};

/** Makes the blocks of a file of a sealed segment. */
export type PackTask = {
  readonly kind: 'pack';
  /** What has made the segment. */
  readonly of: 'seal' | 'merge';
  readonly buffer: SharedArrayBuffer;
};

/** Makes partial states of a sealed segment ahead. */
export type StatesTask = {
  readonly kind: 'states';
  readonly handle: SealedSegmentHandle;
  readonly order: StatesOrder;
  readonly dropped: DroppedSegments;
};

/** Frees segments that were removed, on a thread that has nothing else to do. */
type TidyTask = {
  readonly kind: 'tidy';
  readonly dropped: DroppedSegments;
};

export type RowsAnswer = {
  readonly kind: 'rows';
  /** A JSON array, UTF-8. */
  readonly json: LentBytes;
  readonly rowCount: number;
  /** Whether there are more rows than the answer may have. */
  readonly isTruncated: boolean;
  readonly stats: TaskStats;
};

/** The answer of a run, for its caller. */
export type RunAnswer = {
  /** A JSON array, UTF-8: on loan until `release`, after which it may be written over. */
  readonly json: Uint8Array;
  readonly rowCount: number;
  /** Whether there are more rows than the answer may have. */
  readonly isTruncated: boolean;
  readonly stats: TaskStats;
  /** There where it was run on threads. */
  readonly waited?: Waited | undefined;
  readonly release: () => void;
};

export type PartialAnswer = {
  readonly kind: 'partial';
  readonly partial: SentPartial;
  readonly stats: TaskStats;
};

type PiecesAnswer = {
  readonly kind: 'pieces';
  readonly result: PiecesResult;
  readonly stats: TaskStats;
};

/** What a task of a query did. */
export type TaskStats = ScanCounters & {
  /** Milliseconds on its thread; those in which it was parked do not count. */
  readonly runMs: number;
  /** There when it was asked for. */
  readonly profile?: PlanProfile | undefined;
};

/**
 * Field by field. Where an object is spread and fields are added, V8 makes a hidden class each time, and these
 * are there until a full collection.
 */
export function taskStatsOf(
  { rowsScanned, rowsFromMemo, rowsSkipped, segmentsScanned, segmentsSkipped }: ScanCounters,
  runMs: number,
  profile?: PlanProfile,
): TaskStats {
  return {
    rowsScanned,
    rowsFromMemo,
    rowsSkipped,
    segmentsScanned,
    segmentsSkipped,
    runMs,
    profile,
  };
}

export type SealedAnswer = {
  readonly kind: 'sealed';
  readonly buffers: readonly SharedArrayBuffer[];
};

export type DividedAnswer = {
  readonly kind: 'divided';
  readonly parts: readonly PartRows[];
};

export type PackedAnswer = {
  readonly kind: 'packed';
  readonly image: PackedImage;
};

export type StatesAnswer = {
  readonly kind: 'states';
  readonly states: PreparedStates;
};

/** Class and code of an error do not survive structured cloning, so expected failures are values. */
type TaskFailure = {
  readonly kind: 'failure';
  readonly code: QueryErrorCode;
  readonly message: string;
  readonly span?: Span | undefined;
};

type TidiedAnswer = { readonly kind: 'tidied' };

/** A segment could not be read: it is no more, or its file is damaged, or cannot be read at present. */
export type UnreadableAnswer = {
  readonly kind: 'unreadable';
  readonly path: string;
  /** There when it is damaged, and how. */
  readonly damage?: { readonly segmentId: number; readonly reason: string };
  /** There when the system refused to read it, and why. */
  readonly refusal?: { readonly segmentId: number; readonly reason: string };
};

/** The partial states of a part of a query are too large to be handed over: one task should run the whole. */
export type OversizedAnswer = { readonly kind: 'oversized' };

/** A mistake of ours, so that only the loss of its thread makes a task reject. */
type TaskBug = {
  readonly kind: 'bug';
  readonly message: string;
  readonly stack: string;
};

/** What a task was for. */
export type DoneAnswer =
  | RowsAnswer
  | PartialAnswer
  | PiecesAnswer
  | FieldsAnswer
  | SealedAnswer
  | DividedAnswer
  | PackedAnswer
  | StatesAnswer
  | TidiedAnswer;

export type TaskAnswer = DoneAnswer | UnreadableAnswer | OversizedAnswer | TaskFailure | TaskBug;

/** Something that takes one thread from `start` until its promise settles. It never rejects. */
export type Job = {
  /** `waited` goes on while the job is parked. */
  readonly start: (waited: Waited) => Promise<void>;
  /** A call where left out. */
  readonly kind?: WorkKind | undefined;
  /** Whose time it takes. */
  readonly tenant?: Tenant | undefined;
  /** There where the job can be parked. */
  readonly parking?: Parking | undefined;
};

/** How long a job has waited for a thread, and what the threads ran meanwhile. */
export type Waited = { ms: number; readonly besideMs: MsByKind };

/** Steers a job that has started and not ended. The methods return at once; the job obeys at its next checkpoint. */
export interface Parking {
  /** The job pauses, and keeps its thread and its memory. */
  park(): void;
  /** The job, which is parked, goes on; it has run for so long in all. */
  resume(ranMs: number): void;
  /** The job ends, parked or not: others need its place. Absent where none of its kind is ended. */
  end?(): void;
}

/**
 * Whose turn it is among those of a kind. `ahead` jobs go first: the last task of a query that has had its turn, whose
 * partial states hold memory.
 */
export type Lane = 'ahead' | 'turn';

/** Milliseconds between two looks of a parked task at memory: it is refused as others are where it holds most. */
const PARKED_CHECK_MS = 200;

/** One integer that the main thread and the thread of a task share: whether the task is to go on. */
export type TaskSignal = Int32Array;

const RUN = 0;
const PARK = 1;
const STOP = 2;

export function newTaskSignal(): TaskSignal {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** The task pauses at its next checkpoint, and keeps its thread and its memory. Does nothing once it is to stop. */
export function parkTask(signal: TaskSignal): void {
  Atomics.compareExchange(signal, 0, RUN, PARK);
}

/** The task goes on. Does nothing once it is to stop. */
export function resumeTask(signal: TaskSignal): void {
  if (Atomics.compareExchange(signal, 0, PARK, RUN) === PARK) Atomics.notify(signal, 0);
}

/** The task ends at its next checkpoint, at once where it is parked. */
export function stopTask(signal: TaskSignal): void {
  Atomics.store(signal, 0, STOP);
  Atomics.notify(signal, 0);
}

/** The clock of a task on its thread: it stands still while the task is parked. */
export class TaskClock {
  readonly #signal: TaskSignal;
  readonly #threadMs: () => number;
  #parkedMs = 0;

  /** `threadMs` is the clock of the thread, which never stands still. */
  constructor(signal: TaskSignal, threadMs: () => number) {
    this.#signal = signal;
    this.#threadMs = threadMs;
  }

  nowMs(): number {
    return this.#threadMs() - this.#parkedMs;
  }

  /**
   * To be called at each checkpoint: costs one load while the task is to run. Returns when it is to go on. Calls
   * `whileParked` now and then while the task is parked; what that throws ends the task.
   *
   * @throws RunStoppedError `query_cancelled` once it is to stop.
   */
  follow(whileParked: () => void = () => {}): void {
    if (Atomics.load(this.#signal, 0) !== RUN) this.#obey(whileParked);
  }

  /**
   * Costs one load. Does not pause the task.
   *
   * @throws RunStoppedError `query_cancelled` once it is to stop.
   */
  checkStopped(): void {
    if (Atomics.load(this.#signal, 0) === STOP) throw stopped();
  }

  #obey(whileParked: () => void): void {
    const startMs = this.#threadMs();
    while (Atomics.load(this.#signal, 0) === PARK) {
      if (Atomics.wait(this.#signal, 0, PARK, PARKED_CHECK_MS) === 'timed-out') whileParked();
    }
    this.#parkedMs += this.#threadMs() - startMs;
    this.checkStopped();
  }
}

function stopped(): RunStoppedError {
  return new RunStoppedError('query_cancelled', 'the caller went away before the answer');
}

/** Bytes on loan: they stay as they are until they are given back. */
export type LentBytes = {
  readonly bytes: Uint8Array;
  /**
   * One shared integer: the loan under way of the block that `bytes` lies in, or FREE. Absent of a long answer, which
   * has memory of its own that goes along to another thread (`ResizableBuffer`).
   */
  readonly state?: Int32Array;
  readonly loan: number;
};

/**
 * Memory that is the system's again at once when it is made shorter, and not only when every thread has collected its
 * garbage. The language has it (ECMAScript 2024); our library of types is older.
 */
type ResizableBuffer = ArrayBuffer & { resize(size: number): void };
const ResizableBuffer = ArrayBuffer as unknown as new (
  size: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

const FREE = 0;
/** What stands before the bytes of a block: its state, and nothing to fill eight bytes. */
const HEADER_SIZE = 8;
const BLOCK_BYTES_MIN = 64 * 1024;

type Block = { readonly memory: SharedArrayBuffer; readonly state: Int32Array };

/**
 * The memory in which a worker's answers travel to the main thread, used again and again.
 *
 * Memory outside the heap that comes and goes with each answer makes V8 collect all garbage of both
 * threads every few dozen answers, and its helper threads take the cores from the workers: a call
 * of 300 KB cost three times the processor time that it costs with blocks that are lent.
 */
export class AnswerBlocks {
  readonly #blocks: Block[] = [];
  readonly #blockBytesMax: number;
  #loanCount = 0;

  /** `blockBytesMax`: bytes of the largest block. */
  constructor(blockBytesMax: number = ANSWER_BLOCK_BYTES_MAX) {
    this.#blockBytesMax = blockBytesMax;
  }

  /** Copies the bytes to a block that nobody reads; where they are too many, to memory of their own. */
  lend(bytes: Uint8Array): LentBytes {
    if (bytes.length > this.#blockBytesMax) {
      const own = new ResizableBuffer(bytes.length, { maxByteLength: bytes.length });
      const copy = new Uint8Array(own, 0, bytes.length);
      copy.set(bytes);
      return { bytes: copy, loan: 0 };
    }
    const { memory, state } = this.#freeBlock(bytes.length);
    // A number is used again after 2^31 loans, when no answer of the first is left to be confused.
    this.#loanCount = (this.#loanCount % 0x7fffffff) + 1;
    Atomics.store(state, 0, this.#loanCount);
    const copy = new Uint8Array(memory, HEADER_SIZE, bytes.length);
    copy.set(bytes);
    return { bytes: copy, state, loan: this.#loanCount };
  }

  /** A kept block where one is free and large enough, else a new one, kept if there is room. */
  #freeBlock(size: number): Block {
    const free = this.#blocks.filter(({ state }) => Atomics.load(state, 0) === FREE);
    const fitting = free.find(({ memory }) => memory.byteLength - HEADER_SIZE >= size);
    if (fitting !== undefined) return fitting;
    const capacity = Math.max(BLOCK_BYTES_MIN, 2 ** Math.ceil(Math.log2(Math.max(size, 1))));
    const memory = new SharedArrayBuffer(HEADER_SIZE + capacity);
    const block = { memory, state: new Int32Array(memory, 0, 1) };
    if (this.#blocks.length < ANSWER_BLOCKS_MAX) this.#blocks.push(block);
    else if (free[0] !== undefined) this.#blocks[this.#blocks.indexOf(free[0])] = block;
    return block;
  }
}

/** Ends a loan: the bytes may be written over from now on, or are no more. A second time does nothing. */
export function giveBack({ bytes, state, loan }: LentBytes): void {
  if (state === undefined) (bytes.buffer as ResizableBuffer).resize(0);
  else Atomics.compareExchange(state, 0, loan, FREE);
}

import { deserialize } from 'node:v8';
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { SpillSpace } from '../aggregate/spilled-pairs.ts';
import { unreachable } from '../assert.ts';
import { runMemory } from '../column/arrays.ts';
import { beginCacheGeneration, SizedCache } from '../column/caches.ts';
import { divideRows } from '../column/divide-rows.ts';
import { countFields } from '../column/field-counts.ts';
import { JsonBuffer } from '../column/json-buffer.ts';
import { SegmentRows } from '../column/merge-input.ts';
import { mergePart, mergeSegments } from '../column/merge-segments.ts';
import { buffersOf, packImage } from '../column/packed-image.ts';
import { boundRowTexts } from '../column/row-texts.ts';
import { sealSegment } from '../column/seal.ts';
import type { OpenSegmentHandle, SealedSegmentHandle } from '../column/segment.ts';
import {
  SegmentDamagedError,
  SegmentGoneError,
  SegmentImage,
  SegmentReadError,
} from '../column/segment-image.ts';
import {
  beginReading,
  boundReading,
  endReading,
  forgetDropped,
  forgetReaders,
  forgetUnusedReaders,
  isReadingPassing,
  leaveGarbage,
  readSegment,
  releaseGarbage,
} from '../column/segment-reader.ts';
import { SpillFile } from '../column/spill-file.ts';
import { ShapeCache } from '../column/split-encoding.ts';
import { pausingEvery } from '../function/work-meter.ts';
import { REMEMBERED_PLANS_BYTES_MAX } from '../limits.ts';
import { prepareStates } from '../memo/prepare-states.ts';
import {
  packedBuffersOf,
  packLarge,
  packLargeOf,
  partialSize,
  partialsOf,
  runPieces,
  unpacked,
} from '../memo/run-pieces.ts';
import { newScanCounters, type ScanCounters } from '../operator/scan.ts';
import {
  type ExecutionContext,
  executeFragment,
  executeQuery,
  finishQuery,
} from '../plan/execute.ts';
import type { SentTemplate, TemplateContent } from '../plan/plan-cache.ts';
import { PlanProfiler } from '../plan/plan-profile.ts';
import { PreparedPlans } from '../plan/prepared-plan.ts';
import { RowWriter } from '../plan/row-writer.ts';
import { QueryError, RunStoppedError } from '../query-error.ts';
import { HeapGuard, HeldTooMuchError } from './heap-guard.ts';
import { THREAD_BOUNDS, type ThreadData } from './pool-limits.ts';
import { noteRows, noteTask } from './pool-stats.ts';
import {
  AnswerBlocks,
  type DividedAnswer,
  type DivideTask,
  type MergeTask,
  type OversizedAnswer,
  type PackedAnswer,
  type PackTask,
  type QueryPartTask,
  type QueryTask,
  type RowsAnswer,
  type SealedAnswer,
  type SealTask,
  type SegmentTask,
  type StatesAnswer,
  type Task,
  type TaskAnswer,
  TaskClock,
  type TaskStats,
  taskStatsOf,
} from './task.ts';

/** Steps between two checkpoints of functions: some milliseconds, and far more than a checkpoint takes. */
const CHECKPOINT_STEPS = 250_000;

/** Bytes that the task of a part may hold for each of its partial state: it has hash tables, too, and garbage. */
const HELD_PER_PARTIAL_BYTE = 2;

/** Groups, or distinct values of groups, for each row, from which a part that holds much is to be left to one task that runs the whole. */
const MANY_ENTRIES_PER_ROW = 1 / 2;

/** Part of what a thread may keep that it keeps of the arrays of its last run. */
const RUN_MEMORY_PART = 1 / 2;

class ManyGroupsError extends Error {}

/** Absent where the tasks run on the thread that makes them. */
const data = workerData as ThreadData | null | undefined;

const bounds = data?.bounds ?? THREAD_BOUNDS;
boundReading(bounds);
boundRowTexts(bounds.keptBytesMax);

const guard = new HeapGuard(data?.memory, bounds.keptBytesMax);

/** Plans that this thread has read, by their number. */
const templates = new SizedCache<number, TemplateContent>(REMEMBERED_PLANS_BYTES_MAX);

const preparedPlans = new PreparedPlans();

/** What this thread's next sealing begins with. */
const shapeCache = new ShapeCache();

/** Where answers are written; one at a time, for tasks do not overlap. */
const answerBuffer = new JsonBuffer();
/** Where the main thread reads them. */
const answerBlocks = new AnswerBlocks(bounds.answerBlockBytesMax);

/**
 * The entry of a worker thread: runs one task, and makes a value of what fails. An error names what the functions that
 * threw it were called on, so it has to be gone before what the thread keeps is measured.
 */
export async function runTask(task: Task): Promise<TaskAnswer> {
  const isUrgent = !isOfSegments(task);
  await (isUrgent ? beginReading() : beginUnhurried());
  guard.beginTask(task.kind === 'finish' ? countBytes(packedBuffersOf(task.partials)) : 0);
  runMemory.begin();
  const answered = await answerOrFailure(task);
  if (isReadingPassing()) preparedPlans.forget();
  endReading();
  runMemory.end(bounds.keptBytesMax * RUN_MEMORY_PART);
  const buffers = movableBuffersOf(answered);
  if (isUrgent) guard.collectKept(countBytes(buffers), [forgetUnused, forgetAll]);
  guard.endTask();
  return moved(answered, buffers);
}

function countBytes(buffers: readonly ArrayBufferLike[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Before work that nobody waits for: the garbage of the work before is collected beside, so that code stays compiled. */
async function beginUnhurried(): Promise<void> {
  if (!guard.keepsTooMuch) return beginReading();
  await releaseGarbage();
  if (guard.keepsTooMuch) forgetAll();
}

/** Whether a task works on segments, or releases them: no caller waits for it. */
function isOfSegments({ kind }: Task): boolean {
  return !(
    kind === 'query' ||
    kind === 'fragment' ||
    kind === 'pieces' ||
    kind === 'finish' ||
    kind === 'fields'
  );
}

async function answerOrFailure(task: Task): Promise<TaskAnswer> {
  try {
    return await answer(task);
  } catch (error) {
    if (error instanceof SegmentReadError) {
      const { path, segmentId, reason } = error;
      return { kind: 'unreadable', path, refusal: { segmentId, reason } };
    }
    // One thread has all of the memory that several had.
    if (error instanceof HeldTooMuchError && isPart(task)) return { kind: 'oversized' };
    if (error instanceof ManyGroupsError) return { kind: 'oversized' };
    if (error instanceof QueryError) {
      return { kind: 'failure', code: error.code, message: error.message, span: error.span };
    }
    if (error instanceof RunStoppedError) {
      return { kind: 'failure', code: error.code, message: error.message };
    }
    if (error instanceof SegmentGoneError) return { kind: 'unreadable', path: error.path };
    if (error instanceof SegmentDamagedError) {
      const { path, segmentId, reason } = error;
      return { kind: 'unreadable', path, damage: { segmentId, reason } };
    }
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { kind: 'bug', message, stack: stack ?? message };
  }
}

/** Releases what may be needed least of what this thread keeps for later tasks: to open all again takes longer than a call. */
function forgetUnused(): void {
  preparedPlans.forget();
  runMemory.forget();
  forgetUnusedReaders();
}

/** Releases all that this thread keeps for later tasks. */
function forgetAll(): void {
  templates.clear();
  preparedPlans.forget();
  shapeCache.clear();
  runMemory.forget();
  forgetReaders();
}

/** Whether a task runs a part of a query. */
function isPart({ kind }: Task): boolean {
  return kind === 'fragment' || kind === 'pieces';
}

/** What a task over a part of a query gives, if its states can be handed over. */
function handedOver<T extends TaskAnswer>(states: unknown, answer: () => T): T | OversizedAnswer {
  const bytesMax = bounds.partialBytesMax;
  // To add the parts up takes a while, and they are no more than all.
  const isSmall = guard.heldBytes <= bytesMax || partialSize(states, bytesMax) <= bytesMax;
  return isSmall ? answer() : { kind: 'oversized' };
}

function answer(task: Task): TaskAnswer | Promise<TaskAnswer> {
  switch (task.kind) {
    case 'seal':
    case 'merge':
    case 'divide':
    case 'pack':
      leaveGarbage(segmentBytesOf(task));
      return segmentAnswer(task);
    case 'states':
      return segmentAnswer(task);
    case 'tidy':
      forgetDropped(task.dropped);
      preparedPlans.forgetDropped(task.dropped);
      return releaseGarbage().then(() => ({ kind: 'tidied' }));
    case 'fragment': {
      const started = startTask(task);
      const context = { ...started.context, slice: task.slice };
      const partial = metered(started, () => executeFragment(started.plan, context));
      return handedOver(partial, () => ({
        kind: 'partial',
        partial: packLarge(partial),
        stats: started.stats(),
      }));
    }
    case 'pieces': {
      const started = startTask(task);
      const result = metered(started, () => runPieces(started.plan, started.context, task.orders));
      return handedOver(result, () => ({
        kind: 'pieces',
        result: packLargeOf(result),
        stats: started.stats(),
      }));
    }
    case 'query': {
      const started = startTask(task);
      const rows = newRowWriter(started);
      spilling(started, () => executeQuery(started.plan, started.context, rows));
      return rowsAnswer(rows, started);
    }
    case 'fields': {
      forgetDropped(task.dropped);
      const checkpoint = checkpointOf(task);
      const segments = task.segments.map(readSegment);
      return { kind: 'fields', counts: countFields(segments, task.scope, checkpoint) };
    }
    case 'finish': {
      const started = startTask(task);
      const rows = newRowWriter(started);
      // The task is there until its end: what it brings may be released before.
      const partials = task.partials.splice(0).map(unpacked);
      spilling(started, () => finishQuery(started.plan, started.context, partials, rows));
      return rowsAnswer(rows, started);
    }
    default:
      return unreachable(task);
  }
}

/** A run also comes to a checkpoint when its functions have worked for long. */
function metered<T>(started: StartedTask, work: () => T): T {
  return pausingEvery(CHECKPOINT_STEPS, started.context.checkpoint, work);
}

/** Runs the whole of a query, or its end: states that do not fit into memory are written to a file while it runs. */
function spilling<T>(started: StartedTask, work: () => T): T {
  const { spill } = started.context;
  if (spill === undefined) return metered(started, work);
  try {
    return guard.relievedBy(
      () => spill.relieve(),
      () => metered(started, work),
    );
  } finally {
    spill.file.close();
  }
}

/** About as many bytes of shared memory are in hand: of the segments that are read, and what is made of them. */
function segmentBytesOf(task: SealTask | MergeTask | DivideTask | PackTask): number {
  switch (task.kind) {
    case 'seal':
      return openBytesOf(task.handle);
    case 'merge':
      return 2 * mergedBytesOf(task);
    case 'divide':
      return 0;
    case 'pack':
      return 2 * task.buffer.byteLength;
    default:
      return unreachable(task);
  }
}

function openBytesOf({ arrays }: OpenSegmentHandle): number {
  const buffers = new Set(Object.values(arrays).map(({ buffer }) => buffer));
  let bytes = 0;
  for (const { byteLength } of buffers) bytes += byteLength;
  return bytes;
}

function mergedBytesOf({ handles, part }: MergeTask): number {
  return handles.reduce((sum, { backing, buffer }, index) => {
    if (backing === undefined) return sum + buffer.byteLength;
    const { start, end } = part?.[index] ?? { start: 0, end: backing.rowCount };
    return sum + (backing.imageSize * (end - start)) / backing.rowCount;
  }, 0);
}

function mergedSegment({ handles, part }: MergeTask, checkpoint: () => void): SharedArrayBuffer {
  if (part === undefined) return mergeSegments(handles.map(SegmentImage.whole), checkpoint);
  return mergePart(handles.map(rowsOf), part, checkpoint);
}

function rowsOf(handle: SealedSegmentHandle): SegmentRows {
  return new SegmentRows(SegmentImage.apart(handle));
}

function segmentAnswer(
  task: SegmentTask,
): SealedAnswer | DividedAnswer | PackedAnswer | StatesAnswer {
  const clock = new TaskClock(task.signal, () => performance.now());
  const checkpoint = (): void => clock.follow();
  switch (task.kind) {
    case 'seal': {
      const { handle, partitionUs } = task;
      const options = { partitionUs, checkpoint, choices: shapeCache };
      return { kind: 'sealed', buffers: sealSegment(handle, options) };
    }
    case 'merge':
      return { kind: 'sealed', buffers: [mergedSegment(task, checkpoint)] };
    case 'divide': {
      const { handles, rowsMax } = task;
      return { kind: 'divided', parts: divideRows(handles.map(rowsOf), rowsMax, checkpoint) };
    }
    case 'pack':
      return { kind: 'packed', image: packImage(task.buffer, checkpoint) };
    case 'states': {
      forgetDropped(task.dropped);
      const checked = (): void => {
        clock.follow(guard.check);
        guard.check();
      };
      const states = pausingEvery(CHECKPOINT_STEPS, checked, () =>
        prepareStates(readSegment(task.handle), task.order, checked),
      );
      return { kind: 'states', states };
    }
    default:
      return unreachable(task);
  }
}

/** What need not be copied to the main thread goes there as it is. */
function moved(answer: TaskAnswer, buffers: readonly ArrayBufferLike[]): TaskAnswer {
  if (buffers.length === 0) return answer;
  const parcel = { [transferableSymbol]: buffers, [valueSymbol]: answer };
  // The pool takes it off again; its type does not say so.
  return move(parcel) as unknown as TaskAnswer;
}

function movableBuffersOf(answer: TaskAnswer): readonly ArrayBufferLike[] {
  if (answer.kind === 'packed') return buffersOf(answer.image);
  if (answer.kind === 'partial') return packedBuffersOf([answer.partial]);
  if (answer.kind === 'pieces') return packedBuffersOf(partialsOf(answer.result));
  return answer.kind === 'rows' && answer.json.state === undefined
    ? [answer.json.bytes.buffer]
    : [];
}

function rowsAnswer(rows: RowWriter, started: StartedTask): RowsAnswer {
  const { json, rowCount, isTruncated } = rows.finish();
  const lent = answerBlocks.lend(json);
  answerBuffer.clear();
  return { kind: 'rows', json: lent, rowCount, isTruncated, stats: started.stats() };
}

function newRowWriter(started: StartedTask): RowWriter {
  // A query that failed may have left the beginning of its answer.
  answerBuffer.clear();
  const { output, plan, rowsMax, context } = started;
  const { checkpoint } = context;
  const rowBounds = { rowsMax, bytesMax: bounds.answerBytesMax, checkpoint };
  return new RowWriter(output, plan, answerBuffer, rowBounds);
}

/** The plan to run, read once where calls share it: then it waits for what they put in. */
function contentOf(work: QueryTask['work']): TemplateContent {
  if (!('bytes' in work)) return work;
  const { number, bytes } = work;
  let content = templates.find(number);
  if (content === undefined) {
    content = deserialize(bytes) as TemplateContent;
    templates.set(number, content, bytes.length);
  }
  return content;
}

/** A task under way: what its plan runs over, and what it has done so far. */
type StartedTask = TemplateContent & {
  readonly context: ExecutionContext & { readonly counters: ScanCounters };
  readonly stats: () => TaskStats;
};

/** Lets a task pause, or stops it: when its caller has gone, when its time is over, when it holds too much. */
function checkpointOf(
  { signal, timeMsMax }: Pick<QueryPartTask, 'signal' | 'timeMsMax'>,
  clock = new TaskClock(signal, () => performance.now()),
): () => void {
  const startMs = clock.nowMs();
  return () => {
    clock.follow(guard.check);
    if (clock.nowMs() > startMs + timeMsMax) {
      throw new RunStoppedError(
        'query_timeout',
        `a query may run for ${timeMsMax} ms; this one took longer`,
      );
    }
    guard.check();
  };
}

/** Opens what a task reads; nothing, when its caller has gone while it waited. */
function startTask(task: Exclude<QueryPartTask, { kind: 'fields' }>): StartedTask {
  const clock = new TaskClock(task.signal, () => performance.now());
  const nowMs = () => clock.nowMs();
  const startMs = nowMs();
  const { work, dropped } = task;
  const { plan, output, rowsMax } = contentOf(work);
  const { bounds, texts }: Partial<SentTemplate> = 'bounds' in work ? work : {};
  const profiler = task.isProfiled === true ? new PlanProfiler(plan, nowMs) : undefined;
  forgetDropped(dropped);
  if (task.isAnew === true) beginCacheGeneration();
  const prepared = bounds === undefined ? undefined : preparedPlans.of(plan, dropped);
  const checkpoint = checkpointOf(task, clock);
  checkpoint();
  if (task.progress !== undefined) noteTask(task.progress);
  const segments = task.segments.map((handles) => handles.map(readSegment));
  const counters = newScanCounters();
  const { progress } = task;
  const spill = isPart(task) ? undefined : newSpillSpace(checkpoint, clock);
  const onGrowth = isPart(task) ? stopManyGroups : undefined;
  const onRows = progress && ((rowCount: number): void => noteRows(progress, rowCount));
  return {
    plan,
    output,
    rowsMax,
    context: {
      ...{ segments, prepared, bounds, texts, checkpoint, onGrowth, spill },
      ...{ counters, onRows, profiler },
    },
    stats: () => taskStatsOf(counters, nowMs() - startMs, profiler?.profile()),
  };
}

/** Ends a part of a query whose state would be too large to be handed over, before it has grown so large. */
function stopManyGroups(entryCount: number, rowCount: number): void {
  if (entryCount < MANY_ENTRIES_PER_ROW * rowCount) return;
  if (guard.heldBytes <= HELD_PER_PARTIAL_BYTE * bounds.partialBytesMax) return;
  throw new ManyGroupsError(`${entryCount} groups or values of ${rowCount} rows`);
}

/** `undefined` where this thread has no folder for files. */
function newSpillSpace(checkpoint: () => void, clock: TaskClock): SpillSpace | undefined {
  const { spillFolder } = data ?? {};
  if (spillFolder === undefined) return undefined;
  const file = new SpillFile(spillFolder, { bytesMax: bounds.spilledBytesMax });
  return new SpillSpace({ file, checkpoint, pause: () => clock.checkStopped() });
}

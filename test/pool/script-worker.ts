import { type RowsAnswer, type Task, type TaskAnswer, TaskClock } from '../../engine/pool/task.ts';

/** What a task of the tests does on its thread, in place of running a plan. */
export type Script = {
  readonly does:
    | 'answer'
    | 'wait for the gate'
    | 'work until the gate opens'
    | 'work for 200 checkpoints'
    | 'run until stopped'
    | 'run for ever'
    | 'fill the heap'
    | 'exit'
    | 'throw outside of the task'
    | 'fail'
    | 'fail with whether it may require modules'
    | 'be oversized';
  /** Two shared integers: how many tasks have begun, and whether the gate is open. */
  readonly shared: Int32Array;
  /** In place of `does`: what the first fragment does, the second, … */
  readonly fragments?: readonly Script['does'][] | undefined;
};

/** Stands in for the worker's own `runTask`. */
export async function runTask(task: Task): Promise<TaskAnswer> {
  if (task.kind === 'tidy') return { kind: 'tidied' };
  const { does: doesAll, shared, fragments } = scriptOf(task);
  const segment = task.kind === 'fragment' ? task.segments[0]?.[0] : undefined;
  const does = (segment && fragments?.[segment.id - 1]) ?? doesAll;
  Atomics.add(shared, 0, 1);
  switch (does) {
    case 'answer':
      return answerTo(task);
    case 'wait for the gate':
      Atomics.wait(shared, 1, 0);
      return answerTo(task);
    case 'work until the gate opens':
      return work(task, () => Atomics.load(shared, 1) === 1);
    case 'work for 200 checkpoints': {
      let count = 0;
      return work(task, () => count++ === 200);
    }
    case 'run until stopped':
      return work(task, () => false);
    case 'run for ever':
      // It never returns and never yields, but leaves the core to others.
      for (;;) Atomics.wait(PAUSE, 0, 0, 5);
    case 'fill the heap':
      return fillHeap();
    case 'exit':
      process.exit(7);
      break;
    case 'throw outside of the task':
      setImmediate(() => {
        throw new Error('nobody awaits this');
      });
      return new Promise(() => {});
    case 'fail':
      return { kind: 'failure', code: 'query_failed', message: 'division by zero' };
    case 'fail with whether it may require modules':
      return {
        kind: 'failure',
        code: 'query_failed',
        message: String(process.features.require_module),
      };
    case 'be oversized':
      return { kind: 'oversized' };
    default:
      throw new Error(`there is no script ${does}`);
  }
}

function scriptOf(task: Task): Script {
  const holder: unknown = task.kind === 'seal' ? task.handle : task;
  return (holder as { readonly script: Script }).script;
}

/** The partial state of a fragment. */
const NO_GROUPS = { keys: { size: 0, columns: [] }, states: [1] };

function answerTo(task: Task): TaskAnswer {
  const counters = {
    rowsScanned: 3,
    rowsFromMemo: 0,
    rowsSkipped: 5,
    segmentsScanned: 2,
    segmentsSkipped: 1,
  };
  const stats = { ...counters, runMs: 5 };
  if (task.kind === 'seal') return { kind: 'sealed', buffers: [new SharedArrayBuffer(8)] };
  if (task.kind === 'fragment') return { kind: 'partial', partial: NO_GROUPS, stats };
  const bytes = new TextEncoder().encode('[]');
  const json: RowsAnswer['json'] = { bytes, state: new Int32Array(1), loan: 1 };
  return { kind: 'rows', json, rowCount: 0, isTruncated: false, stats };
}

/** Comes to checkpoints, as a query does, until it is done. */
function work(task: Task, isDone: () => boolean): TaskAnswer {
  if (task.kind === 'tidy') throw new Error('tidying has no checkpoints');
  const clock = new TaskClock(task.signal, () => performance.now());
  const startMs = clock.nowMs();
  while (!isDone()) {
    try {
      clock.follow();
    } catch {
      return { kind: 'failure', code: 'query_cancelled', message: 'stopped' };
    }
    if ('timeMsMax' in task && clock.nowMs() > startMs + task.timeMsMax) {
      return { kind: 'failure', code: 'query_timeout', message: 'out of time' };
    }
    // It leaves the core to others.
    Atomics.wait(PAUSE, 0, 0, 1);
  }
  return answerTo(task);
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

function fillHeap(): never {
  let rows: Row | undefined;
  for (let index = 0; ; index++) rows = rowBefore(rows, index);
}

type Row = { readonly values: readonly number[]; readonly next: Row | undefined };

/** Node 24 cannot end a loop that allocates and calls nothing. */
function rowBefore(next: Row | undefined, index: number): Row {
  return { values: Array.from({ length: 100 }, () => index), next };
}

import type { RowsAnswer, Task, TaskAnswer } from '../../engine/pool/task.ts';

/** What a task of the tests does on its thread, in place of running a plan. */
export type Script = {
  readonly does:
    | 'answer'
    | 'wait for the gate'
    | 'run until stopped'
    | 'run for ever'
    | 'fill the heap'
    | 'exit'
    | 'throw outside of the task'
    | 'fail';
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
    case 'run until stopped':
      return runUntilStopped(task);
    case 'run for ever':
      for (;;);
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
    default:
      throw new Error(`there is no script ${does}`);
  }
}

function scriptOf(task: Task): Script {
  const holder: unknown = task.kind === 'seal' ? task.handle : task;
  return (holder as { readonly script: Script }).script;
}

function answerTo(task: Task): TaskAnswer {
  const counters = {
    rowsScanned: 3,
    rowsFromMemo: 0,
    rowsSkipped: 5,
    segmentsScanned: 2,
    segmentsSkipped: 1,
  };
  const stats = { ...counters, runMs: 5 };
  if (!('cancelled' in task)) return { kind: 'sealed', buffers: [new SharedArrayBuffer(8)] };
  if (task.kind === 'fragment') return { kind: 'partial', partial: 1, stats };
  const bytes = new TextEncoder().encode('[]');
  const json: RowsAnswer['json'] = { bytes, state: new Int32Array(1), loan: 1 };
  return { kind: 'rows', json, rowCount: 0, stats };
}

function runUntilStopped(task: Task): TaskAnswer {
  if (!('cancelled' in task)) throw new Error('sealing is not stopped');
  const startMs = performance.now();
  for (;;) {
    if (Atomics.load(task.cancelled, 0) !== 0) {
      return { kind: 'failure', code: 'query_cancelled', message: 'stopped' };
    }
    if (performance.now() > startMs + task.timeMsMax) {
      return { kind: 'failure', code: 'query_timeout', message: 'out of time' };
    }
  }
}

function fillHeap(): never {
  const kept: object[] = [];
  for (let index = 0; ; index++) kept.push({ index, text: `text ${index}` });
}

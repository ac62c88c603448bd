import { unreachable } from '../assert.ts';
import { JsonBuffer } from '../column/json-buffer.ts';
import { sealSegment } from '../column/seal.ts';
import { forgetDropped, readSegment } from '../column/segment-reader.ts';
import {
  type ExecutionContext,
  executeFragment,
  executeQuery,
  finishQuery,
} from '../plan/execute.ts';
import { RowWriter } from '../plan/row-writer.ts';
import { QueryError } from '../query-error.ts';
import { AnswerBlocks } from './answer-block.ts';
import type { FinishTask, FragmentTask, QueryTask, RowsAnswer, Task, TaskAnswer } from './task.ts';

/** Where answers are written; one at a time, for tasks do not overlap. */
const answerBuffer = new JsonBuffer();
/** Where the main thread reads them. */
const answerBlocks = new AnswerBlocks();

/** The entry of a worker thread: runs one task, and makes a value of what may be expected to fail. */
export async function runTask(task: Task): Promise<TaskAnswer> {
  try {
    return answer(task);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { kind: 'failure', code: error.code, message: error.message, span: error.span };
  }
}

function answer(task: Task): TaskAnswer {
  switch (task.kind) {
    case 'seal':
      return {
        kind: 'sealed',
        buffers: sealSegment(task.handle, { partitionUs: task.partitionUs }),
      };
    case 'fragment':
      return { kind: 'partial', partial: executeFragment(task.plan, contextOf(task)) };
    case 'query': {
      const rows = newRowWriter(task);
      executeQuery(task.plan, contextOf(task), rows);
      return rowsAnswer(rows);
    }
    case 'finish': {
      const rows = newRowWriter(task);
      finishQuery(task.plan, contextOf(task), task.partials, rows);
      return rowsAnswer(rows);
    }
    default:
      return unreachable(task);
  }
}

function rowsAnswer(rows: RowWriter): RowsAnswer {
  const { json, rowCount } = rows.finish();
  const answer: RowsAnswer = { kind: 'rows', json: answerBlocks.lend(json), rowCount };
  answerBuffer.clear();
  return answer;
}

function newRowWriter(task: QueryTask | FinishTask): RowWriter {
  // A query that failed may have left the beginning of its answer.
  answerBuffer.clear();
  return new RowWriter(task.output, task.plan, answerBuffer);
}

/** Opens what a task reads; nothing, when its caller has gone while it waited. */
function contextOf(task: QueryTask | FragmentTask | FinishTask): ExecutionContext {
  forgetDropped(task.dropped);
  const deadlineMs = performance.now() + task.timeMsMax;
  const checkpoint = () => {
    if (Atomics.load(task.cancelled, 0) !== 0) {
      throw new QueryError('query_cancelled', 'the caller went away before the answer');
    }
    if (performance.now() > deadlineMs) {
      throw new QueryError(
        'query_timeout',
        `a query may run for ${task.timeMsMax} ms; this one took longer`,
      );
    }
  };
  checkpoint();
  return { segments: task.segments.map((handles) => handles.map(readSegment)), checkpoint };
}

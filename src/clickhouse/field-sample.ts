import {
  countFields,
  type Field,
  type FieldCounts,
  forgetReaders,
  must,
  OpenSegment,
  QueryError,
  readSegment,
} from '../../engine/columns.ts';
import { ALL_TIME } from '../../engine/index.ts';
import { admitEvents } from '../../ingest/admission.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { NdjsonRewriter } from '../call/ndjson-rewriter.ts';
import { rewriteAll } from '../call/rows-rewriter.ts';
import { countStatement, type EventScope, sampleStatement } from './event-statements.ts';
import type { RunStatement, StatementCaller, StatementRunner } from './statement-runner.ts';

/** Events in which fields are looked for: their values are counted in one piece, which takes some milliseconds. */
const SAMPLED_EVENTS_MAX = 500;

/** Bytes of these events: well below those of a post. Of larger events there are fewer. */
const SAMPLED_BYTES_MAX = 4 * 1024 * 1024;

/** If the events are too large, the sample has fewer by this factor. */
const SMALLER_SAMPLE_PARTS = 8;

/** No other segment of the process has this id. */
const SAMPLE_ID = -1;

/** What stands around the record of an event in a row. */
const ROW_START = '{"root":[';
const ROW_END = ']}';

/**
 * Counts the fields of events in a sample of them, as if all had the same. Rejects with a QueryError, and soon after the
 * signal of the caller is aborted with `query_cancelled`.
 */
export async function countFieldsOf(
  scope: EventScope & { readonly withValues: boolean },
  runner: StatementRunner,
  caller: StatementCaller,
): Promise<FieldCounts> {
  const { sample, wantedCount } = await readSample(scope, runner, caller);
  try {
    const found = await countSample(sample, scope.withValues);
    if (sample.rowCount < wantedCount) return found;
    return scaled(found, await countEvents(scope, runner, caller));
  } finally {
    sample.release();
  }
}

async function readSample(
  scope: EventScope,
  runner: StatementRunner,
  caller: StatementCaller,
): Promise<{ readonly sample: RunStatement; readonly wantedCount: number }> {
  for (let wantedCount = SAMPLED_EVENTS_MAX; ; ) {
    const bounds = { rowsMax: wantedCount, bytesMax: SAMPLED_BYTES_MAX };
    try {
      const sample = await runner.run(sampleStatement(scope, wantedCount), bounds, caller);
      return { sample, wantedCount };
    } catch (error) {
      const isTooLarge = error instanceof QueryError && error.code === 'answer_too_large';
      if (!isTooLarge || wantedCount === 1) throw error;
      wantedCount = Math.ceil(wantedCount / SMALLER_SAMPLE_PARTS);
    }
  }
}

async function countEvents(
  scope: EventScope,
  runner: StatementRunner,
  caller: StatementCaller,
): Promise<number> {
  const bounds = { rowsMax: 1, bytesMax: SAMPLED_BYTES_MAX };
  const { json, release } = await runner.run(countStatement(scope), bounds, caller);
  const [row] = JSON.parse(Buffer.from(json).toString()) as { readonly count: number | string }[];
  release();
  return Number(must(row, 'a count is one row').count);
}

/** Counts in the sample alone: its records become rows as those of a post do. */
async function countSample({ json }: RunStatement, withValues: boolean): Promise<FieldCounts> {
  const lines = (await rewriteAll(new NdjsonRewriter(json))).toString().split('\n').slice(0, -1);
  if (lines.length === 0) return { eventCount: 0, fields: [], isCut: false };
  const records = lines.map((line) => line.slice(ROW_START.length, -ROW_END.length));
  const memory = new MemoryPool().lend();
  try {
    const body = await decodeBody([Buffer.from(`[${records.join(',')}]`)], 'json', memory);
    // They were admitted before, whatever their source and their age.
    const source = must(BUILT_IN_SOURCES[0]);
    const manners = { source, nowUs: 0, retentionUs: Number.POSITIVE_INFINITY };
    const { batch } = await admitEvents(body, { ...manners, randomId: randomUuids() });
    const segment = new OpenSegment({ id: SAMPLE_ID, arrivalBase: 0 });
    segment.append(batch, 0, batch.rowCount);
    segment.publish();
    const scope = { ...ALL_TIME, projects: undefined, withValues };
    const found = countFields([readSegment(segment.handle())], scope, () => {});
    forgetReaders();
    return found;
  } finally {
    memory.end();
  }
}

/** What a sample says of `eventCount` events. */
function scaled(found: FieldCounts, eventCount: number): FieldCounts {
  const times = (count: number): number => Math.round((count * eventCount) / found.eventCount);
  const fields = found.fields.map((field): Field => {
    const { values } = field;
    return {
      ...field,
      eventCount: times(field.eventCount),
      values: values && {
        ...values,
        isDistinctExact: false,
        top: values.top.map(({ value, count }) => ({ value, count: times(count) })),
        isTopExact: false,
      },
    };
  });
  return { ...found, eventCount, fields, sampledCount: found.eventCount };
}

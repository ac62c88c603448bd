import { must } from '../../engine/assert.ts';
import { admitEvents } from '../../ingest/admission.ts';
import type { ReplayedRecord } from '../../ingest/log/log-walk.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { NOW_US } from '../workload/clock.ts';
import type { DrawOptions } from '../workload/draw.ts';
import { FLOATS_SOURCE, type Kind, ndjson, sourceOf } from '../workload/workload.ts';

/** Events of a post. */
const POST_EVENTS = 1_000;

const RETENTION_US = 90 * 86_400_000_000;

export const DIRECTORY = new SourceDirectory(sourcesFrom(FLOATS_SOURCE).sources);

/** The records of the log that posts of so many events become, each with the text of its post. */
export async function* records(
  kind: Kind,
  of: DrawOptions,
): AsyncGenerator<{ readonly record: ReplayedRecord; readonly text: string }> {
  const source = must(DIRECTORY.findByName(sourceOf(kind)));
  const pool = new MemoryPool();
  const randomId = randomUuids();
  let sequence = 1;
  for (const { text } of ndjson(kind, { ...of, perText: POST_EVENTS })) {
    const memory = pool.lend();
    const body = await decodeBody([Buffer.from(text)], 'ndjson', memory);
    const options = { source, nowUs: NOW_US, retentionUs: RETENTION_US, randomId };
    const { batch } = await admitEvents(body, options);
    const times = batch.timestampsUs.subarray(0, batch.rowCount);
    const record = {
      ...{ source: source.name, sequence, receivedUs: NOW_US, arrivalBase: 0 },
      rowCount: batch.rowCount,
      timestampUsMin: times.reduce((least, time) => Math.min(least, time), Infinity),
      timestampUsMax: times.reduce((most, time) => Math.max(most, time), -Infinity),
      batch: () => batch,
    };
    yield { record, text };
    sequence += 1;
    memory.end();
  }
}

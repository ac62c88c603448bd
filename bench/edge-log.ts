import { mkdirSync } from 'node:fs';
import { admitEvents } from '../ingest/admission.ts';
import { NodeDisk } from '../ingest/disk/node-disk.ts';
import { recoverLog } from '../ingest/log/log-recovery.ts';
import { WriteAheadLog } from '../ingest/log/write-ahead-log.ts';
import { decodeBody } from '../ingest/post-body.ts';
import { Quarantine } from '../ingest/quarantine.ts';
import { randomUuids } from '../ingest/random-id.ts';
import type { Source } from '../ingest/source.ts';
import { showProgress } from '../src/command/progress.ts';
import type { LogEvent } from '../src/demo/traffic/log-event.ts';

const DAY_US = 86_400_000_000;
const BATCH_EVENTS = 500;

export type WrittenLog = { readonly eventCount: number; readonly byteSize: number };

/**
 * A log as the service writes it, of posts of 500 events over the day before `nowUs`, of at least
 * `bytesMin`. `folder` is an absolute path and not there yet.
 */
export async function writeLog(options: {
  readonly folder: string;
  readonly source: Source;
  readonly nowUs: number;
  readonly bytesMin: number;
  readonly makeEvent: (timestampMs: number) => LogEvent;
}): Promise<WrittenLog> {
  const { folder, source, nowUs, bytesMin, makeEvent } = options;
  const log = await openLog(folder);
  const randomId = randomUuids();
  let eventCount = 0;
  for (let { byteSize } = log.stats(); byteSize < bytesMin; { byteSize } = log.stats()) {
    const timeMs = (nowUs - DAY_US * (1 - byteSize / bytesMin)) / 1000;
    const events = Array.from({ length: BATCH_EVENTS }, () => makeEvent(Math.floor(timeMs)));
    const decoded = await decodeBody([Buffer.from(JSON.stringify(events))], 'json');
    const retentionUs = 2 * DAY_US;
    const { batch } = await admitEvents(decoded, { source, nowUs, retentionUs, randomId });
    await log.append({
      source: source.name,
      receivedUs: nowUs,
      arrivalBase: eventCount,
      batch,
    });
    eventCount += batch.rowCount;
    showProgress(`log: ${(byteSize / 1e6).toFixed(0)} of ${(bytesMin / 1e6).toFixed(0)} MB`);
  }
  showProgress('');
  const { byteSize } = log.stats();
  await log.close();
  return { eventCount, byteSize };
}

async function openLog(folder: string): Promise<WriteAheadLog> {
  const disk = new NodeDisk();
  mkdirSync(folder, { recursive: true });
  const recovered = await recoverLog({
    ...{ disk, folder, quarantine: new Quarantine(disk, `${folder}-quarantine`) },
    apply: async () => {},
    onDamage: () => {},
    onProgress: () => {},
  });
  return await WriteAheadLog.open({
    ...{ disk, folder, ...recovered },
    onEvent: (event) => {
      throw new Error(`the log cannot be written: ${event.kind}`);
    },
  });
}

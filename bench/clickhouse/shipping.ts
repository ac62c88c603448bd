import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import { ShipBatch } from '../../src/clickhouse/ship-batch.ts';
import { ShipCheckpoint } from '../../src/clickhouse/ship-checkpoint.ts';
import { Shipper } from '../../src/clickhouse/shipper.ts';
import { connectionTo } from '../../test/clickhouse/events-database.ts';
import { barText, figuresOf } from '../measure.ts';
import { Tenants } from '../workload/tenants.ts';
import { records } from './records.ts';
import type { BenchServer } from './server.ts';

const ROUNDS = 3;
const CLIENT_ROWS = 50_000;
/** Of the rate of the client. */
const BAR = 0.7;
const PROJECT_COUNT = 2_000;

/** Compares how fast weir sends a log with how fast the client inserts the same rows, which are made before. */
export async function benchShipping(server: BenchServer, eventCount: number): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-ship-'));
  try {
    const nextSequence = await fillLog(folder, eventCount);
    const shipped: number[] = [];
    const inserted: number[] = [];
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      server.reset();
      shipped.push(eventCount / (await shipSeconds(server, folder, nextSequence)));
      expectRows(server, eventCount);
      server.reset();
      inserted.push(eventCount / (await insertSeconds(server, eventCount)));
      expectRows(server, eventCount);
      ratios.push(shipped.at(-1)! / inserted.at(-1)!);
    }
    const ratio = figuresOf(ratios).p50;
    const rate = (samples: readonly number[]): string =>
      `${Math.round(figuresOf(samples).p50)} rows/s`;
    console.log(
      `shipping: ${rate(shipped)} by weir, ${rate(inserted)} by the client in batches of ${CLIENT_ROWS}: ${ratio.toFixed(2)} x ` +
        barText(`at least ${BAR} x`, ratio >= BAR),
    );
    return ratio >= BAR;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes a log with the events; resolves to the sequence after its last record. */
async function fillLog(folder: string, eventCount: number): Promise<number> {
  const logFolder = join(folder, 'log');
  await mkdir(logFolder);
  const log = await WriteAheadLog.open({
    ...{ disk: new NodeDisk(), folder: logFolder, files: [], nextSequence: 1 },
    ...{ durableBefore: 1, nextNumber: 1, onEvent: () => {} },
  });
  for await (const { record } of records('lean', draw(eventCount))) {
    const { source, receivedUs, arrivalBase, batch } = record;
    await log.append({ source, receivedUs, arrivalBase, batch: batch() });
  }
  const { nextSequence } = log;
  await log.close();
  return nextSequence;
}

function draw(eventCount: number) {
  return { tenants: new Tenants(PROJECT_COUNT), eventCount };
}

async function shipSeconds(
  server: BenchServer,
  folder: string,
  nextSequence: number,
): Promise<number> {
  const disk = new NodeDisk();
  for (const name of ['shipped', 'shipped.copy']) await rm(join(folder, name), { force: true });
  const checkpoint = await ShipCheckpoint.open({ disk, folder, firstSequence: 1, nextSequence });
  const table = new ClickHouseTable(connectionTo(server.door.url));
  const shipper = new Shipper({
    ...{ disk, folder: join(folder, 'log'), log: { nextSequence }, checkpoint, table },
    onFailure: (error) => {
      throw error;
    },
  });
  const startMs = performance.now();
  shipper.notify();
  await shipper.settled();
  const seconds = (performance.now() - startMs) / 1000;
  await shipper.close();
  await table.close();
  return seconds;
}

async function insertSeconds(server: BenchServer, eventCount: number): Promise<number> {
  const table = new ClickHouseTable(connectionTo(server.door.url));
  const { signal } = new AbortController();
  let batch = new ShipBatch('client');
  let insertCount = 0;
  let ms = 0;
  const send = async (): Promise<void> => {
    if (batch.rowCount === 0) return;
    const rows = Buffer.concat(batch.days().map((day) => day.rows));
    const startMs = performance.now();
    await table.insert(rows, `client ${insertCount++}`, signal);
    ms += performance.now() - startMs;
    batch = new ShipBatch('client');
  };
  for await (const { record } of records('lean', draw(eventCount))) {
    await batch.add(record);
    if (batch.rowCount >= CLIENT_ROWS) await send();
  }
  await send();
  await table.close();
  return ms / 1000;
}

function expectRows(server: BenchServer, eventCount: number): void {
  server.use('weir');
  const [[count = ''] = []] = server.chdb.rows<[string]>('SELECT count() FROM events');
  if (Number(count) !== eventCount) throw new Error(`${count} rows of ${eventCount} are there`);
}

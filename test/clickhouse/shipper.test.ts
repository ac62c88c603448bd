import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../ingest/ingest-error.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { EventTable } from '../../src/clickhouse/event-table.ts';
import { ShipCheckpoint } from '../../src/clickhouse/ship-checkpoint.ts';
import {
  REMEMBERED_ATTEMPTS,
  Shipper,
  type ShipperOptions,
  UNSENT_LOG_BYTES_MAX,
} from '../../src/clickhouse/shipper.ts';
import { diskError, MemoryDisk } from '../ingest/memory-disk.ts';
import { smallBatch } from '../support/small-batch.ts';

const LOG = '/data/log';

/** A table that keeps the ids of each insert, in order, and fails as often as it is told. */
class ListedTable implements EventTable {
  readonly inserts: string[][] = [];
  readonly tokens: string[] = [];
  failures = 0;
  counts = 0;
  /** Rows that it says are there. */
  rowCount = 0;

  async insert(rows: Uint8Array, token: string): Promise<void> {
    this.tokens.push(token);
    if (this.failures-- > 0) throw new Error('the table is away');
    const lines = Buffer.from(rows).toString().trimEnd().split('\n');
    this.inserts.push(lines.map((line) => line.split('\t')[4]!));
  }

  async count(): Promise<number> {
    this.counts++;
    return this.rowCount;
  }

  async appendArrivals(): Promise<void> {}

  async close(): Promise<void> {}
}

type Opened = {
  readonly disk: MemoryDisk;
  readonly log: WriteAheadLog;
  readonly table: ListedTable;
  readonly shipper: Shipper;
  readonly failures: unknown[];
};

async function opened(limits: ShipperOptions['limits'] = {}): Promise<Opened> {
  const disk = new MemoryDisk();
  const log = await WriteAheadLog.open({
    ...{ disk, folder: LOG, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    onEvent: () => {},
  });
  const checkpoint = await ShipCheckpoint.open({
    ...{ disk, folder: '/data', firstSequence: 1, nextSequence: 1 },
  });
  const table = new ListedTable();
  const failures: unknown[] = [];
  const shipper = new Shipper({
    ...{ disk, folder: LOG, log, checkpoint, table },
    onFailure: (error) => failures.push(error),
    limits: { batchWaitMs: 1, retryTickMs: 1, ...limits },
  });
  return { disk, log, table, shipper, failures };
}

async function append(log: WriteAheadLog, ids: readonly string[], day = 0): Promise<void> {
  const batch = smallBatch(ids, day * PARTITION_US);
  await log.append({ source: 's', receivedUs: 1_000, arrivalBase: 0, batch });
}

test('a full batch is sent at once, the last one after its wait, and each with the record that filled it', async () => {
  const { log, table, shipper } = await opened({ batchRows: 4 });
  // Nothing is there yet.
  shipper.notify();
  for (const id of ['a', 'b', 'c', 'd']) await append(log, [`${id}1`, `${id}2`, `${id}3`]);
  await append(log, ['e']);
  shipper.notify();
  await shipper.settled();
  assert.deepEqual(table.inserts, [
    ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'],
    ['c1', 'c2', 'c3', 'd1', 'd2', 'd3'],
    ['e'],
  ]);
  assert.equal(shipper.shippedBefore, 6);
  const { batchCount, rowCount, waitingRecords, failureCount } = shipper.stats(2_000);
  assert.deepEqual([batchCount, rowCount, waitingRecords, failureCount], [3, 13, 0, 0]);
});

test('records that come while a small batch waits are sent with it', async () => {
  const { log, table, shipper } = await opened({ batchWaitMs: 50 });
  await append(log, ['a']);
  shipper.notify();
  await append(log, ['b']);
  shipper.notify();
  assert.deepEqual(table.inserts, []);
  await shipper.settled();
  assert.deepEqual(table.inserts, [['a', 'b']]);
});

test('a failed insert is repeated with its token until it succeeds, and later days wait', async () => {
  const { log, table, shipper, failures } = await opened();
  await append(log, ['a'], 2);
  await append(log, ['b'], 1);
  await append(log, ['c'], 2);
  table.failures = 3;
  shipper.notify();
  await shipper.settled();
  assert.deepEqual(table.inserts, [['b'], ['a', 'c']]);
  const [first = '', ...others] = table.tokens;
  assert.deepEqual(others, [first, first, first, first.replace('1970-01-02', '1970-01-03')]);
  assert.equal(table.counts, 0, 'ClickHouse remembers the token');
  assert.deepEqual(failures.map(String), ['Error: the table is away']);
  const { failure, failureCount } = shipper.stats(0);
  assert.deepEqual([failure, failureCount], [undefined, 3]);
});

test('after many attempts, rows that one has left in the table are not sent again', async () => {
  for (const rowCount of [1, 2, 3]) {
    const { log, table, shipper } = await opened({ retryTickMs: 1 });
    await append(log, ['a', 'b']);
    table.failures = REMEMBERED_ATTEMPTS;
    table.rowCount = rowCount;
    shipper.notify();
    await shipper.settled();
    assert.deepEqual(table.inserts, rowCount < 2 ? [['a', 'b']] : []);
    assert.equal(table.counts, 1);
    assert.equal(shipper.shippedBefore, 2);
  }
});

test('its numbers tell how much waits, since when, and why', async () => {
  const { log, table, shipper } = await opened({ retryTickMs: 5 });
  table.failures = Number.POSITIVE_INFINITY;
  for (const id of ['a', 'b']) await append(log, [id]);
  shipper.notify();
  while (shipper.stats(0).failureCount === 0) await new Promise((resolve) => setImmediate(resolve));
  const { waitingRecords, waitingUs, failure } = shipper.stats(5_000);
  assert.deepEqual([waitingRecords, waitingUs, failure], [2, 4_000, 'the table is away']);
  await shipper.close();
  assert.equal(shipper.shippedBefore, 1);
});

test('a disk that fails delays, and loses and repeats nothing', async () => {
  const { disk, log, table, shipper } = await opened({ batchRows: 2 });
  for (const id of ['a', 'b', 'c', 'd', 'e']) await append(log, [id]);
  let steps = 0;
  disk.before = () => {
    if (steps++ < 30 && steps % 3 === 0) throw diskError('EIO');
  };
  shipper.notify();
  await shipper.settled();
  assert.deepEqual(table.inserts, [['a', 'b'], ['c', 'd'], ['e']]);
  assert(shipper.stats(0).failureCount > 0);
});

test('a log at its limit accepts no more', async () => {
  const { shipper } = await opened();
  shipper.check(UNSENT_LOG_BYTES_MAX - 1);
  assert.throws(() => shipper.check(UNSENT_LOG_BYTES_MAX), StorageError);
});

test('a closed shipper sends no more; what is durable waits for the next one', async () => {
  const { log, table, shipper } = await opened({ batchWaitMs: 10_000 });
  await append(log, ['a']);
  shipper.notify();
  await shipper.close();
  shipper.notify();
  await shipper.settled();
  assert.deepEqual([table.inserts, shipper.shippedBefore], [[], 1]);
});

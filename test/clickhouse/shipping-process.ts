/**
 * A shipper in a process of its own, for `ship-kill.test.ts`: it sends what the log in SHIPPED_DATA holds, and kills
 * itself before the step KILLED_BEFORE.
 */
import { join } from 'node:path';
import { must } from '../../engine/assert.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import { ShipCheckpoint } from '../../src/clickhouse/ship-checkpoint.ts';
import { Shipper } from '../../src/clickhouse/shipper.ts';
import { DeadlyDisk, deadlyStep } from './deadly-step.ts';
import { connectionTo } from './events-database.ts';

const dataDir = must(process.env['SHIPPED_DATA']);
const log = { nextSequence: Number(process.env['SHIPPED_BEFORE']) };
const disk = new DeadlyDisk(new NodeDisk());
const checkpoint = await ShipCheckpoint.open({
  ...{ disk, folder: dataDir, firstSequence: 1, nextSequence: log.nextSequence },
});
const table = new ClickHouseTable(connectionTo(must(process.env['SHIPPED_URL'])));
const shipper = new Shipper({
  ...{ disk, folder: join(dataDir, 'log'), log, checkpoint },
  table: {
    insert: async (rows, token, signal) => {
      deadlyStep('insert');
      await table.insert(rows, token, signal);
      deadlyStep('acknowledged');
    },
    count: (rows, signal) => table.count(rows, signal),
    appendArrivals: async (gateway, stretches, signal) => {
      deadlyStep('append');
      await table.appendArrivals(gateway, stretches, signal);
      deadlyStep('appended');
    },
    close: () => table.close(),
  },
  onFailure: () => {},
  limits: { batchRows: 40, batchWaitMs: 1, retryTickMs: 1 },
});
shipper.notify();
await shipper.settled();
await shipper.close();
await table.close();

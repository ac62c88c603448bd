/**
 * A move in a process of its own, for `ship-folder.test.ts`: it sends what the folder MOVED_FOLDER holds, and kills
 * itself before the step KILLED_BEFORE.
 */
import { must } from '../../engine/assert.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import { shipFolder } from '../../src/clickhouse/folder-shipping.ts';
import { DeadlyDisk, deadlyStep } from './deadly-step.ts';
import { connectionTo } from './events-database.ts';

class DeadlyTable extends ClickHouseTable {
  override async insert(rows: Uint8Array, token: string, signal: AbortSignal): Promise<void> {
    deadlyStep('insert');
    await super.insert(rows, token, signal);
    deadlyStep('acknowledged');
  }
}

const table = new DeadlyTable(connectionTo(must(process.env['MOVED_URL'])));
await shipFolder({
  disk: new DeadlyDisk(new NodeDisk()),
  folder: must(process.env['MOVED_FOLDER']),
  ...{ table, signal: new AbortController().signal, onDamage: () => {}, onProgress: () => {} },
  limits: { batchRows: 5, retryTickMs: 1 },
});
await table.close();

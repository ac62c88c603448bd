/**
 * A move in a process of its own, for `ship-folder.test.ts`: it sends what the folder MOVED_FOLDER holds, and kills
 * itself before the step KILLED_BEFORE.
 */
import { must } from '../../engine/assert.ts';
import { ForwardingDisk } from '../../ingest/disk/forwarding-disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import { shipFolder } from '../../src/clickhouse/folder-shipping.ts';
import { connectionTo } from './events-database.ts';

const counts = new Map<string, number>();

/** Steps of one name are counted from 1: `rename 3`. */
function step(name: string): void {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  if (`${name} ${count}` !== process.env['KILLED_BEFORE']) return;
  process.kill(process.pid, 'SIGKILL');
}

class DeadlyDisk extends ForwardingDisk {
  override async rename(from: string, to: string): Promise<void> {
    step('rename');
    await super.rename(from, to);
  }
}

class DeadlyTable extends ClickHouseTable {
  override async insert(rows: Uint8Array, token: string, signal: AbortSignal): Promise<void> {
    step('insert');
    await super.insert(rows, token, signal);
    step('acknowledged');
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

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { ShipCheckpoint } from '../../../src/clickhouse/ship-checkpoint.ts';
import type { Clock } from '../../../src/clock.ts';
import { parseSettings } from '../../../src/settings.ts';
import { StartError } from '../../../src/start-error.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { NOW_US } from '../harness.ts';

let folder: string;

const clock: Clock = { nowUs: () => NOW_US, monotonicMs: () => 0, wallMs: () => NOW_US / 1000 };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-store-'));
});

after(() => rm(folder, { recursive: true }));

async function open(name: string, store: string): Promise<void> {
  const settings = parseSettings({
    DATA_DIR: join(folder, name),
    STORE: store,
    CLICKHOUSE_URL: 'http://127.0.0.1:1',
  });
  const backend = await openStore({ settings, log: () => {}, clock });
  await backend.close(NOW_US);
}

test('a new folder is for either store', async () => {
  await open('none', 'embedded');
  await open('none', 'clickhouse');
});

test('a folder with segments is not for ClickHouse, and one that was sent is for nothing else', async () => {
  const segments = join(folder, 'embedded', 'segments', 'logs');
  await mkdir(segments, { recursive: true });
  await assert.rejects(open('embedded', 'clickhouse'), StartError);
  await open('embedded', 'embedded');

  await mkdir(join(folder, 'sent'));
  await makeCheckpoint('sent');
  await assert.rejects(open('sent', 'embedded'), StartError);
  await open('sent', 'clickhouse');

  // Whose segments were sent, too.
  await makeCheckpoint('embedded');
  await open('embedded', 'clickhouse');
});

test('a folder that weir ship has begun to send is for the embedded store, and one with a damaged checkpoint for none', async () => {
  await mkdir(join(folder, 'begun'));
  await makeCheckpoint('begun', true);
  await open('begun', 'embedded');
  await assert.rejects(open('begun', 'clickhouse'), /run it again until it ends/);

  await mkdir(join(folder, 'damaged'));
  for (const name of ['shipped', 'shipped.copy'])
    await writeFile(join(folder, 'damaged', name), '');
  for (const store of ['embedded', 'clickhouse']) {
    await assert.rejects(open('damaged', store), StartError);
  }
});

async function makeCheckpoint(name: string, forMove = false): Promise<void> {
  const options = { folder: join(folder, name), firstSequence: 1, nextSequence: 1, forMove };
  await ShipCheckpoint.open({ disk: new NodeDisk(), ...options });
}

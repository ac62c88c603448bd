import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
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
  await writeFile(join(folder, 'sent', 'shipped'), '');
  await assert.rejects(open('sent', 'embedded'), StartError);
  await open('sent', 'clickhouse');

  // Whose segments were sent, too.
  await writeFile(join(folder, 'embedded', 'shipped'), '');
  await open('embedded', 'clickhouse');
});

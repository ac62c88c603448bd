import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { InstanceKey } from '../../src/instance-key.ts';
import { StartError } from '../../src/start-error.ts';

const DISK = new NodeDisk();

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-key-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function open(folder: string): Promise<{ ids: string; problem: string | undefined }> {
  const { key, problem } = await InstanceKey.open(DISK, folder);
  assert.notDeepEqual(key.derive('event ids', 32), key.derive('answer digests', 32));
  return { ids: key.derive('event ids', 32).toString('hex'), problem };
}

test('a data folder keeps its key, readable by its owner only', () =>
  withFolder(async (folder) => {
    const made = await open(folder);
    assert.equal(made.problem, undefined);
    assert.deepEqual(await open(folder), made);
    assert.deepEqual(await readdir(folder), ['instance-key']);
    assert.equal((await stat(join(folder, 'instance-key'))).mode & 0o777, 0o600);
  }));

test('each data folder has its own key', () =>
  withFolder((one) =>
    withFolder(async (other) => {
      assert.notEqual((await open(one)).ids, (await open(other)).ids);
    }),
  ));

test('a damaged key is replaced, and this is reported', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'instance-key');
    let last = await open(folder);
    for (const at of [0, 64, 65, 128]) {
      const bytes = await readFile(path);
      bytes[at]! ^= 1;
      await writeFile(path, bytes);
      const next = await open(folder);
      assert.match(next.problem ?? '', /instance-key was damaged and has been replaced$/);
      assert.notEqual(next.ids, last.ids);
      last = await open(folder);
      assert.deepEqual(last, { ids: next.ids, problem: undefined });
    }
  }));

test('a key that cannot be written is used until the stop, and this is reported', async () => {
  const { ids, problem } = await open('/nowhere');
  assert.equal(ids.length, 64);
  assert.match(problem ?? '', /instance-key.*: there is no such file or folder$/);
});

test('a key that cannot be read fails the start', () =>
  withFolder(async (folder) => {
    await mkdir(join(folder, 'instance-key'));
    await assert.rejects(InstanceKey.open(DISK, folder), StartError);
  }));

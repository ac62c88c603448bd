import { deepEqual, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { DataFolder } from '../../ingest/data-folder.ts';
import { prepareDataDir } from '../../src/data-dir.ts';
import { runWeir } from '../support/command-under-test.ts';

/** Makes a folder with these files. A path that ends in a slash is a folder's. */
async function withFolder(
  paths: readonly string[],
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    for (const path of paths) {
      const place = join(folder, path);
      if (path.endsWith('/')) await mkdir(place, { recursive: true });
      else {
        await mkdir(dirname(place), { recursive: true });
        await writeFile(place, '');
      }
    }
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Contents that are not foreign. */
const TAKEN: readonly (readonly [string, readonly string[]])[] = [
  ['nothing', []],
  ['hidden files and what a file system makes', ['.git/', '.env', 'lost+found/']],
  ['a store', ['store-12/', 'lock', 'spare']],
  ['a store, and files of others', ['store-12/', 'notes.txt', 'log/syslog']],
  ['a store that somebody has moved away', ['spare']],
  ['a folder of an earlier version', ['log/00000001.log', 'tokens.json']],
  ['one without posts', ['log/', 'endpoints/']],
  ['one with segments', ['segments/', 'quarantine/', 'endpoints-kept/']],
  ['one with tokens alone', ['tokens.json']],
  ['the first step of a first start', [`lock.${randomUUID()}.new`]],
  ['its second step', ['lock']],
  ['its third step', ['lock', 'store-1/']],
  [
    'a lock that was being taken over',
    ['lock', 'lock.0a1b2c3d', `lock.0a1b2c3d.${randomUUID()}.new`],
  ],
];

for (const [name, paths] of TAKEN) {
  test(`a data folder may hold ${name}`, async () => {
    await withFolder(paths, async (folder) => {
      await prepareDataDir(folder);
      const taken = await DataFolder.take(folder, 0, {
        timing: { beatMs: 3_600_000, watchMs: 1, lookMs: 1 },
      });
      await taken.release();
      await prepareDataDir(folder);
    });
  });
}

for (const [paths, found] of [
  [['notes.txt'], '"notes.txt"'],
  [['.hidden', 'a', 'b', 'c'], '"a", "b", "c"'],
  [['a', 'b', 'c', 'd/', 'e/f'], '"a", "b", "c" and 2 more'],
  [['log/syslog'], '"log"'],
  [['log/other.log'], '"log"'],
  [['tokens.json/'], '"tokens.json"'],
  [['store-x/'], '"store-x"'],
  [['store-1'], '"store-1"'],
  [['lock/'], '"lock"'],
  [['locks', 'lock.txt'], '"lock.txt", "locks"'],
] as const) {
  test(`a folder that holds ${found} and nothing of weir is refused and not changed`, async () => {
    await withFolder(paths, async (folder) => {
      const before = await readdir(folder);
      const message = `DATA_DIR must be a data folder of weir, an empty folder or a new one; ${folder} contains ${found}, and nothing that weir stores. Set DATA_DIR to another folder, or move these away`;
      await rejects(prepareDataDir(folder), { name: 'StartError', message });
      const started = await runWeir(['start', '--data-dir', folder], { isTerminal: true });
      deepEqual([started.status, started.err], [1, `weir cannot go on:\n\n  ${message}\n`]);
      const words = ['token', 'create', 'a', '--scopes', 'query', '--data-dir', folder];
      const created = await runWeir(words);
      deepEqual([created.status, created.err], [1, `${message}\n`]);
      deepEqual(await readdir(folder), before);
    });
  });
}

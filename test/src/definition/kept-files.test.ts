import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type KeptFile, KeptFiles } from '../../../src/definition/kept-files.ts';
import { Random } from '../../../src/demo/traffic/random.ts';
import { ModelDisk } from '../../support/model-disk.ts';

const FOLDER = '/data/endpoints-kept';

const OLD: readonly KeptFile[] = [
  { file: '/defs/a.sql', fileText: 'SELECT 1' },
  { file: '/defs/gone.sql', fileText: 'SELECT 2' },
];
const NEW: readonly KeptFile[] = [
  { file: '/defs/a.sql', fileText: 'SELECT\n  "ä" -- the new one\n' },
  { file: '/defs/b b.sql', fileText: '' },
];

async function textsOn(disk: ModelDisk): Promise<ReadonlyMap<string, string>> {
  const { files, damage } = await new KeptFiles(disk, FOLDER).read();
  deepEqual(damage, []);
  return new Map(files.map(({ file, fileText }) => [file, fileText]));
}

test('kept files are read back, and nothing else', async () => {
  const disk = new ModelDisk(new Random(1));
  const kept = new KeptFiles(disk, FOLDER);
  deepEqual(await kept.read(), { files: [], damage: [] });
  await kept.keep(OLD);
  await kept.keep(NEW);
  deepEqual([...(await textsOn(disk.afterCrash()))].sort(), [
    ['/defs/a.sql', 'SELECT\n  "ä" -- the new one\n'],
    ['/defs/b b.sql', ''],
  ]);
  const writes = disk.countOf('rename', FOLDER);
  await kept.keep(NEW);
  ok(disk.countOf('rename', FOLDER) === writes, 'what is kept already is not written');
});

test('after a crash in a change, each file has its old or its new text', async () => {
  for (let operations = 0; operations < 40; operations++) {
    const disk = new ModelDisk(new Random(operations));
    const kept = new KeptFiles(disk, FOLDER);
    await kept.keep(OLD);
    disk.crashAfter(operations);
    await Promise.race([kept.keep(NEW), disk.crashed]);
    const texts = await textsOn(disk.afterCrash());
    ok(['SELECT 1', NEW[0]!.fileText].includes(texts.get('/defs/a.sql')!), String(operations));
    ok([undefined, ''].includes(texts.get('/defs/b b.sql')), String(operations));
    ok([undefined, 'SELECT 2'].includes(texts.get('/defs/gone.sql')), String(operations));
  }
});

test('a change of any byte of a copy is detected', async () => {
  const disk = new ModelDisk(new Random(1));
  await new KeptFiles(disk, FOLDER).keep(OLD.slice(0, 1));
  const [path] = disk.paths();
  const bytes = disk.bytesOf(path!);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index]! ^= 1;
    const kept = new KeptFiles(disk, FOLDER);
    deepEqual(await kept.read(), { files: [], damage: [`${path} does not match its checksum`] });
    bytes[index]! ^= 1;
  }
  deepEqual((await textsOn(disk)).size, 1);
});

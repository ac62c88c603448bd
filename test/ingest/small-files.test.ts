import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeChecked } from '../../ingest/checked-file.ts';
import { type SmallFilesFound, verifySmallFiles } from '../../ingest/small-files.ts';
import { SMALL_FILES } from '../../src/command/verify-command.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { ModelDisk } from '../support/model-disk.ts';

const ID = '22222222-2222-4333-8444-555555555551';
const TOKENS = '/data/tokens.json';
const DEFINITION = `/data/endpoints/${ID}.sql`;
const KEPT = '/data/endpoints-kept/1.kept';

/** A folder in which all is whole. */
function wholeDisk(): ModelDisk {
  const disk = new ModelDisk(new Random(1));
  for (const path of [TOKENS, DEFINITION]) {
    disk.put(path, encodeChecked(`{} of ${path}`));
    disk.put(`${path}.copy`, encodeChecked(`{} of ${path}`));
  }
  disk.put(KEPT, encodeChecked('"a.sql"\nSELECT 1'));
  disk.put('/data/log-end', encodeChecked('{}'));
  return disk;
}

type Found = { readonly found: SmallFilesFound; readonly damages: readonly string[] };

async function verify(disk: ModelDisk): Promise<Found> {
  const damages: string[] = [];
  const found = await verifySmallFiles({
    ...{ disk, dataDir: '/data', names: SMALL_FILES },
    onDamage: (damage) => {
      assert.ok(damage.kind === 'small_file');
      damages.push(`${damage.path}${damage.isLost ? ' is lost' : ''}`);
    },
  });
  assert.equal(found.damagedCount, damages.length);
  return { found, damages };
}

function damaged(disk: ModelDisk, ...paths: readonly string[]): ModelDisk {
  for (const path of paths) {
    const bytes = disk.bytesOf(path).slice();
    bytes[66]! ^= 4;
    disk.put(path, bytes);
  }
  return disk;
}

test('whole files and copies are counted', async () => {
  const { found, damages } = await verify(wholeDisk());
  assert.deepEqual([found.fileCount, damages, found.unknown], [5, [], []]);
});

test('a damaged file is named, and is lost only without a whole copy', async () => {
  for (const path of [TOKENS, DEFINITION]) {
    const name = path.slice('/data/'.length);
    for (const one of [path, `${path}.copy`]) {
      const { damages } = await verify(damaged(wholeDisk(), one));
      assert.deepEqual(damages, [one.slice('/data/'.length)]);
    }
    const { damages } = await verify(damaged(wholeDisk(), path, `${path}.copy`));
    assert.deepEqual(damages, [`${name} is lost`]);
  }
  const { damages } = await verify(damaged(wholeDisk(), KEPT));
  assert.deepEqual(damages, ['endpoints-kept/1.kept is lost']);
});

test('a missing file with a copy is damage', async () => {
  const disk = wholeDisk();
  await disk.remove(TOKENS);
  assert.deepEqual((await verify(disk)).damages, ['tokens.json']);
});

test('a crash between the writes of a file and its copy causes no damage', async () => {
  const disk = wholeDisk();
  disk.put(TOKENS, encodeChecked('newer'));
  await disk.remove(`${DEFINITION}.copy`);
  assert.deepEqual((await verify(disk)).damages, []);
});

test('files without a checksum, leftovers, skipped files and unknown names are listed', async () => {
  const disk = wholeDisk();
  disk.put(TOKENS, Buffer.from('{"version":2,"tokens":[]}'));
  await disk.remove(`${TOKENS}.copy`);
  for (const name of ['tokens.json.new', `endpoints/${ID}.sql.copy.tmp`]) {
    disk.put(`/data/${name}`, Buffer.from('half'));
  }
  const others = [
    'log-end.tmp',
    'lock',
    'lock.0a0b0c0d',
    'quarantine/1.log.at-0',
    'log/1.log',
    'segments/s/x',
  ];
  const strange = ['notes.txt', 'endpoints/notes.txt', 'endpoints-kept/2.kept.copy'];
  for (const name of [...others, ...strange]) disk.put(`/data/${name}`, Buffer.from('x'));
  const { found, damages } = await verify(disk);
  assert.deepEqual(damages, []);
  assert.deepEqual(found.withoutChecksum, ['tokens.json']);
  assert.equal(found.leftoverCount, 2);
  assert.deepEqual(found.leftOut, ['lock', 'lock.0a0b0c0d']);
  assert.deepEqual([...found.unknown].sort(), [...strange].sort());
});

test('a definition that is made or removed between two reads is no damage', async () => {
  for (const change of ['made', 'removed'] as const) {
    const disk = wholeDisk();
    if (change === 'made') {
      for (const path of [DEFINITION, `${DEFINITION}.copy`]) await disk.remove(path);
      disk.put(`${DEFINITION}.tmp`, Buffer.from('half'));
      // Found in a listing, and written before it is read.
      const { list } = disk;
      disk.list = async (path) => {
        const names = await list.call(disk, path);
        return path.endsWith('endpoints') ? [...names, `${ID}.sql`] : names;
      };
    }
    const { open } = disk;
    let openCount = 0;
    disk.open = async (path) => {
      const reader = open.call(disk, path);
      await reader.catch(() => {});
      if (path === DEFINITION && openCount++ === 0) {
        for (const each of [DEFINITION, `${DEFINITION}.copy`]) {
          if (change === 'made') disk.put(each, encodeChecked('SELECT 1'));
          else await disk.remove(each);
        }
      }
      return reader;
    };
    assert.deepEqual((await verify(disk)).damages, [], change);
  }
});

import { deepEqual, ok, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { encodeChecked } from '../../ingest/checked-file.ts';
import { type Source, sourcesFrom } from '../../ingest/source.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { StartError } from '../../src/start-error.ts';
import { SourceFile } from '../../src/store/source-file.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { ModelDisk } from '../support/model-disk.ts';

const PATHS = ['/data/sources.json', '/data/sources.json.copy'] as const;

const RUNS = 300;

function sourcesOf(count: number): readonly Source[] {
  const names = Array.from({ length: count }, (_, index) => `app-${index}.logs:metadata.p${index}`);
  return sourcesFrom(names.join()).sources;
}

test('law: a crash leaves all acknowledged sources, and one being added complete or absent', async () => {
  const seed = fuzzSeed();
  let [crashCount, unsureCount] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    const random = new Random(seed + run);
    const disk = new ModelDisk(random);
    if (random.below(3) === 0) disk.faults = { write: 5, sync: 5, other: 3 };
    disk.crashAfter(random.below(120));
    const may = { from: 0, to: 0 };
    await Promise.race([disk.crashed.then(() => crashCount++), live(disk, may)]);
    const after = random.below(4) === 0 ? disk.afterKill() : disk.afterCrash();
    const { sources } = await new SourceFile(after, '/data').open();
    const { length } = sources;
    ok(length === may.from || length === may.to, `run ${run}: ${length} sources`);
    deepEqual(sources, sourcesOf(length));
    if (may.from < may.to) unsureCount++;
  }
  ok(crashCount > RUNS / 10 && unsureCount > RUNS / 100, 'crashes met changes under way');
});

/** Adds one source after another, again where that failed, and notes how many there may be, until the crash. */
async function live(disk: ModelDisk, may: { from: number; to: number }): Promise<void> {
  const file = new SourceFile(disk, '/data');
  for (let change = 0; change < 20; change++) {
    may.to = may.from + 1;
    try {
      await file.write(sourcesOf(may.to));
      may.from = may.to;
    } catch {
      // Refused: it may be there all the same.
    }
  }
}

test('law: damage to one of the two files changes no source, and damage to both fails the start', async () => {
  const disk = new ModelDisk(new Random(1));
  const file = new SourceFile(disk, '/data');
  await file.write(sourcesOf(1));
  await file.write(sourcesOf(2));
  const whole = disk.bytesOf(PATHS[0]);
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = whole.slice();
    flipped[bit >>> 3]! ^= 1 << (bit & 7);
    for (const [index, path] of PATHS.entries()) {
      disk.put(path, flipped);
      deepEqual(await file.read(), { sources: sourcesOf(2), isDamaged: true }, `bit ${bit}`);
      disk.put(PATHS[1 - index]!, flipped);
      await rejects(file.read(), StartError);
      for (const each of PATHS) disk.put(each, whole);
    }
  }
});

test('a damaged file is rewritten from the other', async () => {
  const disk = new ModelDisk(new Random(1));
  const file = new SourceFile(disk, '/data');
  await file.write(sourcesOf(2));
  disk.put(PATHS[0], Buffer.from('damaged'));
  deepEqual(await file.open(), { sources: sourcesOf(2), isDamaged: true });
  deepEqual(await file.open(), { sources: sourcesOf(2), isDamaged: false });
});

test('a file of another version fails the start', async () => {
  const wrong = [
    { version: 2, sources: [] },
    { version: 1, sources: [{ name: 'app.logs', project: 'nowhere' }] },
    { version: 1, sources: [{ name: 'app.logs' }] },
  ];
  for (const content of wrong) {
    const disk = new ModelDisk(new Random(1));
    for (const path of PATHS) disk.put(path, encodeChecked(JSON.stringify(content)));
    await rejects(new SourceFile(disk, '/data').read(), /must be the file of sources/);
  }
});

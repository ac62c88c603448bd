import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { DefinitionStore } from '../../src/definition/definition-store.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { ModelDisk } from '../support/model-disk.ts';

const FOLDER = '/data/endpoints';

/** Longer than a sector of the disk, so that it can be torn. */
const TEXT_LENGTH_MAX = 2_000;

const RUNS = 300;

const IDS = [1, 2, 3].map((digit) => `22222222-2222-4333-8444-55555555555${digit}`);

/** What may be found under an id: one text, or several while nobody was told which. */
type Ledger = Map<string, Set<string | undefined>>;

test('law: a crash leaves each change complete or absent, and every acknowledged one complete', async () => {
  const seed = fuzzSeed();
  let [crashCount, unsureCount] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    const random = new Random(seed + run);
    const disk = new ModelDisk(random);
    if (random.below(3) === 0) disk.faults = { write: 5, sync: 5, other: 3 };
    disk.crashAfter(random.below(120));
    const ledger: Ledger = new Map(IDS.map((id) => [id, new Set([undefined])]));
    await Promise.race([disk.crashed.then(() => crashCount++), live(disk, ledger, random)]);
    const found = await contentOf(random.below(4) === 0 ? disk.afterKill() : disk.afterCrash());
    for (const [id, may] of ledger) {
      ok(may.has(found.get(id)), `run ${run}: ${id} is ${found.get(id)?.slice(0, 20)}`);
      if (may.size > 1) unsureCount++;
    }
  }
  ok(crashCount > RUNS / 10 && unsureCount > RUNS / 100, 'crashes met changes under way');
});

/** Changes definitions, and notes what they may be, until the crash. */
async function live(disk: ModelDisk, ledger: Ledger, random: Random): Promise<void> {
  const store = new DefinitionStore(disk, FOLDER);
  for (let change = 0; change < 12; change++) {
    const id = IDS[random.below(IDS.length)]!;
    const may = ledger.get(id)!;
    const isRemoval = random.below(4) === 0;
    const text = isRemoval ? undefined : `${change} `.repeat(1 + random.below(TEXT_LENGTH_MAX / 3));
    may.add(text);
    try {
      await (text === undefined ? store.remove(id) : store.write(id, text));
    } catch {
      // Refused: it may be there all the same.
      continue;
    }
    may.clear();
    may.add(text);
  }
}

async function contentOf(disk: ModelDisk): Promise<ReadonlyMap<string, string>> {
  const files = await new DefinitionStore(disk, FOLDER).read();
  return new Map(
    Array.from(files, ([id, pair]) => {
      ok(pair.kind === 'whole' || pair.kind === 'old', `${id} is ${pair.kind}`);
      return [id, Buffer.from(pair.body).toString()];
    }),
  );
}

test('half-written files of a crash are removed, and other files stay', async () => {
  const disk = new ModelDisk(new Random(1));
  const [id] = IDS;
  disk.put(`${FOLDER}/${id}.sql`, Buffer.from('whole'));
  disk.put(`${FOLDER}/${id}.sql.tmp`, Buffer.from('half'));
  disk.put(`${FOLDER}/notes.txt`, Buffer.from('mine'));
  disk.put(`${FOLDER}/app.sql`, Buffer.from('mine, too'));
  deepEqual([...(await contentOf(disk))], [[id, 'whole']]);
  deepEqual(disk.paths(), [`${FOLDER}/${id}.sql`, `${FOLDER}/app.sql`, `${FOLDER}/notes.txt`]);
});

test('law: damage to one of the two files changes no definition, and damage to both loses only that one', async () => {
  const disk = new ModelDisk(new Random(1));
  const [id] = IDS as [string];
  const store = new DefinitionStore(disk, FOLDER);
  await store.write(id, 'before');
  await store.write(id, 'SELECT 1');
  const paths = [store.formatPath(id), `${store.formatPath(id)}.copy`] as const;
  const whole = disk.bytesOf(paths[0]);
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = whole.slice();
    flipped[bit >>> 3]! ^= 1 << (bit & 7);
    for (const [index, path] of paths.entries()) {
      disk.put(path, flipped);
      const pair = (await store.read()).get(id)!;
      ok(pair.kind === 'whole' && pair.isDamaged && !pair.isPaired, `bit ${bit} of ${path}`);
      deepEqual(Buffer.from(pair.body).toString(), 'SELECT 1');
      disk.put(paths[1 - index]!, flipped);
      deepEqual((await store.read()).get(id), { kind: 'damaged' });
      for (const each of paths) disk.put(each, whole);
    }
  }
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { Disk } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { FolderDamage } from '../../ingest/folder-damage.ts';
import { type Inspection, inspectFolder } from '../../ingest/inspection.ts';
import { listBlocks } from '../../ingest/segment-envelope.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentListing } from '../../ingest/segment-listing.ts';
import { MANIFEST_FILE } from '../../ingest/segment-manifest.ts';
import { type Verification, verifyFolder } from '../../ingest/verification.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { budgetOf } from '../support/budget.ts';
import { at, DAY, DataFolder, eventsAt, withFolder } from './data-folder.ts';

const EDGE = 'cloudflare.logs.prod';
const AUTH = 'gotrue.logs.prod';
const OLD = 'postgres.logs';

/** One in so many bytes of a file is turned. */
const TURN_STEP = budgetOf('WEIR_TURN_STEP', { fast: 61, all: 5 });

type Verified = Verification & { readonly damages: readonly FolderDamage[] };

async function verify(dataDir: string, disk: Disk = new NodeDisk()): Promise<Verified> {
  const damages: FolderDamage[] = [];
  const onDamage = (damage: FolderDamage): void => void damages.push(damage);
  const smallFiles = { pairs: [], singles: [], folders: [] };
  const found = await verifyFolder({ disk, dataDir, smallFiles, onDamage, onProgress: () => {} });
  assert.equal(found.damageCount, damages.length);
  return { ...found, damages };
}

/** Two posts, both in the log, the first in a segment file too. */
async function smallFolder(folder: DataFolder): Promise<SegmentFile> {
  await folder.post(EDGE, eventsAt(at(1), at(2), at(3)));
  await folder.post(EDGE, eventsAt(at(4)));
  const [file] = await folder.store(EDGE, 1);
  return file!;
}

test('every file, record and event of a whole folder is counted', async () => {
  await withFolder(async (folder) => {
    const file = await smallFolder(folder);
    const { segments, log, damages, unchecked, unknown } = await verify(folder.path);
    assert.deepEqual([damages, unchecked, unknown], [[], [], []]);
    assert.deepEqual(segments, {
      ...{ fileCount: 1, byteSize: file.byteSize, eventCount: 3 },
      ...{ damagedCount: 0, goneCount: 0, leftoverCount: 0 },
    });
    assert.deepEqual([log.fileCount, log.recordCount, log.eventCount], [1, 2, 4]);
  });
});

test('a change of any byte of a segment file is reported', async () => {
  await withFolder(async (folder) => {
    const { path, envelope } = await smallFolder(folder);
    const bytes = await readFile(path);
    const stored = listBlocks(envelope).reduce((sum, { storedSize }) => sum + storedSize, 0);
    const blocksOffset = (bytes.length - stored) / 2;
    const kinds = new Set<string>();
    for (let offset = 0; offset < bytes.length; offset += TURN_STEP) {
      await folder.turn(path, offset);
      const { damages, segments } = await verify(folder.path);
      assert.deepEqual([damages.length, segments.damagedCount], [1, 1], `byte ${offset}`);
      const damage = damages[0]!;
      if (offset < blocksOffset) assert.equal(damage.kind === 'envelope' && damage.copy, 'front');
      else if (offset < blocksOffset + stored) {
        assert.ok(damage.kind === 'columns' || damage.kind === 'rows', `byte ${offset}`);
        assert.deepEqual([damage.source, damage.rowCount], [EDGE, 3]);
      } else assert.equal(damage.kind === 'envelope' && damage.copy, 'back');
      kinds.add(damage.kind);
      await writeFile(path, bytes);
    }
    assert.deepEqual([...kinds].sort(), ['columns', 'envelope', 'rows']);
  });
});

test('a damaged block is reported by the names of its columns, quoted if they are unusual', async () => {
  await withFolder(async (folder) => {
    const events = Array.from({ length: 16 }, (_, n) => ({
      timestampUs: at(n),
      metadata: { request: { size: 1000 - 31 * n }, 'odd\u001b key': `${n} of a kind ${n * n}` },
    }));
    await folder.post(EDGE, events);
    const [file] = await folder.store(EDGE, 1);
    const blocks = listBlocks(file!.envelope);
    const stored = blocks.reduce((sum, { storedSize }) => sum + storedSize, 0);
    const bytes = await readFile(file!.path);
    const told = new Set<string>();
    let offset = (bytes.length - stored) / 2;
    for (const { storedSize } of blocks) {
      await folder.turn(file!.path, offset);
      offset += storedSize;
      const [damage] = (await verify(folder.path)).damages;
      if (damage!.kind === 'columns') for (const column of damage!.columns) told.add(column);
      await writeFile(file!.path, bytes);
    }
    assert.ok(told.has('metadata.request.size (number)'), [...told].join());
    assert.ok(told.has('metadata."odd\\u001b key" (text)'), [...told].join());
  });
});

test('damage of an envelope and of a block of one file are both reported, as one damaged file', async () => {
  await withFolder(async (folder) => {
    const { path, byteSize } = await smallFolder(folder);
    await folder.turn(path, 1);
    await folder.turn(path, Math.floor(byteSize / 2));
    const { damages, segments } = await verify(folder.path);
    assert.equal(damages.length, 2);
    assert.equal(segments.damagedCount, 1);
    await folder.turn(path, -1);
    const both = await verify(folder.path);
    assert.deepEqual(
      both.damages.map(({ kind }) => kind),
      ['segment'],
    );
    assert.deepEqual([both.segments.fileCount, both.segments.damagedCount], [1, 1]);
  });
});

test('a segment file that somebody removed is missing, as long as the manifest names it', async () => {
  await withFolder(async (folder) => {
    const file = await smallFolder(folder);
    await folder.segments.writeManifest();
    const path = `segments/${EDGE}/${basename(file.path)}`;
    assert.deepEqual((await verify(folder.path)).damages, []);
    await mkdir(join(folder.path, 'quarantine'));
    const aside = join(folder.path, 'quarantine', `${EDGE}.${basename(file.path)}`);
    await rename(file.path, aside);
    assert.deepEqual((await verify(folder.path)).damages, [], 'it is in quarantine');
    await rm(aside);
    const { damages, segments } = await verify(folder.path);
    assert.deepEqual(damages, [{ kind: 'missing', path, source: EDGE }]);
    assert.deepEqual([segments.fileCount, segments.damagedCount], [0, 1]);
    await rm(join(folder.path, 'segments'), { recursive: true });
    assert.deepEqual((await verify(folder.path)).damages, damages);
    await rm(join(folder.path, MANIFEST_FILE));
    assert.deepEqual((await verify(folder.path)).damages, []);
  });
});

test('a file that is merged during the verification is not missing', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1)));
    await folder.post(EDGE, eventsAt(at(2)));
    const files = [...(await folder.store(EDGE, 1)), ...(await folder.store(EDGE, 2))];
    await folder.segments.writeManifest();
    class MergingDisk extends NodeDisk {
      hasMerged = false;

      override async list(path: string): Promise<readonly string[]> {
        if (!this.hasMerged && path.endsWith('/segments')) {
          this.hasMerged = true;
          await folder.merge(files);
          await folder.segments.writeManifest();
          await folder.segments.close();
        }
        return super.list(path);
      }
    }
    const disk = new MergingDisk();
    const { damages, segments } = await verify(folder.path, disk);
    assert.ok(disk.hasMerged && !existsSync(files[0]!.path));
    assert.deepEqual([damages, segments.fileCount], [[], 1]);
  });
});

test('a damaged manifest is reported, and one that cannot be read is not checked', async () => {
  await withFolder(async (folder) => {
    await smallFolder(folder);
    await folder.segments.writeManifest();
    await folder.turn(join(folder.path, MANIFEST_FILE), 70);
    assert.deepEqual((await verify(folder.path)).damages, [
      { kind: 'manifest', path: MANIFEST_FILE },
    ]);
    await rm(join(folder.path, MANIFEST_FILE));
    await mkdir(join(folder.path, MANIFEST_FILE));
    const { damages, unchecked } = await verify(folder.path);
    assert.deepEqual([damages, unchecked.map(({ path }) => path)], [[], [MANIFEST_FILE]]);
  });
});

test('a cut segment file is damaged, wherever it is cut', async () => {
  await withFolder(async (folder) => {
    const { path, byteSize } = await smallFolder(folder);
    for (const size of [byteSize - 1, byteSize - 40, Math.floor(byteSize / 2), 17, 0]) {
      await truncate(path, size);
      assert.ok((await verify(folder.path)).damageCount > 0, `cut at ${size}`);
    }
  });
});

test('a change of any byte of a log is reported, or taken for the end of the log', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 4; second++) await folder.post(EDGE, eventsAt(at(second)));
    const path = folder.logFile(1);
    const bytes = await readFile(path);
    const size = (bytes.length - 64) / 4;
    for (let offset = 0; offset < bytes.length; offset += TURN_STEP) {
      await folder.turn(path, offset);
      const { damages, log } = await verify(folder.path);
      const isLast = offset >= 64 + 3 * size;
      const isHeader = offset < 64;
      assert.equal(damages.length, isLast ? 0 : 1, `byte ${offset}`);
      assert.equal(log.tailSize, isLast ? size : 0, `byte ${offset}`);
      assert.equal(log.recordsLost, isLast || isHeader ? 0 : 1, `byte ${offset}`);
      await writeFile(path, bytes);
    }
  });
});

test('leftover files are not read, so their damage is not reported', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 2; second++) await folder.post(EDGE, eventsAt(at(second)));
    const files = [...(await folder.store(EDGE, 1)), ...(await folder.store(EDGE, 2))];
    const [old] = files;
    const kept = join(folder.path, 'kept');
    await copyFile(old!.path, kept);
    await folder.merge(files);
    await copyFile(kept, old!.path);
    await folder.turn(old!.path, Math.floor(old!.byteSize / 2));
    await writeFile(`${old!.path}.tmp`, 'half');
    const { damages, segments } = await verify(folder.path);
    assert.deepEqual([damages, segments.leftoverCount, segments.fileCount], [[], 2, 1]);
  });
});

test('files merged between listing and reading are no damage, and the merged file is read', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 3; second++) await folder.post(EDGE, eventsAt(at(second)));
    const files = [...(await folder.store(EDGE, 1)), ...(await folder.store(EDGE, 2))];
    await folder.store(EDGE, 3);
    const disk = new NodeDisk();
    let isMerged = false;
    const open = disk.open.bind(disk);
    // The log is read when all segment files have been listed.
    disk.open = async (path) => {
      if (path.endsWith('.log') && !isMerged) {
        isMerged = true;
        await folder.merge(files);
      }
      return open(path);
    };
    const { damages, unchecked, segments } = await verify(folder.path, disk);
    assert.deepEqual([damages, unchecked], [[], []]);
    assert.deepEqual([segments.goneCount, segments.fileCount, segments.eventCount], [2, 2, 3]);
  });
});

test('a file that took the name of a listed one is checked against its own checksums', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1)));
    await folder.post(EDGE, eventsAt(at(2), at(3), at(4), at(5)));
    const [first] = await folder.store(EDGE, 1);
    const other = await DataFolder.make();
    await other.post(EDGE, []);
    await other.post(EDGE, eventsAt(at(2), at(3), at(4), at(5)));
    const [second] = await other.store(EDGE, 2);
    const disk = new NodeDisk();
    const open = disk.open.bind(disk);
    disk.open = async (path) => {
      if (path.endsWith('.log')) await copyFile(second!.path, first!.path);
      return open(path);
    };
    const { damages, segments } = await verify(folder.path, disk);
    assert.deepEqual([damages, segments.eventCount], [[], 4]);
    await other.remove();
  });
});

test('log files that are trimmed between listing and reading are no damage', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 8; second++) await folder.post(EDGE, eventsAt(at(second)));
    for (const trimmedAt of [1, 2, 4, 5, 6]) {
      const disk = new NodeDisk();
      const open = disk.open.bind(disk);
      let opened = 0;
      const removed: [string, Buffer][] = [];
      disk.open = async (path) => {
        if (path.endsWith('.log') && ++opened === trimmedAt) {
          for (const number of [1, 2, 3]) {
            const name = folder.logFile(number);
            removed.push([name, await readFile(name)]);
            await rm(name);
          }
        }
        return open(path);
      };
      const { damages, unchecked } = await verify(folder.path, disk);
      assert.deepEqual([damages, unchecked], [[], []], `at opening ${trimmedAt}`);
      for (const [name, bytes] of removed) await writeFile(name, bytes);
    }
  }, 1200);
});

test('a file that the system refuses to read is not reported as damaged', async () => {
  await withFolder(async (folder) => {
    const { path } = await smallFolder(folder);
    const disk = new NodeDisk();
    const open = disk.open.bind(disk);
    disk.open = (asked) => open(asked === path ? join(folder.path, 'log', 'x'.repeat(300)) : asked);
    const { damages, unchecked } = await verify(folder.path, disk);
    assert.deepEqual(damages, []);
    assert.equal(unchecked.length, 1);
    assert.match(unchecked[0]!.reason, /cannot be opened: its name is too long/);
  });
});

type Counts = { posted: number; acknowledged: number };

/** Lives as a service does until it has posted `posts` times: adds, merges, drops, trims. */
async function live(folder: DataFolder, random: Random, posts: number, counts: Counts) {
  const pending = new Map<string, number[]>([
    [EDGE, []],
    [AUTH, []],
  ]);
  await folder.post(OLD, eventsAt(at(1), at(2)));
  const sealed = folder.seal(OLD, 1)[0]!;
  for (let post = 0; post < posts; post++) {
    const group = Array.from({ length: 1 + random.below(8) }, async () => {
      const source = random.pick([EDGE, AUTH]);
      const times = Array.from({ length: 1 + random.below(60) }, () => at(random.below(80_000)));
      counts.posted += times.length;
      const sequence = await folder.post(source, eventsAt(...times));
      counts.acknowledged += times.length;
      pending.get(source)!.push(sequence);
    });
    await Promise.all(group);
    const source = random.pick([EDGE, AUTH]);
    const sequences = pending.get(source)!;
    if (sequences.length > 6) {
      await folder.store(source, sequences[0]!, sequences.at(-1)!);
      pending.set(source, []);
    }
    const files = folder.segments.segments(source);
    if (files.length > 3) await folder.merge(files);
    // A source whose day comes and goes.
    if (post % 4 === 0) await folder.add(OLD, sealed, post + 1);
    if (post % 10 === 9) await folder.segments.dropPartition({ source: OLD, partition: DAY });
    const firsts = [...pending.values()].map((rest) => rest[0] ?? Number.POSITIVE_INFINITY);
    folder.log.tick(Number.NEGATIVE_INFINITY, Math.min(...firsts, folder.nextSequence));
  }
}

function inspect(dataDir: string, disk: Disk = new NodeDisk()): Promise<Inspection> {
  return inspectFolder({ disk, dataDir, onProgress: () => {} });
}

/** Events of the sources that keep all of them. */
function eventsKept({ sources }: Inspection): number {
  const kept = sources.filter(({ source }) => source !== OLD);
  return kept.reduce((sum, { eventCount }) => sum + eventCount, 0);
}

test('concurrent writes, merges, drops and trims cause no false alarm, and each event counts once', async () => {
  await withFolder(async (folder) => {
    const counts = { posted: 0, acknowledged: 0 };
    let isDone = false;
    const writing = live(folder, new Random(5), 120, counts).finally(() => {
      isDone = true;
    });
    let rounds = 0;
    try {
      for (; !isDone; rounds++) {
        const { damages, unchecked, unknown } = await verify(folder.path);
        assert.deepEqual([damages, unchecked, unknown], [[], [], []]);
        const { acknowledged } = counts;
        const found = await inspect(folder.path);
        assert.deepEqual([found.damages, found.unchecked], [[], []]);
        if (!found.isSettled) continue;
        const kept = eventsKept(found);
        assert.ok(kept >= acknowledged, `${kept} events of ${acknowledged}`);
        assert.ok(kept <= counts.posted, `${kept} events of ${counts.posted}`);
      }
    } finally {
      await writing;
    }
    assert.ok(rounds >= 5, `${rounds} rounds`);
    assert.equal(eventsKept(await inspect(folder.path)), counts.acknowledged);
  }, 60_000);
});

test('a merge during or between two listings hides and doubles no event', async () => {
  for (const isTorn of [true, false]) {
    await withFolder(async (folder) => {
      for (let second = 1; second <= 3; second++) await folder.post(EDGE, eventsAt(at(second)));
      const files = [...(await folder.store(EDGE, 1)), ...(await folder.store(EDGE, 2))];
      await folder.store(EDGE, 3);
      const disk = new NodeDisk();
      const list = disk.list.bind(disk);
      let isMerged = false;
      disk.list = async (path) => {
        const names = await list(path);
        if (isMerged || !path.endsWith(EDGE)) return names;
        isMerged = true;
        await folder.merge(files);
        // A look that is torn has passed where the new name comes, and not yet where the old ones went.
        return isTorn ? names.filter((name) => name.includes('0003.')) : names;
      };
      const { segments, leftovers, isSettled } = await new SegmentListing(disk, folder.path).read();
      const events = segments.reduce((sum, { envelope }) => sum + envelope.rowCount, 0);
      assert.deepEqual([events, isSettled, leftovers], [3, true, []], `torn: ${isTorn}`);
      assert.equal(segments.length, 2);
    });
  }
});

test('a folder that changes all the time is read nevertheless, and reported as unsettled', async () => {
  await withFolder(async (folder) => {
    await smallFolder(folder);
    const disk = new NodeDisk();
    const list = disk.list.bind(disk);
    let looks = 0;
    disk.list = async (path) => {
      const names = await list(path);
      if (!path.endsWith(EDGE)) return names;
      looks += 1;
      return [...names, `2026-01-16.${String(looks).padStart(10, '0')}.segment`];
    };
    const found = await inspect(folder.path, disk);
    assert.deepEqual([found.isSettled, found.eventCount], [false, 4]);
    assert.deepEqual([found.damages, found.unchecked], [[], []]);
    assert.equal((await verify(folder.path, disk)).segments.fileCount, 1);
  });
});

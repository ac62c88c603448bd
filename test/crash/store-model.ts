import assert from 'node:assert/strict';
import { ClockFile } from '../../ingest/clock-file.ts';
import { DiskError } from '../../ingest/disk/disk.ts';
import { OverloadError, StorageError } from '../../ingest/ingest-error.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { trustedState } from '../../ingest/retention-clock.ts';
import { SegmentListing } from '../../ingest/segment-listing.ts';
import { manifestName, readManifest } from '../../ingest/segment-manifest.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { StartError } from '../../src/start-error.ts';
import type { DurableStore } from '../../src/store/durable-store.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { allRows, DATA, type OpenedStore, openStore } from './opened-store.ts';
import { batchOfPost, type Post, StoreLedger } from './store-ledger.ts';

const LOG = `${DATA}/log`;

/** One in so many operations of a life is one amid which it might have ended; what is left then is looked at. */
const OPERATIONS_PER_STATE = 6;

const FAULTS = [
  { write: 0, sync: 0, other: 0 },
  { write: 0, sync: 0, other: 0 },
  { write: 4, sync: 4, other: 2 },
  { write: 20, sync: 20, other: 20 },
];

/** Bytes of sealed segments that may be in memory: all, those of a few, hardly one. */
const SEGMENT_BYTES_MAX = [undefined, 20_000, 10_000, 3_000];

/** What happened in the lives so far. */
export type Tally = {
  /** States of a disk after the end of a life that were looked at. */
  states: number;
  acknowledged: number;
  stored: number;
  merged: number;
  /** Files found whose rows were divided by project. */
  parts: number;
  trimmed: number;
  dropped: number;
  voided: number;
  failedStarts: number;
  /** Looks at all rows amid a life, and those for which blocks came back. */
  looks: number;
  broughtBack: number;
  /** Lives in which segments were read for one look alone. */
  passing: number;
  evictedBlocks: number;
};

export function newTally(): Tally {
  return {
    ...{
      states: 0,
      acknowledged: 0,
      stored: 0,
      merged: 0,
      parts: 0,
      trimmed: 0,
      dropped: 0,
      voided: 0,
    },
    ...{ failedStarts: 0, looks: 0, broughtBack: 0, passing: 0, evictedBlocks: 0 },
  };
}

/** What lives share: the ledger, and the time. */
export type World = {
  readonly random: Random;
  readonly ledger: StoreLedger;
  readonly tally: Tally;
  nowUs: number;
  /**
   * Whether the folder had a trusted time when the world began. In a new one all rows stay: only a run of a day could show
   * that the clock is right, and here no time passes on the monotonic clock.
   */
  readonly hasTrustedTime: boolean;
};

export function newWorld(random: Random, tally: Tally): World {
  return {
    random,
    tally,
    ledger: new StoreLedger(),
    nowUs: 20_000 * PARTITION_US + 14 * 3_600_000_000,
    hasTrustedTime: random.below(4) > 0,
  };
}

/** What a life that ended there would have left, and what senders knew then. */
type End = { readonly disk: ModelDisk; readonly world: World };

/**
 * Lives a store on a disk that fails, in a process that is killed and on a machine that crashes, several
 * times over, and looks after each end whether all is there that must be: after that which comes, and
 * after those that might have come before it. Resolves to the last disk.
 */
export async function liveAndEnd(world: World): Promise<ModelDisk> {
  const { random, tally } = world;
  let disk = new ModelDisk(random);
  if (world.hasTrustedTime) await new ClockFile(disk, DATA).write(trustedState(world.nowUs));
  for (let life = 1 + random.below(4); life > 0; life--) {
    const ends: End[] = [];
    const living = disk;
    living.onOperation = () => {
      if (random.below(OPERATIONS_PER_STATE) === 0) ends.push(endNow(living, world));
    };
    living.crashAfter(random.below(random.pick([20, 100, 400, 1500])));
    let opened: OpenedStore | undefined;
    const started = (store: OpenedStore): void => {
      opened = store;
    };
    await Promise.race([liveOnce(living, world, started), living.crashed]);
    living.crashNow();
    if (opened !== undefined) count(opened, living, tally);
    // Another state of the disk is another world: only the last of them goes on.
    for (const end of ends) await comeUp(end.disk, end.world);
    disk = await comeUp(afterEnd(living, random), world);
    tally.states += ends.length + 1;
    world.nowUs += random.pick([0, 3_600e6, PARTITION_US, 5 * PARTITION_US]);
  }
  return disk;
}

function endNow(disk: ModelDisk, world: World): End {
  return {
    disk: afterEnd(disk, world.random),
    world: { ...world, ledger: world.ledger.copy() },
  };
}

/** The process is gone, and half the time the machine with it. */
function afterEnd(disk: ModelDisk, random: Random): ModelDisk {
  return random.below(2) === 0 ? disk.afterCrash() : disk.afterKill();
}

/** Starts until a start succeeds, and checks what is there; starts may end amid their work, too. */
async function comeUp(found: ModelDisk, world: World): Promise<ModelDisk> {
  const { random, ledger, tally } = world;
  let disk = found;
  while (random.below(3) === 0) {
    disk.crashAfter(random.below(40));
    disk.faults = random.pick(FAULTS);
    const starting = openStore({ disk, nowUs: world.nowUs }).catch((error: unknown) => {
      // One that cannot read is refused with a sentence.
      const cause = error instanceof StartError ? error.cause : error;
      assert(cause instanceof DiskError, String(error));
      tally.failedStarts++;
    });
    await Promise.race([starting, disk.crashed]);
    disk.crashNow();
    disk = afterEnd(disk, random);
  }
  believe(world);
  const segmentBytesMax = random.pick(SEGMENT_BYTES_MAX);
  const opened = await openStore({ disk, nowUs: world.nowUs, segmentBytesMax });
  ledger.check(await allRows(opened));
  assert.deepEqual(opened.damages, [], 'what a crash leaves is no damage');
  await opened.durable.close();
  tally.parts += await checkManifest(disk);
  return disk;
}

/**
 * Behind a clean stop the manifest names exactly the files that count, and a look from outside finds no damage. Gives
 * how many of the files are parts.
 */
async function checkManifest(disk: ModelDisk): Promise<number> {
  const { segments, damages } = await new SegmentListing(disk, DATA).read();
  assert.deepEqual(damages, [], 'a look from outside finds no damage');
  const names = await readManifest(disk, `${DATA}/segments`);
  const counting = segments.map(({ envelope }) => manifestName(envelope));
  assert.deepEqual(names ?? [], counting.sort(), 'the manifest names the files that count');
  return segments.filter(({ envelope }) => envelope.awaits.length > 0).length;
}

/** From start to stop. */
async function liveOnce(
  disk: ModelDisk,
  world: World,
  started: (opened: OpenedStore) => void,
): Promise<void> {
  const { random, ledger, tally } = world;
  const refused: Post[] = [];
  believe(world);
  const opened = await openStore({
    ...{ disk, nowUs: clockOf(world), segmentBytesMax: random.pick(SEGMENT_BYTES_MAX) },
    onEntry: ({ event }) => {
      if (event !== 'log_write_resumed') return;
      tally.voided += refused.length;
      ledger.void(refused.splice(0));
    },
    beforeWork: async () => {
      for (let turns = random.below(6); turns > 0; turns--) await undefined;
      if (random.below(10) === 0) throw new Error('no room to seal, merge or pack in');
    },
  });
  started(opened);
  const { durable } = opened;
  ledger.check(await allRows(opened));
  disk.faults = random.pick(FAULTS);
  const leapUs = random.below(8) === 0 ? 400 * PARTITION_US : 0;
  const pending: Promise<void>[] = [];
  for (let step = random.below(90); step > 0; step--) {
    const action = random.below(12);
    if (action < 4) {
      for (let count = 1 + random.below(4); count > 0; count--) {
        pending.push(post(durable, disk, world, refused));
      }
    } else if (action < 7) {
      world.nowUs += random.pick([1e6, SEAL_AGE_US, SEAL_AGE_US, 3 * 3_600e6]);
      if (leapUs === 0) believe(world);
      durable.tick(world.nowUs + leapUs);
    } else if (action === 7) await Promise.all(pending);
    else if (action === 8) await durable.store.settled();
    else if (action < 11) await look(opened, world);
    else for (let turns = random.below(20); turns > 0; turns--) await yieldTurn();
  }
  await durable.close();
  await Promise.all(pending);
  disk.faults = FAULTS[0]!;
  await look(opened, world);
}

/** Now and then a clock is years ahead when a process starts: nothing may be deleted by it. */
function clockOf({ random, nowUs }: World): number {
  return random.below(10) === 0 ? nowUs + 1000 * PARTITION_US : nowUs;
}

/** Days behind the retention may be gone from now on, where there is a trusted time to hold the clock against. */
function believe({ ledger, nowUs, hasTrustedTime }: World): void {
  if (hasTrustedTime) ledger.believe(nowUs);
}

async function post(
  durable: DurableStore,
  disk: ModelDisk,
  { random, ledger, tally, nowUs }: World,
  refused: Post[],
): Promise<void> {
  const next = ledger.next(random, nowUs);
  const syncsBefore = disk.countOf('sync', LOG);
  try {
    await durable.store.append(next.source, batchOfPost(next), nowUs);
    assert(disk.countOf('sync', LOG) > syncsBefore, 'nothing is acknowledged before a sync');
    ledger.settle(next, 'kept');
    tally.acknowledged++;
  } catch (error) {
    if (error instanceof OverloadError) return ledger.settle(next, 'gone');
    if (!(error instanceof StorageError)) throw error;
    refused.push(next);
  }
}

/** Amid all else that is under way a query sees what was acknowledged before it began. */
async function look(opened: OpenedStore, { random, ledger, tally }: World): Promise<void> {
  const { store } = opened.durable;
  const kept = ledger.kept();
  const before = store.memoryStats();
  try {
    ledger.check(await allRows(opened, random.pick(['all', 'rows', 'rows'])), kept);
  } catch (error) {
    // A query may fail for a disk that does.
    if (error instanceof DiskError) return;
    throw error;
  }
  const after = store.memoryStats();
  tally.looks++;
  if (after.segmentBytes > before.segmentBytes) tally.broughtBack++;
}

function count({ durable }: OpenedStore, disk: ModelDisk, tally: Tally): void {
  const { store } = durable;
  for (const { source, mergeCount } of store.stats()) {
    const folder = `${DATA}/segments/${source}`;
    tally.merged += mergeCount;
    tally.stored += disk.countOf('rename', folder);
    tally.dropped += disk.countOf('remove', folder);
  }
  tally.trimmed += disk.countOf('remove', LOG);
  const { evictedBlocks, passingBytes } = store.memoryStats();
  tally.evictedBlocks += evictedBlocks;
  if (passingBytes > 0) tally.passing++;
}

function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

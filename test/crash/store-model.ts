import assert from 'node:assert/strict';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { OverloadError, StorageError } from '../../ingest/ingest-error.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import type { Damage } from '../../src/backend.ts';
import { DurableStore } from '../../src/durable-store.ts';
import type { LogEntry } from '../../src/log.ts';
import type { Random } from '../../src/traffic/random.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { batchOfPost, type Post, RETENTION_US, SOURCES, StoreLedger } from './store-ledger.ts';
import { rowsOf, type StoredRow, wholeSegment } from './stored-rows.ts';

export const DATA = '/data';
const LOG = `${DATA}/log`;

/** A few records to a file, so that files come and go. */
const FILE_BYTES_MAX = 3_000;

/** States that a disk may be in after one end of a life that are looked at. */
const STATES_PER_LIFE = 5;

const FAULTS = [
  { write: 0, sync: 0, other: 0 },
  { write: 0, sync: 0, other: 0 },
  { write: 4, sync: 4, other: 2 },
  { write: 20, sync: 20, other: 20 },
];

/** What happened in the lives so far. */
export type Tally = {
  states: number;
  acknowledged: number;
  stored: number;
  merged: number;
  trimmed: number;
  dropped: number;
  voided: number;
  failedStarts: number;
};

export function newTally(): Tally {
  return {
    ...{ states: 0, acknowledged: 0, stored: 0, merged: 0 },
    ...{ trimmed: 0, dropped: 0, voided: 0, failedStarts: 0 },
  };
}

export type OpenedStore = {
  readonly disk: Disk;
  readonly durable: DurableStore;
  readonly entries: readonly LogEntry[];
  /** Places that were told to whoever asks for the state of the service. */
  readonly damages: readonly Damage[];
};

export type StoreOptions = {
  readonly disk: Disk;
  readonly nowUs: number;
  /** DATA unless given. */
  readonly dataDir?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  /** Called for each entry of the log of the service. */
  readonly onEntry?: ((entry: LogEntry) => void) | undefined;
  /** Called before something is sealed or merged; may take a while, or reject. */
  readonly beforeWork?: (() => Promise<void>) | undefined;
};

/** A store as the service has it, on one thread, recovered. */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { disk, nowUs, dataDir = DATA, beforeWork = async () => {} } = options;
  const entries: LogEntry[] = [];
  const damages: Damage[] = [];
  const durable = new DurableStore({
    ...{ disk, dataDir, sources: options.sources ?? SOURCES, retentionUs: RETENTION_US },
    summarize: summarizeSegment,
    seal: async (handle) => {
      await beforeWork();
      return sealSegment(handle, { partitionUs: PARTITION_US });
    },
    merge: async (handles) => {
      await beforeWork();
      return mergeSegments(await Promise.all(handles.map((one) => wholeSegment(one, disk))));
    },
    log: (entry) => {
      entries.push(entry);
      options.onEntry?.(entry);
    },
    logFileBytesMax: FILE_BYTES_MAX,
  });
  const observer = { progress: () => {}, damage: (damage: Damage) => void damages.push(damage) };
  await durable.recover(nowUs, observer);
  return { disk, durable, entries, damages };
}

export async function allRows({ durable, disk }: OpenedStore): Promise<Map<string, StoredRow[]>> {
  const rows = new Map<string, StoredRow[]>();
  for (const source of SOURCES) rows.set(source, await rowsOf(durable.store, source, disk));
  return rows;
}

/** What lives share: the ledger, and the time. */
export type World = {
  readonly random: Random;
  readonly ledger: StoreLedger;
  readonly tally: Tally;
  nowUs: number;
};

export function newWorld(random: Random, tally: Tally): World {
  return {
    random,
    tally,
    ledger: new StoreLedger(),
    nowUs: 20_000 * PARTITION_US + 14 * 3_600_000_000,
  };
}

/**
 * Lives a store on a disk that fails, in a process that is killed and on a machine that crashes, several
 * times over, and looks after each end whether all is there that must be. Resolves to the last disk.
 */
export async function liveAndEnd(world: World): Promise<ModelDisk> {
  const { random, tally } = world;
  let disk = new ModelDisk(random);
  for (let life = 1 + random.below(4); life > 0; life--) {
    disk.crashAfter(random.below(random.pick([20, 100, 400, 1500])));
    await Promise.race([liveOnce(disk, world), disk.crashed]);
    disk.crashNow();
    // Another state of the disk is another world: only the last of them goes on.
    for (let state = 1; state < STATES_PER_LIFE; state++) {
      await comeUp(afterEnd(disk, random), { ...world, ledger: world.ledger.copy() });
    }
    disk = await comeUp(afterEnd(disk, random), world);
    tally.states += STATES_PER_LIFE;
    world.nowUs += random.pick([0, 3_600e6, PARTITION_US, 5 * PARTITION_US]);
  }
  return disk;
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
      assert(error instanceof DiskError, String(error));
      tally.failedStarts++;
    });
    await Promise.race([starting, disk.crashed]);
    disk.crashNow();
    disk = afterEnd(disk, random);
  }
  ledger.believe(world.nowUs);
  const opened = await openStore({ disk, nowUs: world.nowUs });
  ledger.check(await allRows(opened));
  assert.deepEqual(opened.damages, [], 'what a crash leaves is no damage');
  await opened.durable.close();
  return disk;
}

/** From start to stop. */
async function liveOnce(disk: ModelDisk, world: World): Promise<void> {
  const { random, ledger, tally } = world;
  const refused: Post[] = [];
  ledger.believe(world.nowUs);
  const opened = await openStore({
    ...{ disk, nowUs: clockOf(world) },
    onEntry: ({ event }) => {
      if (event !== 'log_write_resumed') return;
      tally.voided += refused.length;
      ledger.void(refused.splice(0));
    },
    beforeWork: async () => {
      for (let turns = random.below(6); turns > 0; turns--) await undefined;
      if (random.below(10) === 0) throw new Error('no room to seal or merge in');
    },
  });
  const { durable } = opened;
  ledger.check(await allRows(opened));
  disk.faults = random.pick(FAULTS);
  // A clock that is wrong when there is nothing to hold it against is believed.
  const isEmpty = durable.store.stats().every(({ rowCount }) => rowCount === 0);
  const leapUs = !isEmpty && random.below(8) === 0 ? 400 * PARTITION_US : 0;
  const pending: Promise<void>[] = [];
  for (let step = random.below(90); step > 0; step--) {
    const action = random.below(10);
    if (action < 4) {
      for (let count = 1 + random.below(4); count > 0; count--) {
        pending.push(post(durable, disk, world, refused));
      }
    } else if (action < 7) {
      world.nowUs += random.pick([1e6, SEAL_AGE_US, SEAL_AGE_US, 3_600e6]);
      if (leapUs === 0) ledger.believe(world.nowUs);
      durable.tick(world.nowUs + leapUs);
    } else if (action === 7) await Promise.all(pending);
    else if (action === 8) await durable.store.settled();
    else for (let turns = random.below(20); turns > 0; turns--) await yieldTurn();
  }
  await durable.close();
  await Promise.all(pending);
  count(durable, disk, tally);
}

/** Now and then a clock is years ahead when a process starts: nothing may be deleted by it. */
function clockOf({ random, nowUs }: World): number {
  return random.below(10) === 0 ? nowUs + 1000 * PARTITION_US : nowUs;
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

function count({ store }: DurableStore, disk: ModelDisk, tally: Tally): void {
  for (const { source, mergeCount } of store.stats()) {
    const folder = `${DATA}/segments/${source}`;
    tally.merged += mergeCount;
    tally.stored += disk.countOf('rename', folder);
    tally.dropped += disk.countOf('remove', folder);
  }
  tally.trimmed += disk.countOf('remove', LOG);
}

function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

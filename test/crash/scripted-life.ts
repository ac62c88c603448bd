/**
 * A short life of a store on the real disk, for `strace.test.ts` to be killed and lied to: reads what
 * is there, posts in waves, seals, stores, merges, has segments leave memory and come back, lets go of log
 * and of days, and says on standard output what it knows, a line each: `sent <post> <nowUs>`,
 * `kept <post>`, `refused <post>`, `now <nowUs>`, `evicted <blocks>`, `wrong <reason>` when it sees
 * other rows than it must, `failed` when it cannot start, `end`.
 */
import { AssertionError } from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { ClockFile } from '../../ingest/clock-file.ts';
import { DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { trustedState } from '../../ingest/retention-clock.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { allRows, type OpenedStore, openStore } from './opened-store.ts';
import { batchOfPost, LIFE_SEED, StoreLedger } from './store-ledger.ts';

const POSTS_PER_WAVE = 3;

/** Sealed segments in memory: those of one wave at the most. */
const SEGMENT_BYTES_MAX = 8_000;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const dataDir = process.argv[2]!;
const random = new Random(LIFE_SEED);
const ledger = new StoreLedger();
let nowUs = 20_000 * PARTITION_US + 14 * 3_600_000_000;

/** One start of the service, until it is stopped. */
async function live(waves: number): Promise<void> {
  const opened = await openStore({
    ...{ disk: new NodeDisk(), dataDir, nowUs, segmentBytesMax: SEGMENT_BYTES_MAX },
  });
  const { durable } = opened;
  const { store } = durable;
  const passTime = async (us: number): Promise<void> => {
    nowUs += us;
    say(`now ${nowUs}`);
    ledger.believe(nowUs);
    durable.tick(nowUs);
    await store.settled();
  };
  const send = async (): Promise<void> => {
    const post = ledger.next(random, nowUs);
    say(`sent ${post.number} ${nowUs}`);
    try {
      await store.append(post.source, batchOfPost(post), nowUs);
      say(`kept ${post.number}`);
      ledger.settle(post, 'kept');
    } catch {
      say(`refused ${post.number}`);
    }
  };
  for (let wave = 0; wave < waves; wave++) {
    await Promise.all(Array.from({ length: POSTS_PER_WAVE }, send));
    if (wave % 2 === 0) continue;
    // Sees rows, seals and stores them, merges them, lets go of their log.
    await passTime(1e6);
    await passTime(SEAL_AGE_US);
    await store.flush();
    await passTime(1e6);
    await look(opened);
    await passTime(1e6);
  }
  await passTime(PARTITION_US);
  await durable.close();
  say(`evicted ${store.memoryStats().evictedBlocks}`);
}

/** What has left memory comes back, or is read for this once; all that was acknowledged is there. */
async function look(opened: OpenedStore): Promise<void> {
  try {
    ledger.check(await allRows(opened));
  } catch (error) {
    if (error instanceof AssertionError) return say(`wrong ${error.message.split('\n')[0]}`);
    // A query may fail for what the system refuses.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

try {
  // In a new folder no day would go, as no time passes here on the monotonic clock.
  await new ClockFile(new NodeDisk(), dataDir).write(trustedState(nowUs));
  await live(4);
  await live(2);
  nowUs += PARTITION_US;
  say(`now ${nowUs}`);
  ledger.believe(nowUs);
  await live(2);
  say('end');
} catch (error) {
  if (!(error instanceof DiskError)) throw error;
  say('failed');
}

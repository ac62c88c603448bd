import assert from 'node:assert/strict';
import {
  type RecoveredLog,
  type ReplayedRecord,
  recoverLog,
} from '../../ingest/log/log-recovery.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { idsOf, smallBatch } from '../support/small-batch.ts';

export const FOLDER = '/data/log';

/** A few records to a file, so that files come and go. */
const FILE_BYTES_MAX = 4_000;

/** States that a disk may be in after one crash that are looked at. */
const STATES_PER_CRASH = 3;

/** What is replayed from a disk. */
export async function replayed(
  disk: ModelDisk,
): Promise<{ readonly recovered: RecoveredLog; readonly records: readonly ReplayedRecord[] }> {
  const records: ReplayedRecord[] = [];
  // As the service does before it reads: what is read must not be void by a name that comes back.
  await disk.syncFolder(FOLDER);
  const recovered = await recoverLog({
    disk,
    folder: FOLDER,
    quarantine: new Quarantine(disk, '/data/quarantine'),
    apply: async (record) => void records.push(record),
    onDamage: () => {},
    onProgress: () => {},
  });
  return { recovered, records };
}

/**
 * What senders know of their posts, and what that says of the log. A post is known by its number;
 * its rows are named by it.
 */
class Ledger {
  postCount = 0;
  /** The sequence of each post that must be there: acknowledged, or seen once. */
  readonly kept = new Map<number, number>();
  /** Posts that must never be there: refused, and their range voided. */
  readonly gone = new Set<number>();
  /** Posts that were refused and may be there. */
  readonly unsure = new Set<number>();
  /** Posts of smaller sequences may have been trimmed. */
  trimmedBefore = 0;

  /** Checks what a recovery gave, and takes what is visible now as kept. */
  check(recovered: RecoveredLog, records: readonly ReplayedRecord[]): void {
    assert.deepEqual([recovered.damages, recovered.recordsLost], [[], 0]);
    const seen = new Map<number, number>();
    let sequenceBefore = 0;
    for (const record of records) {
      assert(record.sequence > sequenceBefore, 'sequences ascend');
      sequenceBefore = record.sequence;
      const ids = idsOf(record.batch());
      const post = Number(ids[0]!.split('-')[0]);
      assert(!seen.has(post), `post ${post} is there once`);
      assert(!this.gone.has(post), `post ${post} was voided`);
      assert.deepEqual(ids, idsOfPost(post), 'a post is there as a whole');
      assert.equal(record.arrivalBase, post * 10);
      seen.set(post, record.sequence);
    }
    for (const [post, sequence] of this.kept) {
      if (sequence < this.trimmedBefore) continue;
      assert.equal(seen.get(post), sequence, `post ${post} was acknowledged`);
    }
    for (const [post, sequence] of seen) this.kept.set(post, sequence);
    this.unsure.clear();
  }
}

function idsOfPost(post: number): string[] {
  return Array.from(
    { length: 1 + (post % 3) },
    (_, row) => `${post}-${row}${'.'.repeat(post % 700)}`,
  );
}

/**
 * Lives a log on a disk that fails and crashes, several times over, and looks after each crash
 * whether all is there that must be. Resolves to the number of crash states looked at.
 */
export async function liveAndCrash(random: Random): Promise<number> {
  const ledger = new Ledger();
  let disk = new ModelDisk(random);
  let stateCount = 0;
  for (let life = 1 + random.below(4); life > 0; life--) {
    disk.crashAfter(random.below(random.pick([10, 40, 120])));
    const tailBytes = await Promise.race([
      liveOnce(disk, ledger, random),
      disk.crashed.then(() => undefined),
    ]);
    disk.crashNow();
    for (let state = 0; state < STATES_PER_CRASH; state++) {
      // Now and then only the process is gone: what is unsynced is seen, and may be lost later.
      const found = random.below(4) === 0 ? disk.afterKill() : disk.afterCrash();
      const { recovered, records } = await replayed(found);
      const { kept, unsure } = copyOf(ledger);
      ledger.check(recovered, records);
      if (tailBytes !== undefined) {
        assert.equal(recovered.tailBytes, tailBytes, 'a log that was closed has no new torn end');
      }
      stateCount++;
      if (state < STATES_PER_CRASH - 1) restore(ledger, { kept, unsure });
      else disk = found;
    }
  }
  return stateCount;
}

function copyOf({ kept, unsure }: Ledger): Pick<Ledger, 'kept' | 'unsure'> {
  return { kept: new Map(kept), unsure: new Set(unsure) };
}

function restore(ledger: Ledger, { kept, unsure }: Pick<Ledger, 'kept' | 'unsure'>): void {
  ledger.kept.clear();
  for (const [post, sequence] of kept) ledger.kept.set(post, sequence);
  for (const post of unsure) ledger.unsure.add(post);
}

/** From start to stop; when nothing failed, the bytes that earlier crashes had cut off. */
async function liveOnce(
  disk: ModelDisk,
  ledger: Ledger,
  random: Random,
): Promise<number | undefined> {
  const { recovered, records } = await replayed(disk);
  ledger.check(recovered, records);
  const log = await WriteAheadLog.open({
    disk,
    folder: FOLDER,
    files: recovered.files,
    nextSequence: recovered.nextSequence,
    durableBefore: recovered.durableBefore,
    nextNumber: recovered.nextNumber,
    fileBytesMax: FILE_BYTES_MAX,
    onEvent: ({ kind }) => {
      if (kind !== 'write_resumed') return;
      for (const post of ledger.unsure) ledger.gone.add(post);
    },
  });
  disk.faults = random.pick([
    { write: 0, sync: 0, other: 0 },
    { write: 5, sync: 5, other: 2 },
    { write: 30, sync: 30, other: 30 },
  ]);
  const pending: Promise<void>[] = [];
  for (let step = random.below(40); step > 0; step--) {
    const action = random.below(8);
    if (action < 4) {
      for (let count = 1 + random.below(5); count > 0; count--) pending.push(post(log, ledger));
    } else if (action === 4) await Promise.all(pending);
    else if (action === 5) {
      const sequences = [...ledger.kept.values()];
      const before = sequences.length === 0 ? 0 : random.pick(sequences);
      ledger.trimmedBefore = Math.max(ledger.trimmedBefore, before);
      log.tick(Number.NEGATIVE_INFINITY, before);
    } else if (action === 6) log.tick(Number.NEGATIVE_INFINITY);
    else for (let turns = random.below(20); turns > 0; turns--) await undefined;
  }
  await log.close();
  await Promise.all(pending);
  return disk.faults.sync === 0 && ledger.trimmedBefore === 0 ? recovered.tailBytes : undefined;
}

async function post(log: WriteAheadLog, ledger: Ledger): Promise<void> {
  const number = ledger.postCount++;
  const batch = smallBatch(idsOfPost(number));
  const isRefused = log.refusal !== undefined;
  try {
    const record = { source: 's', receivedUs: 7, arrivalBase: number * 10, batch };
    ledger.kept.set(number, await log.append(record));
  } catch {
    // What was refused at once was not written; of the rest nobody knows yet.
    (isRefused ? ledger.gone : ledger.unsure).add(number);
  }
}

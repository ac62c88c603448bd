import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataFolder } from '../../ingest/data-folder.ts';
import { DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { OverloadError, StorageError } from '../../ingest/ingest-error.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { LockedError } from '../../ingest/lock-file.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { StartError } from '../../src/start-error.ts';
import { liveOnManyHosts } from '../support/many-hosts.ts';
import { type DiskStep, StoppableDisk } from '../support/stoppable-disk.ts';
import { allRows, type OpenedStore, openStore } from './opened-store.ts';
import { batchOfPost, StoreLedger } from './store-ledger.ts';

/** Where an owner stops: around what another owner sees, and before an answer. */
const STOPS_OF_STARTS: readonly DiskStep[] = ['list', 'rename', 'makeFolder', 'truncate', 'create'];
const STOPS_OF_POSTS: readonly DiskStep[] = ['write', 'sync', 'checkPlace', 'rename', 'remove'];

/** Owners at once that are not killed. */
const OWNERS_MAX = 3;

liveOnManyHosts();

/** A lock that nobody refreshes is free after a look; no owner of a schedule refreshes its own. */
const TIMING = { beatMs: 2 ** 30, watchMs: 2, lookMs: 1 };

/** What happened in the schedules so far. */
export type OwnersTally = {
  takeovers: number;
  acknowledged: number;
  /** Posts that an owner refused that had been replaced. */
  refused: number;
  stops: number;
  kills: number;
  /** Starts that failed, as another owner took the folder over meanwhile. */
  failedStarts: number;
};

export function newOwnersTally(): OwnersTally {
  return { takeovers: 0, acknowledged: 0, refused: 0, stops: 0, kills: 0, failedStarts: 0 };
}

/** One process that owns the folder, owned it, or is about to. */
type Owner = {
  readonly disk: StoppableDisk;
  /** Of its start, its posts and its ticks; none rejects. */
  readonly pending: Promise<void>[];
  /** There once the start has ended well. */
  opened: OpenedStore | undefined;
  /** `undefined` before it has taken the folder. */
  storePath: string | undefined;
};

/** Whether no later owner has taken the folder. */
function isLast({ storePath }: Owner): boolean {
  return storePath !== undefined && existsSync(storePath);
}

/**
 * Several processes on one folder: each is stopped before or after any step on disk, continued, killed, and
 * replaced while it is stopped or only slow. Every post that any of them acknowledged must be there, once, as soon
 * as the last of them has started.
 */
export class OwnersSchedule {
  readonly #random: Random;
  readonly #tally: OwnersTally;
  readonly #folder: string;
  readonly #ledger = new StoreLedger();
  #owners: Owner[] = [];
  #nowUs = 20_000 * PARTITION_US + 14 * 3_600_000_000;

  private constructor(folder: string, random: Random, tally: OwnersTally) {
    this.#folder = folder;
    this.#random = random;
    this.#tally = tally;
  }

  static async run(random: Random, tally: OwnersTally): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-owners-'));
    try {
      const schedule = new OwnersSchedule(folder, random, tally);
      await schedule.#begin().pending[0];
      for (let step = 40 + random.below(40); step > 0; step--) await schedule.#step();
      await schedule.#end();
    } finally {
      // A step of a process that was killed may just end.
      await rm(folder, { recursive: true, maxRetries: 10 });
    }
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const action = random.below(16);
    const owner = this.#owners[random.below(this.#owners.length)];
    if (owner === undefined || (action === 0 && this.#owners.length < OWNERS_MAX)) this.#begin();
    else if (action < 6) this.#post(owner);
    else if (action < 8) this.#tick(owner);
    else if (action < 11) this.#stop(owner);
    else if (action < 13) owner.disk.continue();
    else if (action === 13 && random.below(3) === 0) this.#kill(owner);
    else if (action === 14) await this.#check();
    // Clocks differ from host to host, and one is set back.
    else this.#nowUs += random.pick([1e6, SEAL_AGE_US, 3 * 3_600e6, -3_600e6]);
    this.#ledger.believe(this.#nowUs);
    await this.#letGo();
  }

  #begin(): Owner {
    const owner: Owner = {
      disk: new StoppableDisk(new NodeDisk()),
      pending: [],
      opened: undefined,
      storePath: undefined,
    };
    this.#owners.push(owner);
    owner.pending.push(this.#start(owner));
    return owner;
  }

  async #start(owner: Owner): Promise<void> {
    try {
      const { disk } = owner;
      const nowUs = this.#nowUs;
      const { storePath } = await DataFolder.take(this.#folder, nowUs, { disk, timing: TIMING });
      owner.storePath = storePath;
      owner.opened = await openStore({ disk, nowUs, dataDir: storePath });
      this.#tally.takeovers++;
    } catch (error) {
      assert(!isLast(owner), String(error));
      const cause = error instanceof StartError ? error.cause : error;
      assert(cause instanceof LockedError || cause instanceof DiskError, String(error));
      this.#owners = this.#owners.filter((other) => other !== owner);
      this.#tally.failedStarts++;
    }
  }

  #post(owner: Owner): void {
    const { opened } = owner;
    if (opened === undefined) return;
    const post = this.#ledger.next(this.#random, this.#nowUs);
    const append = async (): Promise<void> => {
      try {
        await opened.durable.store.append(post.source, batchOfPost(post), this.#nowUs);
        this.#ledger.settle(post, 'kept');
        this.#tally.acknowledged++;
      } catch (error) {
        assert(error instanceof StorageError || error instanceof OverloadError, String(error));
        assert(!isLast(owner), 'the disk is well, so the owner of the folder takes posts');
        this.#tally.refused++;
      }
    };
    owner.pending.push(append());
  }

  #tick({ opened, disk }: Owner): void {
    if (!disk.isStopped) opened?.durable.tick(this.#nowUs);
  }

  /** At once, or around the next step of a kind. */
  #stop({ disk, opened }: Owner): void {
    const random = this.#random;
    const stop = (): true => {
      disk.stopsAt = () => false;
      this.#tally.stops++;
      return true;
    };
    const wanted = random.pick(opened === undefined ? STOPS_OF_STARTS : STOPS_OF_POSTS);
    const isBehind = random.below(2) === 0;
    if (random.below(4) > 0) {
      disk.stopsAt = (step, isDone) => step === wanted && isDone === isBehind && stop();
    } else if (!disk.isStopped && stop()) disk.stop();
  }

  /** Of a process that was killed nothing goes on, ever. */
  #kill(owner: Owner): void {
    void owner.disk.kill();
    this.#owners = this.#owners.filter((other) => other !== owner);
    this.#tally.kills++;
  }

  /** All that any owner has acknowledged so far must be seen by the last one, once. */
  async #check(): Promise<void> {
    const last = this.#owners.find(isLast);
    if (last?.opened === undefined || last.disk.isStopped) return;
    const { stopsAt } = last.disk;
    last.disk.stopsAt = () => false;
    const kept = this.#ledger.kept();
    const rows = await allRows(last.opened).catch((error: unknown) => {
      // It was replaced while it read, and its files are gone.
      if (isLast(last)) throw error;
    });
    if (rows !== undefined) this.#ledger.check(rows, kept);
    assert.deepEqual(last.opened.damages, [], 'what another owner leaves is no damage');
    last.disk.stopsAt = stopsAt;
  }

  /** All go on; then a last owner comes, and all posts that were acknowledged are there. */
  async #end(): Promise<void> {
    const owners = this.#owners;
    for (const { disk } of owners) {
      disk.stopsAt = () => false;
      disk.continue();
    }
    await Promise.all(owners.flatMap(({ pending }) => pending));
    await this.#check();
    const last = await this.#beginLast();
    // Those that were replaced stop after it has started: nothing that they do then may reach what it has.
    for (const { opened } of [...owners, last]) await opened?.durable.close();
    await (await this.#beginLast()).opened?.durable.close();
  }

  /** A start that was killed may still take the lock. */
  async #beginLast(): Promise<Owner> {
    for (;;) {
      const last = this.#begin();
      await last.pending[0];
      if (last.opened === undefined) continue;
      await this.#check();
      return last;
    }
  }

  async #letGo(): Promise<void> {
    await sleep(this.#random.pick([0, 0, 1, 4]));
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiskError } from '../../ingest/disk/disk.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { FailingDisk, READ_FAULTS } from '../support/failing-disk.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { allRows, type OpenedStore, openStore } from './opened-store.ts';
import { SOURCES } from './store-ledger.ts';

/** Lives of a store on a disk whose reads fail; `WEIR_READ_ERROR_LIVES=200` is the long form. */
const LIVES = budgetOf('WEIR_READ_ERROR_LIVES', { fast: 2, all: 30 });
/** So many are lived at most until each kind of outcome was seen. */
const LIVES_MAX = 10 * LIVES + 20;
const STEPS = 60;
const PROJECTS = 5;
/** Bytes of sealed segments that may be in memory: of a few, so that queries read files. */
const SEGMENT_BYTES_MAX = 20_000;
const NOW_US = 20_000 * PARTITION_US + 14 * 3_600_000_000;

type Tally = Record<
  | 'startsRefused'
  | 'starts'
  | 'queriesFailed'
  | 'queries'
  | 'mergesFailed'
  | 'merges'
  | 'readsFailed',
  number
>;

/** A store, posts to it, and a disk that fails for a while, then is well for a while. */
class Life {
  readonly #random: Random;
  readonly #tally: Tally;
  readonly #disk: FailingDisk;
  readonly #acknowledged: string[] = [];
  #opened: OpenedStore | undefined;
  #nowUs = NOW_US;

  constructor(random: Random, tally: Tally) {
    this.#random = random;
    this.#tally = tally;
    this.#disk = new FailingDisk(new ModelDisk(random));
  }

  async live(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      if (this.#random.below(3) === 0) this.#changeWeather();
      await this.#step();
    }
    this.#tally.readsFailed += this.#disk.failureCount;
    this.#disk.faultOf = () => undefined;
    await this.#settle();
    for (const when of ['in the running store', 'after a start']) {
      const opened = this.#opened ?? (await this.#open());
      const rows = [...(await allRows(opened)).values()].flat();
      assert.deepEqual(rows.map(({ id }) => id).sort(), this.#acknowledged.toSorted(), when);
      assert.deepEqual(opened.damages, []);
      await this.#close();
    }
  }

  async #step(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) {
      await this.#tryToOpen();
      return;
    }
    switch (this.#random.below(6)) {
      case 0:
      case 1:
        await this.#append(opened);
        await this.#settle();
        break;
      case 2:
        await this.#append(opened);
        break;
      case 3:
        opened.durable.tick(this.#nowUs);
        break;
      case 4:
        await this.#query(opened);
        break;
      default:
        await this.#close();
    }
  }

  /** A part of the disk fails always, or now and then; or all is well. */
  #changeWeather(): void {
    const random = this.#random;
    const place = random.pick(['/data/log/', '/data/segments/', '/data/']);
    const fault = random.pick(READ_FAULTS);
    const percent = random.pick([0, 0, 5, 40, 100]);
    this.#disk.faultOf = (_, path) => {
      return path.startsWith(place) && random.below(100) < percent ? fault : undefined;
    };
  }

  async #append({ durable }: OpenedStore): Promise<void> {
    const id = `post-${this.#acknowledged.length}`;
    const source = this.#random.pick(SOURCES);
    await durable.store.append(source, smallBatch([id], NOW_US, PROJECTS), this.#nowUs);
    this.#acknowledged.push(id);
  }

  /** Seals and stores what is open, and lets it be merged. */
  async #settle(): Promise<void> {
    const { durable } = this.#opened ?? {};
    if (durable === undefined) return;
    durable.tick(this.#nowUs);
    this.#nowUs += SEAL_AGE_US;
    durable.tick(this.#nowUs);
    await durable.store.flush();
    await durable.store.settled();
    durable.tick(this.#nowUs);
    await durable.store.settled();
  }

  async #query(opened: OpenedStore): Promise<void> {
    try {
      const rows = [...(await allRows(opened)).values()].flat();
      assert.equal(rows.length, this.#acknowledged.length, 'an answer has all rows');
      this.#tally.queries++;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      this.#tally.queriesFailed++;
    }
  }

  async #tryToOpen(): Promise<void> {
    try {
      await this.#open();
      this.#tally.starts++;
    } catch (error) {
      if (!(error instanceof Error && error.name === 'StartError')) throw error;
      assert.match(error.message, /Check the disk|[Rr]aise the limit/);
      this.#tally.startsRefused++;
    }
  }

  async #open(): Promise<OpenedStore> {
    const options = { disk: this.#disk, nowUs: this.#nowUs, segmentBytesMax: SEGMENT_BYTES_MAX };
    this.#opened = await openStore(options);
    return this.#opened;
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    await opened.durable.close();
    for (const { mergeCount, storageFailureCount } of opened.durable.store.stats()) {
      this.#tally.merges += mergeCount;
      this.#tally.mergesFailed += storageFailureCount;
    }
  }
}

test('whatever reads fail at any time, an answer has all rows or none, and a repaired disk has every event once', async (context) => {
  const seed = fuzzSeed();
  const tally: Tally = {
    ...{ startsRefused: 0, starts: 0, queriesFailed: 0, queries: 0 },
    ...{ mergesFailed: 0, merges: 0, readsFailed: 0 },
  };
  const isComplete = (): boolean => Object.values(tally).every((count) => count > 0);
  for (let number = 0; number < LIVES || (number < LIVES_MAX && !isComplete()); number++) {
    try {
      await new Life(new Random(seed + number), tally).live();
    } catch (cause) {
      throw new Error(`WEIR_FUZZ_SEED=${seed + number} begins with it`, { cause });
    }
  }
  context.diagnostic(`seed ${seed}: ${JSON.stringify(tally)}`);
  for (const [what, count] of Object.entries(tally)) assert(count > 0, what);
});

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { assert, must } from '../../engine/assert.ts';
import { readPair, writePair } from '../../ingest/checked-file.ts';
import type { Disk } from '../../ingest/disk/disk.ts';

/** The name of the file, which lies beside the log's folder. */
const SHIPPED_FILE = 'shipped';

/** Consecutive records that are sent together: those from `shippedBefore` of the checkpoint to `end`, exclusive. */
export type ShipInterval = {
  /** The gateway in the rows. */
  readonly gateway: string;
  readonly end: number;
  /** Marks the inserts of this interval, and of no other one that ever was. */
  readonly token: string;
};

type Contents = {
  readonly gateway: string;
  readonly shippedBefore: number;
  /** Not there: nothing is being sent. */
  readonly interval?: ShipInterval;
};

/** Neither the file nor its copy can be used. */
export class ShipCheckpointError extends Error {
  constructor(path: string) {
    super(
      `${path} and its copy are damaged, so it is unknown which records ClickHouse has; without both files, all records of the log are sent, some perhaps twice`,
    );
    this.name = 'ShipCheckpointError';
  }
}

/**
 * How far the log has been sent to ClickHouse, in a file with a copy.
 *
 * An interval is durable in the file, with its token, before the first insert of it is sent. Whatever happens then, it
 * is sent until ClickHouse has acknowledged it, also by the next process: with the same records, and so the same rows,
 * under the same token. ClickHouse keeps the first insert of a token and ignores the others. Only then do the next
 * records belong to another interval.
 *
 * A token contains a random number. Without it, a log that begins again after a loss, or that a backup set back, would
 * use tokens of the past, and ClickHouse would ignore new rows.
 *
 * The *gateway* is the name of one log. Gateway, sequence and the index in the post are the order of arrival.
 */
export class ShipCheckpoint {
  readonly #disk: Disk;
  readonly #path: string;
  #contents: Contents;

  private constructor(disk: Disk, path: string, contents: Contents) {
    this.#disk = disk;
    this.#path = path;
    this.#contents = contents;
  }

  /**
   * Reads the checkpoint in `folder`, or makes one that begins at `firstSequence`. `nextSequence` is that of the log.
   * Rejects with a DiskError or a ShipCheckpointError.
   */
  static async open(options: {
    readonly disk: Disk;
    readonly folder: string;
    readonly firstSequence: number;
    readonly nextSequence: number;
  }): Promise<ShipCheckpoint> {
    const { disk, folder, firstSequence, nextSequence } = options;
    const path = join(folder, SHIPPED_FILE);
    const found = await readPair(disk, path);
    if (found.kind === 'damaged' || found.kind === 'old') throw new ShipCheckpointError(path);
    if (found.kind === 'missing') {
      const checkpoint = new ShipCheckpoint(disk, path, {
        gateway: randomName(),
        shippedBefore: firstSequence,
      });
      await checkpoint.#write(checkpoint.#contents);
      return checkpoint;
    }
    const contents = JSON.parse(Buffer.from(found.body).toString()) as Contents;
    const checkpoint = new ShipCheckpoint(disk, path, contents);
    await checkpoint.#fitTo(nextSequence);
    return checkpoint;
  }

  get gateway(): string {
    return this.#contents.gateway;
  }

  /** ClickHouse has all records before this one. The log must keep the others. */
  get shippedBefore(): number {
    return this.#contents.shippedBefore;
  }

  /** The interval that is being sent. */
  get interval(): ShipInterval | undefined {
    return this.#contents.interval;
  }

  /** Makes durable that the records up to `end`, exclusive, are sent now. Rejects with a DiskError. */
  async begin(end: number): Promise<ShipInterval> {
    const { gateway, shippedBefore } = this.#contents;
    assert(this.interval === undefined && end > shippedBefore, 'an interval follows another');
    const token = `${gateway} ${shippedBefore}-${end - 1} ${randomName()}`;
    const interval = { gateway, end, token };
    await this.#write({ gateway, shippedBefore, interval });
    return interval;
  }

  /** Makes durable that ClickHouse has the interval. Rejects with a DiskError. */
  async end(): Promise<void> {
    const { end } = must(this.interval, 'an interval ends that has begun');
    await this.#write({ gateway: this.gateway, shippedBefore: end });
  }

  /**
   * A log that ends before the checkpoint has lost records, and will use their sequences again. The new ones get another
   * gateway, because a sequence of a gateway has one meaning. An interval that has begun ends where the log ends.
   */
  async #fitTo(nextSequence: number): Promise<void> {
    const { shippedBefore, interval } = this.#contents;
    if (nextSequence >= Math.max(shippedBefore, interval?.end ?? 0)) return;
    const next = { gateway: randomName(), shippedBefore: Math.min(shippedBefore, nextSequence) };
    const isAnyLeft = interval !== undefined && nextSequence > shippedBefore;
    const cut = isAnyLeft ? { interval: { ...interval, end: nextSequence } } : {};
    await this.#write({ ...next, ...cut });
  }

  async #write(contents: Contents): Promise<void> {
    await writePair(this.#disk, this.#path, `${JSON.stringify(contents)}\n`);
    this.#contents = contents;
  }
}

function randomName(): string {
  return randomBytes(8).toString('hex');
}

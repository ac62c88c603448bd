import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { assert, must } from '../../engine/columns.ts';
import { readPair, writePair } from '../../ingest/checked-file.ts';
import type { Disk } from '../../ingest/disk/disk.ts';

/** The name of the file, which lies beside the log's folder. It has a copy. */
export const SHIPPED_FILE = 'shipped';

/** Consecutive records that are sent together: those from `shippedBefore` of the checkpoint to `end`, exclusive. */
export type ShipInterval = {
  /** The gateway in the rows. */
  readonly gateway: string;
  readonly end: number;
  /** Marks the inserts of this interval, and of no other one that ever was. */
  readonly token: string;
};

/** A move of all that a folder holds to ClickHouse (`FolderMove`). */
export type ShipMove = {
  /** The gateway in the rows. */
  readonly gateway: string;
  /** Segment files, as `manifestName` names them, all rows of which ClickHouse has. */
  readonly files: readonly string[];
  /** ClickHouse has all events of records before this one. Not there: the move has not ended. */
  readonly before?: number;
};

type Contents = {
  readonly gateway: string;
  readonly shippedBefore: number;
  /** Not there: nothing is being sent. */
  readonly interval?: ShipInterval;
  /** Not there: the folder was never moved. */
  readonly move?: ShipMove;
};

/** It is unknown which records ClickHouse has. */
export class ShipCheckpointError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ShipCheckpointError';
  }
}

function damagedError(path: string): ShipCheckpointError {
  return new ShipCheckpointError(
    `${path} and its copy are damaged, so it is unknown which records ClickHouse has; without both files, all records of the log are sent, some perhaps twice`,
  );
}

function unfinishedError(path: string): ShipCheckpointError {
  return new ShipCheckpointError(
    `${path} says that a move to ClickHouse has begun and not ended; run weir ship until it ends`,
  );
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
   * `forMove`: an unfinished move may go on, and a new checkpoint is one of a move that has begun. Rejects with a DiskError
   * or a ShipCheckpointError.
   */
  static async open(options: {
    readonly disk: Disk;
    readonly folder: string;
    readonly firstSequence: number;
    readonly nextSequence: number;
    readonly forMove?: boolean;
  }): Promise<ShipCheckpoint> {
    const { disk, folder, firstSequence, nextSequence, forMove = false } = options;
    const path = join(folder, SHIPPED_FILE);
    const found = await readPair(disk, path);
    if (found.kind === 'damaged' || found.kind === 'old') throw damagedError(path);
    if (found.kind === 'missing') {
      const gateway = randomName();
      const checkpoint = new ShipCheckpoint(disk, path, {
        ...{ gateway, shippedBefore: firstSequence },
        ...(forMove ? { move: { gateway, files: [] } } : {}),
      });
      await checkpoint.#write(checkpoint.#contents);
      return checkpoint;
    }
    const contents = JSON.parse(Buffer.from(found.body).toString()) as Contents;
    if (isUnfinished(contents) && !forMove) throw unfinishedError(path);
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

  /** The move of the folder, if it ever was moved. */
  get move(): ShipMove | undefined {
    return this.#contents.move;
  }

  /** Whether a move has begun and not ended. */
  get isMoving(): boolean {
    return isUnfinished(this.#contents);
  }

  /** Makes durable that ClickHouse has all rows of a segment file. Rejects with a DiskError. */
  async noteMoved(file: string): Promise<void> {
    const move = must(this.move, 'a file is moved after the move has begun');
    await this.#write({ ...this.#contents, move: { ...move, files: [...move.files, file] } });
  }

  /** Makes durable that ClickHouse has all events of records before `before`. Rejects with a DiskError. */
  async endMove(before: number): Promise<void> {
    const move = must(this.move, 'a move ends that has begun');
    await this.#write({ gateway: this.gateway, shippedBefore: before, move: { ...move, before } });
  }

  /** Makes durable that the records up to `end`, exclusive, are sent now. Rejects with a DiskError. */
  async begin(end: number): Promise<ShipInterval> {
    const { interval: _, ...rest } = this.#contents;
    const { gateway, shippedBefore } = rest;
    assert(this.interval === undefined && end > shippedBefore, 'an interval follows another');
    const token = `${gateway} ${shippedBefore}-${end - 1} ${randomName()}`;
    const interval = { gateway, end, token };
    await this.#write({ ...rest, interval });
    return interval;
  }

  /** Makes durable that ClickHouse has the interval. Rejects with a DiskError. */
  async end(): Promise<void> {
    const { end } = must(this.interval, 'an interval ends that has begun');
    const { interval: _, ...rest } = this.#contents;
    await this.#write({ ...rest, shippedBefore: end });
  }

  /**
   * A log that ends before the checkpoint has lost records, and will use their sequences again. The new ones get another
   * gateway, because a sequence of a gateway has one meaning. An interval that has begun ends where the log ends.
   */
  async #fitTo(nextSequence: number): Promise<void> {
    const { shippedBefore, interval, move } = this.#contents;
    if (nextSequence >= Math.max(shippedBefore, interval?.end ?? 0)) return;
    const next = {
      gateway: randomName(),
      shippedBefore: Math.min(shippedBefore, nextSequence),
      ...(move === undefined ? {} : { move }),
    };
    const isAnyLeft = interval !== undefined && nextSequence > shippedBefore;
    const cut = isAnyLeft ? { interval: { ...interval, end: nextSequence } } : {};
    await this.#write({ ...next, ...cut });
  }

  async #write(contents: Contents): Promise<void> {
    await writePair(this.#disk, this.#path, `${JSON.stringify(contents)}\n`);
    this.#contents = contents;
  }
}

/**
 * Reads how far the log in `folder` has been sent, without changing anything; `undefined` if nothing was ever sent.
 * Rejects with a DiskError or a ShipCheckpointError.
 */
export async function readShipped(
  disk: Disk,
  folder: string,
): Promise<Pick<ShipCheckpoint, 'gateway' | 'shippedBefore' | 'interval' | 'move'> | undefined> {
  const path = join(folder, SHIPPED_FILE);
  const found = await readPair(disk, path);
  if (found.kind === 'missing') return undefined;
  if (found.kind !== 'whole') throw damagedError(path);
  const { gateway, shippedBefore, interval, move } = JSON.parse(
    Buffer.from(found.body).toString(),
  ) as Contents;
  return { gateway, shippedBefore, interval, move };
}

function isUnfinished({ move }: Contents): boolean {
  return move !== undefined && move.before === undefined;
}

function randomName(): string {
  return randomBytes(8).toString('hex');
}

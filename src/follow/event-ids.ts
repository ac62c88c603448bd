import { type Cipher, createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto';
import type { InstanceKey } from '../instance-key.ts';

/** Bytes of an AES block; see `EventIds`. */
const BLOCK_SIZE = 16;
const RANDOM_START = 8;
const CHECK_START = 12;

/** Random bytes that are drawn at a time, for a thousand ids: a call for each id would take longer than all else of it. */
const DRAWN_SIZE = 4096;

/** 16 bytes in base64url. */
const ID_PATTERN = /^[\w-]{22}$/;

/**
 * The ids of followed events. An event's number counts all events of its source; an id is that number encrypted, so
 * that nobody learns from ids how many events others have sent. Only the instance that made an id can read it, and
 * only for the same source. Two ids of one number differ, or a follower could see that nothing came in between.
 *
 *     0               8              12                    16
 *     ┌───────────────┬──────────────┬─────────────────────┐
 *     │ number        │ random       │ hash of the source  │   encrypted as one block of AES-256
 *     └───────────────┴──────────────┴─────────────────────┘
 *
 * A block cipher over a text with a check value hides and authenticates it (Bellare and Rogaway, "Encode-Then-Encipher
 * Encryption", 2000). The number uses 53 of its 64 bits, so a wrong text passes for an id with a chance of 2^-43.
 */
export class EventIds {
  readonly #instanceKey: InstanceKey;
  readonly #findShared: () => InstanceKey | undefined;
  /** What the cipher was made from. */
  #source: InstanceKey | undefined;
  #key: Uint8Array = Buffer.alloc(0);
  /** Each block is encrypted independently, so one cipher makes all ids. */
  #cipher: Cipher | undefined;
  readonly #checks = new Map<string, Buffer>();
  readonly #drawn = Buffer.alloc(DRAWN_SIZE);
  /** Bytes of `#drawn` that ids have used. */
  #usedSize = DRAWN_SIZE;

  /** `findShared` gives the key of several instances that know the same numbers, if there are. */
  constructor(
    instanceKey: InstanceKey,
    findShared: () => InstanceKey | undefined = () => undefined,
  ) {
    this.#instanceKey = instanceKey;
    this.#findShared = findShared;
  }

  /** The id of the event with this number. */
  createId(source: string, number: number): string {
    const block = Buffer.alloc(BLOCK_SIZE);
    block.writeBigUInt64BE(BigInt(number));
    this.#copyRandom(block);
    this.#getCheck(source).copy(block, CHECK_START);
    return this.#openCipher().update(block).toString('base64url');
  }

  /** The number in an id; `undefined` if it was not made by this instance for this source. */
  findNumber(source: string, id: string): number | undefined {
    if (!ID_PATTERN.test(id)) return undefined;
    this.#openCipher();
    const decipher = createDecipheriv('aes-256-ecb', this.#key, null).setAutoPadding(false);
    const block = decipher.update(Buffer.from(id, 'base64url'));
    if (!block.subarray(CHECK_START).equals(this.#getCheck(source))) return undefined;
    const number = Number(block.readBigUInt64BE());
    return Number.isSafeInteger(number) ? number : undefined;
  }

  #openCipher(): Cipher {
    const source = this.#findShared() ?? this.#instanceKey;
    if (this.#cipher === undefined || this.#source !== source) {
      this.#source = source;
      this.#key = source.derive('event ids', 32);
      this.#cipher = createCipheriv('aes-256-ecb', this.#key, null).setAutoPadding(false);
    }
    return this.#cipher;
  }

  #copyRandom(block: Buffer): void {
    if (this.#usedSize === DRAWN_SIZE) {
      randomFillSync(this.#drawn);
      this.#usedSize = 0;
    }
    const start = this.#usedSize;
    this.#usedSize += CHECK_START - RANDOM_START;
    this.#drawn.copy(block, RANDOM_START, start, this.#usedSize);
  }

  #getCheck(source: string): Buffer {
    let check = this.#checks.get(source);
    if (check === undefined) {
      check = hash('sha256', source, 'buffer').subarray(0, BLOCK_SIZE - CHECK_START);
      this.#checks.set(source, check);
    }
    return check;
  }
}

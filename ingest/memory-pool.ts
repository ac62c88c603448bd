import { assert } from '../engine/assert.ts';
import { BodyLimitError } from './ingest-error.ts';
import { POOLED_BUFFER_BYTES_MAX, POOLED_BYTES_MAX } from './limits.ts';

/** The smallest buffer there is; those above are twice as large each. */
const SIZE_MIN = 1024;

/**
 * Buffers that are used again. V8 decides by the memory outside of its heap, too, when to collect
 * garbage: a body decoded in arrays of its own leaves several times its size of them, and a steady
 * stream of posts then has all of the heap marked ten times a second.
 */
export class MemoryPool {
  readonly #bytesMax: number;
  readonly #loanBytesMax: number;
  /** By the binary logarithm of their size. */
  readonly #free: ArrayBuffer[][] = [];
  #freeBytes = 0;

  /** Keeps `bytesMax` bytes for later at most. One loan may have `loanBytesMax`. */
  constructor(bytesMax: number = POOLED_BYTES_MAX, loanBytesMax = Number.POSITIVE_INFINITY) {
    this.#bytesMax = bytesMax;
    this.#loanBytesMax = loanBytesMax;
  }

  /** Bytes kept for later. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  lend(): Loan {
    return new Loan(this, this.#loanBytesMax);
  }

  /** A buffer of so many bytes or more, holding anything. */
  take(byteSize: number): ArrayBuffer {
    const order = orderOf(byteSize);
    const buffer = this.#free[order]?.pop();
    if (buffer !== undefined) this.#freeBytes -= buffer.byteLength;
    // Not zeroed: larger ones would pay for it at each body.
    return buffer ?? Buffer.allocUnsafeSlow(2 ** order).buffer;
  }

  /** Nobody may use the buffer after. */
  giveBack(buffer: ArrayBuffer): void {
    const size = buffer.byteLength;
    if (size > POOLED_BUFFER_BYTES_MAX || this.#freeBytes + size > this.#bytesMax) return;
    const order = orderOf(size);
    this.#free[order] ??= [];
    this.#free[order].push(buffer);
    this.#freeBytes += size;
  }
}

/**
 * The arrays that one body is decoded in. They hold anything at first. Once the loan has ended nobody
 * may touch them; a loan that never ends is garbage like all else. All methods that lend throw a BodyLimitError where
 * the body takes more than the pool lends for one.
 */
export class Loan {
  readonly #pool: MemoryPool;
  readonly #bytesMax: number;
  readonly #buffers: ArrayBuffer[] = [];
  #byteSize = 0;
  #hasEnded = false;

  constructor(pool: MemoryPool, bytesMax: number) {
    this.#pool = pool;
    this.#bytesMax = bytesMax;
  }

  /** `count` entries or more, as with all of these. */
  bytes(count: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.#take(count));
  }

  integers(count: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#take(count * 4));
  }

  offsets(count: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.#take(count * 4));
  }

  numbers(count: number): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#take(count * 8));
  }

  /** Gives all of it back. */
  end(): void {
    assert(!this.#hasEnded, 'a loan ends once');
    this.#hasEnded = true;
    for (const buffer of this.#buffers) this.#pool.giveBack(buffer);
  }

  #take(byteSize: number): ArrayBuffer {
    assert(!this.#hasEnded, 'the loan has not ended');
    if (this.#byteSize + byteSize > this.#bytesMax) {
      throw new BodyLimitError(
        `a body may take ${this.#bytesMax} bytes of memory while it is decoded; this one takes more`,
      );
    }
    const buffer = this.#pool.take(byteSize);
    this.#byteSize += buffer.byteLength;
    this.#buffers.push(buffer);
    return buffer;
  }
}

/** Of the smallest power of two that is not below. */
function orderOf(byteSize: number): number {
  return Math.max(32 - Math.clz32(Math.max(byteSize, SIZE_MIN) - 1), 0);
}

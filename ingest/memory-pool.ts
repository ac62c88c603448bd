import { assert } from '../engine/columns.ts';
import { BodyLimitError } from './ingest-error.ts';
import { POOLED_BUFFER_BYTES_MAX, POOLED_BYTES_MAX } from './limits.ts';

/** Bytes of the smallest buffer. Each larger size is twice the one before. */
const SIZE_MIN = 1024;

/**
 * Buffers for reuse. V8 also counts memory outside of its heap when it decides to collect garbage. If each body had new
 * arrays, which are several times its size, a steady stream of posts would have the heap marked several times a second.
 */
export class MemoryPool {
  readonly #bytesMax: number;
  readonly #loanBytesMax: number;
  /** Free buffers, by the binary logarithm of their size. */
  readonly #free: ArrayBuffer[][] = [];
  #freeBytes = 0;

  /** Keeps at most `bytesMax` bytes of free buffers. One loan may take `loanBytesMax` bytes. */
  constructor(bytesMax: number = POOLED_BYTES_MAX, loanBytesMax = Number.POSITIVE_INFINITY) {
    this.#bytesMax = bytesMax;
    this.#loanBytesMax = loanBytesMax;
  }

  /** Bytes of free buffers. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  lend(): Loan {
    return new Loan(this, this.#loanBytesMax);
  }

  /** A buffer of at least `byteSize` bytes with arbitrary contents. */
  take(byteSize: number): ArrayBuffer {
    const order = computeOrder(byteSize);
    const buffer = this.#free[order]?.pop();
    if (buffer !== undefined) this.#freeBytes -= buffer.byteLength;
    // Not zeroed, because zeroing costs time for each large body.
    return buffer ?? Buffer.allocUnsafeSlow(2 ** order).buffer;
  }

  /** Returns a buffer to the pool. The caller must not use it afterwards. */
  giveBack(buffer: ArrayBuffer): void {
    const size = buffer.byteLength;
    if (size > POOLED_BUFFER_BYTES_MAX || this.#freeBytes + size > this.#bytesMax) return;
    const order = computeOrder(size);
    this.#free[order] ??= [];
    this.#free[order].push(buffer);
    this.#freeBytes += size;
  }
}

/**
 * The arrays in which one body is decoded. Their initial contents are arbitrary. They must not be used after the loan
 * has ended; a loan that never ends is collected as garbage. All methods that lend throw a BodyLimitError if the body
 * takes more than the pool lends for one.
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

  /** An array of at least `count` entries, as from all methods below. */
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

  /** Returns all arrays to the pool. */
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

/** The binary logarithm of the smallest power of two that is at least `byteSize`. */
function computeOrder(byteSize: number): number {
  return Math.max(32 - Math.clz32(Math.max(byteSize, SIZE_MIN) - 1), 0);
}

import { spawnSync } from 'node:child_process';

/** Uncompressed bytes of a block: what a tool that keeps logs as text would compress at a time. */
const BLOCK_BYTES = 1_000_000;

/** Adds up what `zstd -3` makes of a text, block by block, if that tool is there. */
export class ZstdSize {
  #waiting: Buffer[] = [];
  #waitingSize = 0;
  #size = 0;
  #isMissing = false;

  add(text: Buffer): void {
    this.#waiting.push(text);
    this.#waitingSize += text.length;
    if (this.#waitingSize >= BLOCK_BYTES) this.#compressWhole();
  }

  /** Bytes of all blocks, the last one short; `undefined` when there is no such tool. */
  end(): number | undefined {
    const rest = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingSize = 0;
    if (rest.length > 0) this.#compress(rest);
    return this.#isMissing ? undefined : this.#size;
  }

  #compressWhole(): void {
    const text = Buffer.concat(this.#waiting);
    let start = 0;
    for (; start + BLOCK_BYTES <= text.length; start += BLOCK_BYTES) {
      this.#compress(text.subarray(start, start + BLOCK_BYTES));
    }
    this.#waiting = [text.subarray(start)];
    this.#waitingSize = text.length - start;
  }

  #compress(block: Buffer): void {
    if (this.#isMissing) return;
    const { error, status, stdout } = spawnSync('zstd', ['-3', '-c', '-q'], {
      input: block,
      maxBuffer: 2 * BLOCK_BYTES,
    });
    if (error !== undefined && 'code' in error && error.code === 'ENOENT') {
      this.#isMissing = true;
      return;
    }
    if (status !== 0) throw new Error(`zstd ended with ${status}`, { cause: error });
    this.#size += stdout.length;
  }
}

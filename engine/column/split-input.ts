import { headEnd } from './split-footer.ts';
import type { StringBlock } from './vector.ts';

/** The strings to be split, entry by entry. */
export class SplitInput {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly #offsets: Uint32Array;
  readonly #codes: Int32Array;

  constructor({ bytes, offsets }: StringBlock, codes: Int32Array) {
    this.bytes = bytes;
    this.#offsets = offsets;
    this.#codes = codes;
    this.count = codes.length;
  }

  get size(): number {
    let size = 0;
    for (let entry = 0; entry < this.count; entry++) size += this.end(entry) - this.start(entry);
    return size;
  }

  start(entry: number): number {
    return this.#offsets[this.#codes[entry]!]!;
  }

  end(entry: number): number {
    return this.#offsets[this.#codes[entry]! + 1]!;
  }

  /** Where the rest behind the head begins. */
  rest(entry: number, hasHeads: boolean): number {
    const start = this.start(entry);
    return hasHeads ? headEnd(this.bytes, start, this.end(entry)) : start;
  }
}

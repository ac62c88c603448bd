import { lengthened } from './carved-arrays.ts';
import { PlainStrings } from './string-values.ts';
import type { StringBlock } from './vector.ts';
import { encodeWtf8 } from './wtf8.ts';

/** Strings end to end, in the order in which they come. */
export class TextBlock {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #offsets: Uint32Array<ArrayBuffer>;
  #count = 0;

  /** Begins with room for so many strings. */
  constructor(countMin: number) {
    this.#offsets = new Uint32Array(countMin + 1);
  }

  get count(): number {
    return this.#count;
  }

  /** All strings, where they lie: to be read before the next is added. */
  get block(): StringBlock {
    return { bytes: this.#bytes, offsets: this.#offsets };
  }

  /** Gives the code of the string `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): number {
    let to = this.#offsets[this.#count]!;
    if (to + end - start > this.#bytes.length) {
      // Texts of eight bytes each, before it is known how long they are.
      const size = Math.max(to + end - start, 8 * this.#offsets.length);
      this.#bytes = lengthened(this.#bytes, size);
    }
    if (this.#count + 2 > this.#offsets.length) {
      this.#offsets = lengthened(this.#offsets, this.#count + 2);
    }
    const own = this.#bytes;
    for (let at = start; at < end; at++, to++) own[to] = bytes[at]!;
    this.#offsets[this.#count + 1] = to;
    return this.#count++;
  }

  addText(text: string): number {
    const bytes = encodeWtf8(text);
    return this.add(bytes, 0, bytes.length);
  }

  /** The strings by their codes; none is added any more. */
  dictionary(): PlainStrings {
    const facts = { size: this.#count, isDistinct: false, isPerValue: true };
    return new PlainStrings(this.block, facts);
  }
}

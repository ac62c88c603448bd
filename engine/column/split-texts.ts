import { firstAtLeast } from './positions.ts';
import type { ByteRange } from './slot-store.ts';
import type { StringBlock } from './vector.ts';

/**
 * Strings of a column with text in no table that a thread keeps end to end, and their bytes: a thousandth of the
 * strings of a large segment. More are read where they lie.
 */
export const SPLIT_TEXTS_MAX = 4_096;

export const SPLIT_TEXTS_BYTES_MAX = 1_048_576;

/**
 * Strings with text that is in no table, end to end: a column has few, far apart, and who looks for a word or a
 * pattern reads all of them.
 */
export class SplitTexts {
  readonly block: StringBlock;
  readonly #entries: Uint32Array;
  /** The one that was found last: the next is often the one after it. */
  #last = -1;

  private constructor(entries: Uint32Array, block: StringBlock) {
    this.#entries = entries;
    this.block = block;
  }

  /** `entries` ascend; `read` gives what to keep of each. `undefined` where that is too much. */
  static of(entries: Uint32Array, read: (code: number) => ByteRange): SplitTexts | undefined {
    if (entries.length > SPLIT_TEXTS_MAX) return undefined;
    const offsets = new Uint32Array(entries.length + 1);
    let bytes = new Uint8Array(BYTES_EACH * entries.length);
    let size = 0;
    for (let index = 0; index < entries.length; index++) {
      const range = read(entries[index]!);
      const end = size + range.end - range.start;
      if (end > SPLIT_TEXTS_BYTES_MAX) return undefined;
      if (end > bytes.length) {
        const longer = new Uint8Array(2 * end);
        longer.set(bytes);
        bytes = longer;
      }
      bytes.set(range.bytes.subarray(range.start, range.end), size);
      offsets[index + 1] = end;
      size = end;
    }
    return new SplitTexts(entries, { bytes: bytes.slice(0, size), offsets });
  }

  /** That of a string among `entries`. */
  find(code: number): ByteRange {
    const entries = this.#entries;
    let index = this.#last + 1;
    if (entries[index] !== code) index = firstAtLeast(entries, 0, entries.length, code);
    this.#last = index;
    const { bytes, offsets } = this.block;
    return { bytes, start: offsets[index]!, end: offsets[index + 1]! };
  }
}

/** Room for each at first. */
const BYTES_EACH = 128;

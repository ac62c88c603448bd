import { encodedKey, quickHash } from '../engine/columns.ts';

/** Strings end to end in WTF-8; `offsets` has one entry more than there are strings. */
export type NameBlock = { readonly bytes: Uint8Array; readonly offsets: Uint32Array };

/** One hash key for all segments, so that a project is hashed once for many segments. */
const KEY = { first: 0, second: 0 };

/**
 * The set of a segment's project keys, as 32-bit hashes: four bytes each. It may report a key that is absent, with a
 * probability of 1 in 2 million for 2,000 keys, and never misses one that is present.
 */
export class ProjectHashes {
  /** Sorted ascending. */
  readonly #hashes: Int32Array;

  constructor({ bytes, offsets }: NameBlock) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const ends = offsets.subarray(1);
    let start = offsets[0] ?? 0;
    const hashes = new Int32Array(ends.length);
    for (const [name, end] of ends.entries()) {
      hashes[name] = quickHash(view, start, end, KEY);
      start = end;
    }
    this.#hashes = hashes.sort();
  }

  get byteSize(): number {
    return this.#hashes.byteLength;
  }

  mayHold(projectKey: string): boolean {
    const hash = projectHash(projectKey);
    const hashes = this.#hashes;
    let low = 0;
    let high = hashes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    return low < hashes.length && hashes[low] === hash;
  }
}

/** The last project looked up: a run looks one project up in many segments. */
let last = { projectKey: '', hash: newHash('') };

function projectHash(projectKey: string): number {
  if (last.projectKey !== projectKey) last = { projectKey, hash: newHash(projectKey) };
  return last.hash;
}

function newHash(projectKey: string): number {
  const bytes = encodedKey(projectKey);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return quickHash(view, 0, bytes.length, KEY);
}

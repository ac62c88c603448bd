import { UUID_BYTES } from '../column/packed-digits.ts';
import { PROBES_MAX } from '../column/string-hash.ts';
import { quickHash, UUID_WORDS } from './uuid-index.ts';

/** The UUIDs at `codes` of packed ones. */
export type UuidSet = {
  readonly uuids: Uint8Array;
  readonly codes: Int32Array;
  /** Whether none of them comes twice. */
  readonly isDistinct: boolean;
};

/** Slots for each UUID of the table: most of those that are not in it are known by a slot that is empty. */
const SLOTS_PER_UUID = 3;

/**
 * How many UUIDs are in one of the sets or more. All but those of the largest distinct set are put into a table, in
 * which these are looked for: they are not kept. `undefined` where collisions look made on purpose, or words are not where words
 * can be read.
 */
export function countUuidUnion(sets: readonly UuidSet[]): number | undefined {
  const blocks: WordSet[] = [];
  for (const { uuids, codes } of sets) {
    if (uuids.byteOffset % Int32Array.BYTES_PER_ELEMENT !== 0) return undefined;
    const length = UUID_WORDS * Math.floor(uuids.length / UUID_BYTES);
    blocks.push({ words: new Int32Array(uuids.buffer, uuids.byteOffset, length), codes });
  }
  const lookedFor = largestDistinct(sets);
  const kept = blocks.filter((_, index) => index !== lookedFor);
  const table = newTable(kept.reduce((sum, { codes }) => sum + codes.length, 0));
  let size = 0;
  for (const block of kept) {
    const newCount = countNew(table, block, size);
    if (newCount < 0) return undefined;
    size += newCount;
  }
  const others = blocks[lookedFor];
  const newCount = others === undefined ? 0 : countNew(table, others, NOT_KEPT);
  return newCount < 0 ? undefined : size + newCount;
}

/** Which of the sets; -1 where none is known to be distinct. */
function largestDistinct(sets: readonly UuidSet[]): number {
  let largest = -1;
  for (const [index, { codes, isDistinct }] of sets.entries()) {
    if (isDistinct && codes.length > (sets[largest]?.codes.length ?? 0)) largest = index;
  }
  return largest;
}

/** Four little-endian words of each. */
type WordSet = { readonly words: Int32Array; readonly codes: Int32Array };

/** Open addressing with linear probing; a slot is the number of a UUID plus one, or 0. */
type Table = { readonly slots: Int32Array; readonly words: Int32Array };

function newTable(sizeMax: number): Table {
  let slotCount = 16;
  while (slotCount < SLOTS_PER_UUID * sizeMax) slotCount *= 2;
  return { slots: new Int32Array(slotCount), words: new Int32Array(UUID_WORDS * sizeMax) };
}

/** In the place of how many UUIDs a table has: none is added. */
const NOT_KEPT = -1;

/**
 * How many UUIDs are not in the table, to whose `size` they are added; -1 after a long chain. Those that are not to be
 * kept must be distinct.
 */
function countNew({ slots, words }: Table, { words: block, codes }: WordSet, size: number): number {
  const mask = slots.length - 1;
  let newCount = 0;
  for (let index = 0; index < codes.length; index++) {
    const from = UUID_WORDS * codes[index]!;
    const first = block[from]!;
    const second = block[from + 1]!;
    const third = block[from + 2]!;
    const fourth = block[from + 3]!;
    let slot = quickHash(first, second, third, fourth) & mask;
    let at = UUID_WORDS * (slots[slot]! - 1);
    for (let probes = 0; at >= 0; probes++) {
      const isSame =
        words[at] === first &&
        words[at + 1] === second &&
        words[at + 2] === third &&
        words[at + 3] === fourth;
      if (isSame) break;
      if (probes > PROBES_MAX) return -1;
      slot = (slot + 1) & mask;
      at = UUID_WORDS * (slots[slot]! - 1);
    }
    if (at >= 0) continue;
    newCount++;
    if (size === NOT_KEPT) continue;
    at = UUID_WORDS * (size + newCount - 1);
    words[at] = first;
    words[at + 1] = second;
    words[at + 2] = third;
    words[at + 3] = fourth;
    slots[slot] = size + newCount;
  }
  return newCount;
}

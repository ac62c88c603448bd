import type { BlockFooter, Slice } from './slice.ts';

/**
 * Long strings, nearly all different, that are made by few rules: URLs, paths, queries. Each is a
 * *head*, scheme and host, and a *rest*, that is a shape and parts (`split-shape.ts`).
 *
 * ```
 *  heads       shapes        shape codes   part sizes        parts, end to end
 * ┌─────────┐ ┌──────────┐  ┌───┬───┬──   ┌───┬───┬───┬──   ┌───────────┬──────┬──────────────┬──
 * │ strings │ │ strings  │  │ 3 │ 1 │ …   │11 │ 6 │14 │ …   │ of entry 0│ of 1 │ of 2         │ …
 * └─────────┘ └──────────┘  └───┴───┴──   └───┴───┴───┴──   └───────────┴──────┴──────────────┴──
 * ```
 *
 * - Rows are sorted by project, so entries have one head for long: run `i` of one head begins with
 *   entry `headStarts[i]` and has the head `headCodes[i]`.
 * - The parts of the first of each PART_BLOCK_ENTRIES entries begin at `partStarts`.
 * - The words of all WORD holes are numbered; the entries that hold word `w` are
 *   `wordEntries[wordStarts[w], wordStarts[w + 1])`, ascending: one that holds it twice is there twice.
 * - `wordPlaces`: a byte for each word, of bits for where it fills a hole in some entry: IN_PATH, IN_QUERY. Absent in
 *   segments made before there was any.
 * - `textEntries`: the entries with a TEXT or ANY hole, ascending. All others hold a text with letters
 *   in their head, shape or words, or nowhere.
 */
export type SplitFooter = {
  readonly kind: 'split';
  readonly heads: BlockFooter;
  readonly headStarts: Slice;
  readonly headCodes: Slice;
  /** Whether each string's head is in `heads`; if not, the one head is empty and all is rest. */
  readonly hasHeads: boolean;
  readonly shapes: BlockFooter;
  readonly shapeCodes: Slice;
  readonly parts: Slice;
  readonly partSizes: Slice;
  readonly partSizeWidth: 1 | 2 | 4;
  readonly partStarts: Slice;
  readonly words: BlockFooter;
  readonly wordStarts: Slice;
  readonly wordEntries: Slice;
  readonly wordPlaces?: Slice;
  readonly textEntries: Slice;
};

/** Shape codes are bytes: a predicate looks at each shape once, and counts rows by their bytes. */
export const SHAPES_MAX = 256;

/** Of a word: it fills a hole of the path of some string. */
export const IN_PATH = 1;
/** … of the query of some string. */
export const IN_QUERY = 2;

/** More make a string slower to find, fewer take more bytes: a start has four. */
export const PART_BLOCK_ENTRIES = 16;

/** Words are looked through for a text one by one: more of them would take longer than a millisecond. */
export const WORDS_MAX = 65_536;

/** Bytes of a word that is numbered: room for as much is made for each that is read. */
export const WORD_SIZE_MAX = 255;

/** No scheme has more letters. */
const SCHEME_SIZE_MAX = 12;

/**
 * Where the head of `bytes[start, end)` ends: scheme and host of a URL, nothing of other strings, nor of one that ends
 * with `://`. The rest of a string with a head begins with `/`, `?` or `#`, or is empty.
 */
export function headEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const schemeEnd = Math.min(end - 3, start + SCHEME_SIZE_MAX);
  while (at < schemeEnd && bytes[at] !== COLON) at++;
  if (at >= schemeEnd || bytes[at + 1] !== SLASH || bytes[at + 2] !== SLASH) return start;
  at += 3;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION && bytes[at] !== HASH) at++;
  return at;
}

const COLON = 0x3a;
const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;

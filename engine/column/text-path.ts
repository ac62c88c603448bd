import { KeyPattern } from './key-pattern.ts';
import { endOfNode, firstPlaceOf, type SkeletonArrays, slotCount } from './skeleton.ts';
import {
  JSON_TEXT,
  KIND_BITS,
  KIND_HAS_TEXT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  TEXT,
} from './token.ts';
import type { StringBlock } from './vector.ts';

/** Among places: what is there is in no column of strings; a text inside of the row, a number or a boolean. */
export const UNSURE = -1;

const UNKNOWN_KEY = 0;
const OTHER_KEY = 1;
const SAME_KEY = 2;

/**
 * Where that lies which SQL may read as a string at a path, in whatever way it comes there: by fields of
 * records, of the only record of a list, or of each that UNNEST makes of it; under a key spelled as
 * the name or with other case. That is more than any one reading finds, and never less.
 */
export class TextPath {
  readonly #names: StringBlock;
  readonly #patterns: readonly KeyPattern[];
  /** For each name of the path what is known of each key: compared once, however many skeletons. */
  readonly #keys: readonly Uint8Array[];
  readonly #found: number[] = [];

  /** `keys`: of the tokens that it is asked of. */
  constructor(keys: StringBlock, path: readonly string[]) {
    const keyCount = keys.offsets.length - 1;
    this.#names = keys;
    this.#patterns = path.map((name) => new KeyPattern(name));
    this.#keys = path.map(() => new Uint8Array(keyCount));
  }

  /** Whether some keys, from the root down, are what the names may stand for. */
  isSame(keys: readonly number[]): boolean {
    return (
      keys.length === this.#patterns.length && keys.every((key, depth) => this.#isNamed(key, depth))
    );
  }

  /** Places of a skeleton with strings, or what is read as such, at the path, UNSURE among them; good until the next call. */
  of(skeletons: SkeletonArrays, skeleton: number): readonly number[] {
    const { tokens, starts } = skeletons;
    this.#found.length = 0;
    this.#walk(tokens, starts[skeleton]!, 0, firstPlaceOf(skeletons, skeleton));
    return this.#found;
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  #walk(tokens: Int32Array, node: number, depth: number, place: number): void {
    const kind = tokens[node]! & KIND_MASK;
    const isAtEnd = depth === this.#patterns.length;
    if (kind === JSON_TEXT || (isAtEnd && KIND_HAS_TEXT[kind] === true)) this.#found.push(UNSURE);
    if (kind === TEXT && isAtEnd) this.#found.push(place);
    if (isAtEnd || (kind !== RECORD && kind !== RECORD_LIST)) return;
    const end = endOfNode(tokens, node);
    let placeBelow = place;
    for (let at = node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      if (kind === RECORD_LIST) this.#walk(tokens, at, depth, placeBelow);
      else if (this.#isNamed(tokens[at]! >>> KIND_BITS, depth)) {
        this.#walk(tokens, at, depth + 1, placeBelow);
      }
      placeBelow += slotCount(tokens, at);
    }
  }

  #isNamed(key: number, depth: number): boolean {
    const known = this.#keys[depth]!;
    if (known[key] === UNKNOWN_KEY) {
      const { bytes, offsets } = this.#names;
      const match = this.#patterns[depth]!.match(bytes, offsets[key]!, offsets[key + 1]!);
      known[key] = match === 'none' ? OTHER_KEY : SAME_KEY;
    }
    return known[key] === SAME_KEY;
  }
}

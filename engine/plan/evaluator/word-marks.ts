import type { SplitBlock } from '../../column/vector.ts';
import type { ShapesByWord } from './shapes-by-word.ts';

/**
 * Strings that are walked through before it repays to mark, one for so many: a mark takes a nanosecond or
 * two, a walk some hundred.
 */
const STRINGS_PER_WALK = 128;

/** Which strings taken apart have a word of which their shape says nothing. */
export class WordMarks {
  readonly #split: SplitBlock;
  readonly #marked = new Set<ShapesByWord>();
  /** By string, 1 for those with such a word; made with the first. */
  #marks: Uint8Array | undefined;
  #walkCount = 0;

  constructor(split: SplitBlock) {
    this.#split = split;
  }

  /** Counts a string that was walked through. */
  countWalk(): void {
    this.#walkCount++;
  }

  /**
   * 1 for each string that has one of these words, or one of those given before; `undefined` where there
   * are none, and as long as few strings were walked through.
   */
  marksOf(byWord: ShapesByWord): Uint8Array | undefined {
    const { length } = this.#split.shapeCodes;
    if (byWord.words.length === 0 || this.#walkCount * STRINGS_PER_WALK < length) return undefined;
    this.#marks ??= new Uint8Array(length);
    if (!this.#marked.has(byWord)) this.#mark(byWord, this.#marks);
    return this.#marks;
  }

  #mark(byWord: ShapesByWord, marks: Uint8Array): void {
    const { wordStarts, wordEntries } = this.#split;
    this.#marked.add(byWord);
    for (const word of byWord.words) {
      const end = wordStarts[word + 1]!;
      for (let at = wordStarts[word]!; at < end; at++) marks[wordEntries[at]!] = 1;
    }
  }
}

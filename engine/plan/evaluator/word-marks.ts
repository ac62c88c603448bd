import type { SplitBlock } from '../../column/vector.ts';
import type { ShapesByWord } from './split-verdicts.ts';

/** Which strings taken apart have a word of which their shape says nothing. */
export class WordMarks {
  readonly #split: SplitBlock;
  readonly #marked = new Set<ShapesByWord>();
  /** By string, 1 for those with such a word; made with the first. */
  #marks: Uint8Array | undefined;

  constructor(split: SplitBlock) {
    this.#split = split;
  }

  /**
   * 1 for each string that has one of these words, or one of those given before; `undefined` where there
   * are none.
   */
  marksOf(byWord: ShapesByWord): Uint8Array | undefined {
    if (byWord.words.length === 0) return undefined;
    this.#marks ??= new Uint8Array(this.#split.shapeCodes.length);
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

import { UNSET } from './verdict.ts';

/** Open shapes whose strings are alike but for those with some words: behind heads that lead to one state. */
export class ShapesByWord {
  /** For each shape the verdict on its strings without one of `words`; OPEN where that is not known. */
  readonly usual: Readonly<Uint8Array>;
  readonly words: Int32Array;
  readonly #judge: (shape: number, word: number) => number;
  /** By word: for each shape the verdict on its strings with that word, or UNSET. */
  readonly #verdicts = new Map<number, Uint8Array>();

  /** `judge`: the verdict on the strings of a shape that have a word somewhere. */
  constructor(
    usual: Readonly<Uint8Array>,
    words: Int32Array,
    judge: (shape: number, word: number) => number,
  ) {
    this.usual = usual;
    this.words = words;
    this.#judge = judge;
  }

  /** The verdict on the strings of a shape that have one of `words`. */
  verdictWith(word: number, shape: number): number {
    let verdicts = this.#verdicts.get(word);
    if (verdicts === undefined) {
      verdicts = new Uint8Array(this.usual.length).fill(UNSET);
      this.#verdicts.set(word, verdicts);
    }
    if (verdicts[shape] === UNSET) verdicts[shape] = this.#judge(shape, word);
    return verdicts[shape]!;
  }
}

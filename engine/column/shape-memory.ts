import { type Choice, chooseShapes, measureChoice, SAMPLE_ENTRIES } from './split-choice.ts';
import type { SplitInput } from './split-input.ts';

/** Columns whose choices are kept. A source has some ten with strings that are worth choosing for. */
const COLUMNS_MAX = 64;
/** Bytes of words and shapes of a choice that is kept: a thread keeps few megabytes, whatever is sent. */
const CHOICE_BYTES_MAX = 65_536;
/** Strings may take so much more than when the choice was made. */
const SIZE_SHARE_MAX = 1.05;
/** Segments after which the choice is made anew, though it still fits: there may be a better one. */
const USES_MAX = 16;

type KeptChoice = {
  readonly choice: Choice;
  readonly hasHeads: boolean;
  /** Bytes that a string took on average when the choice was made: one that it was not made for. */
  readonly meanSize: number;
  useCount: number;
};

/**
 * The choices of words and shapes of the last segments, by the path of the column: the next segment of a source has
 * strings like those before. To see that a choice fits takes a tenth of the time of making it. No answer depends on it.
 */
export class ShapeMemory {
  /** In the order in which they were made. */
  readonly #choices = new Map<string, KeptChoice>();

  /** A choice for the strings of a column: the last one, if it fits. */
  choose(path: string, strings: SplitInput, hasHeads: boolean): Choice {
    const kept = this.#choices.get(path);
    if (kept !== undefined && kept.hasHeads === hasHeads && kept.useCount < USES_MAX) {
      const { entryCount, partsSize } = measureChoice(strings, hasHeads, kept.choice);
      if (partsSize <= SIZE_SHARE_MAX * kept.meanSize * entryCount) {
        kept.useCount++;
        return { ...kept.choice, entryCount, partsSize };
      }
    }
    const choice = chooseShapes(strings, hasHeads);
    // One for a few strings would seem to fit many, which another would save more of.
    if (choice.entryCount >= SAMPLE_ENTRIES) this.#keep(path, choice, strings, hasHeads);
    return choice;
  }

  clear(): void {
    this.#choices.clear();
  }

  #keep(path: string, choice: Choice, strings: SplitInput, hasHeads: boolean): void {
    this.#choices.delete(path);
    if (measureBytes(choice) > CHOICE_BYTES_MAX) return;
    const { entryCount, partsSize } = measureChoice(strings, hasHeads, choice);
    this.#choices.set(path, { choice, hasHeads, meanSize: partsSize / entryCount, useCount: 0 });
    const [oldest] = this.#choices.keys();
    if (this.#choices.size > COLUMNS_MAX) this.#choices.delete(oldest!);
  }
}

function measureBytes({ constants, shapes }: Choice): number {
  return [shapes, ...constants].reduce((sum, { offsets, count }) => sum + offsets[count]!, 0);
}

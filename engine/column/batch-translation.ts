import type { Batch } from './batch.ts';
import { referenceLength, referenceOffset } from './batch.ts';
import { equalTokens, hashTokens, type SkeletonTable } from './skeleton-table.ts';
import { StringList } from './string-list.ts';
import type { StringTable } from './string-table.ts';

/** Of one row, and then of the next: nothing in it outlives a call. */
const list = new StringList();

/**
 * What an open segment knows of one batch while it appends it: the codes of the batch's keys, and
 * which of its skeletons it has met. Each key and each skeleton is translated once per batch.
 */
export class BatchTranslation {
  readonly batch: Batch;
  readonly #strings: StringTable;
  readonly #skeletons: SkeletonTable;
  readonly #view: DataView;
  /** String code of each key of the batch; -1 when not translated yet. */
  readonly keyCodes: Int32Array;
  /** Of the batch before: senders' keys come in the same order again and again. */
  readonly #keyGuesses: Int32Array;
  /** From the hash of a row's tokens to that row and its skeleton. */
  readonly #rowOfHash = new Map<number, { readonly row: number; readonly skeleton: number }>();
  #rowBefore = -1;
  #skeletonBefore = -1;

  constructor(
    batch: Batch,
    tables: { readonly strings: StringTable; readonly skeletons: SkeletonTable },
    keyGuesses: Int32Array,
  ) {
    this.batch = batch;
    this.#strings = tables.strings;
    this.#skeletons = tables.skeletons;
    this.#keyGuesses = keyGuesses;
    const { bytes } = batch;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.keyCodes = new Int32Array(batch.keyCount).fill(-1);
  }

  /** The code of a string reference; a negative one stands for itself. `guess`: as for `intern`. */
  stringCode(reference: number, guess = -1): number {
    if (reference < 0) return reference;
    const start = referenceOffset(reference);
    const end = start + referenceLength(reference);
    return this.#strings.intern(this.#view, start, end, guess);
  }

  /**
   * The codes of the strings among values [from, from + count) of the batch's slots, as `stringCode`
   * gives them, and the other values as they are, into `target` from `to` on. `guesses`: where in
   * `target` what each may well be stands, or -1.
   */
  translateSlots(
    areStrings: Uint8Array,
    values: { readonly from: number; readonly count: number },
    target: Float64Array,
    places: { readonly to: number; readonly guesses: number },
  ): void {
    const { slots } = this.batch;
    const { from, count } = values;
    const { to, guesses } = places;
    const strings = this.#strings;
    const view = this.#view;
    list.begin(count);
    for (let slot = 0; slot < count; slot++) {
      const value = slots[from + slot]!;
      target[to + slot] = value;
      if (areStrings[slot] !== 1 || value < 0) continue;
      const start = referenceOffset(value);
      const end = start + referenceLength(value);
      const guess = guesses < 0 ? -1 : target[guesses + slot]!;
      if (guess >= 0 && strings.has(guess, view, start, end)) {
        target[to + slot] = guess;
        continue;
      }
      list.add(start, end, to + slot);
    }
    strings.internAll(view, list);
    for (let index = 0; index < list.count; index++) {
      target[list.places[index]!] = list.codes[index]!;
    }
  }

  /** The skeleton of a row of the batch. */
  skeleton(row: number): number {
    if (this.#rowBefore < 0 || !this.#haveEqualTokens(row, this.#rowBefore)) {
      this.#skeletonBefore = this.#findSkeleton(row);
    }
    this.#rowBefore = row;
    return this.#skeletonBefore;
  }

  #findSkeleton(row: number): number {
    const { tokens, tokenStarts } = this.batch;
    const start = tokenStarts[row]!;
    const end = tokenStarts[row + 1]!;
    const hash = hashTokens(tokens, start, end, 0);
    const met = this.#rowOfHash.get(hash);
    if (met !== undefined && this.#haveEqualTokens(row, met.row)) return met.skeleton;
    const skeleton = this.#skeletons.intern(tokens, start, end, (key) => this.#keyCode(key));
    if (met === undefined) this.#rowOfHash.set(hash, { row, skeleton });
    return skeleton;
  }

  #haveEqualTokens(left: number, right: number): boolean {
    const { tokens, tokenStarts } = this.batch;
    const leftStart = tokenStarts[left]!;
    const rightStart = tokenStarts[right]!;
    const count = tokenStarts[left + 1]! - leftStart;
    return (
      tokenStarts[right + 1]! - rightStart === count &&
      equalTokens(tokens, leftStart, tokens, rightStart, count)
    );
  }

  #keyCode(key: number): number {
    if (this.keyCodes[key]! < 0) {
      this.keyCodes[key] = this.stringCode(this.batch.keys[key]!, this.#keyGuesses[key]);
    }
    return this.keyCodes[key]!;
  }
}

import { type Batch, referenceLength, referenceOffset } from './batch.ts';
import { writeTemplate } from './json-template.ts';
import type { JsonWriter } from './json-writer.ts';
import { Skeletons } from './skeleton.ts';
import { equalTokens, hashTokens } from './skeleton-table.ts';
import type { ByteRange, WrittenSlots } from './slot-store.ts';
import type { StringBlock } from './vector.ts';

/** Writes the root records of a batch as JSON, to the byte as answers show the rows of a segment. */
export class BatchRecords {
  readonly #batch: Batch;
  readonly #skeletons: Skeletons;
  readonly #slots: BatchSlots;
  /** From the hash of a row's tokens to the first row with it. Rows of one skeleton share its template. */
  readonly #rowOfHash = new Map<number, number>();

  /** The batch must not change while it is written. */
  constructor(batch: Batch) {
    this.#batch = batch;
    this.#slots = new BatchSlots(batch);
    this.#skeletons = new Skeletons({
      tokens: batch.tokens,
      starts: batch.tokenStarts,
      count: batch.rowCount,
      placeStarts: undefined,
      keys: keysOf(batch),
    });
  }

  write(row: number, out: JsonWriter): void {
    const root = this.#batch.tokenStarts[this.#rowAlike(row)]!;
    const { template, place } = this.#skeletons.template(root, this.#slots);
    writeTemplate(template, this.#slots, row, place, out);
  }

  /** An earlier row with the same tokens, or the row itself. */
  #rowAlike(row: number): number {
    const { tokens, tokenStarts } = this.#batch;
    const start = tokenStarts[row]!;
    const end = tokenStarts[row + 1]!;
    const hash = hashTokens(tokens, start, end, 0);
    const met = this.#rowOfHash.get(hash);
    if (met === undefined) {
      this.#rowOfHash.set(hash, row);
      return row;
    }
    const metStart = tokenStarts[met]!;
    const isAlike =
      tokenStarts[met + 1]! - metStart === end - start &&
      equalTokens(tokens, start, tokens, metStart, end - start);
    return isAlike ? met : row;
  }
}

/** Slots end to end: place `i` of a row is entry `i` after the row's first. */
class BatchSlots implements WrittenSlots {
  readonly #batch: Batch;

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  number(row: number, place: number): number {
    return this.#batch.slots[this.#batch.slotStarts[row]! + place]!;
  }

  verbatim(row: number, place: number): ByteRange {
    const reference = this.number(row, place);
    const start = referenceOffset(reference);
    return { bytes: this.#batch.bytes, start, end: start + referenceLength(reference) };
  }

  writeText(row: number, place: number, out: JsonWriter): void {
    const { bytes, start, end } = this.verbatim(row, place);
    out.stringBytes(bytes, start, end);
  }
}

/** The keys of a batch, end to end. */
function keysOf({ keys, keyCount, bytes }: Batch): StringBlock {
  const offsets = new Uint32Array(keyCount + 1);
  for (let key = 0; key < keyCount; key++) {
    offsets[key + 1] = offsets[key]! + referenceLength(keys[key]!);
  }
  const joined = new Uint8Array(offsets[keyCount]!);
  for (let key = 0; key < keyCount; key++) {
    const start = referenceOffset(keys[key]!);
    joined.set(bytes.subarray(start, start + referenceLength(keys[key]!)), offsets[key]!);
  }
  return { bytes: joined, offsets };
}

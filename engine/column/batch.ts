import type { JsonWriter } from './json-buffer.ts';
import { writeTemplate } from './json-template.ts';
import { type ByteRange, Skeletons, type WrittenSlots } from './skeleton.ts';
import { equalTokens, hashTokens } from './skeleton-table.ts';
import type { StringBlock } from './vector.ts';

/**
 * The events of one POST with every decision made: decoded, admitted, stamped with id, time and
 * project key. It refers to nothing outside itself, so that it can be written to a log as it is and
 * appended to an open segment any time later with the same result.
 *
 * A *string reference* is one double, `offset * STRING_LENGTH_MAX + length`, into `bytes` (UTF-8;
 * a lone surrogate as its three bytes). Arrays are parallel, `rowCount` entries each, unless noted;
 * they may be longer than that.
 */
export type Batch = {
  readonly rowCount: number;
  readonly bytes: Uint8Array;
  /** Field names, as string references; tokens index into these. */
  readonly keys: Float64Array;
  readonly keyCount: number;
  /** Tokens of the root records, end to end (`token.ts`). */
  readonly tokens: Int32Array;
  /** Where the tokens of row `i` begin; `rowCount + 1` entries. */
  readonly tokenStarts: Uint32Array;
  /** Slots of the root records, end to end: numbers, or string references. */
  readonly slots: Float64Array;
  /** Where the slots of row `i` begin; `rowCount + 1` entries. */
  readonly slotStarts: Uint32Array;
  /** String references. */
  readonly ids: Float64Array;
  /** Microseconds since the epoch. */
  readonly timestampsUs: Float64Array;
  /** String references, or NO_STRING. */
  readonly messages: Float64Array;
  /** The declared column `project`: string references, or NO_STRING. */
  readonly projects: Float64Array;
  /** The project key by the source's rule: string references, NO_STRING, or MIXED_PROJECTS. */
  readonly projectKeys: Float64Array;
};

/** One more than the longest string of a batch. Where a body is decoded, an event of as many bytes is refused. */
export const STRING_LENGTH_MAX = 2 ** 24;

export const NO_STRING = -1;

/** The event's metadata elements name different projects. */
export const MIXED_PROJECTS = -2;

export function stringReference(offset: number, length: number): number {
  return offset * STRING_LENGTH_MAX + length;
}

export function referenceOffset(reference: number): number {
  return Math.floor(reference / STRING_LENGTH_MAX);
}

export function referenceLength(reference: number): number {
  // `%` of numbers beyond 32 bits is a call into the C library.
  return reference - referenceOffset(reference) * STRING_LENGTH_MAX;
}

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

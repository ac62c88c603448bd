import { keepRecent } from './caches.ts';
import type { SkeletonCounts } from './field-tree.ts';
import type { JsonWriter } from './json-buffer.ts';
import { partitionPoint, type RowRanges } from './positions.ts';
import type { OpenSegmentArrays, OpenSegmentHandle, RowRun, RowScope, Segment } from './segment.ts';
import { type ByteRange, Skeletons, type SlotStore } from './skeleton.ts';
import { GrowingRoot } from './skeleton-step.ts';
import { PlainStrings } from './string-values.ts';
import { TokenSource } from './token-source.ts';
import {
  type Dictionary,
  dictionaryVector,
  type NestedVector,
  numberVector,
  type Vector,
} from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

/** The published rows of an open segment, those from `rowStart` on, read through a handle, on any thread. */
export class OpenSegmentReader implements Segment {
  readonly kind = 'open';
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly #rowStart: number;
  readonly #handle: OpenSegmentHandle;
  readonly #dictionary: Dictionary;
  readonly #source: TokenSource;
  readonly #chains: OpenSegmentMemory['chains'];

  /** `memory`: of an earlier reader of the same segment. */
  constructor(handle: OpenSegmentHandle, memory: OpenSegmentMemory = memoryOf(handle)) {
    const { skeletons, chains, root } = memory;
    this.#handle = handle;
    this.#chains = chains;
    this.rowCount = handle.rowCount;
    this.#rowStart = handle.rowStart ?? 0;
    this.timestampUsMin = handle.timestampUsMin;
    this.timestampUsMax = handle.timestampUsMax;
    const { stringBytes, stringOffsets } = handle.arrays;
    const block = { bytes: stringBytes, offsets: stringOffsets };
    const facts = { size: handle.stringCount, isDistinct: true, isPerValue: false };
    this.#dictionary = new PlainStrings(block, facts);
    const slots = new OpenSlotStore(handle.arrays, this.#dictionary);
    this.#source = new TokenSource(skeletons, slots, root.stepOf(skeletons));
  }

  runs(projectKey: string | undefined): readonly RowRun[] {
    const { chains, arrays } = this.#handle;
    if (projectKey === undefined || chains === undefined) {
      const start = this.#rowStart;
      const count = this.rowCount - start;
      if (count === 0) return [];
      const isTimeOrdered = areTimesAscending(arrays.timestampsUs, start, this.rowCount);
      const hasProjectKey = projectKey === undefined;
      return [{ count, start, rows: undefined, isTimeOrdered, hasProjectKey }];
    }
    return [...this.#chain(chains.projectHead, true), ...this.#chain(chains.mixedHead, false)];
  }

  /** The chain of the snapshot's project, where that is the one; else each row is looked at. */
  runsOf(projectKeys: readonly string[]): readonly RowRun[] {
    const { chains, arrays } = this.#handle;
    const head = chains?.projectHead ?? -1;
    if (head >= 0 && projectKeys.length === 1) {
      if (this.#string(arrays.projectKeys[head]!) === projectKeys[0])
        return this.#chain(head, true);
    }
    return this.#runOf(this.#rowsOf(new Set(projectKeys)), true);
  }

  countRows({ projectKey, startUs, endUs }: RowScope, rowsMax: number): number {
    const { chains, arrays } = this.#handle;
    const start = this.#rowStart;
    if (projectKey === undefined || chains === undefined) return this.rowCount - start;
    const { previousRows, timestampsUs } = arrays;
    let count = 0;
    for (const head of [chains.projectHead, chains.mixedHead]) {
      for (let row = head; row >= start && count <= rowsMax; row = previousRows[row]!) {
        const timestampUs = timestampsUs[row]!;
        if (timestampUs >= startUs && timestampUs < endUs) count++;
      }
    }
    return count;
  }

  projectsWith(): readonly string[] {
    return [];
  }

  positionAt(run: RowRun, timestampUs: number): number {
    if (timestampUs <= this.timestampUsMin) return 0;
    if (timestampUs > this.timestampUsMax) return run.count;
    const { timestampsUs } = this.#handle.arrays;
    return partitionPoint(0, run.count, (position) => {
      const row = run.rows === undefined ? run.start + position : run.rows[position]!;
      return timestampsUs[row]! < timestampUs;
    });
  }

  timestamps(rows: Int32Array, count: number): Vector {
    const values = new Float64Array(count);
    const { timestampsUs } = this.#handle.arrays;
    for (let i = 0; i < count; i++) values[i] = timestampsUs[rows[i]!]!;
    return numberVector(values, count);
  }

  arrivals(rows: Int32Array, count: number): Vector {
    const values = new Float64Array(count);
    const { arrivals } = this.#handle.arrays;
    for (let i = 0; i < count; i++) values[i] = arrivals[rows[i]!]!;
    return numberVector(values, count);
  }

  ids(rows: Int32Array, count: number): Vector {
    return this.#strings(this.#handle.arrays.ids, rows, count);
  }

  messages(rows: Int32Array, count: number): Vector {
    return this.#strings(this.#handle.arrays.messages, rows, count);
  }

  projects(rows: Int32Array, count: number): Vector {
    return this.#strings(this.#handle.arrays.projects, rows, count);
  }

  roots(rows: Int32Array, count: number): NestedVector {
    const { skeletons } = this.#handle.arrays;
    const codes = new Int32Array(count);
    for (let i = 0; i < count; i++) codes[i] = skeletons[rows[i]!]!;
    return this.#source.roots(rows, codes, count);
  }

  countSkeletons(ranges: RowRanges): SkeletonCounts {
    const { skeletons } = this.#handle.arrays;
    const { tokens, starts, keys, count } = skeletonArraysOf(this.#handle);
    const counts = new Uint32Array(count);
    for (let at = 0; at < ranges.length; at += 2) {
      for (let row = ranges[at]!; row < ranges[at + 1]!; row++) counts[skeletons[row]!]!++;
    }
    return { tokens, starts, keys, counts };
  }

  /** Strings on the tape have no signatures. */
  rowsWith(): undefined {
    return undefined;
  }

  /** The rows of one chain as a run; none when it is empty. */
  #chain(head: number, hasProjectKey: boolean): RowRun[] {
    const start = this.#rowStart;
    if (head < start) return [];
    const { arrays } = this.#handle;
    const chain = this.#chains(arrays.projectKeys[head]!);
    return this.#runOf(chain.between(start, head, arrays), hasProjectKey);
  }

  #runOf({ rows, isTimeOrdered }: ChainSection, hasProjectKey: boolean): RowRun[] {
    const count = rows.length;
    if (count === 0) return [];
    const start = rows[0]!;
    const areConsecutive = rows[count - 1]! - start + 1 === count;
    return [
      { count, start, rows: areConsecutive ? undefined : rows, isTimeOrdered, hasProjectKey },
    ];
  }

  #rowsOf(projectKeys: ReadonlySet<string>): ChainSection {
    const codes = this.#handle.arrays.projectKeys;
    const { timestampsUs } = this.#handle.arrays;
    const verdicts = new Map<number, boolean>();
    const rows = new Int32Array(this.rowCount - this.#rowStart);
    let count = 0;
    let isTimeOrdered = true;
    for (let row = this.#rowStart; row < this.rowCount; row++) {
      const code = codes[row]!;
      let isAmong = verdicts.get(code);
      if (isAmong === undefined) {
        isAmong = code >= 0 && projectKeys.has(this.#string(code));
        verdicts.set(code, isAmong);
      }
      if (!isAmong) continue;
      isTimeOrdered &&= count === 0 || timestampsUs[row]! >= timestampsUs[rows[count - 1]!]!;
      rows[count++] = row;
    }
    return { rows: rows.subarray(0, count), isTimeOrdered };
  }

  #string(code: number): string {
    const { stringBytes, stringOffsets } = this.#handle.arrays;
    return decodeWtf8(stringBytes, stringOffsets[code]!, stringOffsets[code + 1]!);
  }

  #strings(codes: Int32Array, rows: Int32Array, count: number): Vector {
    const taken = new Int32Array(count);
    for (let i = 0; i < count; i++) taken[i] = codes[rows[i]!]!;
    return dictionaryVector(taken, count, this.#dictionary);
  }
}

/** What a reader of the segment remembers, with which later readers may go on. */
export type OpenSegmentMemory = {
  readonly skeletons: Skeletons;
  /**
   * By the project key that all rows of a chain have: the chains as far as this thread has walked them. A project that has sent
   * much since the last sealing is asked for again and again, and its chain runs through all of that.
   */
  readonly chains: (projectKey: number) => Chain;
  readonly root: GrowingRoot;
};

export function memoryOf(handle: OpenSegmentHandle): OpenSegmentMemory {
  const skeletons = new Skeletons(skeletonArraysOf(handle));
  const chains = keepRecent(CHAINS_KEPT_MAX, () => new Chain());
  return { skeletons, chains, root: new GrowingRoot() };
}

export function skeletonArraysOf(handle: OpenSegmentHandle): Skeletons['arrays'] {
  const { arrays } = handle;
  return {
    tokens: arrays.tokens,
    starts: arrays.skeletonStarts,
    count: handle.skeletonCount,
    placeStarts: undefined,
    keys: { bytes: arrays.stringBytes, offsets: arrays.stringOffsets },
  };
}

/** Slots end to end: place `i` is entry `i` after the row's first. */
class OpenSlotStore implements SlotStore {
  readonly #arrays: OpenSegmentArrays;
  readonly #dictionary: Dictionary;

  constructor(arrays: OpenSegmentArrays, dictionary: Dictionary) {
    this.#arrays = arrays;
    this.#dictionary = dictionary;
  }

  numbers(rows: Int32Array, places: Int32Array, count: number): Float64Array {
    const { slots, slotStarts } = this.#arrays;
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      if (place >= 0) values[i] = slots[slotStarts[rows[i]!]! + place]!;
    }
    return values;
  }

  strings(rows: Int32Array, places: Int32Array, count: number): Vector {
    const { slots, slotStarts } = this.#arrays;
    const codes = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      codes[i] = place < 0 ? -1 : slots[slotStarts[rows[i]!]! + place]!;
    }
    return dictionaryVector(codes, count, this.#dictionary);
  }

  number(row: number, place: number): number {
    return this.#arrays.slots[this.#arrays.slotStarts[row]! + place]!;
  }

  text(row: number, place: number): string {
    const { bytes, start, end } = this.verbatim(row, place);
    return decodeWtf8(bytes, start, end);
  }

  verbatim(row: number, place: number): ByteRange {
    const { stringBytes, stringOffsets } = this.#arrays;
    const code = this.number(row, place);
    return { bytes: stringBytes, start: stringOffsets[code]!, end: stringOffsets[code + 1]! };
  }

  writeText(row: number, place: number, out: JsonWriter): void {
    const { stringBytes, stringOffsets } = this.#arrays;
    const code = this.number(row, place);
    out.stringBytes(stringBytes, stringOffsets[code]!, stringOffsets[code + 1]!);
  }
}

/** Whether the timestamps of rows [start, end) never fall. */
function areTimesAscending(timestampsUs: Float64Array, start: number, end: number): boolean {
  for (let row = start + 1; row < end; row++) {
    if (timestampsUs[row]! < timestampsUs[row - 1]!) return false;
  }
  return true;
}

/** Chains of rows of an open segment that a thread remembers. */
export const CHAINS_KEPT_MAX = 256;

const ROWS_MIN = 16;

/** Rows of one chain from some row up to another: ascending, and not to be written to. */
type ChainSection = { readonly rows: Int32Array; readonly isTimeOrdered: boolean };

/** Invariant: `#rows[0, #count)` are the first rows of the chain; what was handed out does not change. */
class Chain {
  #rows = new Int32Array(ROWS_MIN);
  #count = 0;
  /** How many of the rows, from the first on, stand in the order of their times. */
  #orderedCount = 0;

  between(start: number, head: number, arrays: OpenSegmentArrays): ChainSection {
    if (this.#last < head) this.#extend(head, arrays);
    const first = start === 0 ? 0 : this.#countBefore(start);
    const end = this.#last === head ? this.#count : this.#countBefore(head + 1);
    return { rows: this.#rows.subarray(first, end), isTimeOrdered: end <= this.#orderedCount };
  }

  get #last(): number {
    return this.#count === 0 ? -1 : this.#rows[this.#count - 1]!;
  }

  #extend(head: number, { previousRows, timestampsUs }: OpenSegmentArrays): void {
    const last = this.#last;
    const start = this.#count;
    let end = start;
    for (let row = head; row > last; row = previousRows[row]!) end++;
    if (end > this.#rows.length) {
      const grown = new Int32Array(Math.max(end, 2 * this.#rows.length));
      grown.set(this.#rows.subarray(0, start));
      this.#rows = grown;
    }
    const rows = this.#rows;
    for (let row = head, index = end; index > start; row = previousRows[row]!) rows[--index] = row;
    let ordered = this.#orderedCount;
    if (ordered === start) {
      while (
        ordered < end &&
        (ordered === 0 || timestampsUs[rows[ordered]!]! >= timestampsUs[rows[ordered - 1]!]!)
      ) {
        ordered++;
      }
      this.#orderedCount = ordered;
    }
    this.#count = end;
  }

  /** How many rows there are before this one. */
  #countBefore(row: number): number {
    return partitionPoint(0, this.#count, (position) => this.#rows[position]! < row);
  }
}

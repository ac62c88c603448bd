import { assert } from '../assert.ts';
import { carvedInt32 } from '../column/carved-arrays.ts';
import type { Chunk } from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { compareByKey } from '../function/order-direction.ts';
import { MATERIALIZED_ROWS_MAX } from '../limits.ts';
import { concatChunks, detachedChunk, tooManyRows } from './collect.ts';
import type { Sink } from './sink.ts';
import { pushInChunks } from './sink.ts';
import type { OrderKey } from './sort-order.ts';

/** Chunks whose rows a top-N holds at a time: each keeps its read columns alive, some 50 KB. */
const TOP_CHUNKS_MAX = 256;

/**
 * Runs of rows of one chunk, beyond one of each, that are pushed apart. With more, the order goes to and
 * fro between chunks: then it is cheaper to bring all rows into one.
 */
const RUNS_APART_MAX = 8;

/**
 * The first `count` rows of an order, without sorting or keeping the others. Rows equal in all
 * keys stand as they came; a last key that is unique (the arrival) makes that no matter.
 *
 * Invariant: `#heap` has at most `count` entries, and is a binary heap with the last of the order at its root
 * once it has as many: before, nobody asks for that, and rows that come in order would each go up to the root. A
 * kept row is named by its chunk and position; its columns are read at the end, for winners only.
 */
export class TopSink implements Sink {
  readonly #keys: readonly OrderKey[];
  readonly #width: number;
  readonly #countMax: number;
  readonly #heap: Entry[] = [];
  /** All that was pushed, where that is one chunk in the order of the first rows and fewer than these. */
  #ordered: Chunk | undefined;
  #sequence = 0;
  #heldChunkCount = 0;

  readonly #rowsMax: number;

  /** `width` is the number of columns of the rows; `rowsMax` as in `CollectSink`. */
  constructor(options: {
    readonly keys: readonly OrderKey[];
    readonly width: number;
    readonly count: number;
    readonly rowsMax?: number;
  }) {
    assert(options.keys.length > 0, 'a top has a key');
    this.#keys = options.keys;
    this.#width = options.width;
    this.#countMax = options.count;
    this.#rowsMax = options.rowsMax ?? MATERIALIZED_ROWS_MAX;
  }

  /**
   * The worst first key kept, once `count` rows are: a row that is strictly after it in the order
   * of the first key cannot be among the first any more. `undefined` while there is room.
   */
  floor(): SqlValue | undefined {
    if (this.#heap.length < this.#countMax || this.#heap.length === 0) return undefined;
    return this.#heap[0]!.values[0];
  }

  push(chunk: Chunk): boolean {
    if (this.#countMax === 0) return false;
    if (chunk.count === 0) return true;
    if (this.#isFirst() && this.#isInOrder(chunk)) {
      this.#ordered = chunk;
      return true;
    }
    this.#offerOrdered();
    return this.#offerAll(chunk);
  }

  #isFirst(): boolean {
    return this.#ordered === undefined && this.#sequence === 0;
  }

  /** Whether it needs no heap as long as no other comes: mostly groups by time, all of which are wanted. */
  #isInOrder(chunk: Chunk): boolean {
    if (chunk.count >= this.#countMax || chunk.count > this.#rowsMax) return false;
    if (this.#keys.length > 1 || isReadingPassing()) return false;
    const [key] = this.#keys;
    return isOrdered(key!.expression(chunk), key!);
  }

  #offerOrdered(): void {
    const chunk = this.#ordered;
    if (chunk === undefined) return;
    this.#ordered = undefined;
    this.#offerAll(chunk);
  }

  #offerAll(chunk: Chunk): boolean {
    const candidates = this.#candidates(chunk);
    if (candidates.count === 0) return true;
    const vectors = this.#keys.map((key) => key.expression(candidates));
    const held: HeldChunk = { chunk: candidates, rowCount: 0, isDetached: false };
    for (let position = 0; position < candidates.count; position++) {
      this.#offer(held, position, vectors);
    }
    if (held.rowCount > 0 && isReadingPassing()) this.#compact(true);
    else if (this.#heldChunkCount > TOP_CHUNKS_MAX) this.#compact(false);
    return true;
  }

  /**
   * Pushes the first rows, in order; what `sink` answered last. Ends the use of the sink. Where they came
   * segment by segment they go on as they are, and their strings and records are not read for it.
   */
  emit(sink: Sink): boolean {
    if (this.#ordered !== undefined) return pushInChunks(this.#ordered, sink);
    this.#heap.sort((left, right) => this.#compare(left, right));
    const runs = runsOf(this.#heap);
    if (runs.length > this.#heldChunkCount + RUNS_APART_MAX) {
      return pushInChunks(this.#gathered(), sink);
    }
    for (const { held, positions } of runs) {
      if (!pushInChunks(held.chunk.select(positions, positions.length), sink)) return false;
    }
    return true;
  }

  /** The entries of the heap, as they stand, in one chunk. */
  #gathered(): Chunk {
    this.#compact(false);
    const positions = Int32Array.from(this.#heap, (entry) => entry.position);
    const [first] = this.#heap;
    return (first?.held.chunk ?? concatChunks([], this.#width)).select(positions, positions.length);
  }

  /** The rows that the first key alone does not rule out. */
  #candidates(chunk: Chunk): Chunk {
    const floor = this.floor();
    if (floor === undefined) return chunk;
    const key = this.#keys[0]!;
    const vector = key.expression(chunk);
    const positions = carvedInt32(chunk.count);
    let count = 0;
    for (let row = 0; row < chunk.count; row++) {
      positions[count] = row;
      count += isPast(key, vector, row, floor) ? 0 : 1;
    }
    return count === chunk.count ? chunk : chunk.select(positions, count);
  }

  #offer(held: HeldChunk, position: number, vectors: readonly Vector[]): void {
    const heap = this.#heap;
    const isFull = heap.length === this.#countMax;
    const first = valueAt(vectors[0]!, position);
    if (isFull && compareByKey(this.#keys[0]!, first, heap[0]!.values[0]!) > 0) return;
    const values = vectors.map((vector) => valueAt(vector, position));
    const entry: Entry = { values, sequence: this.#sequence++, held, position };
    if (!isFull) {
      if (heap.length === this.#rowsMax) throw tooManyRows(this.#rowsMax);
      this.#hold(held);
      heap.push(entry);
      if (heap.length === this.#countMax) this.#makeHeap();
    } else if (this.#compare(entry, heap[0]!) < 0) {
      this.#hold(held);
      this.#release(heap[0]!.held);
      heap[0] = entry;
      this.#siftDown(0);
    }
  }

  #hold(held: HeldChunk): void {
    if (held.rowCount++ === 0) this.#heldChunkCount++;
  }

  #release(held: HeldChunk): void {
    if (--held.rowCount === 0) this.#heldChunkCount--;
  }

  #makeHeap(): void {
    for (let index = (this.#heap.length >> 1) - 1; index >= 0; index--) this.#siftDown(index);
  }

  #siftDown(start: number): void {
    const heap = this.#heap;
    let index = start;
    for (;;) {
      let last = index;
      for (let child = 2 * index + 1; child <= 2 * index + 2 && child < heap.length; child++) {
        if (this.#compare(heap[child]!, heap[last]!) > 0) last = child;
      }
      if (last === index) return;
      [heap[index], heap[last]] = [heap[last]!, heap[index]!];
      index = last;
    }
  }

  #compare(left: Entry, right: Entry): number {
    for (let index = 0; index < this.#keys.length; index++) {
      const order = compareByKey(this.#keys[index]!, left.values[index]!, right.values[index]!);
      if (order !== 0) return order;
    }
    return left.sequence - right.sequence;
  }

  /**
   * Copies the kept rows into one chunk, so that the chunks they came from can be let go; and also
   * the segments these were read from, when the rows are to be `detached`.
   */
  #compact(isDetached: boolean): void {
    const positionsOf = new Map<HeldChunk, number[]>();
    const entriesOf = new Map<HeldChunk, Entry[]>();
    for (const entry of this.#heap) {
      const positions = positionsOf.get(entry.held);
      if (positions === undefined) {
        positionsOf.set(entry.held, [entry.position]);
        entriesOf.set(entry.held, [entry]);
      } else {
        positions.push(entry.position);
        entriesOf.get(entry.held)!.push(entry);
      }
    }
    const chunks = Array.from(positionsOf, ([held, positions]) => {
      const chunk = held.chunk.select(Int32Array.from(positions), positions.length);
      return isDetached && !held.isDetached ? detachedChunk(chunk, this.#width) : chunk;
    });
    const kept: HeldChunk = {
      chunk: concatChunks(chunks, this.#width),
      rowCount: this.#heap.length,
      isDetached,
    };
    let position = 0;
    for (const entries of entriesOf.values()) {
      for (const entry of entries) {
        entry.held = kept;
        entry.position = position++;
      }
    }
    this.#heldChunkCount = 1;
  }
}

type HeldChunk = { readonly chunk: Chunk; rowCount: number; readonly isDetached: boolean };

type Entry = {
  readonly values: readonly SqlValue[];
  readonly sequence: number;
  held: HeldChunk;
  position: number;
};

/** Entries one after the other that are rows of one chunk. */
type Run = { readonly held: HeldChunk; readonly positions: Int32Array };

function runsOf(entries: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  for (let start = 0, end = 0; start < entries.length; start = end) {
    const { held } = entries[start]!;
    while (end < entries.length && entries[end]!.held === held) end++;
    const positions = carvedInt32(end - start);
    for (let i = start; i < end; i++) positions[i - start] = entries[i]!.position;
    runs.push({ held, positions });
  }
  return runs;
}

/** Whether numbers stand in the order of a key; false where there is a NULL or a NaN. */
function isOrdered(vector: Vector, { descending }: OrderKey): boolean {
  if (vector.kind !== 'number' || vector.nulls !== undefined) return false;
  const { values, count } = vector;
  if (Number.isNaN(values[0])) return false;
  for (let row = 1; row < count; row++) {
    const isBehind = descending
      ? values[row]! <= values[row - 1]!
      : values[row]! >= values[row - 1]!;
    if (!isBehind) return false;
  }
  return true;
}

function isPast(key: OrderKey, vector: Vector, row: number, floor: SqlValue): boolean {
  if (vector.kind === 'number' && typeof floor === 'number' && vector.nulls === undefined) {
    const value = vector.values[row]!;
    return key.descending ? value < floor : value > floor;
  }
  return compareByKey(key, valueAt(vector, row), floor) > 0;
}

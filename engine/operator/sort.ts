import { assert } from '../assert.ts';
import { carvedFloat64, carvedInt32, carvedUint8 } from '../column/arrays.ts';
import type { Chunk, VectorFunction } from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { ByteRange } from '../column/skeleton.ts';
import { TextBlock } from '../column/text-block.ts';
import type { SqlValue } from '../column/value.ts';
import {
  type Dictionary,
  type DictionaryVector,
  isOfStrings,
  type NumberVector,
  type StringDictionary,
  type Vector,
  valueAt,
} from '../column/vector.ts';
import { compareRanges, encodeWtf8 } from '../column/wtf8.ts';
import { compareByKey, compareValues, type OrderDirection } from '../function/comparison.ts';
import { MATERIALIZED_ROWS_MAX } from '../limits.ts';
import { concatVectors } from './merge-vectors.ts';
import {
  CollectSink,
  concatChunks,
  detachedChunk,
  pushInChunks,
  type Sink,
  tooManyRows,
} from './sink.ts';

/** Keeps all rows and gives them sorted: by the keys, rows equal in all of them as they came. */
export class SortSink implements Sink {
  readonly #keys: readonly OrderKey[];
  readonly #rows: CollectSink;

  /** `width` is the number of columns of the rows; `rowsMax` as in `CollectSink`. */
  constructor(options: {
    readonly keys: readonly OrderKey[];
    readonly width: number;
    readonly rowsMax?: number;
  }) {
    this.#keys = options.keys;
    this.#rows = new CollectSink(options.width, options.rowsMax);
  }

  push(chunk: Chunk): boolean {
    return this.#rows.push(chunk);
  }

  /** All rows, sorted, in one chunk of any length. */
  finalize(): Chunk {
    const { chunks, rowCount } = this.#rows;
    const keyVectors = this.#keys.map((key) => concatVectors(chunks.map(key.expression)));
    const rows = sortedRows(this.#keys, keyVectors, rowCount);
    return this.#rows.materialize().select(rows, rowCount);
  }

  /** Pushes all rows, sorted; what `sink` answered last. */
  emit(sink: Sink): boolean {
    return pushInChunks(this.finalize(), sink);
  }
}

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
    if (this.floor() === undefined) return chunk;
    const last = this.#heap[0]!;
    const key = this.#keys[0]!;
    const vector = key.expression(chunk);
    const positions = carvedInt32(chunk.count);
    let count = 0;
    for (let row = 0; row < chunk.count; row++) {
      positions[count] = row;
      count += isPast(key, vector, row, last) ? 0 : 1;
    }
    return count === chunk.count ? chunk : chunk.select(positions, count);
  }

  #offer(held: HeldChunk, position: number, vectors: readonly Vector[]): void {
    const heap = this.#heap;
    const isFull = heap.length === this.#countMax;
    if (isFull && this.#isNotBefore(vectors, position, heap[0]!)) return;
    const values = vectors.map((vector) => valueAt(vector, position));
    const entry: Entry = { values, texts: [], sequence: this.#sequence++, held, position };
    if (!isFull) {
      if (heap.length === this.#rowsMax) throw tooManyRows(this.#rowsMax);
      this.#hold(held);
      heap.push(entry);
      if (heap.length === this.#countMax) this.#makeHeap();
    } else {
      this.#hold(held);
      this.#release(heap[0]!.held);
      heap[0] = entry;
      this.#siftDown(0);
    }
  }

  /** Whether a row, the newest, does not come before an entry. Makes no string of the row. */
  #isNotBefore(vectors: readonly Vector[], position: number, entry: Entry): boolean {
    for (const [index, vector] of vectors.entries()) {
      const key = this.#keys[index]!;
      const order = textOrder(key, { vector, position }, { entry, index });
      const known = order ?? compareByKey(key, valueAt(vector, position), entry.values[index]!);
      if (known !== 0) return known > 0;
    }
    return true;
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
  /** Those of `values` that are strings, as bytes, where they were asked for. */
  readonly texts: Uint8Array[];
  readonly sequence: number;
  held: HeldChunk;
  position: number;
};

/** How a row stands to an entry by one key, where both are strings and that of the row lies as bytes. */
function textOrder(
  { descending }: OrderKey,
  { vector, position }: { readonly vector: Vector; readonly position: number },
  { entry, index }: { readonly entry: Entry; readonly index: number },
): number | undefined {
  const value = entry.values[index];
  if (typeof value !== 'string' || vector.kind !== 'dictionary') return undefined;
  const { codes, dictionary } = vector;
  if (!isOfStrings(dictionary) || codes[position]! < 0) return undefined;
  entry.texts[index] ??= new Uint8Array(encodeWtf8(value));
  const bytes = entry.texts[index];
  const order = compareRanges(dictionary.range(codes[position]!), {
    bytes,
    start: 0,
    end: bytes.length,
  });
  return descending ? -order : order;
}

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

/** Whether a row comes after an entry in the order of the first key. */
function isPast(key: OrderKey, vector: Vector, position: number, entry: Entry): boolean {
  const floor = entry.values[0]!;
  if (vector.kind === 'number' && typeof floor === 'number' && vector.nulls === undefined) {
    const value = vector.values[position]!;
    return key.descending ? value < floor : value > floor;
  }
  const order = textOrder(key, { vector, position }, { entry, index: 0 });
  return (order ?? compareByKey(key, valueAt(vector, position), floor)) > 0;
}

/** One key of an ORDER BY. */
export type OrderKey = OrderDirection & { readonly expression: VectorFunction };

/**
 * The rows [0, count) in order: by the keys, then by row, so that the order is total. `vectors`
 * are the keys' values, parallel to `keys`.
 */
export function sortedRows(
  keys: readonly OrderDirection[],
  vectors: readonly Vector[],
  count: number,
): Int32Array {
  const rows = carvedInt32(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  const comparators = keys.flatMap((key, index) => {
    const comparator = rowComparator(key, vectors[index]!);
    return comparator === undefined ? [] : [comparator];
  });
  if (comparators.length === 0) return rows;
  const compare = chainComparators(comparators);
  if (!isSorted(rows, compare)) rows.sort(compare);
  return rows;
}

type RowComparator = (left: number, right: number) => number;

/** Compares rows by the keys alone: 0 if all keys are equal. */
export function keyComparator(
  keys: readonly OrderDirection[],
  vectors: readonly Vector[],
): RowComparator {
  const comparators = keys.flatMap((key, index) => rowComparator(key, vectors[index]!) ?? []);
  const [first] = comparators;
  if (first === undefined) return () => 0;
  if (comparators.length === 1) return first;
  return (left, right) => {
    for (const compare of comparators) {
      const order = compare(left, right);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function chainComparators(comparators: readonly RowComparator[]): RowComparator {
  const [first, second] = comparators as [RowComparator, RowComparator | undefined];
  if (comparators.length === 1) return (left, right) => first(left, right) || left - right;
  if (comparators.length === 2 && second !== undefined) {
    return (left, right) => first(left, right) || second(left, right) || left - right;
  }
  return (left, right) => {
    for (const compare of comparators) {
      const order = compare(left, right);
      if (order !== 0) return order;
    }
    return left - right;
  };
}

/** Rows often come sorted already: a log is one. */
function isSorted(rows: Int32Array, compare: RowComparator): boolean {
  for (let row = 1; row < rows.length; row++) {
    if (compare(row - 1, row) > 0) return false;
  }
  return true;
}

/** Compares rows by one key; `undefined` when all rows are equal in it. */
function rowComparator(key: OrderDirection, vector: Vector): RowComparator | undefined {
  if (vector.kind === 'constant') return undefined;
  if (vector.kind === 'number') return numberComparator(key, vector);
  if (vector.kind === 'dictionary') return numberComparator(key, dictionaryRanks(vector));
  const values = Array.from({ length: vector.count }, (_, row) => valueAt(vector, row));
  return (left, right) => compareByKey(key, values[left]!, values[right]!);
}

/** The fast form of `compareByKey` for numbers. */
function numberComparator(key: OrderDirection, vector: NumberVector): RowComparator {
  const { values, nulls } = vector;
  const sign = key.descending ? -1 : 1;
  if (nulls === undefined) {
    return (left, right) => sign * compareNumbers(values[left]!, values[right]!);
  }
  const nullOrder = key.nullsFirst ? -1 : 1;
  return (left, right) => {
    const nullDifference = nulls[left]! - nulls[right]!;
    if (nullDifference !== 0) return nullDifference * nullOrder;
    return nulls[left] === 1 ? 0 : sign * compareNumbers(values[left]!, values[right]!);
  };
}

/** NaN is below all other numbers, as in GoogleSQL. */
function compareNumbers(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  if (left === right) return 0;
  return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
}

/** Sorts the distinct codes once, so that rows compare by rank; equal values have equal ranks. */
function dictionaryRanks({ codes, count, dictionary }: DictionaryVector): NumberVector {
  const ranks = carvedFloat64(count);
  const nulls = carvedUint8(count);
  const rankOf = new Map<number, number>([[NULL_CODE, 0]]);
  for (let row = 0; row < count; row++) rankOf.set(codes[row]!, 0);
  rankOf.delete(NULL_CODE);
  const used = Int32Array.from(rankOf.keys());
  const compare = isOfStrings(dictionary)
    ? textComparator(dictionary, used)
    : valueComparator(dictionary, used);
  const order = used.map((_, index) => index).sort(compare);
  let rank = 0;
  for (let at = 0; at < order.length; at++) {
    if (at > 0 && compare(order[at - 1]!, order[at]!) !== 0) rank++;
    rankOf.set(used[order[at]!]!, rank);
  }
  for (let row = 0; row < count; row++) {
    const code = codes[row]!;
    if (code < 0) nulls[row] = 1;
    else ranks[row] = rankOf.get(code)!;
  }
  return { kind: 'number', count, values: ranks, nulls };
}

const NULL_CODE = -1;

function valueComparator(dictionary: Dictionary, codes: Int32Array): RowComparator {
  const values = Array.from(codes, (code) => dictionary.value(code));
  return (left, right) => compareValues(values[left]!, values[right]!);
}

/** Of strings their bytes, which compare as their code points do. */
function textComparator(dictionary: StringDictionary, codes: Int32Array): RowComparator {
  const texts = new TextBlock(codes.length);
  for (const code of codes) {
    const { bytes, start, end } = dictionary.range(code);
    texts.add(bytes, start, end);
  }
  const { bytes, offsets } = texts.block;
  const text = (index: number): ByteRange => {
    return { bytes, start: offsets[index]!, end: offsets[index + 1]! };
  };
  return (left, right) => compareRanges(text(left), text(right));
}

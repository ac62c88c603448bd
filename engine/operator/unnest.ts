import { carvedFloat64 } from '../column/arrays.ts';
import {
  type Chunk,
  consecutivePositions,
  PairChunk,
  VectorChunk,
  type VectorFunction,
} from '../column/chunk.ts';
import { isNested, type SqlValue } from '../column/value.ts';
import {
  constantVector,
  numberVector,
  type UnnestedElements,
  type Vector,
  valueAt,
  valueVector,
} from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { Expansion, type ExpansionOptions, type Pairs } from './join.ts';
import type { Checkpoint, Sink } from './sink.ts';

export type UnnestOptions = {
  readonly array: VectorFunction;
  /** Columns of the input. The element follows them, then its offset if asked for. */
  readonly inputWidth: number;
  readonly withOffset: boolean;
  /** Whether a row without elements is kept, with NULLs. */
  readonly outer: boolean;
  /** Over the output row: elements for which it does not hold are no elements. */
  readonly on?: VectorFunction | undefined;
  readonly checkpoint?: Checkpoint;
};

/** One row for each element of each row's array, in order. */
export class UnnestOperator implements Sink {
  readonly #options: UnnestOptions;
  readonly #expansion: ExpansionOptions;
  readonly #sink: Sink;

  constructor(options: UnnestOptions, sink: Sink) {
    this.#options = options;
    const { inputWidth, on, outer, checkpoint } = options;
    this.#expansion = { leftWidth: inputWidth, on, outer, checkpoint };
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    const array = this.#options.array(chunk);
    if (array.kind === 'nested') return this.#pushElements(chunk, array.source.unnest(array));
    if (array.form === 'text lists') return this.#pushElements(chunk, array.unnested());
    return this.#pushLists(chunk, array);
  }

  #pushElements(chunk: Chunk, unnested: UnnestedElements): boolean {
    const { count } = chunk;
    const { inputWidth, withOffset, on } = this.#options;
    if (unnested.parents === undefined && on === undefined) {
      // Each row has exactly one element: the usual metadata. The input passes as it is.
      const offsets = withOffset ? [constantVector(0, count)] : [];
      const right = new VectorChunk([unnested.elements, ...offsets], count);
      return this.#sink.push(new PairChunk(chunk, inputWidth, right));
    }
    const parents = unnested.parents ?? consecutivePositions(0, count);
    const columns = [unnested.elements];
    if (withOffset) columns.push(offsetsWithin(parents, unnested.count));
    const right = new VectorChunk(columns, unnested.count);
    const expansion = new Expansion(chunk, this.#expansion, this.#sink);
    for (let start = 0; start === 0 || start < unnested.count; start += CHUNK_ROWS_MAX) {
      const end = Math.min(start + CHUNK_ROWS_MAX, unnested.count);
      const completeRow = end === unnested.count ? count : parents[end]!;
      const pairs = {
        parents: parents.slice(start, end),
        rightRows: consecutivePositions(start, end),
        count: end - start,
        right,
      };
      if (!expansion.push(pairs, completeRow)) return false;
    }
    return true;
  }

  /** Lists of any other form, portion by portion: they may be two thousand times a million long. */
  #pushLists(chunk: Chunk, array: Vector): boolean {
    const expansion = new Expansion(chunk, this.#expansion, this.#sink);
    const readList = listReader(array);
    let portion = new Portion(this.#options.withOffset);
    for (let row = 0; row < chunk.count; row++) {
      const list = readList(row);
      for (let offset = 0; offset < list.length; offset++) {
        if (portion.count === CHUNK_ROWS_MAX) {
          if (!expansion.push(portion.pairs(), row)) return false;
          portion = new Portion(this.#options.withOffset);
        }
        portion.add(row, list[offset]!, offset);
      }
    }
    return expansion.push(portion.pairs(), chunk.count);
  }
}

/** Elements as they are gathered, up to CHUNK_ROWS_MAX of them. */
class Portion {
  readonly #withOffset: boolean;
  readonly #parents = new Int32Array(CHUNK_ROWS_MAX);
  readonly #offsets = new Float64Array(CHUNK_ROWS_MAX);
  readonly #elements: SqlValue[] = [];

  constructor(withOffset: boolean) {
    this.#withOffset = withOffset;
  }

  get count(): number {
    return this.#elements.length;
  }

  add(parent: number, element: SqlValue, offset: number): void {
    this.#parents[this.count] = parent;
    this.#offsets[this.count] = offset;
    this.#elements.push(element);
  }

  pairs(): Pairs {
    const count = this.count;
    const columns: Vector[] = [elementVector(this.#elements)];
    if (this.#withOffset) columns.push(numberVector(this.#offsets, count));
    return {
      parents: this.#parents,
      rightRows: consecutivePositions(0, count),
      count,
      right: new VectorChunk(columns, count),
    };
  }
}

/** Lists of numbers are what generated arrays are: timestamps, mostly. */
function elementVector(elements: readonly SqlValue[]): Vector {
  if (elements.every((element) => typeof element === 'number')) {
    return numberVector(Float64Array.from(elements), elements.length);
  }
  return valueVector(elements);
}

const NO_ELEMENTS: readonly SqlValue[] = [];

/** The elements of each row's value; scalars have none. A constant's are read once. */
function listReader(array: Vector): (row: number) => readonly SqlValue[] {
  if (array.kind === 'constant') {
    const list = elementsOf(array.value);
    return () => list;
  }
  if (array.kind === 'number' || array.kind === 'boolean') return () => NO_ELEMENTS;
  return (row) => elementsOf(valueAt(array, row));
}

function elementsOf(value: SqlValue): readonly SqlValue[] {
  if (Array.isArray(value)) return value;
  return isNested(value) ? value.elements() : NO_ELEMENTS;
}

/** The position of each element within its parent's list. */
function offsetsWithin(parents: Int32Array, count: number): Vector {
  const offsets = carvedFloat64(count);
  for (let i = 1; i < count; i++) {
    offsets[i] = parents[i] === parents[i - 1] ? offsets[i - 1]! + 1 : 0;
  }
  return numberVector(offsets, count);
}

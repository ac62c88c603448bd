import { carvedInt32 } from './arrays.ts';
import { consecutivePositions } from './chunk.ts';
import type { NumberValues } from './number-values.ts';
import type { UnsignedArray } from './slice.ts';

/** The rows of one chunk and their skeletons. Arrays are made when somebody reads them. */
export abstract class ChunkRows {
  abstract readonly count: number;
  abstract readonly rows: Int32Array;
  /** Skeleton of each row. */
  abstract readonly codes: Int32Array;
  /** Each skeleton that occurs, once. */
  abstract readonly distinct: Int32Array;
  /** The first row, where they are consecutive. */
  abstract readonly start: number | undefined;
  protected readonly skeletonCount: number;

  constructor(skeletonCount: number) {
    this.skeletonCount = skeletonCount;
  }

  /** The rows at `positions[0, count)`; `undefined` where some are -1, no row at all. */
  take(positions: Int32Array, count: number): ChunkRows | undefined {
    for (let i = 0; i < count; i++) if (positions[i]! < 0) return undefined;
    const rows = this.rowsAt(positions, count);
    const codes =
      this.distinct.length === 1
        ? carvedInt32(count).fill(this.distinct[0]!)
        : gather(this.codes, positions, count);
    return new ListedRows(rows, codes, this.skeletonCount);
  }

  protected rowsAt(positions: Int32Array, count: number): Int32Array {
    return gather(this.rows, positions, count);
  }
}

/** Rows one by one. */
export class ListedRows extends ChunkRows {
  readonly count: number;
  readonly rows: Int32Array;
  readonly codes: Int32Array;
  readonly start: number | undefined = undefined;
  #distinct: Int32Array | undefined;

  /** As many codes as rows, or more. */
  constructor(rows: Int32Array, codes: Int32Array, skeletonCount: number) {
    super(skeletonCount);
    this.count = rows.length;
    this.rows = rows;
    this.codes = codes;
  }

  get distinct(): Int32Array {
    this.#distinct ??= distinctOf(this.codes, { start: 0, count: this.count }, this.skeletonCount);
    return this.#distinct;
  }
}

/** Consecutive rows. */
export class RangeRows extends ChunkRows {
  readonly start: number;
  readonly count: number;
  readonly distinct: Int32Array;
  readonly #skeletons: NumberValues;
  #rows: Int32Array | undefined;
  #codes: Int32Array | undefined;

  /** `skeletons`: of all rows of the segment. */
  constructor(range: Range, skeletons: NumberValues, skeletonCount: number) {
    super(skeletonCount);
    this.start = range.start;
    this.count = range.count;
    this.distinct = distinctOfRange(skeletons, range, skeletonCount);
    this.#skeletons = skeletons;
  }

  get rows(): Int32Array {
    this.#rows ??= consecutivePositions(this.start, this.start + this.count);
    return this.#rows;
  }

  get codes(): Int32Array {
    this.#codes ??= this.#skeletons.gatherIntegers(this.rows, this.count);
    return this.#codes;
  }

  protected override rowsAt(positions: Int32Array, count: number): Int32Array {
    const rows = carvedInt32(count);
    for (let i = 0; i < count; i++) rows[i] = this.start + positions[i]!;
    return rows;
  }
}

function gather(values: Int32Array, positions: Int32Array, count: number): Int32Array {
  const gathered = carvedInt32(count);
  for (let i = 0; i < count; i++) gathered[i] = values[positions[i]!]!;
  return gathered;
}

/** For each skeleton the number of the chunk it was last met in, whichever segment's it was then. */
let stamps = new Uint32Array(0);
let chunkCount = 0;
const CHUNK_COUNT_MAX = 2 ** 32 - 1;

/** Where the distinct skeletons of one chunk are collected. */
let distinctOfChunk = new Int32Array(0);

/** Some consecutive entries. */
type Range = { readonly start: number; readonly count: number };

/** Each skeleton of some consecutive rows once, of a segment with so many. */
function distinctOfRange(skeletons: NumberValues, range: Range, skeletonCount: number): Int32Array {
  const { codes, coding } = skeletons;
  if (codes === undefined) return Int32Array.of(skeletons.value(range.start));
  const distinct = distinctOf(codes, range, skeletonCount);
  for (let i = 0; i < distinct.length; i++) distinct[i] = coding.value(distinct[i]!);
  return distinct;
}

/** Each of the entries of a range once; all are below `limit`. */
function distinctOf(
  codes: UnsignedArray | Int32Array,
  { start, count }: Range,
  limit: number,
): Int32Array {
  if (stamps.length < limit || chunkCount === CHUNK_COUNT_MAX) {
    stamps = new Uint32Array(Math.max(limit, stamps.length));
    chunkCount = 0;
  }
  chunkCount += 1;
  if (distinctOfChunk.length < limit) distinctOfChunk = new Int32Array(limit);
  // One loop per width, so that each sees one kind of array.
  let size = 0;
  if (codes instanceof Uint8Array) size = collectDistinctBytes(codes, start, start + count);
  else if (codes instanceof Uint16Array) size = collectDistinctShorts(codes, start, start + count);
  else size = collectDistinct(codes, start, start + count);
  return distinctOfChunk.slice(0, size);
}

function collectDistinctBytes(codes: Uint8Array, start: number, end: number): number {
  const [chunks, chunk, distinct] = [stamps, chunkCount, distinctOfChunk];
  let size = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i]!;
    if (chunks[code] === chunk) continue;
    chunks[code] = chunk;
    distinct[size++] = code;
  }
  return size;
}

function collectDistinctShorts(codes: Uint16Array, start: number, end: number): number {
  const [chunks, chunk, distinct] = [stamps, chunkCount, distinctOfChunk];
  let size = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i]!;
    if (chunks[code] === chunk) continue;
    chunks[code] = chunk;
    distinct[size++] = code;
  }
  return size;
}

function collectDistinct(codes: Uint32Array | Int32Array, start: number, end: number): number {
  const [chunks, chunk, distinct] = [stamps, chunkCount, distinctOfChunk];
  let size = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i]!;
    if (chunks[code] === chunk) continue;
    chunks[code] = chunk;
    distinct[size++] = code;
  }
  return size;
}

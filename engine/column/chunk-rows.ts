import { carvedInt32, threadArrays } from './arrays.ts';
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

/** Some consecutive entries. */
type Range = { readonly start: number; readonly count: number };

/** Each skeleton of some consecutive rows once, of a segment with so many. */
function distinctOfRange(skeletons: NumberValues, range: Range, skeletonCount: number): Int32Array {
  if (skeletons.isConstant) return Int32Array.of(skeletons.value(range.start));
  const { codes, coding } = skeletons;
  if (codes === undefined) {
    const rows = consecutivePositions(range.start, range.start + range.count);
    const { count } = range;
    return distinctOf(skeletons.gatherIntegers(rows, count), { start: 0, count }, skeletonCount);
  }
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
  const met = threadArrays.borrowZeros(Uint8Array, limit);
  const distinct = threadArrays.borrow(Int32Array, limit);
  const end = start + count;
  // One loop per width, so that each sees one kind of array.
  let size = 0;
  if (codes instanceof Uint8Array) size = collectBytes(codes, start, end, { met, distinct });
  else if (codes instanceof Uint16Array) size = collectShorts(codes, start, end, { met, distinct });
  else size = collectWords(codes, start, end, { met, distinct });
  const own = distinct.slice(0, size);
  for (const code of own) met[code] = 0;
  threadArrays.giveBackZeros(met);
  threadArrays.giveBack(distinct);
  return own;
}

/** 1 in `met` for each of the entries in `distinct`. */
type Collected = { readonly met: Uint8Array; readonly distinct: Int32Array };

function collectBytes(
  codes: Uint8Array,
  start: number,
  end: number,
  { met, distinct }: Collected,
): number {
  let size = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i]!;
    if (met[code] === 1) continue;
    met[code] = 1;
    distinct[size++] = code;
  }
  return size;
}

function collectShorts(
  codes: Uint16Array,
  start: number,
  end: number,
  { met, distinct }: Collected,
): number {
  let size = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i]!;
    if (met[code] === 1) continue;
    met[code] = 1;
    distinct[size++] = code;
  }
  return size;
}

function collectWords(
  codes: Uint32Array | Int32Array,
  start: number,
  end: number,
  { met, distinct }: Collected,
): number {
  let size = 0;
  for (let i = start; i < end; i++) {
    const code = codes[i]!;
    if (met[code] === 1) continue;
    met[code] = 1;
    distinct[size++] = code;
  }
  return size;
}

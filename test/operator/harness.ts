import assert from 'node:assert/strict';
import { type Chunk, VectorChunk, type VectorFunction } from '../../engine/column/chunk.ts';
import type { ByteRange } from '../../engine/column/skeleton.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  booleanVector,
  type Dictionary,
  dictionaryVector,
  FALSE,
  numberVector,
  type StringBlock,
  TRUE,
  UNKNOWN,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';
import type { Sink } from '../../engine/operator/sink.ts';

export type Row = readonly SqlValue[];

/** Keeps what is pushed, as rows; wants no more after `rowsMax`. */
export class RowSink implements Sink {
  readonly rows: SqlValue[][] = [];
  readonly chunkSizes: number[] = [];
  readonly #width: number;
  readonly #rowsMax: number;

  constructor(width: number, rowsMax = Number.POSITIVE_INFINITY) {
    this.#width = width;
    this.#rowsMax = rowsMax;
  }

  push(chunk: Chunk): boolean {
    this.chunkSizes.push(chunk.count);
    this.rows.push(...rowsOf(chunk, this.#width));
    return this.rows.length < this.#rowsMax;
  }
}

/** The rows that an operator gives at its end. */
export function emittedRows(from: { emit(sink: Sink): boolean }, width: number): SqlValue[][] {
  const rows = new RowSink(width);
  from.emit(rows);
  return rows.rows;
}

export function rowsOf(chunk: Chunk, width: number): SqlValue[][] {
  const vectors = Array.from({ length: width }, (_, index) => chunk.column(index));
  return Array.from({ length: chunk.count }, (_, row) =>
    vectors.map((vector) => plain(valueAt(vector, row))),
  );
}

/** -0 reads as 0: no SQL tells them apart. */
function plain(value: SqlValue): SqlValue {
  return value === 0 ? 0 : value;
}

/** A chunk of rows, each column in the best form for its values. */
export function chunkOf(rows: readonly Row[], width = rows[0]?.length ?? 0): Chunk {
  const columns = Array.from({ length: width }, (_, index) =>
    bestVector(rows.map((row) => row[index]!)),
  );
  return new VectorChunk(columns, rows.length);
}

export function column(index: number): VectorFunction {
  return (chunk) => chunk.column(index);
}

export function bestVector(values: readonly SqlValue[]): Vector {
  const present = values.filter((value) => value !== null);
  if (present.length > 0 && present.every((value) => typeof value === 'number')) {
    return numbers(values as readonly (number | null)[]);
  }
  if (present.length > 0 && present.every((value) => typeof value === 'boolean')) {
    return booleans(values as readonly (boolean | null)[]);
  }
  if (present.length > 0 && present.every((value) => typeof value === 'string')) {
    return strings(values as readonly (string | null)[]);
  }
  return valueVector(values);
}

export function numbers(values: readonly (number | null)[]): Vector {
  const nulls = values.includes(null)
    ? Uint8Array.from(values, (value) => (value === null ? 1 : 0))
    : undefined;
  return numberVector(
    Float64Array.from(values, (value) => value ?? 77),
    values.length,
    nulls,
  );
}

export function booleans(values: readonly (boolean | null)[]): Vector {
  const truths = values.map((value) => (value === null ? UNKNOWN : value ? TRUE : FALSE));
  return booleanVector(Uint8Array.from(truths), values.length);
}

/** Strings in one block, as a segment has them; codes in the order the strings are first met. */
export function strings(values: readonly (string | null)[]): Vector {
  const distinct = [...new Set(values.filter((value) => value !== null))];
  const dictionary = new BlockDictionary(distinct);
  const codes = Int32Array.from(values, (value) => (value === null ? -1 : distinct.indexOf(value)));
  return dictionaryVector(codes, values.length, dictionary);
}

/** A dictionary of strings that counts how often one of them is read. */
export class BlockDictionary implements Dictionary {
  readonly size: number;
  readonly isDistinct = true;
  readonly strings: StringBlock;
  readCount = 0;

  constructor(values: readonly string[]) {
    this.size = values.length;
    const offsets = new Uint32Array(values.length + 1);
    for (const [index, value] of values.entries()) {
      offsets[index + 1] = offsets[index]! + Buffer.byteLength(value);
    }
    this.strings = { bytes: Buffer.from(values.join('')), offsets };
  }

  value(code: number): string {
    this.readCount++;
    const { bytes, start, end } = this.range(code);
    return Buffer.from(bytes.subarray(start, end)).toString();
  }

  range(code: number): ByteRange {
    const { bytes, offsets } = this.strings;
    return { bytes, start: offsets[code]!, end: offsets[code + 1]! };
  }
}

/** A dictionary of any values, as derived columns have. */
export function valueDictionary(values: readonly SqlValue[]): Dictionary {
  return { size: values.length, isDistinct: false, value: (code) => values[code]! };
}

/** One way to drive an operator: makes it over a sink; `finish` when it gives rows at the end. */
export type OperatorUnderTest = {
  readonly width: number;
  readonly make: (sink: Sink) => Sink & { readonly emit?: (sink: Sink) => boolean };
};

/**
 * Expects the rows out for the rows in, over one chunk, over chunks of one row, of three, and over
 * chunks that are selections of larger ones.
 */
export function expectRows(
  operator: OperatorUnderTest,
  rowsIn: readonly Row[],
  rowsOut: readonly Row[],
): void {
  for (const chunks of divisions(rowsIn)) {
    const sink = new RowSink(operator.width);
    const under = operator.make(sink);
    for (const chunk of chunks) if (!under.push(chunk)) break;
    under.emit?.(sink);
    assert.deepEqual(sink.rows, rowsOut, `over chunks of ${chunks.map((chunk) => chunk.count)}`);
  }
}

export function divisions(rows: readonly Row[]): Chunk[][] {
  const width = rows[0]?.length ?? 0;
  const splits = [rows.length, 1, 3].map((size) => {
    const chunks: Chunk[] = [];
    for (let start = 0; start < rows.length; start += size) {
      chunks.push(chunkOf(rows.slice(start, start + size), width));
    }
    return chunks;
  });
  const doubled = chunkOf(
    rows.flatMap((row) => [row, row]),
    width,
  );
  const evens = Int32Array.from(rows, (_, index) => 2 * index);
  return [...splits, [doubled.select(evens, rows.length)]];
}

import { must } from '../assert.ts';
import { consecutivePositions } from './chunk.ts';
import { NumberValues } from './number-values.ts';
import { openPositions, type Positions, rangeStart } from './positions.ts';
import type { LeafFooter, SealedFooter } from './sealed-layout.ts';
import type { RowSpan } from './segment.ts';
import type { SliceSource } from './slice.ts';
import type { StringEntries } from './string-entries.ts';
import { PlainStrings, StringValues } from './string-values.ts';
import { dictionaryVector, type Vector } from './vector.ts';

/** A column of one class of leaves. Exactly one of `numbers` and `strings` is there. */
export type LeafColumn = {
  readonly positions: Positions;
  readonly numbers: NumberValues | undefined;
  readonly strings: StringValues | undefined;
};

/** The only value of each of some consecutive rows, as they lie; `undefined` where some have several. */
export function rangeOfColumn(
  column: LeafColumn,
  start: number,
  count: number,
): Vector | undefined {
  const { positions, numbers, strings } = column;
  const first = rangeStart(positions, start, count);
  if (first < 0) return undefined;
  if (strings !== undefined) return strings.range(first, count);
  return must(numbers).range({ start: first, count, isAscending: false });
}

/** The first value of each of some rows, all of which have one. */
export function firstsOfColumn(column: LeafColumn, rows: Int32Array, count: number): Vector {
  const { positions, numbers, strings } = column;
  const located = positions.locate(rows, count);
  if (strings === undefined) return must(numbers).take(located, count);
  return dictionaryVector(strings.gather(located, count), count, strings.entries);
}

/** The rare leaves, all in one. */
export type Residual = {
  readonly positions: Positions;
  /** Numbers, or codes of entries. */
  readonly slots: Float64Array;
  readonly entries: StringEntries;
};

/**
 * The leaf columns of a sealed segment and its residual. Each is opened when it is first asked for,
 * and here alone: nobody reads the arrays of a column that was not asked for.
 */
export class LeafColumns {
  readonly #source: SliceSource;
  readonly #footer: Pick<SealedFooter, 'leaves' | 'residual'>;
  readonly #columns: (LeafColumn | undefined)[];
  #residual: Residual | undefined;

  constructor(source: SliceSource, footer: Pick<SealedFooter, 'leaves' | 'residual'>) {
    this.#source = source;
    this.#footer = footer;
    this.#columns = new Array<LeafColumn | undefined>(footer.leaves.length).fill(undefined);
  }

  /** Whether arrays of some columns are not where the others are. */
  get hasApart(): boolean {
    return this.#source.hasApart;
  }

  column(index: number): LeafColumn {
    this.#columns[index] ??= this.#open(must(this.#footer.leaves[index]));
    return this.#columns[index];
  }

  /** The first value of each of some rows, all of which have one. */
  firsts(index: number, rows: Int32Array | RowSpan): Vector {
    const column = this.column(index);
    if (rows instanceof Int32Array) return firstsOfColumn(column, rows, rows.length);
    const { start, count } = rows;
    const range = rangeOfColumn(column, start, count);
    return range ?? firstsOfColumn(column, consecutivePositions(start, start + count), count);
  }

  get residual(): Residual {
    this.#residual ??= this.#openResidual();
    return this.#residual;
  }

  #open({ positions, numbers, strings }: LeafFooter): LeafColumn {
    // A column lies in one that lies in no other: this goes one level deep.
    const entriesOf = (column: number) => must(this.column(column).strings).entries;
    return {
      positions: openPositions(this.#source, positions),
      numbers: numbers === null ? undefined : new NumberValues(this.#source, numbers),
      strings: strings === null ? undefined : new StringValues(this.#source, strings, entriesOf),
    };
  }

  #openResidual(): Residual {
    const { positions, slots, strings } = this.#footer.residual;
    const block = {
      bytes: this.#source.bytes(strings.bytes),
      offsets: this.#source.unsigned32(strings.offsets),
    };
    return {
      positions: openPositions(this.#source, positions),
      slots: this.#source.floats64(slots),
      entries: new PlainStrings(block, {
        size: strings.count,
        isDistinct: true,
        isPerValue: false,
      }),
    };
  }
}

import { assert, must } from '../assert.ts';
import { consecutivePositions } from './chunk.ts';
import { FlatRows } from './flat-rows.ts';
import { type JsonBuffer, type JsonWriter, numberText } from './json-buffer.ts';
import type { JsonTemplate } from './json-template.ts';
import { RESIDUAL_COLUMN } from './leaf-plan.ts';
import { NumberValues } from './number-values.ts';
import { openPositions, type Positions, rangeStart } from './positions.ts';
import type { LeafFooter, SealedFooter } from './sealed-layout.ts';
import type { RowSpan } from './segment.ts';
import type { ByteRange, ListedPlaces, SlotStore } from './skeleton.ts';
import type { SliceSource } from './slice.ts';
import type { StringEntries } from './string-footer.ts';
import { PlainStrings, StringValues } from './string-values.ts';
import { TEXT } from './token.ts';
import { dictionaryVector, type Vector, valueVector } from './vector.ts';

/** Of each place its column, and which of the values of a row in that column is there: see `SealedFooter`. */
export type SlotPlaces = {
  readonly slotColumns: Uint16Array;
  readonly slotOrdinals: NumberValues;
};

export function openSlotPlaces(
  source: SliceSource,
  { slotColumns, slotOrdinals }: SealedFooter['skeletons'],
): SlotPlaces {
  return {
    slotColumns: source.unsigned16(slotColumns),
    slotOrdinals: new NumberValues(source, slotOrdinals),
  };
}

/** A longer constant is not worth its copy in each template. */
const CONSTANT_SIZE_MAX = 64;

/** Leaf columns and the residual of a sealed segment, by the places of its skeletons. */
export class SealedSlotStore implements SlotStore {
  readonly #leaves: LeafColumns;
  readonly #slotColumns: Uint16Array;
  readonly #slotOrdinals: NumberValues;
  readonly #rows: FlatRows;

  /** `leaves`: of the same columns, where others read them, too. */
  constructor(
    source: SliceSource,
    columns: Pick<SealedFooter, 'leaves' | 'residual'>,
    places: SlotPlaces,
    leaves: LeafColumns = new LeafColumns(source, columns),
  ) {
    this.#leaves = leaves;
    this.#slotColumns = places.slotColumns;
    this.#slotOrdinals = places.slotOrdinals;
    this.#rows = new FlatRows(leaves, source, columns.leaves, places);
  }

  numbers(rows: Int32Array, places: Int32Array, count: number): Float64Array {
    const column = this.#commonColumn(places, count);
    if (column !== undefined && column !== RESIDUAL_COLUMN) {
      const positions = this.#positions(column, rows, places, count);
      return must(this.#leaves.column(column).numbers).gather(positions, count);
    }
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      if (places[i]! >= 0) values[i] = this.number(rows[i]!, places[i]!);
    }
    return values;
  }

  strings(rows: Int32Array, places: Int32Array, count: number): Vector {
    const column = this.#commonColumn(places, count);
    if (column === undefined) {
      return valueVector(
        Array.from({ length: count }, (_, i) =>
          places[i]! < 0 ? null : this.text(rows[i]!, places[i]!),
        ),
      );
    }
    if (column === RESIDUAL_COLUMN) {
      const codes = new Int32Array(count);
      for (let i = 0; i < count; i++) {
        codes[i] = places[i]! < 0 ? -1 : this.#residualSlot(rows[i]!, places[i]!);
      }
      return dictionaryVector(codes, count, this.#leaves.residual.entries);
    }
    const strings = must(this.#leaves.column(column).strings);
    const codes = strings.gather(this.#positions(column, rows, places, count), count);
    for (let i = 0; i < count; i++) if (places[i]! < 0) codes[i] = -1;
    return dictionaryVector(codes, count, strings.entries);
  }

  range({ start, count }: RowSpan, places: Int32Array, placeCount: number): Vector | undefined {
    const column = this.#columnOfFirsts(places, placeCount);
    return column && rangeOfColumn(column, start, count);
  }

  list({ rows, count, places, placeCount }: ListedPlaces): Vector | undefined {
    const column = this.#columnOfFirsts(places, placeCount);
    return column && firstsOfColumn(column, rows, count);
  }

  number(row: number, place: number): number {
    const id = this.#slotColumns[place]!;
    if (id === RESIDUAL_COLUMN) return this.#residualSlot(row, place);
    const { positions, numbers } = this.#leaves.column(id);
    return must(numbers).value(positions.first(row) + this.#slotOrdinals.value(place));
  }

  text(row: number, place: number): string {
    const id = this.#slotColumns[place]!;
    if (id === RESIDUAL_COLUMN) {
      return this.#leaves.residual.entries.value(this.#residualSlot(row, place)) as string;
    }
    const { positions, strings } = this.#leaves.column(id);
    const { entries } = must(strings);
    return entries.value(strings!.code(positions.first(row) + this.#slotOrdinals.value(place)));
  }

  verbatim(row: number, place: number): ByteRange {
    const id = this.#slotColumns[place]!;
    if (id === RESIDUAL_COLUMN) {
      return this.#leaves.residual.entries.range(this.#residualSlot(row, place));
    }
    const { positions, strings } = this.#leaves.column(id);
    const position = positions.first(row) + this.#slotOrdinals.value(place);
    return must(strings).entries.range(strings!.code(position));
  }

  writeText(row: number, place: number, out: JsonWriter): void {
    const id = this.#slotColumns[place]!;
    if (id === RESIDUAL_COLUMN) {
      this.#leaves.residual.entries.writeJson(this.#residualSlot(row, place), out);
      return;
    }
    const { positions, strings } = this.#leaves.column(id);
    const position = positions.first(row) + this.#slotOrdinals.value(place);
    must(strings).entries.writeJson(strings!.code(position), out);
  }

  writeConstant(place: number, kind: number, out: JsonWriter): boolean {
    const id = this.#slotColumns[place]!;
    if (id === RESIDUAL_COLUMN) return false;
    const { numbers, strings } = this.#leaves.column(id);
    if (numbers?.isConstant === true) {
      out.raw(numberText(numbers.value(0)));
      return true;
    }
    if (kind !== TEXT || strings?.isConstant !== true) return false;
    const { start, end } = strings.entries.range(0);
    if (end - start > CONSTANT_SIZE_MAX) return false;
    strings.entries.writeJson(0, out);
    return true;
  }

  writeRow(template: JsonTemplate, row: number, place: number, out: JsonBuffer): void {
    this.#rows.write(template, row, place, this, out);
  }

  /** The leaf column in which each place has the first value of its row; `undefined` where there is none such. */
  #columnOfFirsts(places: Int32Array, placeCount: number): LeafColumn | undefined {
    const id = this.#commonColumn(places, placeCount);
    if (id === undefined || id === RESIDUAL_COLUMN) return undefined;
    for (let i = 0; i < placeCount; i++) {
      if (this.#slotOrdinals.value(places[i]!) !== 0) return undefined;
    }
    return this.#leaves.column(id);
  }

  /** The column that all places are in; `undefined` when they are in several. */
  #commonColumn(places: Int32Array, count: number): number | undefined {
    const slotColumns = this.#slotColumns;
    let column: number | undefined;
    let placeBefore = -1;
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      if (place === placeBefore || place < 0) continue;
      placeBefore = place;
      if (column !== undefined && slotColumns[place] !== column) return undefined;
      column = slotColumns[place]!;
    }
    assert(column !== undefined, 'some place is that of a value');
    return column;
  }

  /** Positions in a leaf column; arbitrary where the place is negative. */
  #positions(column: number, rows: Int32Array, places: Int32Array, count: number): Int32Array {
    const first = this.#leaves.column(column).positions.locate(rows, count);
    const ordinals = this.#slotOrdinals;
    // Where no event has a list of several records, no leaf stands twice in a row.
    if (ordinals.isZero) return first;
    let positions = first;
    let placeBefore = -1;
    let ordinal = 0;
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      if (place !== placeBefore && place >= 0) {
        placeBefore = place;
        ordinal = ordinals.value(place);
      }
      if (place >= 0 && ordinal === 0) continue;
      if (positions === first) positions = first.slice(0, count);
      positions[i] = place < 0 ? 0 : first[i]! + ordinal;
    }
    return positions;
  }

  #residualSlot(row: number, place: number): number {
    const { positions, slots } = this.#leaves.residual;
    return slots[positions.first(row) + this.#slotOrdinals.value(place)]!;
  }
}

/** A column of one class of leaves. Exactly one of `numbers` and `strings` is there. */
type LeafColumn = {
  readonly positions: Positions;
  readonly numbers: NumberValues | undefined;
  readonly strings: StringValues | undefined;
};

/** The only value of each of some consecutive rows, as they lie; `undefined` where some have several. */
function rangeOfColumn(column: LeafColumn, start: number, count: number): Vector | undefined {
  const { positions, numbers, strings } = column;
  const first = rangeStart(positions, start, count);
  if (first < 0) return undefined;
  if (strings !== undefined) return strings.range(first, count);
  return must(numbers).range({ start: first, count, isAscending: false });
}

/** The first value of each of some rows, all of which have one. */
function firstsOfColumn(column: LeafColumn, rows: Int32Array, count: number): Vector {
  const { positions, numbers, strings } = column;
  const located = positions.locate(rows, count);
  if (strings === undefined) return must(numbers).take(located, count);
  return dictionaryVector(strings.gather(located, count), count, strings.entries);
}

/** The rare leaves, all in one. */
type Residual = {
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

import { CUTS, type Cut } from './excerpt-strings.ts';
import type { Leaf } from './leaf-plan.ts';
import { encodeNumbers } from './number-values.ts';
import { encodePositions } from './positions.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { ShapeMemory } from './shape-memory.ts';
import type { SliceSink } from './slice.ts';
import type { ChooseShapes } from './split-choice.ts';
import type { StringEncoder, WholeColumn } from './string-encoding.ts';

/** The values of one column as they come, row by row. */
export type ColumnValues = {
  /** Numbers, or string codes of the open segment. */
  readonly values: Float64Array;
  /** The sealed row of each value. */
  readonly rows: Uint32Array;
  count: number;
};

export type EncodedLeaf = Pick<LeafFooter, 'positions' | 'numbers' | 'strings'>;

type SplitColumn = {
  /** Among the leaf columns. */
  readonly index: number;
  readonly column: ColumnValues;
  readonly positions: EncodedLeaf['positions'];
  readonly count: number;
};

/** Columns in which others may lie, the largest first: more cost time and seldom gain anything. */
const WHOLES_MAX = 4;

export function emptyColumn(valueCount: number): ColumnValues {
  return { values: new Float64Array(valueCount), rows: new Uint32Array(valueCount), count: 0 };
}

/** Encodes the leaf columns of one sealed segment; equal ones are kept once. */
export class LeafEncoder {
  readonly #sink: SliceSink;
  readonly #strings: StringEncoder;
  readonly #rowCount: number;
  readonly #choices: ShapeMemory;
  /** Columns encoded already, by a digest of their values. */
  readonly #encoded = new Map<string, { column: ColumnValues; footer: EncodedLeaf }[]>();
  readonly #wholes: (WholeColumn & { readonly rows: Uint32Array })[] = [];
  /** Columns of which others may be excerpts. */
  readonly #splits: SplitColumn[] = [];

  constructor(sink: SliceSink, strings: StringEncoder, rowCount: number, choices: ShapeMemory) {
    this.#sink = sink;
    this.#strings = strings;
    this.#rowCount = rowCount;
    this.#choices = choices;
  }

  encode(
    leaves: readonly Leaf[],
    columns: readonly ColumnValues[],
    checkpoint: () => void,
  ): EncodedLeaf[] {
    const sizes = leaves.map((leaf, index) => {
      const { values, count } = columns[index]!;
      return leaf.leafClass === 'text' ? this.#strings.byteSize(values, count) : 0;
    });
    const order = leaves.map((_, index) => index);
    order.sort((left, right) => sizes[right]! - sizes[left]! || left - right);
    const footers: EncodedLeaf[] = [];
    for (const index of order) {
      checkpoint();
      footers[index] = this.#leaf(leaves[index]!, columns[index]!, index);
    }
    return footers;
  }

  #leaf(leaf: Leaf, column: ColumnValues, index: number): EncodedLeaf {
    const digest = `${leaf.leafClass} ${digestOf(column)}`;
    const similar = this.#encoded.get(digest) ?? [];
    const equal = similar.find((other) => areEqual(other.column, column));
    if (equal !== undefined) return equal.footer;
    const footer = this.#excerptOf(leaf, column) ?? this.#encode(leaf, column, index);
    this.#encoded.set(digest, [...similar, { column, footer }]);
    return footer;
  }

  #encode(leaf: Leaf, column: ColumnValues, index: number): EncodedLeaf {
    const { rows, values, count } = column;
    const { perRowMax } = leaf;
    const positions = encodePositions(
      this.#sink,
      { rows, valueCount: count, perRowMax },
      this.#rowCount,
    );
    if (leaf.leafClass === 'number') {
      return { positions, numbers: encodeNumbers(this.#sink, values, count), strings: null };
    }
    const strings = this.#stringsOf(leaf, column, index);
    const isSplit = strings?.packing.kind === 'split' && strings.packing.hasHeads;
    if (isSplit && perRowMax === 1 && this.#splits.length < WHOLES_MAX) {
      this.#splits.push({ index, column, positions, count: column.count });
    }
    return { positions, numbers: null, strings };
  }

  /** As paths or queries of a split column's strings; `undefined` when they are not. */
  #excerptOf(leaf: Leaf, column: ColumnValues): EncodedLeaf | undefined {
    if (leaf.leafClass !== 'text' || leaf.perRowMax !== 1 || column.count === 0) return undefined;
    for (const { index, column: whole, positions, count } of this.#splits) {
      const cut = CUTS.find((candidate) => this.#areCut(candidate, whole, column));
      if (cut === undefined) continue;
      if (this.#strings.isRepetitive(column.values, column.count)) return undefined;
      const packing = { kind: 'excerpt', column: index, cut } as const;
      const strings = { entryCount: count, isDistinct: false, codes: null, packing };
      return { positions, numbers: null, strings };
    }
    return undefined;
  }

  /** Whether each value is what a cut leaves of the other column's in its row. */
  #areCut(cut: Cut, whole: ColumnValues, column: ColumnValues): boolean {
    let at = 0;
    for (let i = 0; i < column.count; i++) {
      const row = column.rows[i]!;
      while (at < whole.count && whole.rows[at]! < row) at++;
      if (at === whole.count || whole.rows[at] !== row) return false;
      if (!this.#strings.isCut(cut, whole.values[at]!, column.values[i]!)) return false;
    }
    return true;
  }

  #stringsOf(leaf: Leaf, column: ColumnValues, index: number): EncodedLeaf['strings'] {
    const { values, rows, count } = column;
    if (leaf.leafClass !== 'text') return this.#strings.encode(values, count, 'verbatim');
    const wholes = this.#wholes.filter((whole) => areSameRows(whole.rows, rows));
    const path = this.#strings.joinedTexts(leaf.path);
    const choose: ChooseShapes = (strings, hasHeads) =>
      this.#choices.choose(path, strings, hasHeads);
    const footer = this.#strings.encode(values, count, 'leaf', wholes, choose);
    const { kind } = footer.packing;
    const isWhole = (kind === 'plain' || kind === 'split') && footer.codes === null;
    if (isWhole && this.#wholes.length < WHOLES_MAX) {
      this.#wholes.push({ column: index, values, rows });
    }
    return footer;
  }
}

function digestOf({ values, count }: ColumnValues): string {
  let digest = 0;
  for (let i = 0; i < count; i++) digest = (Math.imul(digest, 31) + values[i]!) | 0;
  return `${count} ${digest}`;
}

function areEqual(left: ColumnValues, right: ColumnValues): boolean {
  if (!areSameRows(left.rows, right.rows)) return false;
  for (let i = 0; i < left.count; i++) {
    if (!Object.is(left.values[i], right.values[i])) return false;
  }
  return true;
}

function areSameRows(left: Uint32Array, right: Uint32Array): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

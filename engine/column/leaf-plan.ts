import { withListDepths } from './common-source.ts';
import { CUTS, type Cut } from './excerpt-strings.ts';
import { encodeNumbers } from './number-values.ts';
import { encodePositions } from './positions.ts';
import type { LeafFooter } from './sealed-layout.ts';
import type { SkeletonArrays } from './skeleton.ts';
import type { SliceSink } from './slice.ts';
import type { ChooseShapes } from './split-choice.ts';
import type { ShapeCache } from './split-encoding.ts';
import type { StringEncoder, WholeColumn } from './string-encoding.ts';
import { withTextSources } from './text-index.ts';
import {
  BIG_INTEGER,
  endOfNode,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  KIND_HAS_SLOT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  TEXT,
} from './token.ts';

/** Leaf columns of one sealed segment; rarer leaves share the residual column. */
export const SEGMENT_COLUMNS_MAX = 512;

/** A leaf needs this many values in a segment to get a column of its own: a column costs a header. */
const COLUMN_VALUES_MIN = 16;

/** Stands for the residual where a column is named. */
export const RESIDUAL_COLUMN = 0xffff;

/** Kinds of slots that share a column when their paths are equal. */
export type LeafClass = 'number' | 'text' | 'big-integer' | 'json' | 'huge-number';

/** Indexed by kind. */
const CLASS_OF_KIND: readonly (LeafClass | undefined)[] = (() => {
  const classes: (LeafClass | undefined)[] = [];
  classes[INTEGER] = 'number';
  classes[FLOAT] = 'number';
  classes[TEXT] = 'text';
  classes[BIG_INTEGER] = 'big-integer';
  classes[JSON_TEXT] = 'json';
  classes[HUGE_NUMBER] = 'huge-number';
  return classes;
})();

const CLASSES: readonly LeafClass[] = ['number', 'text', 'big-integer', 'json', 'huge-number'];

type Leaf = {
  /** Keys from the root down. */
  readonly path: readonly number[];
  readonly leafClass: LeafClass;
  readonly valueCount: number;
  /** Values a row has at most. */
  readonly perRowMax: number;
};

/** Which column each slot of each skeleton goes to. */
export type LeafPlan = {
  readonly columns: readonly Leaf[];
  /** First place of each skeleton, and the end. */
  readonly slotStarts: Uint32Array;
  /** Column of each place, or RESIDUAL_COLUMN. */
  readonly slotColumns: Uint16Array;
  /** 1 for places of strings, 0 for places of numbers. */
  readonly slotIsString: Uint8Array;
  /** Which of the row's values in that column it is, counted from 0. */
  readonly slotOrdinals: Float64Array;
  readonly residual: { readonly valueCount: number; readonly perRowMax: number };
};

/** A leaf while its skeletons are counted. */
type LeafCount = {
  readonly parent: number;
  readonly leafClass: LeafClass;
  valueCount: number;
  perRowMax: number;
};

/**
 * Gives each leaf with COLUMN_VALUES_MIN values a column, but only the SEGMENT_COLUMNS_MAX that have
 * most; equals by first appearance.
 *
 * `skeletons`: the tokens of each. `rowCounts`: rows of each.
 */
export function planLeaves(
  skeletons: readonly Int32Array[],
  rowCounts: readonly number[],
): LeafPlan {
  const slotStarts = new Uint32Array(skeletons.length + 1);
  for (let i = 0; i < skeletons.length; i++) slotStarts[i + 1] = slotStarts[i]! + skeletons[i]![2]!;
  const placeCount = slotStarts[skeletons.length]!;
  const finder = new LeafFinder(placeCount);
  for (const tokens of skeletons) finder.visit(tokens, 0, 0);
  const { leaves, leafOfPlace } = finder;
  countValues(leaves, leafOfPlace, slotStarts, rowCounts);

  const chosen = leaves
    .map((_, leaf) => leaf)
    .filter((leaf) => leaves[leaf]!.valueCount >= COLUMN_VALUES_MIN)
    .sort((left, right) => leaves[right]!.valueCount - leaves[left]!.valueCount || left - right)
    .slice(0, SEGMENT_COLUMNS_MAX);
  const columnOfLeaf = new Uint16Array(leaves.length).fill(RESIDUAL_COLUMN);
  chosen.forEach((leaf, column) => {
    columnOfLeaf[leaf] = column;
  });
  const slotColumns = new Uint16Array(placeCount);
  const slotIsString = new Uint8Array(placeCount);
  for (let place = 0; place < placeCount; place++) {
    const leaf = leafOfPlace[place]!;
    slotColumns[place] = columnOfLeaf[leaf]!;
    slotIsString[place] = leaves[leaf]!.leafClass === 'number' ? 0 : 1;
  }
  const columns = chosen.map((leaf) => {
    const { parent, leafClass, valueCount, perRowMax } = leaves[leaf]!;
    return { path: finder.path(parent), leafClass, valueCount, perRowMax };
  });
  const slotOrdinals = new Float64Array(placeCount);
  const residual = countOrdinals(
    { slotColumns, slotStarts, rowCounts },
    chosen.length,
    slotOrdinals,
  );
  return { columns, slotStarts, slotColumns, slotIsString, slotOrdinals, residual };
}

/** Walks skeletons and numbers the paths and leaves it meets. Path 0 is the root's. */
class LeafFinder {
  readonly leaves: LeafCount[] = [];
  /** The leaf of each place, filled as the skeletons are visited in order. */
  readonly leafOfPlace: Uint32Array;
  #place = 0;
  readonly #parents: number[] = [-1];
  readonly #keys: number[] = [0];
  /** From parent path and key to path. */
  readonly #paths = new Map<number, number>();
  /** From path and class to leaf. */
  readonly #leafIds = new Map<number, number>();

  constructor(placeCount: number) {
    this.leafOfPlace = new Uint32Array(placeCount);
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  visit(tokens: Int32Array, node: number, path: number): void {
    const kind = tokens[node]! & KIND_MASK;
    if (KIND_HAS_SLOT[kind]) {
      this.leafOfPlace[this.#place++] = this.#leaf(path, CLASS_OF_KIND[kind]!);
    }
    if (kind !== RECORD && kind !== RECORD_LIST) return;
    const end = endOfNode(tokens, node);
    for (let at = node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      const isField = kind === RECORD;
      this.visit(tokens, at, isField ? this.#child(path, tokens[at]! >>> KIND_BITS) : path);
    }
  }

  path(path: number): number[] {
    const keys: number[] = [];
    for (let at = path; at > 0; at = this.#parents[at]!) keys.push(this.#keys[at]!);
    return keys.reverse();
  }

  #child(parent: number, key: number): number {
    const id = parent * 2 ** 28 + key;
    let path = this.#paths.get(id);
    if (path === undefined) {
      path = this.#parents.length;
      this.#parents.push(parent);
      this.#keys.push(key);
      this.#paths.set(id, path);
    }
    return path;
  }

  #leaf(path: number, leafClass: LeafClass): number {
    const id = path * CLASSES.length + CLASSES.indexOf(leafClass);
    let leaf = this.#leafIds.get(id);
    if (leaf === undefined) {
      leaf = this.leaves.length;
      this.leaves.push({ parent: path, leafClass, valueCount: 0, perRowMax: 0 });
      this.#leafIds.set(id, leaf);
    }
    return leaf;
  }
}

function countValues(
  leaves: readonly LeafCount[],
  leafOfPlace: Uint32Array,
  slotStarts: Uint32Array,
  rowCounts: readonly number[],
): void {
  const seenIn = new Int32Array(leaves.length).fill(-1);
  const perRow = new Uint32Array(leaves.length);
  for (let skeleton = 0; skeleton < rowCounts.length; skeleton++) {
    for (let place = slotStarts[skeleton]!; place < slotStarts[skeleton + 1]!; place++) {
      const id = leafOfPlace[place]!;
      const leaf = leaves[id]!;
      perRow[id] = seenIn[id] === skeleton ? perRow[id]! + 1 : 1;
      seenIn[id] = skeleton;
      leaf.valueCount += rowCounts[skeleton]!;
      leaf.perRowMax = Math.max(leaf.perRowMax, perRow[id]!);
    }
  }
}

/** Fills in the ordinal of each place; gives the counts of the residual. */
function countOrdinals(
  plan: {
    readonly slotColumns: Uint16Array;
    readonly slotStarts: Uint32Array;
    readonly rowCounts: readonly number[];
  },
  columnCount: number,
  slotOrdinals: Float64Array,
): { valueCount: number; perRowMax: number } {
  const { slotColumns, slotStarts, rowCounts } = plan;
  const seenIn = new Int32Array(columnCount).fill(-1);
  const perRow = new Uint32Array(columnCount);
  const residual = { valueCount: 0, perRowMax: 0 };
  for (let skeleton = 0; skeleton < rowCounts.length; skeleton++) {
    let residualCount = 0;
    for (let place = slotStarts[skeleton]!; place < slotStarts[skeleton + 1]!; place++) {
      const column = slotColumns[place]!;
      if (column === RESIDUAL_COLUMN) {
        slotOrdinals[place] = residualCount++;
        continue;
      }
      perRow[column] = seenIn[column] === skeleton ? perRow[column]! + 1 : 0;
      seenIn[column] = skeleton;
      slotOrdinals[place] = perRow[column]!;
    }
    residual.valueCount += residualCount * rowCounts[skeleton]!;
    residual.perRowMax = Math.max(residual.perRowMax, residualCount);
  }
  return residual;
}

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
  readonly #choices: ShapeCache;
  /** Columns encoded already, by a digest of their values. */
  readonly #encoded = new Map<string, { column: ColumnValues; footer: EncodedLeaf }[]>();
  readonly #wholes: (WholeColumn & { readonly rows: Uint32Array })[] = [];
  /** Columns of which others may be excerpts. */
  readonly #splits: SplitColumn[] = [];

  constructor(sink: SliceSink, strings: StringEncoder, rowCount: number, choices: ShapeCache) {
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

/** Leaves of a segment in the making, with what saves reading its skeletons: where the values of paths lie in all rows. */
export function withPlacesTold(
  leaves: readonly LeafFooter[],
  skeletons: SkeletonArrays,
  slots: Pick<LeafPlan, 'slotColumns' | 'slotOrdinals'>,
): LeafFooter[] {
  return withListDepths(withTextSources(leaves, skeletons, slots.slotColumns), skeletons, slots);
}

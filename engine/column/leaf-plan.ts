import { endOfNode } from './skeleton.ts';
import {
  BIG_INTEGER,
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

export type Leaf = {
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

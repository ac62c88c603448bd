import { must } from '../assert.ts';
import { TEXT_PATHS_MAX } from '../limits.ts';
import { LastRanges } from './last-ranges.ts';
import type { NumberValues } from './number-values.ts';
import { openPositions, type Positions } from './positions.ts';
import { intersectionOf, RangeCollector, type RowRanges, unionOf } from './row-ranges.ts';
import type { LeafFooter, SealedFooter } from './sealed-layout.ts';
import type { NeededText, RowSpan } from './segment.ts';
import type { SkeletonArrays } from './skeleton.ts';
import type { Slice, SliceSource } from './slice.ts';
import { type SoughtText, soughtTexts } from './sought-text.ts';
import { splitStringsWith } from './split-index.ts';
import type { StringEntries } from './string-entries.ts';
import { TextPath, UNSURE } from './text-path.ts';
import { type SignatureFooter, TextSignature } from './text-signature.ts';
import type { SplitBlock } from './vector.ts';

/** Where the strings at one path lie. */
type PathSight = {
  readonly columns: readonly SignedColumn[];
  /** The rows that may have strings at the path outside of these columns. */
  readonly unsure: RowRanges;
};

/** Unsure rows this near to each other are told as one range: as near as the rows of a block. */
const UNSURE_GAP_MAX = 128;

/** Rows whose skeletons are read at a time. */
const ROWS_READ = 2048;

export type TextIndexParts = {
  readonly skeletons: SkeletonArrays;
  /** Skeleton of each row. */
  readonly rowSkeletons: NumberValues;
  /** The strings of a leaf column, the same object for all that read them. */
  readonly entriesOf: (column: number) => StringEntries;
};

/**
 * Tells of a sealed segment which rows may hold a text at a path, by the signatures of its columns, and
 * by heads and words of those that are taken apart.
 *
 * A column stands for one spelling of a path and one class of kinds, and rare leaves stand in none;
 * so the skeletons are asked, once for each path, which columns the strings of their rows lie in.
 * Rows whose skeleton says anything else than "in these" are *unsure*, and always among the answer.
 */
export class TextIndex {
  readonly #rowCount: number;
  readonly #source: SliceSource;
  /** Column of each place: see `SealedFooter`. */
  readonly #slotColumns: Slice;
  readonly #parts: TextIndexParts;
  /** By the index of the leaf column. */
  readonly #columns: ReadonlyMap<number, SignedColumn>;
  /** `undefined` for paths of which nothing can be told. */
  readonly #sights = new Map<string, PathSight | undefined>();
  /** That of the path asked for last. */
  #lastSight:
    | { readonly path: readonly string[]; readonly sight: PathSight | undefined }
    | undefined;
  readonly #last = new LastRanges<Asked, RowRanges | undefined>(isSame);

  constructor(source: SliceSource, footer: SealedFooter, parts: TextIndexParts) {
    this.#rowCount = footer.rowCount;
    this.#source = source;
    this.#slotColumns = footer.skeletons.slotColumns;
    this.#parts = parts;
    this.#columns = signedColumns(source, footer, parts.entriesOf);
  }

  /**
   * Ranges outside of which no string at the path, of the rows `among`, holds any of the texts; `undefined`: any
   * row may.
   */
  rowsWith(
    needed: NeededText,
    among: RowSpan = { start: 0, count: this.#rowCount },
  ): RowRanges | undefined {
    return this.#last.of({ needed, among }, () => this.#find(needed, among));
  }

  /** The strings at a path where all of them are taken apart and lie in columns of their own; else `undefined`. */
  splitsAt(path: NeededText['path']): readonly SplitBlock[] | undefined {
    const sight = this.#columns.size === 0 ? undefined : this.#sight(path);
    if (sight === undefined || sight.unsure.length > 0) return undefined;
    const splits = sight.columns.flatMap(({ split }) => split ?? []);
    return splits.length === sight.columns.length ? splits : undefined;
  }

  #find(needed: NeededText, among: RowSpan): RowRanges | undefined {
    if (this.#columns.size === 0) return undefined;
    const sight = this.#sight(needed.path);
    if (sight === undefined) return undefined;
    const texts = soughtTexts(needed);
    if (texts.some(({ grams }) => grams.length === 0)) return undefined;
    let rows = sight.unsure;
    for (const column of sight.columns) {
      for (const one of texts) rows = unionOf(rows, this.#rowsOf(column, one, among));
    }
    return rows;
  }

  #sight(path: readonly string[]): PathSight | undefined {
    if (this.#lastSight?.path === path) return this.#lastSight.sight;
    const key = JSON.stringify(path);
    if (!this.#sights.has(key)) {
      if (this.#sights.size >= TEXT_PATHS_MAX) this.#sights.clear();
      this.#sights.set(key, this.#see(path));
    }
    const sight = this.#sights.get(key);
    this.#lastSight = { path, sight };
    return sight;
  }

  #see(path: readonly string[]): PathSight | undefined {
    const { skeletons } = this.#parts;
    const places = new TextPath(skeletons, path);
    const signed = [...this.#columns.values()];
    if (!signed.some((column) => places.isSame(column.path))) return undefined;
    const slotColumns = this.#source.unsigned16(this.#slotColumns);
    const columns = new Set<number>();
    const isUnsure = new Uint8Array(skeletons.count);
    let unsureCount = 0;
    for (let skeleton = 0; skeleton < skeletons.count; skeleton++) {
      for (const place of places.of(skeleton)) {
        const column = place === UNSURE ? UNSURE : slotColumns[place]!;
        if (this.#columns.has(column)) columns.add(column);
        else isUnsure[skeleton] = 1;
      }
      unsureCount += isUnsure[skeleton]!;
    }
    if (columns.size === 0) return undefined;
    return {
      columns: Array.from(columns, (column) => this.#columns.get(column)!),
      unsure: unsureCount === 0 ? new Int32Array(0) : this.#rowsWhere(isUnsure),
    };
  }

  /** The rows of some skeletons, and rows that lie between such. */
  #rowsWhere(isWanted: Uint8Array): RowRanges {
    const wanted = new RangeCollector(UNSURE_GAP_MAX);
    for (let start = 0; start < this.#rowCount; start += ROWS_READ) {
      const count = Math.min(ROWS_READ, this.#rowCount - start);
      const rows = Int32Array.from({ length: count }, (_, index) => start + index);
      const skeletons = this.#parts.rowSkeletons.gatherIntegers(rows, count);
      for (let i = 0; i < count; i++) {
        if (isWanted[skeletons[i]!] === 1) wanted.add(start + i, start + i + 1);
      }
    }
    return wanted.ranges();
  }

  /** The rows with values in a column that may hold a text, and perhaps others that are not `among` these. */
  #rowsOf(column: SignedColumn, text: SoughtText, among: RowSpan): RowRanges {
    const { signature, split, valueCount } = column;
    const [start, end] = column.valuesOf(among);
    const all = signature.valuesWith(text.grams, valueCount);
    const blocks = intersectionOf(all, Int32Array.of(start, end));
    const values = (split && splitStringsWith(split, text, blocks, { start, end })) ?? blocks;
    const { positions, isInEveryRow } = column;
    if (isInEveryRow) return values;
    const rows = new RangeCollector();
    for (let at = 0; at < values.length; at += 2) {
      const last = values[at + 1]! - 1;
      rows.add(this.#rowOf(positions, values[at]!), this.#rowOf(positions, last) + 1);
    }
    return rows.ranges();
  }

  /** The row of the value at a position: the first whose next row begins behind it. */
  #rowOf(positions: Positions, position: number): number {
    let low = 0;
    let high = this.#rowCount - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (positions.first(middle + 1) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** What an index was asked. */
type Asked = {
  readonly needed: NeededText;
  readonly among: RowSpan;
};

/** Calls of one plan have the path in common, and each has an object of its own. */
function isSame(one: Asked, other: Asked): boolean {
  const { path, text, or } = one.needed;
  const { needed, among } = other;
  if (path !== needed.path || text !== needed.text || or !== needed.or) return false;
  return one.among.start === among.start && one.among.count === among.count;
}

/**
 * The columns with signatures. A column whose strings lie in another's, value by value, has that one's:
 * what is not in the whole is not in its end.
 */
function signedColumns(
  source: SliceSource,
  { leaves }: SealedFooter,
  entriesOf: (column: number) => StringEntries,
): Map<number, SignedColumn> {
  const signed = new Map<number, SignedColumn>();
  leaves.forEach((leaf, column) => {
    const packing = leaf.strings?.packing;
    const isIn = packing?.kind === 'suffix' || packing?.kind === 'excerpt';
    const whole = isIn ? leaves[packing.column]!.strings : leaf.strings;
    if (whole?.signature === undefined) return;
    const entries = () => entriesOf(column);
    signed.set(column, new SignedColumn(source, leaf, { signature: whole.signature, entries }));
  });
  return signed;
}

/** A leaf column of strings with a signature; what it is read by is opened when first needed. */
class SignedColumn {
  readonly #source: SliceSource;
  readonly #leaf: LeafFooter;
  readonly #signatureFooter: SignatureFooter;
  #positions: Positions | undefined;
  #signature: TextSignature | undefined;
  readonly #entries: () => StringEntries;

  constructor(
    source: SliceSource,
    leaf: LeafFooter,
    { signature, entries }: { signature: SignatureFooter; entries: () => StringEntries },
  ) {
    this.#source = source;
    this.#leaf = leaf;
    this.#signatureFooter = signature;
    this.#entries = entries;
  }

  /** Keys from the root down. */
  get path(): readonly number[] {
    return this.#leaf.path;
  }

  get valueCount(): number {
    const { codes, entryCount } = must(this.#leaf.strings);
    const hasEntryEach = codes === null || codes === 'constant';
    return hasEntryEach ? entryCount : codes.slice[1] / codes.width;
  }

  /** Whether a position is its row. */
  get isInEveryRow(): boolean {
    return this.#leaf.positions.kind === 'every-row';
  }

  /** Of a column that is taken apart. */
  get split(): SplitBlock | undefined {
    const kind = this.#leaf.strings?.packing.kind;
    if (kind !== 'split' && kind !== 'excerpt') return undefined;
    return this.#entries().split;
  }

  /** Where the values of some rows are. */
  valuesOf({ start, count }: RowSpan): readonly [number, number] {
    if (this.isInEveryRow) return [start, start + count];
    return [this.positions.first(start), this.positions.first(start + count)];
  }

  get positions(): Positions {
    this.#positions ??= openPositions(this.#source, this.#leaf.positions);
    return this.#positions;
  }

  get signature(): TextSignature {
    this.#signature ??= new TextSignature(this.#source, this.#signatureFooter);
    return this.#signature;
  }
}

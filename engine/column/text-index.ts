import { must } from '../assert.ts';
import { RangeCache } from './caches.ts';
import type { NumberValues } from './number-values.ts';
import {
  intersectionOf,
  openPositions,
  type Positions,
  partitionPoint,
  RangeCollector,
  type RowRanges,
  unionOf,
} from './positions.ts';
import type { LeafFooter, SealedFooter } from './sealed-layout.ts';
import type { NeededText, RowSpan } from './segment.ts';
import { firstPlaceOf, KeyPattern, type SkeletonArrays } from './skeleton.ts';
import type { SliceSource } from './slice.ts';
import { type StringSpan, splitStringsWith, tabledStringsWith } from './split-index.ts';
import { openSplitTables, type SplitFooter, type SplitTables } from './split-shape.ts';
import type { StringEntries, StringsFooter } from './string-footer.ts';
import {
  type SignatureFooter,
  type SoughtText,
  soughtTexts,
  TextSignature,
} from './text-signature.ts';
import {
  endOfNode,
  JSON_TEXT,
  KIND_BITS,
  KIND_HAS_TEXT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  slotCount,
  TEXT,
} from './token.ts';
import type { SplitBlock, StringBlock } from './vector.ts';
import { textAt } from './wtf8.ts';

/** Paths whose texts a segment's reader remembers the whereabouts of; beyond, it forgets them all. */
const TEXT_PATHS_MAX = 64;

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

type TextIndexParts = {
  /** What tells fields apart: for old segments, and paths whose strings may lie in other columns, too. */
  readonly structure: () => {
    readonly skeletons: SkeletonArrays;
    /** Column of each place: see `SealedFooter`. */
    readonly slotColumns: Uint16Array;
  };
  /** Skeleton of each row. */
  readonly rowSkeletons: () => NumberValues;
  /** The strings of a leaf column, the same object for all that read them. */
  readonly entriesOf: (column: number) => StringEntries;
};

/**
 * Tells of a sealed segment which rows may hold a text at a path, by the signatures of its columns, and
 * by heads and words of those that are taken apart.
 *
 * A column stands for one spelling of a path and one class of kinds, and rare leaves stand in none.
 * Where the footer does not say in which columns all strings at a path lie, the skeletons are asked, once for each path.
 * Rows whose skeleton says anything else than "in these" are *unsure*, and always among the answer.
 */
export class TextIndex {
  readonly #rowCount: number;
  readonly #source: SliceSource;
  /** Keys of the paths of columns. */
  readonly #keys: SealedFooter['keys'];
  readonly #parts: TextIndexParts;
  /** By the index of the leaf column. */
  readonly #columns: ReadonlyMap<number, SignedColumn>;
  /** `undefined` for paths of which nothing can be told. */
  readonly #sights = new Map<string, PathSight | undefined>();
  /** That of the path asked for last. */
  #lastSight:
    | { readonly path: readonly string[]; readonly sight: PathSight | undefined }
    | undefined;
  readonly #last = new RangeCache<Asked, RowRanges | undefined>(isSame);

  /** `source`: of what tells rows apart. */
  constructor(source: SliceSource, footer: SealedFooter, parts: TextIndexParts) {
    this.#rowCount = footer.rowCount;
    this.#source = source;
    this.#keys = footer.keys;
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
    const find = () =>
      this.#find(needed, (column, text) => this.#rowsOf(column, text, among, withStrings));
    return this.#last.of({ needed, among }, find);
  }

  /** As `rowsWith` of all rows, perhaps with more rows, without reading what takes bytes for each string. */
  rowsNear(needed: NeededText): RowRanges | undefined {
    const all = { start: 0, count: this.#rowCount };
    return this.#find(needed, (column, text) => this.#rowsOf(column, text, all, withTables));
  }

  /** The strings at a path where all of them are taken apart and lie in columns of their own; else `undefined`. */
  splitsAt(path: NeededText['path']): readonly SplitBlock[] | undefined {
    const sight = this.#columns.size === 0 ? undefined : this.#sight(path);
    if (sight === undefined || sight.unsure.length > 0) return undefined;
    const splits = sight.columns.flatMap(({ split }) => split ?? []);
    return splits.length === sight.columns.length ? splits : undefined;
  }

  #find(
    needed: NeededText,
    rowsOf: (column: SignedColumn, text: SoughtText) => RowRanges,
  ): RowRanges | undefined {
    if (this.#columns.size === 0) return undefined;
    const sight = this.#sight(needed.path);
    if (sight === undefined) return undefined;
    const texts = soughtTexts(needed);
    if (texts.some(({ grams }) => grams.length === 0)) return undefined;
    let rows = sight.unsure;
    for (const column of sight.columns) {
      for (const one of texts) rows = unionOf(rows, rowsOf(column, one));
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
    const keys = {
      bytes: this.#source.bytes(this.#keys.bytes),
      offsets: this.#source.unsigned32(this.#keys.offsets),
    };
    const places = new TextPath(keys, path);
    const signed = [...this.#columns.values()].find((column) => places.isSame(column.path));
    if (signed === undefined) return undefined;
    if (signed.textSources !== undefined) {
      return { columns: this.#signed(signed.textSources), unsure: NO_ROWS };
    }
    const isSigned = (column: number): boolean => this.#columns.has(column);
    const found = columnsAtPath(places, { ...this.#parts.structure(), isSigned });
    if (found.columns.length === 0) return undefined;
    return {
      columns: this.#signed(found.columns),
      unsure: found.unsureCount === 0 ? NO_ROWS : this.#rowsWhere(found.isUnsure),
    };
  }

  #signed(columns: readonly number[]): readonly SignedColumn[] {
    return columns.map((column) => must(this.#columns.get(column)));
  }

  /** The rows of some skeletons, and rows that lie between such. */
  #rowsWhere(isWanted: Uint8Array): RowRanges {
    const wanted = new RangeCollector(UNSURE_GAP_MAX);
    const rowSkeletons = this.#parts.rowSkeletons();
    for (let start = 0; start < this.#rowCount; start += ROWS_READ) {
      const count = Math.min(ROWS_READ, this.#rowCount - start);
      const rows = Int32Array.from({ length: count }, (_, index) => start + index);
      const skeletons = rowSkeletons.gatherIntegers(rows, count);
      for (let i = 0; i < count; i++) {
        if (isWanted[skeletons[i]!] === 1) wanted.add(start + i, start + i + 1);
      }
    }
    return wanted.ranges();
  }

  /** The rows with values in a column that may hold a text, and perhaps others that are not `among` these. */
  #rowsOf(
    column: SignedColumn,
    text: SoughtText,
    among: RowSpan,
    narrowed: typeof withStrings,
  ): RowRanges {
    const { signature, valueCount } = column;
    const [start, end] = column.valuesOf(among);
    const all = signature.valuesWith(text.grams, valueCount);
    const blocks = intersectionOf(all, Int32Array.of(start, end));
    const values = narrowed(column, text, blocks, { start, end });
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
    return partitionPoint(0, this.#rowCount - 1, (row) => positions.first(row + 1) <= position);
  }
}

const NO_ROWS: RowRanges = new Int32Array(0);

/** Of the values in some blocks those that may hold a text, by the strings of the column. */
function withStrings(
  { split }: SignedColumn,
  text: SoughtText,
  blocks: RowRanges,
  among: StringSpan,
): RowRanges {
  return (split && splitStringsWith(split, text, blocks, among)) ?? blocks;
}

/** The same by what these have in common. */
function withTables({ tables }: SignedColumn, text: SoughtText, blocks: RowRanges): RowRanges {
  return tables === undefined ? blocks : tabledStringsWith(tables, text, blocks);
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

function signedColumns(
  source: SliceSource,
  { leaves }: SealedFooter,
  entriesOf: (column: number) => StringEntries,
): Map<number, SignedColumn> {
  const signed = new Map<number, SignedColumn>();
  leaves.forEach((leaf, column) => {
    const strings = signedStringsOf(leaf, leaves);
    if (strings === undefined) return;
    const entries = () => entriesOf(column);
    const { signature, packing } = strings;
    const split = packing.kind === 'split' ? packing : undefined;
    signed.set(column, new SignedColumn(source, leaf, { signature, split, entries }));
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
  readonly #splitFooter: SplitFooter | undefined;
  #tables: SplitTables | undefined;
  readonly #entries: () => StringEntries;

  constructor(
    source: SliceSource,
    leaf: LeafFooter,
    {
      signature,
      split,
      entries,
    }: {
      readonly signature: SignatureFooter;
      /** Of strings, or of those that they lie in, that are taken apart. */
      readonly split: SplitFooter | undefined;
      readonly entries: () => StringEntries;
    },
  ) {
    this.#source = source;
    this.#leaf = leaf;
    this.#signatureFooter = signature;
    this.#splitFooter = split;
    this.#entries = entries;
  }

  /** Keys from the root down. */
  get path(): readonly number[] {
    return this.#leaf.path;
  }

  /** See `LeafFooter`. */
  get textSources(): readonly number[] | undefined {
    return this.#leaf.textSources;
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

  /** Of a column that is taken apart, or lies in one that is. */
  get tables(): SplitTables | undefined {
    this.#tables ??= this.#splitFooter && openSplitTables(this.#source, this.#splitFooter);
    return this.#tables;
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

/** Columns in which strings at a path lie, and the skeletons whose rows may have such elsewhere. */
type PathColumns = {
  readonly columns: readonly number[];
  /** 1 for each such skeleton. */
  readonly isUnsure: Uint8Array;
  readonly unsureCount: number;
};

/** Looks through all skeletons. `slotColumns`: column of each place; `isSigned`: whether a column has a signature. */
function columnsAtPath(
  path: TextPath,
  {
    skeletons,
    slotColumns,
    isSigned,
  }: {
    readonly skeletons: SkeletonArrays;
    readonly slotColumns: Uint16Array;
    readonly isSigned: (column: number) => boolean;
  },
): PathColumns {
  const columns = new Set<number>();
  const isUnsure = new Uint8Array(skeletons.count);
  let unsureCount = 0;
  for (let skeleton = 0; skeleton < skeletons.count; skeleton++) {
    for (const place of path.of(skeletons, skeleton)) {
      const column = place === UNSURE ? UNSURE : slotColumns[place]!;
      if (isSigned(column)) columns.add(column);
      else isUnsure[skeleton] = 1;
    }
    unsureCount += isUnsure[skeleton]!;
  }
  return { columns: [...columns], isUnsure, unsureCount };
}

/**
 * The strings whose signature a leaf column has; `undefined` where it has none. A column whose values are parts of another
 * column's has the signature of that column: a text that is not in the whole is in no part of it.
 */
function signedStringsOf(
  { strings }: LeafFooter,
  leaves: readonly LeafFooter[],
): SignedStrings | undefined {
  const packing = strings?.packing;
  const isIn = packing?.kind === 'suffix' || packing?.kind === 'excerpt';
  const whole = isIn ? leaves[packing.column]!.strings : strings;
  return whole?.signature === undefined ? undefined : (whole as SignedStrings);
}

type SignedStrings = StringsFooter & { readonly signature: SignatureFooter };

/** Leaves of a segment in the making, with what `textSources` says of each. */
export function withTextSources(
  leaves: readonly LeafFooter[],
  skeletons: SkeletonArrays,
  slotColumns: Uint16Array,
): LeafFooter[] {
  const signed = leaves.map((leaf) => signedStringsOf(leaf, leaves) !== undefined);
  const isSigned = (column: number): boolean => signed[column] === true;
  const { keys } = skeletons;
  return leaves.map((leaf, column) => {
    if (!isSigned(column)) return leaf;
    const path = new TextPath(
      keys,
      leaf.path.map((key) => textAt(keys, key)),
    );
    const { columns, unsureCount } = columnsAtPath(path, { skeletons, slotColumns, isSigned });
    return unsureCount > 0 ? leaf : { ...leaf, textSources: columns };
  });
}

/** Among places: what is there is in no column of strings; a text inside of the row, a number or a boolean. */
const UNSURE = -1;

const UNKNOWN_KEY = 0;
const OTHER_KEY = 1;
const SAME_KEY = 2;

/**
 * Where that lies which SQL may read as a string at a path, in whatever way it comes there: by fields of
 * records, of the only record of a list, or of each that UNNEST makes of it; under a key spelled as
 * the name or with other case. That is more than any one reading finds, and never less.
 */
class TextPath {
  readonly #names: StringBlock;
  readonly #patterns: readonly KeyPattern[];
  /** For each name of the path what is known of each key: compared once, however many skeletons. */
  readonly #keys: readonly Uint8Array[];
  readonly #found: number[] = [];

  /** `keys`: of the tokens that it is asked of. */
  constructor(keys: StringBlock, path: readonly string[]) {
    const keyCount = keys.offsets.length - 1;
    this.#names = keys;
    this.#patterns = path.map((name) => new KeyPattern(name));
    this.#keys = path.map(() => new Uint8Array(keyCount));
  }

  /** Whether some keys, from the root down, are what the names may stand for. */
  isSame(keys: readonly number[]): boolean {
    return (
      keys.length === this.#patterns.length && keys.every((key, depth) => this.#isNamed(key, depth))
    );
  }

  /** Places of a skeleton with strings, or what is read as such, at the path, UNSURE among them; good until the next call. */
  of(skeletons: SkeletonArrays, skeleton: number): readonly number[] {
    const { tokens, starts } = skeletons;
    this.#found.length = 0;
    this.#walk(tokens, starts[skeleton]!, 0, firstPlaceOf(skeletons, skeleton));
    return this.#found;
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  #walk(tokens: Int32Array, node: number, depth: number, place: number): void {
    const kind = tokens[node]! & KIND_MASK;
    const isAtEnd = depth === this.#patterns.length;
    if (kind === JSON_TEXT || (isAtEnd && KIND_HAS_TEXT[kind] === true)) this.#found.push(UNSURE);
    if (kind === TEXT && isAtEnd) this.#found.push(place);
    if (isAtEnd || (kind !== RECORD && kind !== RECORD_LIST)) return;
    const end = endOfNode(tokens, node);
    let placeBelow = place;
    for (let at = node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      if (kind === RECORD_LIST) this.#walk(tokens, at, depth, placeBelow);
      else if (this.#isNamed(tokens[at]! >>> KIND_BITS, depth)) {
        this.#walk(tokens, at, depth + 1, placeBelow);
      }
      placeBelow += slotCount(tokens, at);
    }
  }

  #isNamed(key: number, depth: number): boolean {
    const known = this.#keys[depth]!;
    if (known[key] === UNKNOWN_KEY) {
      const { bytes, offsets } = this.#names;
      const match = this.#patterns[depth]!.match(bytes, offsets[key]!, offsets[key + 1]!);
      known[key] = match === 'none' ? OTHER_KEY : SAME_KEY;
    }
    return known[key] === SAME_KEY;
  }
}

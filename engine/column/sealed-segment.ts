import { must, unreachable } from '../assert.ts';
import { carvedInt32 } from './arrays.ts';
import { RANGE_BOUNDS_MAX, RangeCache } from './caches.ts';
import { type CommonRecord, CommonSource, commonFieldsOf, type RowsRead } from './common-source.ts';
import { type ImageReader, type RowColumns, SegmentExtract } from './extract/segment-extract.ts';
import type { Bounds } from './extract/slice-bytes.ts';
import { ENTRY_ALIGNMENT } from './extract/values-extract.ts';
import type { SkeletonCounts } from './field-tree.ts';
import { NumberValues } from './number-values.ts';
import {
  countOfRanges,
  firstAtLeast,
  intersectionOf,
  openPositions,
  type Positions,
  partedByLength,
  partitionPoint,
  RangeCollector,
  type RowRanges,
  rangeStart,
  rangesOfRows,
  unionOf,
} from './positions.ts';
import {
  type GroupsFooter,
  readFooter,
  type SealedFooter,
  type StringColumnFooter,
} from './sealed-layout.ts';
import {
  LeafColumns,
  openSlotPlaces,
  SealedSlotStore,
  type SlotPlaces,
} from './sealed-slot-store.ts';
import type {
  NeededText,
  RowRange,
  RowRun,
  RowScope,
  RowSpan,
  RowWindow,
  Segment,
  SegmentColumn,
} from './segment.ts';
import { type SkeletonArrays, Skeletons } from './skeleton.ts';
import { type SliceFinder, SliceSource, whenAsked } from './slice.ts';
import { StringRange, StringValues } from './string-values.ts';
import { TextIndex } from './text-index.ts';
import { TokenSource } from './token-source.ts';
import {
  dictionaryVector,
  type NestedVector,
  numberVector,
  type SplitBlock,
  type StringBlock,
  type Vector,
} from './vector.ts';
import { encodedKey, textAt } from './wtf8.ts';

/** A sealed segment, read in place. Opening it costs in proportion to its columns, not its rows. */
export class SealedSegmentReader implements Segment {
  readonly kind = 'sealed';
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly #groups: Groups;
  readonly #timestampsUs: () => NumberValues;
  readonly #arrivals: () => NumberValues;
  readonly #ids: () => StringColumn;
  readonly #messages: () => StringColumn;
  readonly #projects: () => StringColumn;
  readonly #rowSkeletons: () => NumberValues;
  readonly #structure: () => Structure;
  /** Fields that all rows of the segment have in common; of the whole one where this is an extract. */
  readonly #common: () => CommonRecord<string>;
  readonly #roots: () => CommonSource;
  /** `undefined` where there is no index. */
  readonly #texts: (() => TextIndex) | undefined;
  readonly #lastInside = new RangeCache<AskedInside, RowRanges>(isSameWindow);

  /** Of the whole segment; `undefined` of an extract. */
  readonly #footer: SealedFooter | undefined;

  private constructor({ extent, groups, columns, first, source, footer, common }: ReaderParts) {
    this.rowCount = extent.rowCount;
    this.timestampUsMin = extent.timestampUsMin;
    this.timestampUsMax = extent.timestampUsMax;
    this.#groups = groups;
    this.#footer = footer;
    this.#timestampsUs = whenAsked(() => new NumberValues(source, columns.timestampsUs));
    this.#arrivals = whenAsked(() => new NumberValues(source, columns.arrivals));
    this.#ids = whenAsked(() => new StringColumn(source, columns.ids));
    this.#messages = whenAsked(() => new StringColumn(source, columns.messages));
    this.#projects = whenAsked(() => new StringColumn(source, columns.projects));
    this.#rowSkeletons = whenAsked(() => new NumberValues(source, columns.rowSkeletons));
    const structure = whenAsked(() => openStructure(first, columns));
    this.#structure = structure;
    const leaves = whenAsked(() => new LeafColumns(source, columns));
    const slots = whenAsked(() => new SealedSlotStore(source, columns, structure(), leaves()));
    // Opened when a field is asked for that not all rows have: skeletons may be a tenth of a segment.
    const tokens = whenAsked(() => new TokenSource(new Skeletons(structure().skeletons), slots()));
    this.#common = common;
    this.#roots = whenAsked(() => {
      const skeletons = {
        roots: (rows: RowsRead) => this.#rootsOf(rows, tokens()),
        source: tokens,
      };
      return new CommonSource(common(), (column, rows) => leaves().firsts(column, rows), skeletons);
    });
    this.#texts =
      footer &&
      whenAsked(
        () =>
          new TextIndex(first, footer, {
            structure,
            rowSkeletons: this.#rowSkeletons,
            entriesOf: (column) => must(leaves().column(column).strings).entries,
          }),
      );
  }

  /**
   * `need` brings a slice into memory; header and footer are in the buffer already. Which rows are of which project is
   * opened at once, by `needFirst`, and by that also what tells fields apart, when these are first asked for; every column
   * when it is.
   *
   * @throws Error when the buffer is not a sealed segment.
   */
  static open(
    buffer: SharedArrayBuffer,
    need?: SliceFinder,
    needFirst: SliceFinder | undefined = need,
  ): SealedSegmentReader {
    const footer = readFooter(buffer);
    const source = new SliceSource(buffer, need);
    const first = new SliceSource(buffer, needFirst);
    return new SealedSegmentReader({
      extent: footer,
      groups: Groups.open(first, footer.groups),
      columns: footer,
      first,
      source,
      footer,
      common: whenAsked(() => {
        const { bytes, offsets } = footer.keys;
        const keys = { bytes: first.bytes(bytes), offsets: first.unsigned32(offsets) };
        return commonFieldsOf(footer.leaves, keys);
      }),
    });
  }

  /**
   * The rows of a project as a segment of their own, in memory of its own; with `newest` only some of them. `undefined` where
   * there are none, where more than `rowsMax` are wanted, or where they do not lie together.
   */
  extractOf(
    projectKey: string,
    from: ExtractFrom,
    newest: NewestRows = { skipped: 0, count: Number.POSITIVE_INFINITY },
  ): SegmentOfExtract | undefined {
    const [run, ...others] = this.runs(projectKey);
    if (run === undefined || others.length > 0 || !run.hasProjectKey) return undefined;
    const end = run.start + run.count - newest.skipped;
    const start = Math.max(run.start, end - newest.count);
    if (start >= end || end - start > from.rowsMax) return undefined;
    return this.#extract({ start, end }, from);
  }

  /**
   * The rows that may hold some texts, with others near to them, as segments of their own; `undefined` where there is no
   * telling, or these are more than `rowsMax`, or lie far apart in many places.
   */
  extractsWith(
    texts: readonly NeededText[],
    from: ExtractFrom,
  ): readonly SegmentOfExtract[] | undefined {
    const rows = this.#rowsNear(texts);
    if (rows === undefined) return undefined;
    const near = new RangeCollector(EXTRACT_GAP_MAX);
    for (let at = 0; at < rows.length; at += 2) near.add(rows[at]!, rows[at + 1]!);
    const ranges = near.ranges();
    if (ranges.length > 2 * EXTRACTS_MAX || countOfRanges(ranges) > from.rowsMax) return undefined;
    return Array.from({ length: ranges.length / 2 }, (_, range) =>
      this.#extract({ start: ranges[2 * range]!, end: ranges[2 * range + 1]! }, from),
    );
  }

  #rowsNear(texts: readonly NeededText[]): RowRanges | undefined {
    let rows: RowRanges | undefined;
    for (const needed of texts) {
      const found = this.#texts?.().rowsNear(needed);
      if (found === undefined) continue;
      rows = rows === undefined ? found : intersectionOf(rows, found);
    }
    return rows;
  }

  /** Rows [start, end), of which those alone are in runs; some before them may be taken out with them. */
  #extract({ start, end }: Bounds, from: ExtractFrom): SegmentOfExtract {
    const footer = must(this.#footer, 'nothing is taken out of an extract');
    const before = start % ENTRY_ALIGNMENT;
    const extract = new SegmentExtract(footer, from, { start: start - before, end });
    const { rowCount, columns, source } = extract;
    const { timestampUsMin, timestampUsMax } = this;
    const segment = new SealedSegmentReader({
      extent: { rowCount, timestampUsMin, timestampUsMax },
      groups: this.#groups.within({ start, end }, before),
      columns,
      first: source,
      source,
      footer: undefined,
      common: this.#common,
    });
    return { segment, extract };
  }

  runs(projectKey: string | undefined): readonly RowRun[] {
    return this.#groups.runs(projectKey);
  }

  runsOf(projectKeys: readonly string[]): readonly RowRun[] {
    return this.#groups.runsOf(projectKeys);
  }

  countRows({ projectKey, startUs, endUs }: RowScope): number {
    let count = 0;
    for (const run of this.runs(projectKey)) {
      if (!run.isTimeOrdered) count += run.count;
      else count += Math.max(0, this.positionAt(run, endUs) - this.positionAt(run, startUs));
    }
    return count;
  }

  positionAt(run: RowRun, timestampUs: number): number {
    if (timestampUs <= this.timestampUsMin) return 0;
    if (timestampUs > this.timestampUsMax) return run.count;
    const { start, count } = run;
    return this.#timestampsUs().firstFrom(start, start + count, timestampUs) - start;
  }

  timestamps(rows: Int32Array, count: number): Vector {
    return numberVector(this.#timestampsUs().gather(rows, count), count);
  }

  arrivals(rows: Int32Array, count: number): Vector {
    return numberVector(this.#arrivals().gather(rows, count), count);
  }

  projectsWith(rowsMin: number): readonly string[] {
    return this.#groups.projectsWith(rowsMin);
  }

  ids(rows: Int32Array, count: number): Vector {
    return this.#ids().vector(rows, count);
  }

  messages(rows: Int32Array, count: number): Vector {
    return this.#messages().vector(rows, count);
  }

  projects(rows: Int32Array, count: number): Vector {
    return this.#projects().vector(rows, count);
  }

  roots(rows: Int32Array, count: number): NestedVector {
    return this.#roots().roots(rows.length === count ? rows : rows.slice(0, count));
  }

  #rootsOf(rows: RowsRead, tokens: TokenSource): NestedVector {
    const skeletons = this.#rowSkeletons();
    if (!(rows instanceof Int32Array)) {
      return tokens.rootsOfRange(rows.start, rows.count, skeletons);
    }
    return tokens.roots(rows, skeletons.gatherIntegers(rows, rows.length), rows.length);
  }

  range(column: SegmentColumn, { start, count, isTimeOrdered }: RowRange): Vector | undefined {
    switch (column) {
      case 'timestamp':
        return this.#timestampsUs().range({ start, count, isAscending: isTimeOrdered });
      case 'arrival':
        return this.#arrivals().range({ start, count, isAscending: false });
      case 'id':
        return this.#ids().range(start, count);
      case 'event_message':
        return this.#messages().range(start, count);
      case 'project':
        return this.#projects().range(start, count);
      case 'root':
        return this.#roots().roots({ start, count });
      default:
        return unreachable(column);
    }
  }

  rowsWith(needed: NeededText, among?: RowSpan): RowRanges | undefined {
    return this.#texts?.().rowsWith(needed, among);
  }

  splitsAt(path: NeededText['path']): readonly SplitBlock[] | undefined {
    return this.#texts?.().splitsAt(path);
  }

  rowsInside({ startUs, endUs }: RowWindow, among?: RowRanges): RowRanges {
    const find = () => this.#findInside({ startUs, endUs }, among);
    // Whoever asks again has other ranges then, as so many are not kept either.
    if (among !== undefined && among.length > RANGE_BOUNDS_MAX) return find();
    return this.#lastInside.of({ startUs, endUs, among }, find);
  }

  #findInside(window: RowWindow, among?: RowRanges): RowRanges {
    if (among === undefined) return this.#findInsideOf(window);
    // Most rows that hold a text lie alone: to look at the times of all is quicker than to search for each.
    const { alone, others } = partedByLength(among);
    const inside = this.#insideOf(window, alone);
    return unionOf(this.#findInsideOf(window, others), rangesOfRows(inside));
  }

  #insideOf({ startUs, endUs }: RowWindow, rows: Int32Array): Int32Array {
    const inside = carvedInt32(rows.length);
    const timesUs = this.#timestampsUs().gather(rows, rows.length);
    let count = 0;
    for (let index = 0; index < rows.length; index++) {
      const timeUs = timesUs[index]!;
      inside[count] = rows[index]!;
      count += Number(timeUs >= startUs) & Number(timeUs < endUs);
    }
    return inside.subarray(0, count);
  }

  #findInsideOf({ startUs, endUs }: RowWindow, among?: RowRanges): RowRanges {
    const isFromStart = startUs <= this.timestampUsMin;
    const isToEnd = endUs > this.timestampUsMax;
    const times = this.#timestampsUs();
    return this.#groups.rangesOfEach(among, (first, end) => {
      const from = isFromStart ? first : times.firstFrom(first, end, startUs);
      return { from, to: isToEnd ? end : times.firstFrom(from, end, endUs) };
    });
  }

  countSkeletons(ranges: RowRanges): SkeletonCounts {
    const { tokens, starts, keys, count } = this.#structure().skeletons;
    const counts = new Uint32Array(count);
    this.#rowSkeletons().countEach(ranges, counts);
    return { tokens, starts, keys, counts };
  }

  areTimeOrdered(start: number, count: number): boolean {
    return this.#groups.areOfOne(start, count);
  }
}

/** What rows have in common: which columns the values of each skeleton lie in. */
type Structure = SlotPlaces & { readonly skeletons: SkeletonArrays };

function openStructure(source: SliceSource, { keys, skeletons }: RowColumns): Structure {
  const starts = source.unsigned32(skeletons.starts);
  return {
    skeletons: {
      tokens: source.integers(skeletons.tokens),
      starts,
      count: starts.length - 1,
      placeStarts: source.unsigned32(skeletons.slotStarts),
      keys: { bytes: source.bytes(keys.bytes), offsets: source.unsigned32(keys.offsets) },
    },
    ...openSlotPlaces(source, skeletons),
  };
}

type ReaderParts = {
  readonly extent: Pick<SealedFooter, 'rowCount' | 'timestampUsMin' | 'timestampUsMax'>;
  readonly groups: Groups;
  readonly columns: RowColumns;
  /** Of what tells fields apart. */
  readonly first: SliceSource;
  /** Of the columns. */
  readonly source: SliceSource;
  readonly footer: SealedFooter | undefined;
  readonly common: () => CommonRecord<string>;
};

/**
 * Rows between two that may hold a text, at most, with which both are taken out together: about as many as a few blocks of
 * the file have of each column.
 */
const EXTRACT_GAP_MAX = 512;

/** Extracts of one segment: of more the columns that they lie in are read as quickly. */
const EXTRACTS_MAX = 8;

/** Where an extract is taken from. */
export type ExtractFrom = ImageReader & { readonly rowsMax: number };

/** Of the rows of a project so many, but for so many that are newer. */
export type NewestRows = { readonly skipped: number; readonly count: number };

export type SegmentOfExtract = {
  readonly segment: SealedSegmentReader;
  readonly extract: SegmentExtract;
};

/** Which of some rows are inside a window. */
type AskedInside = RowWindow & { readonly among: RowRanges | undefined };

function isSameWindow(one: AskedInside, other: AskedInside): boolean {
  if (one.startUs !== other.startUs || one.endUs !== other.endUs) return false;
  return one.among === other.among;
}

/** A declared column of strings. */
class StringColumn {
  readonly #positions: Positions;
  /** Opened when a string is asked for: whether there is one can be told without. */
  readonly #strings: () => StringValues;
  readonly #isInEveryRow: boolean;

  constructor(source: SliceSource, footer: StringColumnFooter) {
    this.#positions = openPositions(source, footer.positions);
    this.#strings = whenAsked(() => new StringValues(source, footer.strings));
    this.#isInEveryRow = footer.positions.kind === 'every-row';
  }

  /** Rows of a declared column have one value at most, so as many values as rows are one each. */
  range(row: number, count: number): Vector | undefined {
    const start = rangeStart(this.#positions, row, count);
    return start < 0 ? undefined : new StringRange(this.#strings, start, count);
  }

  vector(rows: Int32Array, count: number): Vector {
    const positions = this.#positions.locate(rows, count);
    if (!this.#isInEveryRow) {
      for (let i = 0; i < count; i++) if (!this.#positions.has(rows[i]!)) positions[i] = -1;
    }
    const strings = this.#strings();
    return dictionaryVector(strings.gather(positions, count), count, strings.entries);
  }
}

/** Which ends of a segment have rows of no project, and of mixed ones. */
type GroupEnds = Pick<GroupsFooter, 'hasNone' | 'hasMixed'>;

/** The rows of each project key. */
class Groups {
  readonly #ends: GroupEnds;
  readonly #names: StringBlock;
  readonly #starts: Uint32Array;
  #known: { readonly projectKey: string | undefined; readonly runs: readonly RowRun[] } | undefined;

  private constructor(ends: GroupEnds, names: StringBlock, starts: Uint32Array) {
    this.#ends = ends;
    this.#names = names;
    this.#starts = starts;
  }

  static open(source: SliceSource, footer: GroupsFooter): Groups {
    const { bytes, offsets } = footer.names;
    const names = { bytes: source.bytes(bytes), offsets: source.unsigned32(offsets) };
    return new Groups(footer, names, source.unsigned32(footer.starts));
  }

  /** Of the rows [start, end) alone, where the first of them is row `first`. */
  within({ start, end }: Bounds, first: number): Groups {
    const starts = this.#starts;
    const groupCount = starts.length - 1;
    const from = firstAtLeast(starts, 0, starts.length, start + 1) - 1;
    const to = firstAtLeast(starts, 0, starts.length, end);
    const { hasNone, hasMixed } = this.#ends;
    const { bytes, offsets } = this.#names;
    const nameFrom = Math.max(0, from - this.#firstNamed);
    const nameEnd = Math.min(this.#nameCount, to - this.#firstNamed);
    return new Groups(
      { hasNone: hasNone && from === 0, hasMixed: hasMixed && to === groupCount },
      { bytes, offsets: offsets.subarray(nameFrom, Math.max(nameFrom, nameEnd) + 1) },
      starts.slice(from, to + 1).map((row) => Math.min(Math.max(row, start), end) - start + first),
    );
  }

  get #nameCount(): number {
    return this.#names.offsets.length - 1;
  }

  /** Whether consecutive rows are of one group. */
  areOfOne(start: number, count: number): boolean {
    const next = firstAtLeast(this.#starts, 0, this.#starts.length, start + 1);
    return start + count <= this.#starts[next]!;
  }

  /** What `rangeOf` says of the rows [first, end) of each group, as far as they are `among` these. */
  rangesOfEach(
    among: RowRanges | undefined,
    rangeOf: (first: number, end: number) => { readonly from: number; readonly to: number },
  ): RowRanges {
    const ranges = new RangeCollector();
    const starts = this.#starts;
    const wanted = among ?? Int32Array.of(starts[0]!, starts[starts.length - 1]!);
    let group = 0;
    for (let at = 0; at < wanted.length; at += 2) {
      const start = wanted[at]!;
      const end = wanted[at + 1]!;
      // The group of the first row: the last that begins there or before.
      if (starts[group + 1]! <= start) {
        group += firstAtLeast(starts, group, starts.length - group, start + 1) - 1;
      }
      for (let first = start; first < end; ) {
        const groupEnd = starts[group + 1]!;
        const { from, to } = rangeOf(first, Math.min(end, groupEnd));
        ranges.add(from, to);
        first = groupEnd;
        if (groupEnd < end) group++;
      }
    }
    return ranges.ranges();
  }

  /** Asked for the same key more than once in a run: how many rows there are, and which. */
  runs(projectKey: string | undefined): readonly RowRun[] {
    if (this.#known?.projectKey !== projectKey || this.#known === undefined) {
      this.#known = { projectKey, runs: this.#newRuns(projectKey) };
    }
    return this.#known.runs;
  }

  #newRuns(projectKey: string | undefined): readonly RowRun[] {
    const groupCount = this.#starts.length - 1;
    if (projectKey === undefined) {
      const start = this.#starts[0]!;
      const count = this.#starts[groupCount]! - start;
      const isTimeOrdered = groupCount === 1;
      return [{ count, start, rows: undefined, isTimeOrdered, hasProjectKey: true }];
    }
    // As `runsOf`, of one key.
    const name = this.#find(encodedKey(projectKey));
    const runs = name < 0 ? [] : [this.#run(this.#firstNamed + name, true)];
    if (this.#ends.hasMixed) runs.push(this.#run(groupCount - 1, false));
    return runs;
  }

  /** In the order of the rows. */
  runsOf(projectKeys: readonly string[]): readonly RowRun[] {
    const names = projectKeys.map((key) => this.#find(encodedKey(key)));
    const found = Int32Array.from(new Set(names)).filter((name) => name >= 0);
    return Array.from(found.sort(), (name) => this.#run(this.#firstNamed + name, true));
  }

  /** The first group that has a name. */
  get #firstNamed(): number {
    return this.#ends.hasNone ? 1 : 0;
  }

  projectsWith(rowsMin: number): readonly string[] {
    const projects: string[] = [];
    const first = this.#firstNamed;
    for (let name = 0; name < this.#nameCount; name++) {
      const rowCount = this.#starts[first + name + 1]! - this.#starts[first + name]!;
      if (rowCount >= rowsMin) projects.push(textAt(this.#names, name));
    }
    return projects;
  }

  #run(group: number, hasProjectKey: boolean): RowRun {
    const start = this.#starts[group]!;
    const count = this.#starts[group + 1]! - start;
    return { count, start, rows: undefined, isTimeOrdered: true, hasProjectKey };
  }

  /** Index of a project key among the names, or -1. */
  #find(name: Uint8Array): number {
    const { bytes, offsets } = this.#names;
    const orderOf = (index: number) =>
      compareBytes(bytes, offsets[index]!, offsets[index + 1]!, name);
    const found = partitionPoint(0, this.#nameCount, (index) => orderOf(index) < 0);
    return found < this.#nameCount && orderOf(found) === 0 ? found : -1;
  }
}

/** How `bytes[start, end)` compare to others: as `Buffer.compare`, without an object for each look. */
function compareBytes(bytes: Uint8Array, start: number, end: number, other: Uint8Array): number {
  const size = end - start;
  const sizeMin = Math.min(size, other.length);
  for (let index = 0; index < sizeMin; index++) {
    const difference = bytes[start + index]! - other[index]!;
    if (difference !== 0) return difference;
  }
  return size - other.length;
}

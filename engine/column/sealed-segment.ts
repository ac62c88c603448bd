import { unreachable } from '../assert.ts';
import { carvedInt32 } from './carved-arrays.ts';
import { KEPT_BOUNDS_MAX, LastRanges } from './last-ranges.ts';
import { NumberValues } from './number-values.ts';
import { firstAtLeast, openPositions, type Positions, rangeStart } from './positions.ts';
import {
  partedByLength,
  RangeCollector,
  type RowRanges,
  rangesOfRows,
  unionOf,
} from './row-ranges.ts';
import { type GroupsFooter, readFooter, type StringColumnFooter } from './sealed-layout.ts';
import { SealedSlotStore } from './sealed-slot-store.ts';
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
import { Skeletons } from './skeleton.ts';
import { type SliceFinder, SliceSource } from './slice.ts';
import { StringRange } from './string-range.ts';
import { StringValues } from './string-values.ts';
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
import { decodeWtf8, encodedKey } from './wtf8.ts';

/** A sealed segment, read in place. Opening it costs in proportion to its columns, not its rows. */
export class SealedSegmentReader implements Segment {
  readonly kind = 'sealed';
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly #groups: Groups;
  readonly #timestampsUs: NumberValues;
  readonly #arrivals: NumberValues;
  readonly #ids: () => StringColumn;
  readonly #messages: () => StringColumn;
  readonly #projects: () => StringColumn;
  readonly #rowSkeletons: NumberValues;
  readonly #skeletonStarts: Uint32Array;
  readonly #source: TokenSource;
  readonly #texts: () => TextIndex;
  readonly #lastInside = new LastRanges<AskedInside, RowRanges>(isSameWindow);

  /**
   * `need` brings a slice into memory; header and footer are in the buffer already. What is
   * needed to tell the rows apart is opened at once, every other column when it is first asked for.
   *
   * Throws when the buffer is not a sealed segment.
   */
  constructor(buffer: SharedArrayBuffer, need?: SliceFinder) {
    const footer = readFooter(buffer);
    const source = new SliceSource(buffer, need);
    this.rowCount = footer.rowCount;
    this.timestampUsMin = footer.timestampUsMin;
    this.timestampUsMax = footer.timestampUsMax;
    this.#groups = new Groups(source, footer.groups);
    this.#timestampsUs = new NumberValues(source, footer.timestampsUs);
    this.#arrivals = new NumberValues(source, footer.arrivals);
    this.#ids = whenAsked(() => new StringColumn(source, footer.ids));
    this.#messages = whenAsked(() => new StringColumn(source, footer.messages));
    this.#projects = whenAsked(() => new StringColumn(source, footer.projects));
    this.#rowSkeletons = new NumberValues(source, footer.rowSkeletons);
    this.#skeletonStarts = source.unsigned32(footer.skeletons.starts);
    const { bytes, offsets } = footer.keys;
    const skeletons = new Skeletons({
      tokens: source.integers(footer.skeletons.tokens),
      starts: this.#skeletonStarts,
      count: this.#skeletonStarts.length - 1,
      placeStarts: source.unsigned32(footer.skeletons.slotStarts),
      keys: { bytes: source.bytes(bytes), offsets: source.unsigned32(offsets) },
    });
    const slots = new SealedSlotStore(source, footer);
    this.#source = new TokenSource(skeletons, slots);
    this.#texts = whenAsked(
      () =>
        new TextIndex(source, footer, {
          skeletons: skeletons.arrays,
          rowSkeletons: this.#rowSkeletons,
          entriesOf: (column) => slots.entries(column),
        }),
    );
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
    return this.#timestampsUs.firstFrom(start, start + count, timestampUs) - start;
  }

  timestamps(rows: Int32Array, count: number): Vector {
    return numberVector(this.#timestampsUs.gather(rows, count), count);
  }

  arrivals(rows: Int32Array, count: number): Vector {
    return numberVector(this.#arrivals.gather(rows, count), count);
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
    const skeletons = this.#rowSkeletons.gatherIntegers(rows, count);
    return this.#source.roots(rows, skeletons, count);
  }

  range(column: SegmentColumn, { start, count, isTimeOrdered }: RowRange): Vector | undefined {
    switch (column) {
      case 'timestamp':
        return this.#timestampsUs.range({ start, count, isAscending: isTimeOrdered });
      case 'arrival':
        return this.#arrivals.range({ start, count, isAscending: false });
      case 'id':
        return this.#ids().range(start, count);
      case 'event_message':
        return this.#messages().range(start, count);
      case 'project':
        return this.#projects().range(start, count);
      case 'root':
        return this.#source.rootsOfRange(start, count, this.#rowSkeletons);
      default:
        return unreachable(column);
    }
  }

  rowsWith(needed: NeededText, among?: RowSpan): RowRanges | undefined {
    return this.#texts().rowsWith(needed, among);
  }

  splitsAt(path: NeededText['path']): readonly SplitBlock[] | undefined {
    return this.#texts().splitsAt(path);
  }

  rowsInside({ startUs, endUs }: RowWindow, among?: RowRanges): RowRanges {
    const find = () => this.#findInside({ startUs, endUs }, among);
    // Whoever asks again has other ranges then, as so many are not kept either.
    if (among !== undefined && among.length > KEPT_BOUNDS_MAX) return find();
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
    const timesUs = this.#timestampsUs.gather(rows, rows.length);
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
    const times = this.#timestampsUs;
    return this.#groups.rangesOfEach(among, (first, end) => {
      const from = isFromStart ? first : times.firstFrom(first, end, startUs);
      return { from, to: isToEnd ? end : times.firstFrom(from, end, endUs) };
    });
  }

  areTimeOrdered(start: number, count: number): boolean {
    return this.#groups.areOfOne(start, count);
  }
}

/** Which of some rows are inside a window. */
type AskedInside = RowWindow & { readonly among: RowRanges | undefined };

function isSameWindow(one: AskedInside, other: AskedInside): boolean {
  if (one.startUs !== other.startUs || one.endUs !== other.endUs) return false;
  return one.among === other.among;
}

/** What `open` gives, opened when it is first asked for. */
function whenAsked<T>(open: () => T): () => T {
  let opened: T | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}

/** The rows of each project key. */
class Groups {
  readonly #footer: GroupsFooter;
  readonly #names: StringBlock;
  readonly #starts: Uint32Array;
  #known: { readonly projectKey: string | undefined; readonly runs: readonly RowRun[] } | undefined;

  constructor(source: SliceSource, footer: GroupsFooter) {
    const { bytes, offsets } = footer.names;
    this.#footer = footer;
    this.#names = { bytes: source.bytes(bytes), offsets: source.unsigned32(offsets) };
    this.#starts = source.unsigned32(footer.starts);
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
    const wanted = among ?? Int32Array.of(0, starts[starts.length - 1]!);
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
      const count = this.#starts[groupCount]!;
      const isTimeOrdered = groupCount === 1;
      return [{ count, start: 0, rows: undefined, isTimeOrdered, hasProjectKey: true }];
    }
    // As `runsOf`, of one key.
    const name = this.#find(encodedKey(projectKey));
    const runs = name < 0 ? [] : [this.#run(this.#firstNamed + name, true)];
    if (this.#footer.hasMixed) runs.push(this.#run(groupCount - 1, false));
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
    return this.#footer.hasNone ? 1 : 0;
  }

  projectsWith(rowsMin: number): readonly string[] {
    const projects: string[] = [];
    const { bytes, offsets } = this.#names;
    const first = this.#firstNamed;
    for (let name = 0; name < this.#footer.names.count; name++) {
      const rowCount = this.#starts[first + name + 1]! - this.#starts[first + name]!;
      if (rowCount >= rowsMin) projects.push(decodeWtf8(bytes, offsets[name]!, offsets[name + 1]!));
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
    let low = 0;
    let high = this.#footer.names.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareBytes(bytes, offsets[middle]!, offsets[middle + 1]!, name);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
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

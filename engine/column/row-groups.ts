import type { Bounds } from './extract/slice-bytes.ts';
import { firstAtLeast } from './positions.ts';
import { RangeCollector, type RowRanges } from './row-ranges.ts';
import type { GroupsFooter } from './sealed-layout.ts';
import type { RowRun } from './segment.ts';
import type { SliceSource } from './slice.ts';
import type { StringBlock } from './vector.ts';
import { encodedKey, textAt } from './wtf8.ts';

/** Which ends of a segment have rows of no project, and of mixed ones. */
type GroupEnds = Pick<GroupsFooter, 'hasNone' | 'hasMixed'>;

/** The rows of each project key. */
export class Groups {
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
    let low = 0;
    let high = this.#nameCount;
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

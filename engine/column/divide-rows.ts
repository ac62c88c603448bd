import type { Bounds } from './extract/slice-bytes.ts';
import { mergeNames, type RowGroups, type SegmentRows } from './merge-input.ts';
import { partitionPoint } from './positions.ts';

/** The rows of a part: those of each segment, none where `start` is `end`. */
export type PartRows = readonly Bounds[];

/** Rows of one project in one segment. */
type GroupRows = Bounds & { readonly segment: number };

/**
 * Divides the rows of some segments, in their merged order, into parts of at most `rowsMax` rows: merged one by one these
 * are segments of which no two have rows of the same project, but for projects that have more than `rowsMax` rows alone.
 * Those are divided by time. Calls `checkpoint` before each project.
 */
export function divideRows(
  segments: readonly SegmentRows[],
  rowsMax: number,
  checkpoint = () => {},
): PartRows[] {
  const cutter = new PartCutter(segments);
  for (const group of mergedGroups(segments.map(({ groups }) => groups))) {
    checkpoint();
    const rowCount = rowCountOf(group);
    if (cutter.rowCount + rowCount > rowsMax) cutter.cut();
    const pieceCount = Math.ceil(rowCount / rowsMax);
    for (let piece = 1; piece < pieceCount; piece++) {
      const rowsBefore = Math.floor((piece * rowCount) / pieceCount);
      for (const rows of firstRows(segments, group, rowsBefore)) cutter.takeTo(rows);
      cutter.cut();
    }
    for (const rows of group) cutter.takeTo(rows);
  }
  cutter.cut();
  return cutter.parts;
}

class PartCutter {
  readonly parts: PartRows[] = [];
  #starts: readonly number[];
  readonly #ends: number[];

  constructor(segments: readonly SegmentRows[]) {
    this.#starts = segments.map(({ groups }) => groups.groupStarts[0]!);
    this.#ends = [...this.#starts];
  }

  /** Rows of the part at hand. */
  get rowCount(): number {
    return this.#ends.reduce((sum, end, segment) => sum + end - this.#starts[segment]!, 0);
  }

  takeTo({ segment, end }: GroupRows): void {
    this.#ends[segment] = end;
  }

  /** Ends the part at hand, if it has rows. */
  cut(): void {
    if (this.rowCount === 0) return;
    this.parts.push(this.#ends.map((end, segment) => ({ start: this.#starts[segment]!, end })));
    this.#starts = [...this.#ends];
  }
}

/** The rows of each project in the segments that have it, in the order that merged rows have. */
function* mergedGroups(all: readonly RowGroups[]): Generator<readonly GroupRows[]> {
  yield all.flatMap((groups, segment) => (groups.hasNone ? [groupAt(groups, segment, 0)] : []));
  for (const holders of mergeNames(all)) {
    yield holders.map(({ segment, name }) => {
      const groups = all[segment]!;
      return groupAt(groups, segment, name + (groups.hasNone ? 1 : 0));
    });
  }
  yield all.flatMap((groups, segment) =>
    groups.hasMixed ? [groupAt(groups, segment, groups.groupStarts.length - 2)] : [],
  );
}

function groupAt({ groupStarts }: RowGroups, segment: number, group: number): GroupRows {
  return { segment, start: groupStarts[group]!, end: groupStarts[group + 1]! };
}

function rowCountOf(group: readonly GroupRows[]): number {
  return group.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The first `count` rows of a group, in the order of (timestamp, arrival). */
function firstRows(
  segments: readonly SegmentRows[],
  group: readonly GroupRows[],
  count: number,
): GroupRows[] {
  const times = group.map((rows) => segments[rows.segment]!.timestampsUs(rows));
  const cutUs = nthOf(times, count);
  const before = times.map((ofSegment) => countBelow(ofSegment, cutUs));
  const left = count - before.reduce((sum, rows) => sum + rows, 0);
  const ties = group.map(({ segment, start }, index) => {
    const throughCut = countThrough(times[index]!, cutUs);
    const rows = { start: start + before[index]!, end: start + throughCut };
    return left === 0 ? new Float64Array(0) : segments[segment]!.arrivals(rows);
  });
  const cutArrival = left === 0 ? 0 : nthOf(ties, left);
  return group.map(({ segment, start }, index) => {
    const end = start + before[index]! + countBelow(ties[index]!, cutArrival);
    return { segment, start, end };
  });
}

/** The value that so many of all have before them. */
function nthOf(ascending: readonly Float64Array[], index: number): number {
  const all = new Float64Array(ascending.reduce((sum, values) => sum + values.length, 0));
  let end = 0;
  for (const values of ascending) {
    all.set(values, end);
    end += values.length;
  }
  return all.sort()[index]!;
}

function countBelow(ascending: Float64Array, value: number): number {
  return partitionPoint(0, ascending.length, (index) => ascending[index]! < value);
}

/** How many of ascending values are at most `value`. */
export function countThrough(ascending: Float64Array, value: number): number {
  return partitionPoint(0, ascending.length, (index) => ascending[index]! <= value);
}

import type { RowGroups } from './merge-input.ts';

/** The rows of one sealed segment to be merged, as their order needs them. */
export type OrderedRows = RowGroups & {
  readonly timestampsUs: Float64Array;
  readonly arrivals: Float64Array;
};

/** Which row of which segment each merged row is. */
export type MergeOrder = {
  readonly rowCount: number;
  readonly segments: Uint16Array;
  readonly rows: Int32Array;
  readonly hasNone: boolean;
  readonly hasMixed: boolean;
  /** Where each project key is: an index among the names of a segment that has it. */
  readonly names: readonly { readonly segment: number; readonly name: number }[];
  /** First merged row of each group, and the end. */
  readonly groupStarts: Uint32Array;
};

/** A stretch of rows of one segment, in the order of (timestamp, arrival). */
type Run = { readonly segment: number; row: number; readonly end: number };

/** The rows of all segments by (project key, timestamp, arrival). */
export function mergeOrder(inputs: readonly OrderedRows[]): MergeOrder {
  const rowCount = inputs.reduce((sum, input) => sum + rowCountOf(input), 0);
  const order = { segments: new Uint16Array(rowCount), rows: new Int32Array(rowCount) };
  const groupStarts: number[] = [];
  let end = 0;
  const append = (runs: Run[]): void => {
    if (runs.length === 0) return;
    groupStarts.push(end);
    end = mergeRuns(inputs, runs, order, end);
  };
  const ends = (isMixed: boolean): Run[] =>
    inputs.flatMap((input, segment) => {
      if (isMixed ? !input.hasMixed : !input.hasNone) return [];
      return [runOf(input, segment, isMixed ? input.groupStarts.length - 2 : 0)];
    });
  append(ends(false));
  const names = mergeNames(inputs);
  for (const holders of names) {
    append(
      holders.map(({ segment, name }) => {
        const input = inputs[segment]!;
        return runOf(input, segment, name + (input.hasNone ? 1 : 0));
      }),
    );
  }
  append(ends(true));
  groupStarts.push(end);
  return {
    ...order,
    rowCount,
    hasNone: inputs.some((input) => input.hasNone),
    hasMixed: inputs.some((input) => input.hasMixed),
    names: names.map((holders) => holders[0]!),
    groupStarts: Uint32Array.from(groupStarts),
  };
}

/** Rows of all groups. */
function rowCountOf({ groupStarts }: RowGroups): number {
  return groupStarts.at(-1)! - groupStarts[0]!;
}

function runOf({ groupStarts }: OrderedRows, segment: number, group: number): Run {
  return { segment, row: groupStarts[group]!, end: groupStarts[group + 1]! };
}

type Holder = { readonly segment: number; readonly name: number };

/** The project keys of all segments in the order of their bytes, each with the segments that have it. */
export function mergeNames(inputs: readonly RowGroups[]): Holder[][] {
  const bytesOf = ({ segment, name }: Holder): Uint8Array => {
    const { bytes, offsets } = inputs[segment]!.names;
    return bytes.subarray(offsets[name]!, offsets[name + 1]!);
  };
  const all = inputs.flatMap(({ names }, segment) =>
    Array.from({ length: names.count }, (_, name): Holder => ({ segment, name })),
  );
  all.sort(
    (left, right) => Buffer.compare(bytesOf(left), bytesOf(right)) || left.segment - right.segment,
  );
  const merged: Holder[][] = [];
  for (const holder of all) {
    const last = merged.at(-1);
    if (last !== undefined && Buffer.compare(bytesOf(last[0]!), bytesOf(holder)) === 0) {
      last.push(holder);
    } else {
      merged.push([holder]);
    }
  }
  return merged;
}

/**
 * Writes the rows of the runs in order from `start` on; gives the end. The run with the least row is
 * followed as long as it stays below the next: segments are mostly of different times, so that a step
 * costs one comparison, not one for each run.
 */
function mergeRuns(
  inputs: readonly OrderedRows[],
  runs: Run[],
  order: { readonly segments: Uint16Array; readonly rows: Int32Array },
  start: number,
): number {
  const isBefore = (left: Run, right: Run): boolean => {
    const leftInput = inputs[left.segment]!;
    const rightInput = inputs[right.segment]!;
    const leftUs = leftInput.timestampsUs[left.row]!;
    const rightUs = rightInput.timestampsUs[right.row]!;
    if (leftUs !== rightUs) return leftUs < rightUs;
    return leftInput.arrivals[left.row]! < rightInput.arrivals[right.row]!;
  };
  let to = start;
  let open = runs;
  while (open.length > 0) {
    let first = open[0]!;
    let second: Run | undefined;
    for (const run of open) {
      if (run === first) continue;
      if (isBefore(run, first)) {
        second = first;
        first = run;
      } else if (second === undefined || isBefore(run, second)) second = run;
    }
    do {
      order.segments[to] = first.segment;
      order.rows[to++] = first.row++;
    } while (first.row < first.end && (second === undefined || isBefore(first, second)));
    if (first.row === first.end) open = open.filter((run) => run !== first);
  }
  return to;
}

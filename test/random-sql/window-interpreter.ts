import { must, unreachable } from '../../engine/assert.ts';
import type {
  Aggregate,
  Direction,
  Expression,
  Frame,
  Sorting,
  Value,
  Window,
  WindowCall,
} from './query.ts';
import { compareBy, groupText } from './value-order.ts';

/** One row among the rows of its query, and what can be asked about them. */
export type Partition<Row> = {
  readonly row: Row;
  readonly rows: readonly Row[];
  readonly evaluate: (expression: Expression, row: Row) => Value;
  readonly sorted: (rows: readonly Row[], keys: readonly Sorting[]) => readonly Row[];
  readonly aggregate: (call: Aggregate, rows: readonly Row[]) => Value;
};

/** The value of a function over a window for one row. */
export function windowValue<Row>(window: Window, all: Partition<Row>): Value {
  const { call, partitionBy, orderBy } = window;
  const keyOf = (row: Row) => partitionBy.map((key) => groupText(all.evaluate(key, row))).join();
  const own = keyOf(all.row);
  const rows = all.sorted(
    all.rows.filter((row) => keyOf(row) === own),
    orderBy,
  );
  const index = rows.indexOf(all.row);
  const keys = rows.map((row) => orderBy.map(({ expression }) => all.evaluate(expression, row)));
  const place: Place = { index, keys, order: orderBy };
  const [start, end] = frameOf(place, window.frame);
  if (call.op === 'aggregate') return all.aggregate(call, rows.slice(start, end));
  if (isNumbering(call)) return numbering(call, place);
  const valuesOf = (part: readonly Row[]) =>
    part.map((row) => all.evaluate(must(call.argument), row));
  return navigation(call, rows, valuesOf, { index, start, end });
}

/** A row in its sorted partition: `keys` are what each row was sorted by. */
type Place = {
  readonly index: number;
  readonly keys: readonly (readonly Value[])[];
  readonly order: readonly Direction[];
};

/** Rows that are neither before nor behind one another are peers. */
function isPeer({ keys, order }: Place, one: number, other: number): boolean {
  return order.every((key, at) => compareBy(keys[one]![at]!, keys[other]![at]!, key) === 0);
}

/** Without a frame: the whole partition; in an order, all up to the last peer of the row. */
function frameOf(place: Place, frame: Frame | undefined): readonly [start: number, end: number] {
  const { index, keys, order } = place;
  const count = keys.length;
  if (frame?.unit === 'ROWS') {
    const start = Math.max(0, index + frame.start);
    return [start, Math.max(start, Math.min(count, index + frame.end + 1))];
  }
  const { start, end } = frame ?? { start: -Infinity, end: order.length === 0 ? Infinity : 0 };
  const isInside = (row: number) => isAtLeast(place, row, start) && isAtMost(place, row, end);
  const inside = [...keys.keys()].filter(isInside);
  return inside.length === 0 ? [0, 0] : [inside[0]!, inside.at(-1)! + 1];
}

function isAtLeast(place: Place, row: number, distance: number): boolean {
  if (distance === -Infinity) return true;
  if (distance === 0) return row >= place.index || isPeer(place, row, place.index);
  return step(place, row, distance) >= 0;
}

function isAtMost(place: Place, row: number, distance: number): boolean {
  if (distance === Infinity) return true;
  if (distance === 0) return row <= place.index || isPeer(place, row, place.index);
  return step(place, row, distance) <= 0;
}

/** Where a row lies from that distance to the current one in a RANGE; NULLs and NaNs are peers only. */
function step({ index, keys, order }: Place, row: number, distance: number): number {
  const [own, other] = [keys[index]![0]!, keys[row]![0]!];
  const isDescending = order[0]!.direction === ' DESC';
  const isApart = (value: Value) => value === null || Number.isNaN(value);
  if (isApart(own)) return isApart(other) && Object.is(own, other) ? 0 : Math.sign(row - index);
  if (isApart(other)) return Math.sign(row - index);
  const bound = Number(own) + (isDescending ? -distance : distance);
  const difference = Number(other) - bound;
  return Number.isNaN(difference) ? 0 : isDescending ? -difference : difference;
}

function isNumbering({ name }: WindowCall): boolean {
  return ['ROW_NUMBER', 'RANK', 'DENSE_RANK', 'PERCENT_RANK', 'CUME_DIST', 'NTILE'].includes(name);
}

function numbering({ name, count: bucketCount = 1 }: WindowCall, place: Place): Value {
  const { index, keys } = place;
  const count = keys.length;
  const peers = [...keys.keys()].filter((row) => isPeer(place, row, index));
  const rank = peers[0]! + 1;
  switch (name) {
    case 'ROW_NUMBER':
      return BigInt(index + 1);
    case 'RANK':
      return BigInt(rank);
    case 'DENSE_RANK':
      return BigInt(
        [...keys.keys()].filter(
          (row) => row <= peers[0]! && (row === 0 || !isPeer(place, row - 1, row)),
        ).length,
      );
    case 'PERCENT_RANK':
      return count === 1 ? 0 : (rank - 1) / (count - 1);
    case 'CUME_DIST':
      return (peers.at(-1)! + 1) / count;
    default: {
      // The first buckets have one row more, as long as there are rows left over.
      const [size, left] = [Math.floor(count / bucketCount), count % bucketCount];
      const inLarge = left * (size + 1);
      return BigInt(
        index < inLarge
          ? Math.floor(index / (size + 1)) + 1
          : left + Math.floor((index - inLarge) / size) + 1,
      );
    }
  }
}

/** Reads one row, or to know which are NULL all of the frame: what fails in others counts for nothing. */
function navigation<Row>(
  { name, count = 1, ignoresNulls = false }: WindowCall,
  rows: readonly Row[],
  valuesOf: (part: readonly Row[]) => readonly Value[],
  { index, start, end }: { readonly index: number; readonly start: number; readonly end: number },
): Value {
  const valueIn = (list: readonly Row[], at: number) =>
    at < 0 ? null : (valuesOf(list.slice(at, at + 1))[0] ?? null);
  const ofFrame = (place: (frameSize: number) => number) => {
    const frame = rows.slice(start, end);
    if (!ignoresNulls) return valueIn(frame, place(frame.length));
    const values = valuesOf(frame).filter((value) => value !== null);
    return values[place(values.length)] ?? null;
  };
  switch (name) {
    case 'LAG':
      return valueIn(rows, index - count);
    case 'LEAD':
      return valueIn(rows, index + count);
    case 'FIRST_VALUE':
      return ofFrame(() => 0);
    case 'LAST_VALUE':
      return ofFrame((size) => size - 1);
    case 'NTH_VALUE':
      return ofFrame(() => count - 1);
    case 'ROW_NUMBER':
    case 'RANK':
    case 'DENSE_RANK':
    case 'PERCENT_RANK':
    case 'CUME_DIST':
    case 'NTILE':
      throw new Error(`${name} reads no values`);
    default:
      return unreachable(name);
  }
}

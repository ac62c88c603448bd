import { unreachable } from '../assert.ts';
import { partitionPoint } from '../column/positions.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { compareValues, type OrderDirection } from '../function/comparison.ts';
import type { FunctionDoc, ParameterType } from '../function/scalar-function.ts';
import { QueryError } from '../query-error.ts';
import { keyComparator } from './sort.ts';

/** A function of GoogleSQL that is only ever called with OVER; aggregates are called so, too. */
export type WindowFunction = {
  /** Lower case. */
  readonly name: string;
  readonly doc: FunctionDoc;
  readonly overloads: readonly WindowOverload[];
  /** How many arguments are evaluated per row; those after them are constants of the query. */
  readonly perRowCount: number;
  /** Whether the window must have an ORDER BY, may have one, or cannot. */
  readonly order: 'required' | 'optional' | 'forbidden';
  /** Whether the window may have a frame. */
  readonly isFramed: boolean;
  /** Whether NULLs are left out unless the text says otherwise; absent: it cannot say. */
  readonly ignoresNulls?: boolean;
  /**
   * Checks the constants, and throws a QueryError when one is out of its range. A kernel without arguments per row is
   * never called as a deferred one.
   */
  readonly prepare: (constants: readonly SqlValue[]) => WindowKernel;
};

type WindowOverload = {
  readonly parameters: readonly ParameterType[];
  /** How many of the last parameters may be left out. */
  readonly optionalCount?: number;
  readonly result: SqlType | ((types: readonly SqlType[]) => SqlType);
};

/** Computes the values of all rows, as they came; of a deferred call `DeferredAnswer`s, which may be errors. */
export type WindowKernel = (rows: WindowRows, input: WindowInput) => Vector;

export type WindowInput = {
  /** The arguments evaluated per row, for the rows as they came. Of a deferred call they are `DeferredAnswer`s. */
  readonly vectors: readonly Vector[];
  /** An error counts for the rows whose value is made of the failing one, and for no other. */
  readonly isDeferred: boolean;
  readonly ignoresNulls: boolean;
  /** The frames of all positions, for a function that has some. */
  readonly frames: () => FrameBounds;
};

/** The rows around each row that a function looks at, its amounts known. */
export type Frame = {
  readonly unit: 'rows' | 'range';
  readonly start: Bound;
  readonly end: Bound;
};

/** `amount` is an INT64 or FLOAT64 of at least 0: rows, or what the key may differ by. */
export type Bound =
  | { readonly kind: 'unbounded-preceding' | 'current-row' | 'unbounded-following' }
  | { readonly kind: 'preceding' | 'following'; readonly amount: number | bigint };

/** What holds where a text gives no frame: without an order all rows of a partition are peers. */
export const DEFAULT_FRAME: Frame = {
  unit: 'range',
  start: { kind: 'unbounded-preceding' },
  end: { kind: 'current-row' },
};

/** The positions [starts[p], ends[p]) that the row at position p sees; both never fall within a partition. */
export type FrameBounds = { readonly starts: Int32Array; readonly ends: Int32Array };

/** The order's one key, which the amounts of a RANGE are added to. */
type RangeKey = { readonly vector: Vector; readonly descending: boolean };

/** The frames of all rows. `key` must be there when a bound of a RANGE has an amount. */
export function frameBounds(rows: WindowRows, frame: Frame, key?: RangeKey): FrameBounds {
  const starts = new Int32Array(rows.count);
  const ends = new Int32Array(rows.count);
  const edges = frame.unit === 'rows' ? ROW_EDGES : rangeEdges(rows, key);
  forEachStanding(rows, (at) => {
    const { position, partitionEnd } = at;
    starts[position] = edges.start(frame.start, at);
    // A frame that ends before it starts is empty.
    ends[position] = Math.min(partitionEnd, Math.max(starts[position]!, edges.end(frame.end, at)));
  });
  return { starts, ends };
}

/** Where a bound lies, clamped to the partition: its first position, and the one after its last. */
type Edges = {
  readonly start: (bound: Bound, at: Standing) => number;
  readonly end: (bound: Bound, at: Standing) => number;
};

/** A frame ends behind the row that its last bound names. */
const ROW_EDGES: Edges = {
  start: (bound, at) => rowEdge(bound, at, 0),
  end: (bound, at) => rowEdge(bound, at, 1),
};

function rowEdge(bound: Bound, at: Standing, behind: 0 | 1): number {
  const clamp = (position: number) =>
    Math.min(at.partitionEnd, Math.max(at.partitionStart, position));
  switch (bound.kind) {
    case 'unbounded-preceding':
      return at.partitionStart;
    case 'unbounded-following':
      return at.partitionEnd;
    case 'current-row':
      return at.position + behind;
    case 'preceding':
      return clamp(at.position - Number(bound.amount) + behind);
    case 'following':
      return clamp(at.position + Number(bound.amount) + behind);
    default:
      return unreachable(bound);
  }
}

/** All peers of a row count as the row. */
function rangeEdges(rows: WindowRows, key: RangeKey | undefined): Edges {
  const search = key === undefined ? undefined : new KeySearch(rows, key);
  const edge = (bound: Bound, at: Standing, side: 'start' | 'end') => {
    switch (bound.kind) {
      case 'unbounded-preceding':
        return at.partitionStart;
      case 'unbounded-following':
        return at.partitionEnd;
      case 'current-row':
        return side === 'start' ? at.peerStart : at.peerEnd;
      default:
        return search!.find(bound, at, side);
    }
  };
  return {
    start: (bound, at) => edge(bound, at, 'start'),
    end: (bound, at) => edge(bound, at, 'end'),
  };
}

/** Finds where keys lie that differ by an amount from that of a row. */
class KeySearch {
  readonly #rows: WindowRows;
  readonly #key: RangeKey;

  constructor(rows: WindowRows, key: RangeKey) {
    this.#rows = rows;
    this.#key = key;
  }

  /** NULL and NaN differ from themselves by nothing, and from no number by any amount. */
  find(
    bound: Bound & { readonly amount: number | bigint },
    at: Standing,
    side: 'start' | 'end',
  ): number {
    const value = this.#at(at.position);
    if (!isOrdinary(value)) return side === 'start' ? at.peerStart : at.peerEnd;
    const isLess = (bound.kind === 'preceding') !== this.#key.descending;
    const isOutward = (side === 'start') === (bound.kind === 'preceding');
    const exact = shifted(value, bound.amount, isLess);
    if (Number.isNaN(Number(exact))) throw infiniteFrame(value);
    const limit = isOutward ? withinFinite(exact, value, bound.amount) : exact;
    // The first position whose key does not stand before the limit, or stands behind it.
    return partitionPoint(at.partitionStart, at.partitionEnd, (position) =>
      this.#standsBefore(position, limit, side, at),
    );
  }

  #standsBefore(
    position: number,
    limit: number | bigint,
    side: 'start' | 'end',
    at: Standing,
  ): boolean {
    const value = this.#at(position);
    // All that are no ordinary numbers stand together on one side of those that are.
    if (!isOrdinary(value)) return position < at.position;
    const order = compareValues(value, limit) * (this.#key.descending ? -1 : 1);
    return side === 'start' ? order < 0 : order <= 0;
  }

  #at(position: number): SqlValue {
    return valueAt(this.#key.vector, this.#rows.order[position]!);
  }
}

function isOrdinary(value: SqlValue): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value));
}

/** What lies so far from an infinite key is anywhere. */
function infiniteFrame(key: number | bigint): QueryError {
  const sentence = `a RANGE frame cannot reach an infinite amount from the key ${key}`;
  return new QueryError('query_failed', sentence);
}

/** A finite key and amount that come to more than a double holds do not reach the keys that are infinite. */
function withinFinite(
  limit: number | bigint,
  value: number | bigint,
  amount: number | bigint,
): number | bigint {
  const isOverflow =
    Math.abs(Number(limit)) === Number.POSITIVE_INFINITY &&
    Number.isFinite(Number(value)) &&
    Number.isFinite(Number(amount));
  return isOverflow ? Math.sign(Number(limit)) * Number.MAX_VALUE : limit;
}

/**
 * A double beyond 2^53 is rounded, and still lies beyond all integers that are numbers; two bigints, or
 * one of them, stay exact.
 */
function shifted(
  value: number | bigint,
  amount: number | bigint,
  isLess: boolean,
): number | bigint {
  if (typeof value === 'number' && typeof amount === 'number') {
    return isLess ? value - amount : value + amount;
  }
  if (typeof value === 'number' && !Number.isInteger(value)) {
    return isLess ? value - Number(amount) : value + Number(amount);
  }
  if (typeof amount === 'number' && !Number.isInteger(amount)) {
    return isLess ? Number(value) - amount : Number(value) + amount;
  }
  return isLess ? BigInt(value) - BigInt(amount) : BigInt(value) + BigInt(amount);
}

/**
 * The rows of an operator as a window sees them: partition after partition, each in the window's
 * order. A *position* is a place in that order, a *row* the place of a row as it came.
 */
export type WindowRows = {
  readonly count: number;
  /** The row at each position. */
  readonly order: Int32Array;
  /** The positions where partitions begin, and `count`. */
  readonly partitions: Int32Array;
  /** The positions where rows begin that are equal in all keys of the order, and `count`. */
  readonly peers: Int32Array;
};

type WindowKeys = {
  /** The number of each row's partition. */
  readonly partitionOf: Int32Array;
  readonly directions: readonly OrderDirection[];
  /** The keys' values, parallel to `directions`. */
  readonly vectors: readonly Vector[];
  /** What decides between rows that are equal in all keys, which are peers nonetheless. */
  readonly ties: {
    readonly directions: readonly OrderDirection[];
    readonly vectors: readonly Vector[];
  };
};

/** Orders `count` rows; equal rows keep their order. */
export function windowRows(keys: WindowKeys, count: number): WindowRows {
  const { partitionOf, directions, vectors, ties } = keys;
  const byKeys = keyComparator(directions, vectors);
  const byTies = keyComparator(ties.directions, ties.vectors);
  const compare = (left: number, right: number): number =>
    byKeys(left, right) || byTies(left, right) || left - right;
  const { order, partitions } = byPartition(partitionOf, count);
  for (let partition = 0; partition + 1 < partitions.length; partition++) {
    const rows = order.subarray(partitions[partition], partitions[partition + 1]);
    if (!isSorted(rows, compare)) rows.sort(compare);
  }
  const isNewPeer = (left: number, right: number) =>
    partitionOf[left] !== partitionOf[right] || byKeys(left, right) !== 0;
  return { count, order, partitions, peers: startsOf(order, isNewPeer) };
}

/** Rows by the numbers of their partitions, each of which some row has; within one as they came: a log is often sorted. */
function byPartition(
  partitionOf: Int32Array,
  count: number,
): Pick<WindowRows, 'order' | 'partitions'> {
  let partitionCount = 0;
  for (let row = 0; row < count; row++) {
    if (partitionOf[row]! >= partitionCount) partitionCount = partitionOf[row]! + 1;
  }
  const partitions = new Int32Array(partitionCount + 1);
  for (let row = 0; row < count; row++) partitions[partitionOf[row]! + 1]!++;
  for (let partition = 0; partition < partitionCount; partition++) {
    partitions[partition + 1]! += partitions[partition]!;
  }
  const order = new Int32Array(count);
  const next = partitions.slice();
  for (let row = 0; row < count; row++) order[next[partitionOf[row]!]!++] = row;
  return { order, partitions };
}

function isSorted(order: Int32Array, compare: (left: number, right: number) => number): boolean {
  for (let position = 1; position < order.length; position++) {
    if (compare(order[position - 1]!, order[position]!) > 0) return false;
  }
  return true;
}

/** Where something begins that the row before does not belong to, and the number of rows. */
function startsOf(
  order: Int32Array,
  isStart: (left: number, right: number) => boolean,
): Int32Array {
  const starts: number[] = [];
  for (let position = 0; position < order.length; position++) {
    if (position === 0 || isStart(order[position - 1]!, order[position]!)) starts.push(position);
  }
  starts.push(order.length);
  return Int32Array.from(starts);
}

/** Where a row stands; positions are counted over all partitions, [start, end). */
export type Standing = {
  position: number;
  partitionStart: number;
  partitionEnd: number;
  peerStart: number;
  peerEnd: number;
  /** How many groups of peers stand before the row's own in its partition. */
  peerIndex: number;
};

/** Visits all positions in order. The object is the same each time. */
export function forEachStanding(rows: WindowRows, visit: (at: Standing) => void): void {
  const { partitions, peers, count } = rows;
  const edges = { partitionStart: 0, partitionEnd: 0, peerStart: 0, peerEnd: 0 };
  const at: Standing = { position: 0, ...edges, peerIndex: -1 };
  let partition = 0;
  let peer = 0;
  for (let position = 0; position < count; position++) {
    if (position === partitions[partition]) {
      at.partitionStart = position;
      at.partitionEnd = partitions[++partition]!;
      at.peerIndex = -1;
    }
    if (position === peers[peer]) {
      at.peerStart = position;
      at.peerEnd = peers[++peer]!;
      at.peerIndex++;
    }
    at.position = position;
    visit(at);
  }
}

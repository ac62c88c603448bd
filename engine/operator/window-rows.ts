import type { Vector } from '../column/vector.ts';
import type { OrderDirection } from '../function/order-direction.ts';
import { keyComparator } from './sort-order.ts';

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

export type WindowKeys = {
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
  const order = new Int32Array(count);
  for (let row = 0; row < count; row++) order[row] = row;
  const compare = (left: number, right: number): number =>
    partitionOf[left]! - partitionOf[right]! ||
    byKeys(left, right) ||
    byTies(left, right) ||
    left - right;
  if (!isSorted(order, compare)) order.sort(compare);
  const isNewPartition = (left: number, right: number) => partitionOf[left] !== partitionOf[right];
  const isNewPeer = (left: number, right: number) =>
    isNewPartition(left, right) || byKeys(left, right) !== 0;
  return {
    count,
    order,
    partitions: startsOf(order, isNewPartition),
    peers: startsOf(order, isNewPeer),
  };
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

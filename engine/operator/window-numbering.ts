import { FLOAT64, INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { numberVector } from '../column/vector.ts';
import type { FunctionDoc } from '../function/function-doc.ts';
import { QueryError } from '../query-error.ts';
import type { WindowFunction } from './window-function.ts';
import { forEachStanding, type Standing, type WindowRows } from './window-rows.ts';

/** ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST and NTILE. */
export const NUMBERING_FUNCTIONS: readonly WindowFunction[] = [
  numbering(
    'row_number',
    [
      'The number of the row in the order of the window, from 1, unique for each row.',
      'ROW_NUMBER() OVER (ORDER BY x) FROM UNNEST([20, 10, 30]) AS x',
      '[2, 1, 3]',
    ],
    'optional',
    INT64,
    (at) => at.position - at.partitionStart + 1,
  ),
  numbering(
    'rank',
    [
      'The rank of the row, from 1. Equal rows share a rank, which leaves gaps.',
      'RANK() OVER (ORDER BY x) FROM UNNEST([10, 20, 10]) AS x',
      '[1, 3, 1]',
    ],
    'required',
    INT64,
    rankOf,
  ),
  numbering(
    'dense_rank',
    [
      'The rank of the row, from 1. Equal rows share a rank, without gaps.',
      'DENSE_RANK() OVER (ORDER BY x) FROM UNNEST([10, 20, 10]) AS x',
      '[1, 2, 1]',
    ],
    'required',
    INT64,
    (at) => at.peerIndex + 1,
  ),
  numbering(
    'percent_rank',
    [
      'The relative rank from 0 to 1: the fraction of the other rows that precede the row.',
      'PERCENT_RANK() OVER (ORDER BY x) FROM UNNEST([10, 20, 10]) AS x',
      '[0.0, 1.0, 0.0]',
    ],
    'required',
    FLOAT64,
    (at) => {
      const others = at.partitionEnd - at.partitionStart - 1;
      return others === 0 ? 0 : (rankOf(at) - 1) / others;
    },
  ),
  numbering(
    'cume_dist',
    [
      'The fraction of rows that precede the row or are equal to it, including itself.',
      'CUME_DIST() OVER (ORDER BY x) FROM UNNEST([20, 10, 10, 30]) AS x',
      '[0.75, 0.5, 0.5, 1.0]',
    ],
    'required',
    FLOAT64,
    (at) => {
      return (at.peerEnd - at.partitionStart) / (at.partitionEnd - at.partitionStart);
    },
  ),
  {
    name: 'ntile',
    doc: [
      'The number, from 1, of the row’s bucket, after the ordered rows are divided into this many buckets of equal size. The first buckets have one row more if necessary.',
      'NTILE(2) OVER (ORDER BY x) FROM UNNEST([30, 10, 20]) AS x',
      '[2, 1, 1]',
    ],
    overloads: [{ parameters: [INT64], result: INT64 }],
    perRowCount: 0,
    order: 'required',
    isFramed: false,
    prepare: ([given]) => {
      const count = tileCount(given!);
      return (rows) => numbered(rows, (at) => tileOf(at, count));
    },
  },
];

function rankOf(at: Standing): number {
  return at.peerStart - at.partitionStart + 1;
}

function tileCount(value: SqlValue): number {
  const count = Number(value);
  if (value !== null && count >= 1) return count;
  const got = value === null ? 'NULL' : String(value);
  throw new QueryError('query_failed', `NTILE takes a number of at least 1; got ${got}`);
}

/** Tiles differ by one row at most, and the larger ones come first. */
function tileOf(at: Standing, count: number): number {
  const size = at.partitionEnd - at.partitionStart;
  const index = at.position - at.partitionStart;
  const small = Math.floor(size / count);
  const largeCount = size % count;
  const inLarge = largeCount * (small + 1);
  if (index < inLarge) return Math.floor(index / (small + 1)) + 1;
  return largeCount + Math.floor((index - inLarge) / small) + 1;
}

function numbering(
  name: string,
  doc: FunctionDoc,
  order: WindowFunction['order'],
  result: typeof INT64,
  numberOf: (at: Standing) => number,
): WindowFunction {
  return {
    name,
    doc,
    overloads: [{ parameters: [], result }],
    perRowCount: 0,
    order,
    isFramed: false,
    prepare: () => (rows) => numbered(rows, numberOf),
  };
}

function numbered(rows: WindowRows, numberOf: (at: Standing) => number) {
  const values = new Float64Array(rows.count);
  forEachStanding(rows, (at) => {
    values[rows.order[at.position]!] = numberOf(at);
  });
  return numberVector(values, rows.count);
}

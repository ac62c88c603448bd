import {
  type DeferredAnswer,
  deferredAnswer,
  isFailure,
  valueInAnswer,
} from '../aggregate/deferred.ts';
import { ExactSums } from '../aggregate/exact-sums.ts';
import { FLOAT64, INT64, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { numberVector, takeVector, type Vector, valueAt, valueVector } from '../column/vector.ts';
import { compareValues } from '../function/comparison.ts';
import { orderedValues } from '../function/dynamic.ts';
import type { FunctionDoc } from '../function/scalar-function.ts';
import { QueryError } from '../query-error.ts';
import {
  forEachStanding,
  type Standing,
  type WindowFunction,
  type WindowInput,
  type WindowKernel,
  type WindowRows,
} from './window-frame.ts';

/** ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST and NTILE. */
const NUMBERING_FUNCTIONS: readonly WindowFunction[] = [
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

/** LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE: the value of another row. */
const NAVIGATION_FUNCTIONS: readonly WindowFunction[] = [
  shifting(
    'lag',
    [
      'The value of the row this many rows before (default 1); the third argument, or NULL, if there is none.',
      'LAG(x) OVER (ORDER BY x) FROM UNNEST([10, 20, 30]) AS x',
      '[NULL, 10, 20]',
    ],
    -1,
  ),
  shifting(
    'lead',
    [
      'The value of the row this many rows after (default 1); the third argument, or NULL, if there is none.',
      'LEAD(x, 1, 0) OVER (ORDER BY x) FROM UNNEST([10, 20, 30]) AS x',
      '[20, 30, 0]',
    ],
    1,
  ),
  {
    ...picking('first_value'),
    doc: [
      'The value of the first row of the frame.',
      'FIRST_VALUE(x) OVER (ORDER BY x) FROM UNNEST([20, 10, 30]) AS x',
      '[10, 10, 10]',
    ],
    overloads: [{ parameters: ['any'], result: firstType }],
    prepare: () => pickingKernel((start) => start),
  },
  {
    ...picking('last_value'),
    doc: [
      'The value of the last row of the frame. The default frame ends at the row itself and its peers.',
      'LAST_VALUE(x) OVER (ORDER BY x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM UNNEST([20, 10, 30]) AS x',
      '[30, 30, 30]',
    ],
    overloads: [{ parameters: ['any'], result: firstType }],
    prepare: () => pickingKernel((_, end) => end - 1),
  },
  {
    ...picking('nth_value'),
    doc: [
      'The value of the row at a position of the frame, from 1; NULL if the frame has no such row.',
      'NTH_VALUE(x, 2) OVER (ORDER BY x) FROM UNNEST([10, 20, 30]) AS x',
      '[NULL, 20, 20]',
    ],
    overloads: [{ parameters: ['any', INT64], result: firstType }],
    prepare: ([given]) => {
      const nth = nthOf(given!);
      return pickingKernel((start) => start + nth - 1);
    },
  },
];

function firstType(types: readonly SqlType[]): SqlType {
  return types[0]!;
}

/** LAG and LEAD: `direction` is where the other row stands. */
function shifting(name: string, doc: FunctionDoc, direction: -1 | 1): WindowFunction {
  return {
    name,
    doc,
    overloads: [{ parameters: ['same', INT64, 'same'], optionalCount: 2, result: firstType }],
    perRowCount: 1,
    order: 'required',
    isFramed: false,
    prepare: ([offset = 1, otherwise = null]) => {
      const distance = direction * distanceOf(name, offset);
      return (rows, { vectors, isDeferred }) => {
        const sources = new Int32Array(rows.count);
        forEachStanding(rows, ({ position, partitionStart, partitionEnd }) => {
          const other = position + distance;
          const isInside = other >= partitionStart && other < partitionEnd;
          sources[rows.order[position]!] = isInside ? rows.order[other]! : -1;
        });
        return takenOr(vectors[0]!, sources, isDeferred ? deferredAnswer(otherwise) : otherwise);
      };
    },
  };
}

function distanceOf(name: string, value: SqlValue): number {
  if (value !== null && Number(value) >= 0) return Number(value);
  const got = value === null ? 'NULL' : String(value);
  throw new QueryError(
    'query_failed',
    `${name.toUpperCase()} takes an offset of at least 0; got ${got}`,
  );
}

/** The values of the rows `sources`, and `otherwise` where that is -1. */
function takenOr(vector: Vector, sources: Int32Array, otherwise: SqlValue): Vector {
  if (otherwise === null) return takeVector(vector, sources, sources.length);
  return valueVector(Array.from(sources, (row) => (row < 0 ? otherwise : valueAt(vector, row))));
}

function picking(name: string) {
  return { name, perRowCount: 1, order: 'required', isFramed: true, ignoresNulls: false } as const;
}

function nthOf(value: SqlValue): number {
  if (value !== null && Number(value) >= 1) return Number(value);
  const got = value === null ? 'NULL' : String(value);
  throw new QueryError('query_failed', `NTH_VALUE takes a number of at least 1; got ${got}`);
}

/** `pick` chooses among the candidates [start, end) of a frame; one outside of them is none. */
function pickingKernel(pick: (start: number, end: number) => number): WindowKernel {
  return (rows, input) => {
    const { starts, ends } = input.frames();
    const candidates = candidatesOf(rows, input);
    const sources = new Int32Array(rows.count);
    for (let position = 0; position < rows.count; position++) {
      const start = candidates.countBefore(starts[position]!);
      const end = candidates.countBefore(ends[position]!);
      const index = pick(start, end);
      const isInside = index >= start && index < end;
      const failing = candidates.nextFailing(starts[position]!);
      const picked = failing < ends[position]! ? failing : isInside && candidates.positionOf(index);
      sources[rows.order[position]!] = picked === false ? -1 : rows.order[picked]!;
    }
    return takeVector(input.vectors[0]!, sources, rows.count);
  };
}

/** The positions whose values count, numbered in order. */
type Candidates = {
  /** How many of them stand before a position. */
  readonly countBefore: (position: number) => number;
  readonly positionOf: (index: number) => number;
  /** The first position from this one on that may be NULL or not, for it fails; the number of rows if there is none. */
  readonly nextFailing: (position: number) => number;
};

function candidatesOf(rows: WindowRows, input: WindowInput): Candidates {
  const { vectors, ignoresNulls, isDeferred } = input;
  const none = () => rows.count;
  const same = (index: number) => index;
  // A row that fails is a candidate like others: its own answer is its error.
  if (!ignoresNulls) return { countBefore: same, positionOf: same, nextFailing: none };
  const counts = new Int32Array(rows.count + 1);
  const positions = new Int32Array(rows.count);
  let count = 0;
  for (let position = 0; position < rows.count; position++) {
    counts[position] = count;
    if (valueAt(vectors[0]!, rows.order[position]!) !== null) positions[count++] = position;
  }
  counts[rows.count] = count;
  return {
    countBefore: (position) => counts[position]!,
    positionOf: (index) => positions[index]!,
    nextFailing: isDeferred ? failingFrom(rows, vectors[0]!) : none,
  };
}

function failingFrom({ count, order }: WindowRows, answers: Vector): Candidates['nextFailing'] {
  const next = new Int32Array(count + 1).fill(count);
  for (let position = count - 1; position >= 0; position--) {
    const fails = isFailure(valueAt(answers, order[position]!) as DeferredAnswer);
    next[position] = fails ? position : next[position + 1]!;
  }
  return (position) => next[position]!;
}

/** PERCENTILE_CONT and PERCENTILE_DISC: a value of all rows of a partition, in order of the value. */
const PERCENTILE_FUNCTIONS: readonly WindowFunction[] = [
  {
    ...percentile('percentile_cont'),
    doc: [
      'The value at a fraction from 0 to 1 of the ordered numbers of the partition, interpolated between neighbours. NULLs are ignored.',
      'PERCENTILE_CONT(x, 0.5) OVER () FROM UNNEST([1, 4]) AS x',
      '[2.5, 2.5]',
    ],
    overloads: [{ parameters: [FLOAT64, FLOAT64], result: FLOAT64 }],
    prepare: ([fraction]) => percentileKernel(checked('PERCENTILE_CONT', fraction!), interpolated),
  },
  {
    ...percentile('percentile_disc'),
    doc: [
      'The first of the ordered values of the partition whose cumulative fraction is at least the given one, from 0 to 1. NULLs are ignored.',
      "PERCENTILE_DISC(x, 0.5) OVER () FROM UNNEST(['a', 'b', 'c']) AS x",
      "['b', 'b', 'b']",
    ],
    overloads: [
      { parameters: ['orderable', FLOAT64], result: (types: readonly SqlType[]) => types[0]! },
    ],
    prepare: ([fraction]) => percentileKernel(checked('PERCENTILE_DISC', fraction!), nearest),
  },
];

function percentile(name: string) {
  return { name, perRowCount: 1, order: 'forbidden', isFramed: false, ignoresNulls: true } as const;
}

function checked(name: string, value: SqlValue): number {
  const fraction = Number(value);
  if (value !== null && fraction >= 0 && fraction <= 1) return fraction;
  const got = value === null ? 'NULL' : String(value);
  throw new QueryError('query_failed', `${name} takes a fraction from 0 to 1; got ${got}`);
}

type Pick = (sorted: readonly SqlValue[], fraction: number) => SqlValue;

function percentileKernel(fraction: number, pick: Pick): WindowKernel {
  return ({ count, order, partitions }, { vectors, ignoresNulls, isDeferred }) => {
    const pickOf = (values: readonly SqlValue[]): SqlValue => {
      const nulls = ignoresNulls ? [] : values.filter((value) => value === null);
      const counted = [...nulls, ...orderedValues(values)];
      return counted.length === 0 ? null : pick(counted.sort(compareValues), fraction);
    };
    const results = new Array<SqlValue>(count);
    for (let index = 0; index + 1 < partitions.length; index++) {
      const rows = order.subarray(partitions[index], partitions[index + 1]);
      const values = Array.from(rows, (row) => valueAt(vectors[0]!, row));
      const result = isDeferred ? deferredPick(values as DeferredAnswer[], pickOf) : pickOf(values);
      for (const row of rows) results[row] = result;
    }
    return valueVector(results);
  };
}

function deferredPick(
  answers: readonly DeferredAnswer[],
  pickOf: (values: readonly SqlValue[]) => SqlValue,
): DeferredAnswer {
  return answers.find(isFailure) ?? deferredAnswer(pickOf(answers.map(valueInAnswer)));
}

/** The first value that at least the fraction of all is no greater than. */
function nearest(sorted: readonly SqlValue[], fraction: number): SqlValue {
  const { whole, rest } = productOf(fraction, sorted.length);
  return sorted[Math.max(0, rest === 0 ? whole - 1 : whole)]!;
}

/** A value between the two that the fraction lies between; beside a NULL the other one. */
function interpolated(sorted: readonly SqlValue[], fraction: number): SqlValue {
  const place = productOf(fraction, sorted.length - 1);
  const [left, right] = [sorted[place.whole]!, sorted[place.whole + 1] ?? null];
  if (place.rest === 0 || right === null) return left;
  if (left === null) return right;
  return between(Number(left), Number(right), place);
}

/** `left + (right - left) * rest`, rounded once. */
function between(left: number, right: number, { rest, restError }: Product): number {
  if (!Number.isFinite(left) || !Number.isFinite(right)) return left * (1 - rest) + right * rest;
  const sum = new ExactSums();
  const terms = [
    left,
    ...exactProduct(right, rest),
    ...exactProduct(-left, rest),
    right * restError,
    -left * restError,
  ];
  for (const term of terms) sum.add(0, term, 1);
  return sum.rounded(0);
}

/** A product and its rounding error, after Dekker, "A floating-point technique" (1971); `right` is below 1. */
function exactProduct(left: number, right: number): readonly [number, number] {
  // Of the largest doubles the halves would not be finite.
  const scale = Math.abs(left) > 2 ** 996 ? 2 ** -30 : 1;
  const product = left * right;
  const [leftHigh, leftLow] = halves(left * scale);
  const [rightHigh, rightLow] = halves(right);
  const whole = product * scale;
  const error =
    leftLow * rightLow - (whole - leftHigh * rightHigh - leftLow * rightHigh - leftHigh * rightLow);
  return [product, error / scale];
}

function halves(value: number): readonly [number, number] {
  const shifted = value * (2 ** 27 + 1);
  const high = shifted - (shifted - value);
  return [high, value - high];
}

/** `whole + rest + restError`, of which `rest` is below 1 and its error below what it can tell. */
type Product = { readonly whole: number; readonly rest: number; readonly restError: number };

/** `fraction * count`, exactly: as a double it would have lost the last digits of the rest. */
function productOf(fraction: number, count: number): Product {
  let mantissa = fraction;
  let shift = 0;
  // Doubling is exact.
  for (; !Number.isInteger(mantissa); mantissa *= 2) shift++;
  const product = BigInt(mantissa) * BigInt(count);
  const whole = product >> BigInt(shift);
  const rest = product - (whole << BigInt(shift));
  const error = rest - BigInt(Number(rest));
  const scale = 2 ** -shift;
  return { whole: Number(whole), rest: Number(rest) * scale, restError: Number(error) * scale };
}

const FUNCTIONS: ReadonlyMap<string, WindowFunction> = new Map(
  [...NUMBERING_FUNCTIONS, ...NAVIGATION_FUNCTIONS, ...PERCENTILE_FUNCTIONS].map(
    (each) => [each.name, each] as const,
  ),
);

/** The function of that name that is only called with OVER, in any case. */
export function findWindowFunction(name: string): WindowFunction | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

/** Names of all of these, lower case. */
export function windowFunctionNames(): readonly string[] {
  return [...FUNCTIONS.keys()];
}

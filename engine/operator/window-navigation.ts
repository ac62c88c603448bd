import { type DeferredAnswer, deferredAnswer, isFailure } from '../aggregate/deferred.ts';
import { INT64, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { takeVector, type Vector, valueAt, valueVector } from '../column/vector.ts';
import type { FunctionDoc } from '../function/function-doc.ts';
import { QueryError } from '../query-error.ts';
import type { WindowFunction, WindowInput, WindowKernel } from './window-function.ts';
import { forEachStanding, type WindowRows } from './window-rows.ts';

/** LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE: the value of another row. */
export const NAVIGATION_FUNCTIONS: readonly WindowFunction[] = [
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

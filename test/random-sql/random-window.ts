import type { Random } from '../../src/demo/traffic/random.ts';
import type {
  Aggregate,
  AggregateName,
  Expression,
  Frame,
  Scalar,
  Sorting,
  Type,
  Window,
  WindowCall,
  WindowName,
} from './query.ts';
import { isScalar, readsColumn, SCALARS } from './query.ts';
import { randomDirection } from './random-aggregate.ts';
import { randomWritten } from './random-expression.ts';

export type WindowOptions = {
  readonly value: (type: Type) => Expression;
  /** What a function may take, if that is other than a value to sort by. */
  readonly argument?: (type: Type) => Expression;
  /** Reads a column, and its type may be partitioned by. */
  readonly key: () => Expression;
  /** Expressions that no two rows have in common, if there are such. */
  readonly unique?: readonly Expression[] | undefined;
};

type Call = Window['call'];

/** What a function over a window wants of it. */
type Choice = {
  readonly type: Type;
  readonly call: () => Call;
  /** Whether the answer is open when two rows are peers. */
  readonly isTotal?: boolean;
  readonly hasFrame?: boolean;
  /** May do without ORDER BY. */
  readonly isFree?: boolean;
};

/** A random function over a window, of one type if that is given. */
export function randomWindow(random: Random, options: WindowOptions, wanted?: Type): Window {
  const choices = choicesOf(random, options).filter(
    ({ type, isTotal = false }) =>
      (wanted === undefined || type === wanted) && (!isTotal || options.unique !== undefined),
  );
  const choice = random.pick(choices);
  const partitionBy = random.next() < 0.6 ? [options.key()] : [];
  const { type } = choice;
  const call = choice.call();
  if (choice.isFree === true && random.next() < 0.25) {
    const isDistinct = call.op === 'aggregate' && call.argument !== undefined;
    return {
      op: 'window',
      type,
      call: isDistinct ? { ...call, isDistinct: random.next() < 0.4 } : call,
      partitionBy,
      orderBy: [],
    };
  }
  const { orderBy, frame } = orderAndFrame(random, choice, options);
  return { op: 'window', type, call, partitionBy, orderBy, frame };
}

function choicesOf(random: Random, options: WindowOptions): readonly Choice[] {
  const { argument: value = options.value } = options;
  const call = (name: WindowName, parts: Partial<WindowCall> = {}): WindowCall => ({
    op: 'window-call',
    name,
    ...parts,
  });
  const aggregate = (type: Type, name: AggregateName, argument?: Expression): Aggregate => ({
    op: 'aggregate',
    type,
    name,
    argument,
    isDistinct: false,
  });
  const overFrame = { hasFrame: true, isFree: true } as const;
  const nulls = () => random.next() < 0.4;
  // Google takes no NULL, nor what it computes to one.
  const navigated = (type: Scalar): Expression => {
    const argument = value(type);
    return readsColumn(argument) ? argument : randomWritten(random, type);
  };
  return [
    { type: 'INT64', call: () => call(random.pick(['RANK', 'DENSE_RANK'])) },
    { type: 'FLOAT64', call: () => call(random.pick(['PERCENT_RANK', 'CUME_DIST'])) },
    { type: 'INT64', isTotal: true, call: () => call('ROW_NUMBER') },
    {
      type: 'INT64',
      isTotal: true,
      call: () => call('NTILE', { count: random.pick([1, 2, 3, 7]) }),
    },
    { type: 'INT64', ...overFrame, call: () => aggregate('INT64', 'COUNT') },
    {
      type: 'INT64',
      ...overFrame,
      call: () => aggregate('INT64', 'COUNT', value(random.pick(SCALARS))),
    },
    {
      type: 'BOOL',
      ...overFrame,
      call: () => aggregate('BOOL', random.pick(['LOGICAL_AND', 'LOGICAL_OR']), value('BOOL')),
    },
    ...(['INT64', 'FLOAT64'] as const).map((type) => ({
      type,
      ...overFrame,
      call: () => aggregate(type, 'SUM', value(type)),
    })),
    ...SCALARS.flatMap((type): readonly Choice[] => [
      {
        type,
        ...overFrame,
        call: () => aggregate(type, random.pick(['MIN', 'MAX']), value(type)),
      },
      {
        type,
        isTotal: true,
        call: () =>
          call(random.pick(['LAG', 'LEAD']), {
            argument: navigated(type),
            count: random.pick([undefined, 0, 1, 2]),
          }),
      },
      {
        type,
        isTotal: true,
        hasFrame: true,
        call: () =>
          call(random.pick(['FIRST_VALUE', 'LAST_VALUE']), {
            argument: navigated(type),
            ignoresNulls: nulls(),
          }),
      },
      {
        type,
        isTotal: true,
        hasFrame: true,
        call: () =>
          call('NTH_VALUE', {
            argument: navigated(type),
            count: random.pick([1, 2, 3]),
            ignoresNulls: nulls(),
          }),
      },
    ]),
    {
      type: 'STRING',
      isTotal: true,
      hasFrame: true,
      call: () => ({ ...aggregate('STRING', 'STRING_AGG', value('STRING')), separator: '-' }),
    },
  ];
}

/** Ends as they may follow each other. */
const ENDS = [-Infinity, -2, -1, 0, 1, 2, Infinity];
/** Of a RANGE in whatever order. */
const PEERS = [-Infinity, 0, Infinity];

function orderAndFrame(
  random: Random,
  { isTotal = false, hasFrame = false }: Choice,
  { value, unique }: WindowOptions,
): { readonly orderBy: readonly Sorting[]; readonly frame: Frame | undefined } {
  const sorted = (expression: Expression): Sorting => ({
    expression,
    ...randomDirection(random),
  });
  const isFramed = hasFrame && random.next() < 0.6;
  const unit = unique !== undefined && random.next() < 0.6 ? 'ROWS' : 'RANGE';
  if (isFramed && unit === 'RANGE' && !isTotal && random.next() < 0.6) {
    // Distances are those of one number.
    const key = value(random.pick(['INT64', 'FLOAT64']));
    // Google's engine fails at a constant.
    const ends = readsColumn(key) ? ENDS : PEERS;
    return { orderBy: [sorted(key)], frame: { unit, ...randomEnds(random, ends) } };
  }
  const keys = [sorted(value(random.pick(SCALARS)))];
  const isAll = isTotal || (isFramed && unit === 'ROWS');
  const orderBy = isAll ? [...keys, ...unique!.map(sorted)] : keys;
  const ends = unit === 'ROWS' ? ENDS : PEERS;
  return { orderBy, frame: isFramed ? { unit, ...randomEnds(random, ends) } : undefined };
}

function randomEnds(
  random: Random,
  ends: readonly number[],
): { readonly start: number; readonly end: number } {
  const start = random.pick(ends.filter((end) => end !== Infinity));
  const end = random.pick(ends.filter((each) => each !== -Infinity && each >= start));
  return { start, end };
}

/** FLOAT64 is no type to partition by. */
export function canPartition(type: Type): boolean {
  return isScalar(type) && type !== 'FLOAT64';
}

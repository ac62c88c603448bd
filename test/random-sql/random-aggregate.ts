import type { Random } from '../../src/demo/traffic/random.ts';
import type { Aggregate, AggregateName, Direction, Expression, Scalar, Type } from './query.ts';
import { hasSubquery, readsColumn, SCALARS } from './query.ts';
import { callOf } from './random-from.ts';

export type AggregateOptions = {
  readonly value: (type: Type) => Expression;
  /** A value whose average is the same in whatever order it is taken. */
  readonly averaged: () => Expression;
  /** Expressions with one value in each group. */
  readonly keys: readonly Expression[];
  /** Whether its last digits may differ, since nothing is computed from it. */
  readonly isLast: boolean;
};

type Choice = { readonly type: Type; readonly make: () => Expression };

/** A random aggregate, of one type if that is given. */
export function randomAggregate(
  random: Random,
  options: AggregateOptions,
  type?: Type,
): Expression {
  const choices = choicesOf(random, options).filter(
    (choice) => type === undefined || choice.type === type,
  );
  return random.pick(choices).make();
}

function choicesOf(random: Random, options: AggregateOptions): readonly Choice[] {
  const { value, averaged, keys, isLast } = options;
  const scalar = random.pick(SCALARS);
  const counts: readonly Choice[] = [
    { type: 'INT64', make: () => aggregate('INT64', 'COUNT') },
    { type: 'INT64', make: () => aggregate('INT64', 'COUNT', value(scalar)) },
    {
      type: 'INT64',
      make: () => ({ ...aggregate('INT64', 'COUNT', value(scalar)), isDistinct: true }),
    },
    { type: 'INT64', make: () => aggregate('INT64', 'COUNTIF', value('BOOL')) },
    {
      type: 'INT64',
      make: () => aggregate('INT64', random.pick(['BIT_AND', 'BIT_OR', 'BIT_XOR']), value('INT64')),
    },
    {
      type: 'BOOL',
      make: () => aggregate('BOOL', random.pick(['LOGICAL_AND', 'LOGICAL_OR']), value('BOOL')),
    },
  ];
  const sums = (['INT64', 'FLOAT64'] as const).map(
    (type): Choice => ({
      type,
      make: () => ({
        ...aggregate(type, 'SUM', value(type)),
        isDistinct: random.next() < 0.2,
      }),
    }),
  );
  const extremes = [scalar, random.pick(SCALARS)].map(
    (type): Choice => ({
      type,
      make: () => ({
        ...aggregate(type, random.pick(['MIN', 'MAX']), value(type)),
        isDistinct: random.next() < 0.1,
      }),
    }),
  );
  // The last digits of these depend on the order in which values are taken.
  const inexact: readonly Choice[] = isLast
    ? [
        { type: 'FLOAT64', make: () => aggregate('FLOAT64', 'AVG', averaged()) },
        {
          type: 'FLOAT64',
          make: () => aggregate('FLOAT64', random.pick(VARIANCES), value('INT64')),
        },
      ]
    : [];
  // Of a group key, ANY_VALUE has but one value to choose from.
  const any = keys.map(
    (key): Choice => ({
      type: key.type,
      make: () => aggregate(key.type, 'ANY_VALUE', key),
    }),
  );
  return [
    ...counts,
    ...sums,
    ...extremes,
    ...inexact,
    ...any.slice(0, 1),
    ...collections(random, value),
    // So that there is one of each type.
    ...SCALARS.map((type) => ({ type, make: () => aggregate(type, 'MAX', value(type)) })),
  ];
}

const VARIANCES = ['VAR_POP', 'VAR_SAMP', 'STDDEV_POP', 'STDDEV_SAMP'] as const;

/** Lists and joined texts, in an order that leaves nothing open. */
function collections(random: Random, value: (type: Type) => Expression): readonly Choice[] {
  const lists = (['INT64', 'FLOAT64', 'STRING', 'TIMESTAMP'] as const).map(
    (type): Choice => ({
      type: `${type}[]`,
      make: () => ({
        ...collection(random, { name: 'ARRAY_AGG', type, gives: `${type}[]` }, value),
        ignoresNulls: random.next() < 0.7,
      }),
    }),
  );
  const texts: Choice = {
    type: 'STRING',
    make: () => ({
      ...collection(random, { name: 'STRING_AGG', type: 'STRING', gives: 'STRING' }, value),
      separator: random.pick([undefined, '', '-']),
    }),
  };
  return [random.pick(lists), texts, ...lists];
}

function collection(
  random: Random,
  {
    name,
    type,
    gives,
  }: { readonly name: AggregateName; readonly type: Scalar; readonly gives: Type },
  value: (type: Type) => Expression,
): Aggregate {
  const argument = value(type);
  // Google wants the same expression in DISTINCT and ORDER BY, and takes no two queries for the same.
  const isPlain = argument.op !== 'literal' && !hasSubquery(argument);
  const isDistinct = isPlain && random.next() < 0.3;
  const others = isDistinct ? [] : [value(random.pick(SCALARS))].slice(random.below(2));
  return {
    ...aggregate(gives, name, argument),
    isDistinct,
    // A constant orders nothing, and Google takes a number for that of a column.
    orderBy: [...others, argument]
      .filter((expression) => readsColumn(expression) || hasSubquery(expression))
      .map((expression) => ({ expression, ...randomDirection(random) })),
    limit: random.next() < 0.3 ? random.pick([1, 2, 3]) : undefined,
  };
}

/** An aggregate of an INT64 that some rows, or their sum, may not have. */
export function randomFailing(random: Random, value: (type: Type) => Expression): Aggregate {
  const name = random.pick<AggregateName>(['COUNT', 'SUM', 'MIN', 'MAX', 'BIT_OR']);
  return aggregate('INT64', name, failingValue(random, value));
}

/** An INT64 that some rows may not have. */
export function failingValue(random: Random, value: (type: Type) => Expression): Expression {
  const [text, takes] = random.pick<readonly [string, readonly Type[]]>([
    ['MOD(?, ?)', ['INT64', 'INT64']],
    ['CAST(? AS INT64)', ['STRING']],
    ['(? * 4000000000000000000)', ['INT64']],
  ]);
  return callOf(text, 'INT64', takes.map(value));
}

function aggregate(type: Type, name: AggregateName, argument?: Expression): Aggregate {
  return { op: 'aggregate', type, name, argument, isDistinct: false };
}

export function randomDirection(random: Random): Direction {
  return {
    direction: random.pick(['', ' ASC', ' DESC']),
    nulls: random.pick(['', '', ' NULLS FIRST', ' NULLS LAST']),
  };
}

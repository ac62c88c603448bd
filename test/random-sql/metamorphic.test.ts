import { test } from 'node:test';
import type { TestEvent } from '../column/batch-of.ts';
import { runsOf } from '../support/budget.ts';
import { type Answer, areSame } from './answer.ts';
import { checkCases, type Verdict } from './check-cases.ts';
import { engineAnswer, segmentsOfEvents } from './engine-answer.ts';
import { TIMES } from './events.ts';
import { OPERATIONS, operationKey } from './operation.ts';
import { type Expression, hasWindow, isGrouped, type Query, type Type } from './query.ts';
import { render } from './render.ts';

const COUNT = runsOf(100);

/** A plain list of rows with a condition: what is said of each row can be said of all. */
function isPlain(query: Query): boolean {
  return (
    query.where !== undefined &&
    query.set === undefined &&
    query.qualify === undefined &&
    !query.items.some(({ expression }) => hasWindow(expression)) &&
    !isGrouped(query) &&
    !query.distinct &&
    query.limit === undefined
  );
}

function answer(query: Query, events: readonly TestEvent[]): Answer {
  return engineAnswer(render(query), segmentsOfEvents(events, events.length >> 1), 'optimized');
}

function call(text: string, type: Type, ...inputs: readonly Expression[]): Expression {
  const operation = operationKey({ text, takes: inputs.map((input) => input.type) });
  if (!OPERATIONS.has(operation)) throw new Error(`there is no operation ${operation}`);
  return { op: 'call', type, operation, arguments: inputs };
}

function not(condition: Expression): Expression {
  return call('(NOT ?)', 'BOOL', condition);
}

/** Of the condition as a truth: a value of another kind is NULL as a truth, and not NULL itself. */
function isNull(condition: Expression): Expression {
  const yes: Expression = { op: 'literal', type: 'BOOL', value: true };
  return call('(? IS NULL)', 'BOOL', call('(? AND ?)', 'BOOL', condition, yes));
}

/** Rows as a bag are the same; an answer that fails says nothing. */
function compared(got: Answer, wanted: Answer): Verdict {
  if (got === 'error' || wanted === 'error') return { rowCount: 0 };
  if (areSame(got, wanted, false)) return { rowCount: wanted.length };
  return { wrong: `${JSON.stringify(got)} and not ${JSON.stringify(wanted)}` };
}

test('a condition, its opposite and its being NULL divide the rows', async (context) => {
  const options = { count: COUNT, isMixed: true, filter: isPlain };
  await checkCases(context, options, ({ query, events }) => {
    const condition = query.where!;
    const parts = [condition, not(condition), isNull(condition)].map((where) =>
      answer({ ...query, where }, events),
    );
    const union = parts.some((part) => part === 'error')
      ? 'error'
      : (parts as readonly Exclude<Answer, 'error'>[]).flat();
    return compared(union, answer({ ...query, where: undefined }, events));
  });
});

test('a condition that always holds changes nothing', async (context) => {
  const options = { count: COUNT, isMixed: true, filter: isPlain };
  await checkCases(context, options, ({ query, events }) => {
    const condition = query.where!;
    const opposite = call('(? OR ?)', 'BOOL', not(condition), isNull(condition));
    const always = call('(? OR ?)', 'BOOL', condition, opposite);
    return compared(
      answer({ ...query, where: always }, events),
      answer({ ...query, where: undefined }, events),
    );
  });
});

test('a wider window never counts less', async (context) => {
  const readsLogs = (query: Query) => isPlain(query) && query.from.first.op === 'logs';
  const options = { count: COUNT, isMixed: true, filter: readsLogs };
  const windows = TIMES.slice(0, 3).map((start, index) => [start, TIMES.at(-1 - index)!] as const);
  await checkCases(context, options, ({ query, events }) => {
    const counts = windows.map((window) => answer(countWithin(query, window), events));
    if (counts.includes('error')) return { rowCount: 0 };
    const numbers = counts.map((rows) => (rows as readonly number[][])[0]![0]!);
    const falls = numbers.every((number, index) => index === 0 || number <= numbers[index - 1]!);
    return falls ? { rowCount: numbers[0]! } : { wrong: `counts from wide to narrow: ${numbers}` };
  });
});

/** How many rows the query has whose event is in the window. */
function countWithin(query: Query, [start, end]: readonly [bigint, bigint]): Query {
  const { first } = query.from;
  const type = 'TIMESTAMP';
  const time: Expression = {
    op: 'column',
    type,
    table: first.alias,
    name: 'timestamp',
    isBare: false,
  };
  const window = call(
    '(? AND ?)',
    'BOOL',
    call('(? >= ?)', 'BOOL', time, { op: 'literal', type, value: start }),
    call('(? < ?)', 'BOOL', time, { op: 'literal', type, value: end }),
  );
  const count: Expression = { op: 'aggregate', type: 'INT64', name: 'COUNT', isDistinct: false };
  return {
    ...query,
    items: [{ name: 'c0', expression: count }],
    where: call('(? AND ?)', 'BOOL', query.where!, window),
    orderBy: [],
  };
}

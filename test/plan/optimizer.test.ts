import { test } from 'node:test';
import type { TestEvent } from '../column/batch-of.ts';
import { type Answer, areSame } from '../random-sql/answer.ts';
import { checkCases } from '../random-sql/check-cases.ts';
import { engineAnswer, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { isOrdered } from '../random-sql/query.ts';
import { render } from '../random-sql/render.ts';
import { budgetOf } from '../support/budget.ts';

const QUERY_COUNT = budgetOf('WEIR_OPTIMIZER_QUERIES', { fast: 50, all: 400 });

type Answers = { readonly plain: Answer; readonly optimized: Answer };

/** Over segments the first half of which is sealed. */
function bothAnswers(sql: string, events: readonly TestEvent[]): Answers {
  const segments = segmentsOfEvents(events, events.length >> 1);
  return {
    plain: engineAnswer(sql, segments, 'plain'),
    optimized: engineAnswer(sql, segments, 'optimized'),
  };
}

test('an optimised plan answers what the plain one does', async (context) => {
  await checkCases(context, { count: QUERY_COUNT, isMixed: true }, ({ query, events }) => {
    const { plain, optimized } = bothAnswers(render(query), events);
    // An optimised plan need not compute what fails.
    if (plain === 'error') return { rowCount: 0 };
    if (areSame(optimized, plain, isOrdered(query))) return { rowCount: plain.length };
    return { wrong: `${JSON.stringify(optimized)} optimised; plain ${JSON.stringify(plain)}` };
  });
});

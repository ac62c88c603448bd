import { test } from 'node:test';
import { budgetOf } from '../support/budget.ts';
import { type Answer, answerOfRows, areSame, withoutNullElements } from './answer.ts';
import { checkCases } from './check-cases.ts';
import { engineAnswer, segmentsOfEvents } from './engine-answer.ts';
import { rowOf } from './events.ts';
import { Failure, OutOfRange } from './failure.ts';
import { answerOf } from './interpreter.ts';
import { isOrdered } from './query.ts';
import { render } from './render.ts';
import type { Case } from './shrink.ts';

const QUERY_COUNT = budgetOf('WEIR_RANDOM_QUERIES', { fast: 50, all: 400 });

test('random queries have the rows that plain loops find', async (context) => {
  await checkCases(context, { count: QUERY_COUNT, isMixed: false }, ({ query, events }) => {
    const wanted = plainAnswer({ query, events });
    if (wanted === undefined) return { rowCount: 0 };
    const segments = segmentsOfEvents(events, events.length >> 1);
    const got = withoutNullElements(engineAnswer(render(query), segments, 'optimized'));
    if (areSame(got, wanted, isOrdered(query))) return { rowCount: wanted.length };
    const kind = got === 'error' ? 'fails' : wanted === 'error' ? 'does not fail' : 'other rows';
    return { kind, wrong: `got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}` };
  });
});

/** Nothing where the interpreter cannot say. */
function plainAnswer({ query, events }: Case): Answer | undefined {
  try {
    return answerOfRows(answerOf(query, events.map(rowOf)), query);
  } catch (error) {
    if (error instanceof Failure) return 'error';
    if (error instanceof OutOfRange) return undefined;
    throw error;
  }
}

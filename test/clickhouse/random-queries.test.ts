// In a process of its own: chDB has one folder open at a time.
import { fail } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { areSame } from '../random-sql/answer.ts';
import { randomEvents } from '../random-sql/events.ts';
import { OutOfRange } from '../random-sql/failure.ts';
import { isOrdered, type Query } from '../random-sql/query.ts';
import { randomQuery } from '../random-sql/random-query.ts';
import { render } from '../random-sql/render.ts';
import { shrink } from '../random-sql/shrink.ts';
import { budgetOf } from '../support/budget.ts';
import { numberFrom } from '../support/environment.ts';
import { jsonText } from '../support/json-text.ts';
import { BothStores, type StoreAnswer } from './both-stores.ts';
import { missingChdb } from './chdb.ts';
import { areEqual, countedReasons, type Outcome, outcomeOf } from './store-outcome.ts';

const skip = missingChdb();

/** `npm run test:stores` runs 20,000. */
const QUERIES = budgetOf('WEIR_STORE_QUERIES', { fast: 20, all: 30 });

/** The same queries each time: `WEIR_STORE_SEED` makes others. */
const SEED = numberFrom('WEIR_STORE_SEED', 1);

/** A table is filled once for each set of events. */
const QUERIES_PER_DATA_SET = 10;

/** Of a set one of whose queries lost all rows while ClickHouse kept the SELECTs that are read at several places. */
const LOSING_SEED = 19_251;

const SOURCE = { name: 'logs', projectPath: ['project'] };
const CALL = {
  parameters: new Map(),
  nowUs: Date.parse('2026-01-15T12:00:00Z') * 1_000,
  rowsMax: 100_000,
};

/** Pieces of work after which a query takes longer than its answer is worth. */
const CHECKPOINTS_MAX = 60;

/** Reasons that are printed. */
const REASONS_SHOWN = 40;

let stores: BothStores;

before(() => {
  if (skip === false) stores = new BothStores([SOURCE]);
});

after(() => stores?.close());

test('a random query has the same answer in both stores, or is refused', {
  skip,
}, async (context) => {
  context.diagnostic(`seed ${SEED}: WEIR_STORE_SEED makes others`);
  const outcomes = await outcomesFrom(SEED, QUERIES);
  const refusedCount = outcomes.filter(({ kind }) => kind === 'refused').length;
  const brokenCount = outcomes.filter(({ kind }) => kind === 'breaks').length;
  const sameCount = outcomes.length - refusedCount - brokenCount;
  const share = ((100 * refusedCount) / outcomes.length).toFixed(1);
  context.diagnostic(
    `${outcomes.length} queries answered, ${sameCount} the same, ${brokenCount} break ClickHouse, ${refusedCount} refused: ${share} %`,
  );
  for (const outcome of outcomes) {
    if (outcome.kind === 'breaks') context.diagnostic(`ClickHouse breaks: ${outcome.reason}`);
  }
  for (const reason of countedReasons(outcomes).slice(0, REASONS_SHOWN)) context.diagnostic(reason);
});

test('queries with several correlated subqueries keep their rows', { skip }, async () => {
  await outcomesFrom(LOSING_SEED, QUERIES_PER_DATA_SET);
});

/** Of so many queries from a seed on; fails where one differs. */
async function outcomesFrom(seed: number, queryCount: number): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let number = 0; number < queryCount; ) {
    const random = new Random(seed + number);
    const events = randomEvents(random, { count: random.pick([1, 4, 6, 6, 9]), isMixed: false });
    await fill(events);
    for (let left = QUERIES_PER_DATA_SET; left > 0 && number < queryCount; left--, number++) {
      const query = randomQuery(random);
      const outcome = compared(query);
      if (outcome?.kind === 'differs') await failSmall({ query, events }, `seed ${seed + number}`);
      if (outcome !== undefined) outcomes.push(outcome);
    }
  }
  return outcomes;
}

async function fill(events: readonly TestEvent[]): Promise<void> {
  stores.clear();
  await stores.add(SOURCE.name, batchOf(events));
}

/** Nothing where the embedded engine has no answer. */
function compared(query: Query): Outcome | undefined {
  const sql = render(query);
  try {
    const bound = bindQuery(parseQuery(sql), { sources: stores.sources, parameters: [] });
    const plan = stores.optimized(bound, CALL);
    const { output } = bound;
    const engine = stores.fromEngine(plan, output, limitedCheckpoint());
    return outcomeOf(stores, { plan, output }, engine, (one, other) =>
      HAS_SUMS.test(sql) ? areNear(one, other, isOrdered(query)) : areEqual(one, other),
    );
  } catch (error) {
    if (error instanceof QueryError || error instanceof OutOfRange) return undefined;
    throw error;
  }
}

/** Sums of fractions may differ in their last digits. */
const HAS_SUMS = /\b(?:SUM|AVG)\(/;

function areNear(one: StoreAnswer, other: StoreAnswer, inOrder: boolean): boolean {
  if ('error' in one || 'error' in other) return areEqual(one, other);
  const [left, right] = [one, other].map(({ rows }) =>
    rows.map((row) => Object.values(JSON.parse(row) as object)),
  );
  return areSame(left!, right!, inOrder);
}

function limitedCheckpoint(): () => void {
  let count = 0;
  return () => {
    count++;
    if (count > CHECKPOINTS_MAX) throw new OutOfRange(`more than ${CHECKPOINTS_MAX} checkpoints`);
  };
}

async function failSmall(
  found: { readonly query: Query; readonly events: readonly TestEvent[] },
  title: string,
): Promise<never> {
  const small = await shrink(found, async (candidate) => {
    await fill(candidate.events);
    return differenceOf(candidate.query) !== undefined;
  });
  await fill(small.events);
  const reason = differenceOf(small.query);
  const texts = [
    render(small.query),
    `over ${jsonText(small.events)}`,
    `found as ${render(found.query)}`,
  ];
  return fail(`${title}: ${reason}\n${texts.join('\n')}`);
}

/** What makes no query that can be run does not differ. */
function differenceOf(query: Query): string | undefined {
  try {
    const outcome = compared(query);
    return outcome?.kind === 'differs' ? outcome.reason : undefined;
  } catch {
    return undefined;
  }
}

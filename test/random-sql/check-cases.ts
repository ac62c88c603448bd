import { fail } from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { jsonText } from '../support/json-text.ts';
import { randomEvents } from './events.ts';
import { OutOfRange } from './failure.ts';
import type { Query } from './query.ts';
import { randomQuery } from './random-query.ts';
import { render } from './render.ts';
import { type Case, shrink } from './shrink.ts';

/** At most so many times the queries that usually suffice. */
const PATIENCE = 5;

export type CheckOptions = {
  /** Queries that usually look at enough rows; more are made until they do. */
  readonly count: number;
  /** Whether fields of events may hold values of several kinds. */
  readonly isMixed: boolean;
  /** Which queries the check is about; those made in vain are not counted. */
  readonly filter?: (query: Query) => boolean;
};

/**
 * What a check of one case says: what is wrong with it; how many rows it looked at if nothing is. A
 * case is made smaller as long as what is wrong is of the same kind.
 */
export type Verdict =
  | { readonly wrong: string; readonly kind?: string }
  | { readonly rowCount: number };

type Check = (candidate: Case) => Verdict | Promise<Verdict>;

/**
 * Checks random queries over random events. Fails with the smallest case found that is wrong, and
 * when the cases had so few rows that they checked nothing.
 */
export async function checkCases(
  context: TestContext,
  { count, isMixed, filter = () => true }: CheckOptions,
  check: Check,
): Promise<void> {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let rowCount = 0;
  const isEnough = (): boolean => rowCount >= count / 10;
  let checked = 0;
  for (let index = 0; checked < count || (!isEnough() && checked < PATIENCE * count); index++) {
    const random = new Random(seed + index);
    const events = randomEvents(random, { count: random.pick([1, 4, 6, 6, 9]), isMixed });
    const query = randomQuery(random);
    if (!filter(query)) continue;
    checked++;
    const verdict = await verdictOf(check, { query, events });
    if ('rowCount' in verdict) rowCount += verdict.rowCount;
    else await failSmall({ query, events }, { check, verdict, title: `seed ${seed + index}` });
  }
  context.diagnostic(`${checked} queries, ${rowCount} rows`);
  if (!isEnough()) fail(`${checked} queries looked at ${rowCount} rows only`);
}

async function failSmall(
  found: Case,
  {
    check,
    verdict,
    title,
  }: { readonly check: Check; readonly verdict: Wrong; readonly title: string },
): Promise<never> {
  const { query, events } = await shrink(
    found,
    async (candidate) => (await findWrong(check, candidate))?.kind === (verdict.kind ?? ''),
  );
  const small = await findWrong(check, { query, events });
  return fail(
    `${title}: ${small?.wrong}\n${render(query)}\nover ${jsonText(events)}\nfound as ${render(found.query)}`,
  );
}

type Wrong = Extract<Verdict, { readonly wrong: string }>;

/** What makes no query that can be checked is not wrong. */
async function findWrong(check: Check, candidate: Case): Promise<Required<Wrong> | undefined> {
  try {
    const verdict = await check(candidate);
    return 'wrong' in verdict ? { kind: '', ...verdict } : undefined;
  } catch {
    return undefined;
  }
}

/** A query that is too much work says nothing. */
async function verdictOf(check: Check, candidate: Case): Promise<Verdict> {
  try {
    return await check(candidate);
  } catch (error) {
    if (error instanceof OutOfRange) return { rowCount: 0 };
    const sql = render(candidate.query);
    throw new Error(`${error}\n${sql}\nover ${jsonText(candidate.events)}`, { cause: error });
  }
}

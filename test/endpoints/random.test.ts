import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Random } from '../../src/demo/traffic/random.ts';
import { type DataSet, load, randomDataSet, type Step, shrink } from '../fuzz/data-set.ts';
import type { Call } from '../fuzz/random-calls.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { Oracle, type Row } from '../oracle/oracle.ts';
import { budgetOf } from '../support/budget.ts';
import { EngineUnderTest } from '../support/engine-under-test.ts';
import { jsonText } from '../support/json-text.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const DAY_US = 86_400_000_000;

/** The day of the first data set; each further one lies beyond the reach of the one before. */
const FIRST_DAY_US = Date.UTC(2026, 0, 15) * 1000;
const DAYS_APART = 100;

/** Beyond these, microseconds would have 17 digits. */
const HTTP_RUNS_MAX = 900;

const RUNS = budgetOf('WEIR_FUZZ_RUNS', { fast: 2, all: 24 });

let engine: EngineUnderTest;
let service: ServiceUnderTest;
before(async () => {
  [engine, service] = await Promise.all([EngineUnderTest.start(), ServiceUnderTest.start()]);
});
after(() => Promise.all([engine?.close(), service?.stop()]));

test(`oracle, engine and HTTP agree on ${RUNS} random data sets`, async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} WEIR_FUZZ_RUNS=${RUNS} repeats it`);
  for (let run = 0; run < RUNS; run++) {
    const dayUs = FIRST_DAY_US + (run % HTTP_RUNS_MAX) * DAYS_APART * DAY_US;
    const dataSet = randomDataSet(new Random(seed + run), dayUs);
    const oracle = new Oracle();
    await load(oracle, dataSet);
    engine.clear();
    await load(engine, dataSet);
    const isOverHttp = run < HTTP_RUNS_MAX;
    if (isOverHttp) await load(service, dataSet);
    for (const call of dataSet.calls) {
      const expected = await answer(oracle, call, dataSet.nowUs);
      const title = `WEIR_FUZZ_SEED=${seed + run} WEIR_FUZZ_RUNS=1: ${jsonText(call)}`;
      const got = await answer(engine, call, dataSet.nowUs);
      if (!isDeepStrictEqual(got, expected)) await failSmall(dataSet, call, title);
      if (!isOverHttp) continue;
      deepEqual(await answer(service, call, dataSet.nowUs), expected, `over HTTP, ${title}`);
    }
  }
  ok(engine.inlineCount > RUNS, 'small queries are run on the thread that asks');
});

type Asked = { readonly rows: readonly Row[] } | { readonly error: string };

async function answer(
  answerer: Pick<Oracle | EngineUnderTest | ServiceUnderTest, 'call'>,
  { endpoint, parameters }: Call,
  nowUs: number,
): Promise<Asked> {
  try {
    return { rows: await answerer.call(endpoint, parameters, nowUs) };
  } catch (error) {
    return { error: String(error) };
  }
}

/** Fails with the fewest events that show the difference between the engine and the oracle. */
async function failSmall(dataSet: DataSet, call: Call, title: string): Promise<never> {
  const { nowUs } = dataSet;
  const answers = async (steps: readonly Step[]) => {
    const oracle = new Oracle();
    await load(oracle, { steps, nowUs });
    engine.clear();
    await load(engine, { steps, nowUs });
    return {
      expected: await answer(oracle, call, nowUs),
      got: await answer(engine, call, nowUs),
    };
  };
  const steps = await shrink(dataSet.steps, async (fewer) => {
    const { expected, got } = await answers(fewer);
    return !isDeepStrictEqual(got, expected);
  });
  const { expected, got } = await answers(steps);
  deepEqual(got, expected, `${title}\nnow ${nowUs}\n${steps.map(jsonText).join('\n')}`);
  // The shrunken steps agree: what differs depends on more than the steps say.
  throw new Error(`the engine's answers differ from run to run: ${title}`);
}

import { deepEqual } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type JsonObject, Oracle } from '../oracle/oracle.ts';
import { API_COUNTS } from '../scripts/api-counts.ts';
import { INVOCATION_STATS } from '../scripts/invocation-stats.ts';
import { LOGS_ALL } from '../scripts/logs-all.ts';
import { NOW, type Script, us } from '../scripts/script.ts';
import type { Answerer } from '../support/answerer.ts';
import { EngineUnderTest } from '../support/engine-under-test.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { shifted } from '../support/shifted.ts';

const SCRIPTS = { logs: LOGS_ALL, invocations: INVOCATION_STATS, counts: API_COUNTS };

/** How a script's events lie in the engine: in how many posts, and after which of them sealed. */
const STORAGE_STATES = [
  { name: 'open', postCount: 1, sealedAfter: [] },
  { name: 'open, from two posts', postCount: 2, sealedAfter: [] },
  { name: 'sealed', postCount: 1, sealedAfter: [0] },
  { name: 'half sealed', postCount: 2, sealedAfter: [0] },
  { name: 'sealed in three parts', postCount: 3, sealedAfter: [0, 1, 2] },
] as const;

/** Beyond the reach of every window, so that no script sees another's events. */
const SCRIPT_US = 100 * 86_400_000_000;

let engine: EngineUnderTest;
let service: ServiceUnderTest;
before(async () => {
  [engine, service] = await Promise.all([EngineUnderTest.start(), ServiceUnderTest.start()]);
});
after(() => Promise.all([engine?.close(), service?.stop()]));

let scriptCount = 0;

for (const [endpoint, scripts] of Object.entries(SCRIPTS)) {
  suite(endpoint, () => {
    for (const script of scripts) testScript(script, ++scriptCount);
  });
}

function testScript(script: Script, index: number): void {
  const nowUs = us(script.now ?? NOW);

  test(`${script.name}: oracle`, async () => {
    const oracle = new Oracle();
    for (const { source, events } of postsOf(script, 1)[0]!) oracle.post(source, events, nowUs);
    await expectRows(oracle, script);
  });

  for (const { name, postCount, sealedAfter } of STORAGE_STATES) {
    test(`${script.name}: engine, ${name}`, async () => {
      engine.clear();
      for (const [at, posts] of postsOf(script, postCount).entries()) {
        for (const { source, events } of posts) await engine.post(source, events, nowUs);
        if ((sealedAfter as readonly number[]).includes(at)) await engine.seal();
      }
      await expectRows(engine, script);
    });
  }

  test(`${script.name}: HTTP`, async () => {
    const answerer = shifted(service, index * SCRIPT_US);
    for (const { source, events } of postsOf(script, 2).flat()) {
      await answerer.post(source, events, nowUs);
    }
    await expectRows(answerer, script);
  });
}

type Post = { readonly source: string; readonly events: readonly JsonObject[] };

/** The script's events in `count` rounds, each with a part of every source, in order. */
function postsOf(script: Script, count: number): readonly (readonly Post[])[] {
  return Array.from({ length: count }, (_, round) =>
    Object.entries(script.load).map(([source, events]) => {
      const start = Math.floor((events.length * round) / count);
      const end = Math.floor((events.length * (round + 1)) / count);
      return { source, events: events.slice(start, end) };
    }),
  );
}

async function expectRows(answerer: Answerer, script: Script): Promise<void> {
  for (const { endpoint, parameters, rows } of script.calls) {
    const got = await answerer.call(endpoint, parameters, us(script.now ?? NOW));
    deepEqual(got, rows, `${endpoint} ${JSON.stringify(parameters)}`);
  }
}

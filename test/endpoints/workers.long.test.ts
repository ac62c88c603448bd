import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FRAGMENT_BYTES_MIN } from '../../engine/limits.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { type JsonObject, Oracle } from '../oracle/oracle.ts';
import { NOW, us } from '../scripts/script.ts';
import { EngineUnderTest } from '../support/engine-under-test.ts';

const NOW_US = us(NOW);
const DAY_US = 86_400_000_000;
const EVENTS_PER_POST = 1_800;

/** With one worker a run is one task; with two, one over much data is split and combined again. */
let engines: readonly EngineUnderTest[];
before(async () => {
  const starts = [1, 2].map((workerCount) => EngineUnderTest.start({ workerCount }));
  engines = await Promise.all(starts);
});
after(() => Promise.all((engines ?? []).map((engine) => engine.close())));

/** Of days of their own, so that sealing makes several segments; wide, so that they are large. */
function eventsOf(source: string, random: Random): readonly JsonObject[] {
  return Array.from({ length: EVENTS_PER_POST }, (_, index) => {
    const project = `p${random.zipf(5)}`;
    const path = random.pick(['/rest/v1/a', '/auth/v1/b', '/storage/auth', '/']);
    const url = `https://${project}.supabase.co${path}`;
    const execution_time_ms = random.below(4000) / 4;
    // Of no use but to be large and not to shrink much.
    const note = randomBytes(2_400).toString('base64');
    const response = { status_code: random.pick([200, 200, 204, 404, 500]) };
    return {
      id: `${index}`,
      timestamp: NOW_US - random.below(7 * DAY_US),
      project,
      metadata:
        source === 'deno-relay-logs'
          ? { project_ref: project, execution_time_ms, response, note }
          : { request: { url, path }, note },
    };
  });
}

test('with one worker or two, open and sealed, much data gives the rows of the oracle', async () => {
  const oracle = new Oracle();
  for (const source of ['cloudflare.logs.prod', 'deno-relay-logs']) {
    const random = new Random(7);
    for (const isSealed of [true, false]) {
      const events = eventsOf(source, random);
      oracle.post(source, events, NOW_US);
      for (const engine of engines) {
        await engine.post(source, events, NOW_US);
        if (isSealed) await engine.seal();
        ok(isSealed || engine.bytesOf(source) > FRAGMENT_BYTES_MIN, 'a run is worth splitting');
      }
    }
  }
  const calls = [
    ...['hourly', 'daily', 'minutely'].flatMap((interval) =>
      ['p0', '.', '^https://p[12]\\.'].map((project) => ({
        endpoint: 'usage.api-counts',
        parameters: { project, interval },
      })),
    ),
    ...['1hr', '1day', '7day'].flatMap((interval) =>
      ['p0', 'p4'].map((project) => ({
        endpoint: 'functions.invocation-stats',
        parameters: { project, interval },
      })),
    ),
    { endpoint: 'logs.all', parameters: { project: 'p1', project_tier: 'PRO' } },
  ];
  for (const { endpoint, parameters } of calls) {
    const expected = oracle.call(endpoint, parameters, NOW_US);
    const texts = await Promise.all(
      engines.map((engine) => engine.callText(endpoint, parameters, NOW_US)),
    );
    deepEqual(JSON.parse(texts[0]!), expected, JSON.stringify(parameters));
    equal(texts[1], texts[0], 'the same bytes from two workers');
  }
});

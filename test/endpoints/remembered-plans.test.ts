import { deepEqual } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EngineUnderTest } from '../support/engine-under-test.ts';

const DAY_US = 86_400_000_000;
const SENT_US = Date.parse('2026-01-15T12:00:00Z') * 1000;

let engine: EngineUnderTest;

before(async () => {
  engine = await EngineUnderTest.start({ workerCount: 2 });
  const event = (project: string, us: number) => ({
    id: `${project}-${us - SENT_US}`,
    timestamp: us,
    event_message: 'GET',
    project,
    metadata: { request: { url: `https://${project}.example.co/rest/v1`, path: '/rest/v1' } },
  });
  const events = [event('alpha', SENT_US), event('alpha', SENT_US + 1), event('beta', SENT_US)];
  await engine.post('cloudflare.logs.prod', events, SENT_US);
});

after(() => engine.close());

async function idsAt(parameters: Record<string, string>, nowUs: number): Promise<unknown[]> {
  const rows = await engine.call('logs.all', parameters, nowUs);
  return rows.map((row) => row['id']);
}

test('calls that share a plan have their own windows', async () => {
  const parameters = { project: 'alpha', project_tier: 'FREE' };
  for (let round = 0; round < 4; round++) {
    deepEqual(await idsAt(parameters, SENT_US + DAY_US - 1), ['alpha-1', 'alpha-0']);
    deepEqual(await idsAt(parameters, SENT_US + DAY_US), ['alpha-1']);
    deepEqual(await idsAt(parameters, SENT_US + DAY_US + 1), []);
  }
});

test('calls that share a plan have their own windows if times are parameters, also side by side', async () => {
  const times = ['12:00:00', '11:59:59.999999', '12:00:00.000001'];
  const expected = [['alpha-0'], [], ['alpha-1', 'alpha-0']];
  for (let round = 0; round < 4; round++) {
    const answers = times.map((time) =>
      idsAt({ project: 'alpha', iso_timestamp_end: `2026-01-15T${time}Z` }, SENT_US),
    );
    deepEqual(await Promise.all(answers), expected);
  }
});

test('calls for different projects do not share a plan', async () => {
  for (let round = 0; round < 3; round++) {
    deepEqual(await idsAt({ project: 'alpha' }, SENT_US), ['alpha-1', 'alpha-0']);
    deepEqual(await idsAt({ project: 'beta' }, SENT_US), ['beta-0']);
    deepEqual(await idsAt({ project: 'gamma' }, SENT_US), []);
  }
});

test('a grouping over a shared plan counts the rows of its own window', async () => {
  const parameters = { project: 'alpha', interval: 'hourly' };
  const counts = async (nowUs: number) => {
    const rows = await engine.call('usage.api-counts', parameters, nowUs);
    return rows.map((row) => row['total_rest_requests']);
  };
  for (let round = 0; round < 4; round++) {
    deepEqual(await counts(SENT_US + 3_600_000_000), [2]);
    deepEqual(await counts(SENT_US + 3_600_000_001), [1]);
    deepEqual(await counts(SENT_US + 3_600_000_002), []);
  }
});

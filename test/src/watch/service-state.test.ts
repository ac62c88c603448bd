import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const NOW_US = us(NOW);
let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({ SOURCES: 'app.logs:metadata.tenant' });
});

after(() => service.stop());

test('the service tells what it holds and what was called', async () => {
  const events = [
    { timestamp: NOW_US - 10, metadata: { tenant: 'alpha' } },
    { timestamp: NOW_US, metadata: { tenant: 'beta' } },
  ];
  await service.post('app.logs', events, NOW_US);
  await service.call('logs.all', { project: 'alpha' }, NOW_US);
  assert.equal((await service.ask('GET', '/api/endpoints/logs.all')).status, 400);
  const answer = await service.ask('GET', '/api/service');
  assert.equal(answer.status, 200, answer.text);
  const { result } = JSON.parse(answer.text);
  assert.equal(result.status, 'ok');
  assert.equal(result.started_at, NOW);
  const source = result.sources.find(({ name }: { name: string }) => name === 'app.logs');
  const { bytes, since_start, ...held } = source;
  assert.deepEqual(held, {
    name: 'app.logs',
    project: 'metadata.tenant',
    events: 2,
    stored_bytes: 0,
    segments: 1,
    oldest: NOW_US - 10,
    newest: NOW_US,
  });
  assert(bytes > 0);
  assert.deepEqual([since_start.events, since_start.refused], [2, 0]);
  assert(result.memory.resident_bytes > 1e6);
  const [called] = result.endpoints;
  assert.deepEqual([called.name, called.calls, called.failed], ['logs.all', 2, 1]);
});

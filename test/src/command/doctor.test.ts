import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({
    SOURCES: 'app.logs:metadata.tenant',
    PUBLIC_ACCESS_TOKEN: 'a-public-token',
  });
});

after(() => service.stop());

function doctor(words: readonly string[] = [], token = TOKEN): Promise<Ended> {
  const environment = { PRIVATE_ACCESS_TOKEN: token };
  return runWeir(['doctor', ...words, '--url', service.url], { environment });
}

test('without posts it says so', async () => {
  const ended = await doctor();
  assert.deepEqual(ended, { status: 0, out: `no post has arrived since ${NOW}\n`, err: '' });
});

test('it shows the last post, the event as it is stored, and what is wrong', async () => {
  const events = [
    { event_message: 'lost' },
    { id: 'e1', event_message: 'a\u001b[31m', metadata: { tenant: 'alpha' } },
  ];
  await service.post('app.logs', events, us(NOW));
  const { status, out, err } = await doctor();
  assert.deepEqual([status, err], [0, '']);
  const [sender, posts, post, event, stored, problem] = out.split('\n');
  assert.equal(sender, 'Token private at /api/logs');
  assert.equal(posts, '  posts        1, of them refused 0; events stored 2');
  assert.match(post!, new RegExp(`^  last post    ${NOW} from .*127\\.0\\.0\\.1: 200 ok$`));
  assert.equal(event, `  last event   source app.logs, project alpha, timestamp ${NOW}`);
  assert.match(stored!, /^ +\{"id":"e1","timestamp":\d+,"event_message":"a\\u001b\[31m"/);
  const sentence = '1 event stored in app.logs without a project in the field metadata.tenant';
  assert.equal(problem, `  problem      ${sentence}: queries of a project do not find them`);
});

test('--json gives what the service reports', async () => {
  const { out } = await doctor(['--json']);
  const { result } = JSON.parse((await service.ask('GET', '/api/posts')).text);
  assert.deepEqual(JSON.parse(out).result[0].last_event, result[0].last_event);
});

test('it takes no arguments, and a token that may manage', async () => {
  assert.equal((await doctor(['app.logs'])).status, 2);
  const refused = await doctor([], 'a-public-token');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /scope manage/);
});

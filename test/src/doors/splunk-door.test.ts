import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '../../../src/errors.ts';
import { ACKS_MAX } from '../../../src/limits.ts';
import { makeToken } from '../../support/granted.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';
import { ask, DEFAULT_SOURCE, fakeIntake, NOW_US, PUBLIC, post, withApp } from '../harness.ts';

const EVENTS = '/services/collector/event';
const RAW = '/services/collector/raw';
const ACK = '/services/collector/ack';
const SUCCESS = { text: 'Success', code: 0 };
const CHANNEL = { 'X-Splunk-Request-Channel': '0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba' };
const NO_TOKEN = { 'X-API-KEY': undefined };

test('all paths and media types of Splunk’s senders are taken, also none', async () => {
  await withApp({}, async (app) => {
    const types = [undefined, 'application/json', 'application/x-www-form-urlencoded'];
    for (const path of ['/services/collector', EVENTS, `${EVENTS}/1.0`, RAW, `${RAW}/1.0`]) {
      for (const type of types) {
        const answer = await post(app, path, '{"event":"a"}', { 'Content-Type': type });
        assert.deepEqual([answer.status, answer.json], [200, SUCCESS], `${path} ${type}`);
      }
    }
    assert.equal(app.stored.length, 15);
  });
});

test('an event is stored in the source of its index, else in that of the post', async () => {
  await withApp({}, async (app) => {
    const body = '{"event":"a","index":"postgres.logs"}{"event":"b","index":"main"}{"event":"c"}';
    await post(app, EVENTS, body);
    await post(app, `${EVENTS}?source_name=gotrue.logs.prod&source=/var/log/shop.log`, body);
    await post(app, `${RAW}?index=postgres.logs&source=shop`, 'a\nb\n');
    await post(app, `${RAW}?source=postgres.logs`, 'c\n');
    assert.deepEqual(
      app.stored.map(({ source, events }) => `${source} ${events.length}`),
      [
        ...['postgres.logs 1', `${DEFAULT_SOURCE} 2`],
        ...['postgres.logs 1', 'gotrue.logs.prod 2'],
        ...['postgres.logs 2', `${DEFAULT_SOURCE} 1`],
      ],
    );
    assert.deepEqual(app.stored.at(-1)?.events, [
      { event_message: 'c', metadata: { source: 'postgres.logs' } },
    ]);
  });
});

test('the token is accepted as Splunk’s senders send it', async () => {
  await withApp({}, async (app) => {
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    for (const [authorization, status, code] of [
      [`Splunk ${PUBLIC}`, 200, 0],
      [`splunk  ${PUBLIC} `, 200, 0],
      [basic(`x:${PUBLIC}`), 200, 0],
      ['Splunk wrong', 403, 4],
      [basic('x:wrong'), 403, 4],
      ['Splunk', 401, 2],
      [undefined, 401, 2],
    ] as const) {
      const headers = { ...NO_TOKEN, Authorization: authorization };
      const { status: got, json, text } = await post(app, EVENTS, '{"event":"a"}', headers);
      assert.deepEqual([got, json.code], [status, code], `${authorization} ${text}`);
      assert.doesNotMatch(text, /wrong/);
    }
    const elsewhere = await ask(app, {
      path: '/api/sources',
      headers: { ...NO_TOKEN, Authorization: `Splunk ${PUBLIC}` },
    });
    assert.equal(elsewhere.status, 401);
    assert.doesNotMatch(JSON.stringify(app.entries), new RegExp(`${PUBLIC}|wrong`));
  });
});

test('failures have the status, the code and the sentence of Splunk', async () => {
  await withApp({}, async (app) => {
    for (const [path, body, status, wanted] of [
      [EVENTS, '', 400, { code: 5, text: 'No data: the body must have an event; got none' }],
      [EVENTS, '{"event":', 400, { code: 6 }],
      [EVENTS, '{"message":"a"}', 400, { code: 12 }],
      [EVENTS, '{"event":""}', 400, { code: 13 }],
      [EVENTS, '{"event":"a","fields":1}', 400, { code: 15 }],
      [`${EVENTS}?source_name=none`, '{"event":"a"}', 400, { code: 7 }],
      [`${EVENTS}?source_name=a&source_name=b`, '{"event":"a"}', 400, { code: 400 }],
      [RAW, '\n', 400, { code: 5 }],
    ] as const) {
      const answer = await post(app, path, body);
      const { code, text, ...others } = answer.json;
      assert.deepEqual([answer.status, code], [status, wanted.code], `${path} ${body}`);
      if ('text' in wanted) assert.equal(text, wanted.text);
      const isOfEvent = ![7, 400].includes(code);
      assert.deepEqual(others, isOfEvent ? { 'invalid-event-number': 0 } : {}, body);
    }
    assert.deepEqual(app.stored, []);
    const method = await ask(app, { method: 'PUT', path: EVENTS });
    assert.deepEqual([method.status, method.json.code], [405, 405]);
  });
});

test('a post that may succeed later gets 503, which every sender repeats', async () => {
  const intake = {
    ...fakeIntake([]),
    check: (): never => {
      throw new ServiceError('quota_exceeded', 'used up');
    },
  };
  await withApp({ intake, refusalWaitMs: 1 }, async (app) => {
    const { status, json, headers } = await post(app, EVENTS, '{"event":"a"}');
    assert.deepEqual([status, json], [503, { text: 'Server is busy: used up', code: 9 }]);
    assert.match(String(headers['retry-after']), /^\d+$/);
    app.readiness.beginDraining();
    const health = await ask(app, { path: '/services/collector/health' });
    assert.deepEqual([health.status, health.json.code], [503, 9]);
  });
});

test('Docker’s question before it starts a container is answered with 200', async () => {
  await withApp({}, async (app) => {
    const options = { method: 'OPTIONS', path: `${EVENTS}/1.0`, headers: NO_TOKEN };
    const { status, headers, text } = await ask(app, options);
    assert.deepEqual([status, headers.allow, text], [200, 'POST, OPTIONS', '']);
    for (const path of ['/services/collector/health', '/services/collector/health/1.0']) {
      const health = await ask(app, { path, headers: NO_TOKEN });
      assert.deepEqual([health.status, health.json], [200, { text: 'HEC is healthy', code: 17 }]);
    }
  });
});

test('a post on a channel gets an id, which is acknowledged', async () => {
  await withApp({}, async (app) => {
    const first = await post(app, EVENTS, '{"event":"a"}', CHANNEL);
    const second = await post(app, `${RAW}?channel=c`, 'a');
    const without = await post(app, `${RAW}?channel=`, 'a');
    const ids = [first.json.ackId, second.json.ackId];
    assert.deepEqual(ids, [NOW_US / 1_000, NOW_US / 1_000 + 1]);
    assert.deepEqual(without.json, SUCCESS);
    const failed = await post(app, EVENTS, '{', CHANNEL);
    assert.equal(failed.json.ackId, undefined);

    const asked = await post(app, `${ACK}?channel=c`, { acks: ids });
    assert.deepEqual(asked.json, { acks: Object.fromEntries(ids.map((id) => [id, true])) });
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', ...CHANNEL };
    assert.deepEqual((await post(app, ACK, '{"acks":[]}', form)).json, { acks: {} });
  });
});

test('a question for acknowledgements has a limit, and must be one', async () => {
  await withApp({}, async (app) => {
    const most = Array.from({ length: ACKS_MAX }, (_, index) => Number.MAX_SAFE_INTEGER - index);
    const answer = await post(app, ACK, { acks: most });
    assert.equal(Object.keys(answer.json.acks).length, ACKS_MAX);
    for (const acks of [[...most, 1], [-1], [1.5], ['1'], {}, null, undefined]) {
      const { status, json } = await post(app, ACK, { acks });
      assert.deepEqual([status, json.code], [400, 6], JSON.stringify(acks)?.slice(0, 20));
    }
    const long = await post(app, ACK, `{"acks":[${' '.repeat(24 * ACKS_MAX)}]}`);
    assert.deepEqual([long.status, long.json.code], [413, 6]);
  });
});

let service: ServiceUnderTest;
before(async () => {
  service = await ServiceUnderTest.start();
});
after(() => service.stop());

test('a post of which some events are refused succeeds, and lists them', async () => {
  const body = '{"event":""}{"event":"a"}{"event":"old","time":1000000000}{"event":"b"}{}';
  const answer = await service.ask('POST', EVENTS, body, CHANNEL);
  assert.equal(answer.status, 200, answer.text);
  const { text, code, ackId, details } = JSON.parse(answer.text);
  assert.deepEqual([text, code, Number.isInteger(ackId)], ['Success', 0, true]);
  assert.equal(details.length, 3);
  assert.match(details[0], /^event 0: Event field cannot be blank/);
  assert.match(details[1], /^event 2: timestamp 2001-09-09T01:46:40.000Z is older than/);
  assert.match(details[2], /^event 4: Event field is required/);
  const question = 'SELECT event_message AS said FROM `logs` ORDER BY event_message';
  const stored = await service.ask('POST', '/api/query', question, {
    'Content-Type': 'application/sql',
  });
  assert.deepEqual(JSON.parse(stored.text).result, [{ said: 'a' }, { said: 'b' }]);
});

test('a post of which all events are refused fails, and nothing is stored', async () => {
  const answer = await service.ask('POST', EVENTS, '{"event":"old","time":1000000000}');
  const { code, details, text, ...others } = JSON.parse(answer.text);
  assert.deepEqual([answer.status, code, others], [400, 6, { 'invalid-event-number': 0 }]);
  assert.match(text, /^Invalid data format: 1 event was refused/);
  assert.match(details[0], /^event 0: timestamp 2001-09-09T01:46:40.000Z is older than/);
});

test('a token bound to a source may name no other index, and does not learn which there are', async () => {
  const { token } = await makeToken(service, 'edge only', {
    scopes: ['ingest'],
    sources: ['postgres.logs'],
  });
  const send = (index: string) =>
    service.ask('POST', `${EVENTS}?source_name=postgres.logs`, `{"event":"a","index":"${index}"}`, {
      'X-API-KEY': '',
      Authorization: `Splunk ${token}`,
    });
  assert.equal((await send('postgres.logs')).status, 200);
  const [there, absent] = [await send('gotrue.logs.prod'), await send('main')];
  assert.deepEqual([there.status, JSON.parse(there.text).code], [400, 7]);
  assert.equal(absent.text.replace('main', 'NAME'), there.text.replace('gotrue.logs.prod', 'NAME'));
  assert.doesNotMatch(JSON.stringify(service.entries), new RegExp(`${token}|${TOKEN}`));
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';
import { eventCounts } from './receivers.ts';

const ID = 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f';
const SOURCE = '?source_name=postgres.logs';

let service: ServiceUnderTest;
before(async () => {
  service = await ServiceUnderTest.start();
});
after(() => service.stop());

type Answer = {
  readonly status: number;
  readonly type: unknown;
  readonly json: { readonly timestamp: number };
};

async function deliver(
  records: readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
  path = `/firehose${SOURCE}`,
): Promise<Answer> {
  const body = JSON.stringify({ requestId: ID, timestamp: 1, records });
  const answer = await service.ask('POST', path, body, {
    'Content-Type': 'application/json',
    'X-Amz-Firehose-Request-Id': ID,
    'X-API-KEY': '',
    'X-Amz-Firehose-Access-Key': TOKEN,
    ...headers,
  });
  return {
    status: answer.status,
    type: answer.headers['content-type'],
    json: JSON.parse(answer.text),
  };
}

const text = (data: string) => ({ data: Buffer.from(data).toString('base64') });

test('an answer has the id of the delivery, a time, and the type that Firehose requires', async () => {
  const { status, type, json } = await deliver([text('order made')]);
  assert.deepEqual([status, type], [200, 'application/json']);
  assert.deepEqual(json, { requestId: ID, timestamp: 1_768_478_400_000 });
});

test('refused events are listed in a success, so that they are not sent for ever', async () => {
  const before = await eventCounts(service);
  const { status, json } = await deliver([text('order made'), { data: '!' }, {}]);
  const after = await eventCounts(service);
  assert.deepEqual([after.stored - before.stored, after.refused - before.refused], [1, 2]);
  assert.equal(status, 200);
  assert.deepEqual(json, {
    requestId: ID,
    timestamp: 1_768_478_400_000,
    errorMessage:
      'event 1: the data of a record must be base64; event 2: a record must be an object with "data", a text in base64',
  });
});

test('a failure has the id of the delivery and says why', async () => {
  const rows = [
    [400, await deliver([{ data: '!' }]), /must be base64/],
    [400, await deliver([], {}, '/firehose'), /the source must be named/],
    [401, await deliver([], { 'X-Amz-Firehose-Access-Key': 'wrong' }), /not known/],
    [401, await deliver([], { 'X-Amz-Firehose-Access-Key': '' }), /must be given/],
    [404, await deliver([], {}, '/firehose?source_name=nothing'), /there is no source/],
    [
      413,
      await deliver([{ data: gzipSync(Buffer.alloc(20_000_000)).toString('base64') }]),
      /after/,
    ],
  ] as const;
  for (const [wanted, { status, type, json }, reason] of rows) {
    assert.deepEqual([status, type], [wanted, 'application/json']);
    const { errorMessage, ...rest } = json as unknown as { readonly errorMessage: string };
    assert.deepEqual(rest, { requestId: ID, timestamp: 1_768_478_400_000 });
    assert.match(errorMessage, reason);
  }
});

test('the source may be a common attribute of the stream', async () => {
  const attributes = { commonAttributes: { source_name: 'postgres.logs', project: 'alpha' } };
  const headers = { 'X-Amz-Firehose-Common-Attributes': JSON.stringify(attributes) };
  const { status } = await deliver([text('order made')], headers, '/firehose');
  assert.equal(status, 200);
});

test('a small record that inflates to a large one is decoded beside the main thread', async () => {
  const events = Array.from({ length: 20_000 }, (_, index) => ({
    id: String(index),
    timestamp: 1_768_478_100_000,
    message: 'x'.repeat(400),
  }));
  const message = JSON.stringify({ messageType: 'DATA_MESSAGE', owner: '1', logEvents: events });
  const before = await eventCounts(service);
  const { status, json } = await deliver([{ data: gzipSync(message).toString('base64') }]);
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal((await eventCounts(service)).stored - before.stored, events.length);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { countOf, postTo, RECEIVERS, warningsOf } from './receivers.ts';

const REPAIRED = 'weir_repaired_events_total';

/** Selects all that the receivers stored. */
const EVERYTHING = {
  name: 'test.everything',
  query:
    'SELECT event_message, metadata FROM `gotrue.logs.prod` UNION ALL SELECT event_message, metadata FROM `postgres.logs`',
};

let service: ServiceUnderTest;
before(async () => {
  service = await ServiceUnderTest.start();
  const made = await service.ask('POST', '/api/endpoints', JSON.stringify(EVERYTHING));
  assert.equal(made.status, 201, made.text);
});
after(() => service.stop());

/**
 * Replaces each `Q` in `body`, or only the first, with the first byte of a three-byte character.
 */
function cutOff(body: string | Buffer, isFirstOnly = false): Buffer {
  const bytes = Buffer.from(body);
  for (let at = bytes.indexOf('Q'); at >= 0; at = bytes.indexOf('Q', at)) {
    bytes[at] = 0xe2;
    if (isFirstOnly) break;
  }
  return bytes;
}

async function replacementCount(): Promise<number> {
  const answer = await service.ask('GET', `/api/endpoints/${EVERYTHING.name}`);
  return answer.text.split('\ufffd').length;
}

for (const receiver of RECEIVERS) {
  const { path, type, body } = receiver;

  test(`${path} accepts ${type} with bytes that are not UTF-8, and reports the repair`, async () => {
    const repairedBefore = await countOf(service, REPAIRED);
    const storedBefore = await countOf(service, 'weir_ingested_events_total');
    const textsBefore = await replacementCount();
    const whole = await postTo(service, receiver, body);
    assert.equal(Math.trunc(whole.status / 100), 2, whole.text);
    assert.equal(warningsOf(whole), undefined);

    const answer = await postTo(service, receiver, cutOff(body));
    assert.equal(answer.status, whole.status, answer.text);
    assert.equal(
      warningsOf(answer),
      'bytes that are not UTF-8 were replaced by U+FFFD in 2 events, the first of them event 0',
    );
    assert.equal((await countOf(service, REPAIRED)) - repairedBefore, 2);
    assert.equal((await countOf(service, 'weir_ingested_events_total')) - storedBefore, 4);
    assert.ok((await replacementCount()) >= textsBefore + 2);
  });
}

test('an event that is not UTF-8 is reported, and the others are stored unchanged', async () => {
  const [list, , lines] = RECEIVERS;
  for (const receiver of [list!, lines!]) {
    const answer = await postTo(service, receiver, cutOff(receiver.body, true));
    assert.equal(answer.status, 200);
    const said = 'bytes that are not UTF-8 were replaced by U+FFFD in event 0';
    assert.equal(warningsOf(answer), said);
  }
});

test('a body of nothing but invalid UTF-8 is refused as such', async () => {
  for (const receiver of RECEIVERS) {
    const { status, text } = await postTo(service, receiver, Buffer.alloc(100, 0xff));
    const isText = receiver.type === 'text/plain' || receiver.path === '/firehose';
    assert.equal(Math.trunc(status / 100), isText ? 2 : 4, `${receiver.path} ${text}`);
  }
});

test('a body of the largest size without any valid UTF-8 is accepted', async () => {
  const [list] = RECEIVERS;
  const body = Buffer.concat([
    Buffer.from('[{"message":"'),
    Buffer.alloc(5_000_000, 0xff),
    Buffer.from('"},{"message":"'),
    Buffer.alloc(5_000_000, 0xff),
    Buffer.from('"}]'),
  ]);
  const answer = await postTo(service, list!, body);
  assert.equal(answer.status, 200, answer.text);
  assert.match(String(warningsOf(answer)), /in 2 events/);
});

test('an event that repair makes too long for a string is refused, and a body of many events is not', async () => {
  const event = Buffer.concat([
    Buffer.from('[{"message":"'),
    Buffer.alloc(6_000_000, 0xff),
    Buffer.from('"}]'),
  ]);
  const refused = await postTo(service, RECEIVERS[0]!, event);
  assert.equal(refused.status, 413);
  assert.match(refused.text, /an event may have 16777215 bytes; got 18000014/);

  const values = Array.from({ length: 20 }, (_, index) => [`${1768478100 + index}000000000`, 'a']);
  const loki = JSON.stringify({ streams: [{ stream: { label: 'x'.repeat(1_000_000) }, values }] });
  const receiver = RECEIVERS.find(({ path }) => path === '/loki/api/v1/push')!;
  const answer = await postTo(service, receiver, loki);
  assert.equal(answer.status, 204, answer.text);
});

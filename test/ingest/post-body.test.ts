import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyLimitError, MalformedBodyError } from '../../ingest/ingest-error.ts';
import { BODY_EVENTS_MAX, DECODE_SLICE_BYTES, REFUSALS_LISTED_MAX } from '../../ingest/limits.ts';
import { type BodyForm, type DecodedBody, decodeBody } from '../../ingest/post-body.ts';
import { budgetOf } from '../support/budget.ts';
import { readRoot } from './token-reader.ts';

function decode(text: string, form: BodyForm = 'json'): Promise<DecodedBody> {
  return decodeBody([Buffer.from(text)], form);
}

async function counts(
  text: string,
  form?: BodyForm,
): Promise<[eventCount: number, isSingle: boolean]> {
  const body = await decode(text, form);
  return [body.eventCount, body.isSingle];
}

test('a body is one event, a list, or a batch', async () => {
  assert.deepEqual(await counts('{"a":1}'), [1, true]);
  assert.deepEqual(await counts('{}'), [1, true]);
  assert.deepEqual(await counts(' [ {"a":1} , {} ] '), [2, false]);
  assert.deepEqual(await counts('[]'), [0, false]);
  assert.deepEqual(await counts('{"batch":[{"a":1},{}],"x":{"y":[1]}}'), [2, false]);
  assert.deepEqual(await counts('{"x":1,"batch":[]}'), [0, false]);
  assert.deepEqual(await counts('"text"'), [1, true]);
});

test('a batch that is no list is a field of one event', async () => {
  assert.deepEqual(await counts('{"batch":{"a":1}}'), [1, true]);
  assert.deepEqual(await counts('{"batch":5,"batch":[{},{}]}'), [2, false]);
  assert.deepEqual(await counts('{"batch":[{},{}],"b\\u0061tch":[{}]}'), [1, false]);
  assert.deepEqual(await counts('{"batch":[{},{}],"batch":null}'), [1, true]);
});

test('each line is an event, and blank lines are ignored', async () => {
  assert.deepEqual(await counts('{"a":1}\n\n  \r\n{"b":[2]}\r\n[]\n', 'ndjson'), [3, false]);
  assert.deepEqual(await counts('{"a":1}', 'ndjson'), [1, false]);
  assert.deepEqual(await counts('', 'ndjson'), [0, false]);
});

test('the only line of a body may be a list or a batch; an event there has no address', async () => {
  assert.deepEqual(await counts('[{"a":1},{}]\n', 'ndjson'), [2, false]);
  assert.deepEqual(await counts('{"batch":[{},{}]}', 'ndjson'), [2, false]);
  const { address, isSingle, eventCount } = await decode('{"source":"a"}\r\n \n', 'ndjson');
  assert.deepEqual([address, isSingle, eventCount], [{}, false, 1]);
  await assert.rejects(decode('[{"a":1},\n', 'ndjson'), /line 1 is not JSON: expected a value/);
});

test('a body of any form is lines where its first line is a value and more follows', async () => {
  for (const [text, eventCount, isSingle] of [
    ['{"a":1}', 1, true],
    ['\n {"a":1} \n\n', 1, true],
    ['{\n"a":1\n}\n', 1, true],
    ['[\n{"a":1},\n{}]', 2, false],
    ['{"batch":[{},{}]}\n', 2, false],
    ['{"a":1}\n{"b":2}', 2, false],
    ['\n{"a":1}\r\n\r\n{"b":2}\r\n', 2, false],
    ['[{}]\n[{}]', 2, false],
    ['\ufeff{}\n{}', 2, false],
  ] as const) {
    assert.deepEqual(await counts(text, 'any'), [eventCount, isSingle], text);
  }
  assert.equal((await decode('{"source":"a"}', 'any')).address.source, 'a');
  const { badEvents } = await decode('{}\nno', 'any');
  assert.deepEqual([...badEvents.keys()], [1]);
  for (const text of ['', 'no\n{}', '{"a":\n{}', '{}{}']) {
    await assert.rejects(decode(text, 'any'), /the body is not JSON/, text);
  }
});

test('a line that is not JSON is an event that is refused, and is named', async () => {
  const body = await decode(
    '{"a":1}\n\n{"b":[{"c":1},{not json\n{"d":2}\n{} {}\n5\n{"cut',
    'ndjson',
  );
  assert.equal(body.eventCount, 6);
  assert.deepEqual(
    [...body.badEvents],
    [
      [1, 'line 3 is not JSON: expected a key in quotes; got "n" at byte 16'],
      [3, 'line 5 is not JSON: expected the end of the line after a value; got "{" at byte 4'],
      [
        5,
        'line 7 is not JSON: expected a closing quote, or \\u00XX for a control character; got the end of the line at byte 6',
      ],
    ],
  );
  // Nothing of a bad line is left in the events beside it.
  const sizes = Array.from({ length: 6 }, (_, event) => tokenCountOf(body, event));
  const whole = await decode('{"a":1}\n{"d":2}', 'ndjson');
  assert.deepEqual(sizes, [tokenCountOf(whole, 0), 0, tokenCountOf(whole, 1), 0, 0, 0]);
  assert.deepEqual([body.decoder.slotCount, whole.decoder.slotCount], [2, 2]);
});

function tokenCountOf({ tokenStarts }: DecodedBody, event: number): number {
  return tokenStarts[event + 1]! - tokenStarts[event]!;
}

/** Far more than are listed. */
const LINES = budgetOf('WEIR_BAD_LINES', { fast: 20_000, all: 200_000 });

test('a body of which no line is JSON is refused as a whole', async () => {
  await assert.rejects(
    decode('{"a":\n1}', 'ndjson'),
    /line 1 is not JSON.*got the end of the line at byte 6/,
  );
  await assert.rejects(
    decode('{} {}', 'ndjson'),
    /line 1 .*expected the end of the line after a value/,
  );
  await assert.rejects(decode('\n\u0000', 'ndjson'), /line 2 .*got byte 0x00 at byte 1/);
  const lines = '{\n'.repeat(LINES);
  await assert.rejects(decode(lines, 'ndjson'), /line 1 is not JSON/);
  const { badEvents, eventCount } = await decode(`${lines}{}`, 'ndjson');
  assert.deepEqual([badEvents.size, eventCount], [REFUSALS_LISTED_MAX, LINES + 1]);
});

test('an error has its position', async () => {
  await assert.rejects(decode('{"a":1,\n "b" 2}'), {
    name: 'MalformedBodyError',
    message: 'the body is not JSON: expected ":" after a key; got "2" at line 2, byte 6',
  });
  await assert.rejects(
    decode('{"a":'),
    /expected a value; got the end of the body at line 1, byte 6/,
  );
});

test('a byte order mark is skipped', async () => {
  assert.deepEqual(await counts('\ufeff{}'), [1, true]);
  assert.deepEqual(await counts('\ufeff{}\n{}', 'ndjson'), [2, false]);
});

/** The JSON, `?` in it standing for a byte that is never UTF-8. */
function withBadBytes(text: string): Buffer {
  return Buffer.from(Buffer.from(text).map((byte) => (byte === 0x3f ? 0xff : byte)));
}

test('bytes that are not UTF-8 are U+FFFD in the events, in keys too', async () => {
  for (const [bad, repaired] of [
    [[0xff], '\ufffd'],
    [[0xc3, 0x28], '\ufffd('],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    [[0xc0, 0x80], '\ufffd\ufffd'],
    [[0xe2, 0x82], '\ufffd'],
    [[0xf0, 0x9f, 0x98], '\ufffd'],
  ] as const) {
    const parts = [Buffer.from('[{"é'), bad, '":"x', bad, 'y"}]'].map((part) => Buffer.from(part));
    const body = await decodeBody(parts, 'json');
    const { tokens, slots, keys } = body.decoder;
    const root = readRoot({ bytes: body.text.bytes, keys: keys.references, tokens, slots }, 0, 0);
    assert.deepEqual(root, { entries: [[`é${repaired}`, `x${repaired}y`]] });
    assert.deepEqual(body.repairedEvents, [0]);
  }
});

test('the events that were repaired are named, however the body has them', async () => {
  const repairedOf = async (text: string, form: BodyForm = 'json') =>
    (await decodeBody([withBadBytes(text)], form)).repairedEvents;
  assert.deepEqual(await repairedOf('[{"a":1},{"a":"?"},{},{"?":2},{"b":["?"]}]'), [1, 3, 4]);
  assert.deepEqual(await repairedOf('{"a":"?"}\n\n{"a":1}\n{"a":"?"}', 'ndjson'), [0, 2]);
  assert.deepEqual(await repairedOf('{"x":"?","batch":[{"a":1},{"a":"?"}]}'), [1]);
  assert.deepEqual(await repairedOf('{"batch":[{"a":"?"}],"batch":[{},{"a":"?"}]}'), [1]);
  assert.deepEqual(await repairedOf('{"a":"?","b":"c"}'), [0]);
  assert.deepEqual(await repairedOf('{"b":"\ufffd"}'), []);
});

test('the root of a body may name its source', async () => {
  const text = '"source_name":"a","collection_name":"b\\n","source":"c","collection":"d"';
  const address = { source_name: 'a', collection_name: 'b\n', source: 'c', collection: 'd' };
  assert.deepEqual({ ...(await decode(`{${text}}`)).address }, address);
  assert.deepEqual({ ...(await decode(`{${text},"batch":[{"source":"x"}]}`)).address }, address);
  assert.deepEqual({ ...(await decode(`{"batch":[{}],${text}}`)).address }, address);
  assert.deepEqual({ ...(await decode(`[{${text}}]`)).address }, {});
  assert.deepEqual({ ...(await decode(`{${text}}`, 'ndjson')).address }, {});
  assert.equal((await decode('{"source":"c","source":4}')).address.source, undefined);
});

test('the body handed in is not changed', async () => {
  const body = Buffer.from('{"a":"\\n"}\n{"b":[1]}\n');
  const before = Buffer.from(body);
  await decodeBody([body], 'ndjson');
  assert.deepEqual(body, before);
});

test('more events than a body may hold are refused', async () => {
  assert.equal(
    (await decode(`[${'1,'.repeat(BODY_EVENTS_MAX - 1)}1]`)).eventCount,
    BODY_EVENTS_MAX,
  );
  await assert.rejects(decode(`[${'1,'.repeat(BODY_EVENTS_MAX)}1]`), BodyLimitError);
});

test('other work runs while a large body is decoded', async () => {
  for (const form of ['json', 'ndjson'] as const) {
    const line = `{"a":"${'x'.repeat(1000)}"}`;
    const lines = new Array(3000).fill(line);
    const text = form === 'json' ? `[${lines.join(',')}]` : lines.join('\n');
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await decode(text, form);
    isDone = true;
    assert.ok(turns >= Math.floor(text.length / DECODE_SLICE_BYTES) - 1, `${turns} turns`);
  }
});

test('errors of a body have different classes', async () => {
  await assert.rejects(decode('nope'), (error) => error instanceof MalformedBodyError);
});

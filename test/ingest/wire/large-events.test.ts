import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { BodyLimitError, MalformedBodyError } from '../../../ingest/ingest-error.ts';
import {
  ATTRIBUTE_DEPTH_MAX,
  BODY_EVENTS_MAX,
  DECODE_SLICE_BYTES,
  EVENT_FIELDS_MAX,
  TRANSLATED_BYTES_MAX,
} from '../../../ingest/limits.ts';
import { MemoryPool } from '../../../ingest/memory-pool.ts';
import { cloudEvents } from '../../../ingest/wire/cloud-events.ts';
import { datadogLines, datadogLogs } from '../../../ingest/wire/datadog.ts';
import { documentLines, documents } from '../../../ingest/wire/documents.ts';
import { elasticsearchBulk } from '../../../ingest/wire/elasticsearch-bulk.ts';
import { elasticsearchDocument } from '../../../ingest/wire/elasticsearch-document.ts';
import { elixirLogger } from '../../../ingest/wire/elixir-logger.ts';
import { EventTexts } from '../../../ingest/wire/event-texts.ts';
import { logpush } from '../../../ingest/wire/logpush.ts';
import { lokiPush } from '../../../ingest/wire/loki-push.ts';
import { otlpJson } from '../../../ingest/wire/otlp-json.ts';
import { otlpProtobuf } from '../../../ingest/wire/otlp-protobuf.ts';
import { splunkEvents } from '../../../ingest/wire/splunk-hec.ts';
import { typecasts } from '../../../ingest/wire/typecasts.ts';
import { translateBody, type WireFormat } from '../../../ingest/wire/wire-format.ts';
import { translated } from './translated.ts';

/** Members of an object, as many as no event may have. */
const MEMBERS = Array.from({ length: EVENT_FIELDS_MAX + 1 }, (_, index) => `"k${index}":1`).join();
const LARGE = `{"m":{"a":[1]},${MEMBERS}}`;

/** An attribute of OTLP, or another field with a message in it. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
}

const MANY_ATTRIBUTES = Buffer.alloc(2 * (EVENT_FIELDS_MAX + 1), Buffer.from('3200', 'hex'));
const ATTRIBUTES = Array(EVENT_FIELDS_MAX + 1)
  .fill('{}')
  .join();
const OTLP_RECORDS = `{},{"attributes":[${ATTRIBUTES}]},{}`;

/** By its name, a format and a body of three events, of which the second is too large. */
const BODIES: readonly (readonly [WireFormat<unknown>, string | Uint8Array, string?])[] = [
  [documents, `[{"a":1},${LARGE},{"a":2}]`],
  [documentLines, `{"a":1}\n${LARGE}\n{"a":2}`],
  [elasticsearchBulk, `{"index":{}}\n{}\n{"index":{}}\n${LARGE}\n{"index":{}}\n{}`],
  [elixirLogger, `{"batch":[{},{"metadata":${LARGE}},{}]}`],
  [logpush, `{}\n${LARGE}\n{}`],
  [
    typecasts,
    `{"batch":[{},{"body":${LARGE},"typecasts":[{"path":["k1"],"from":"string","to":"float"}]},{}]}`,
  ],
  [cloudEvents, `[{},{"data":${LARGE}},{}]`, 'application/cloudevents-batch+json'],
  [datadogLogs, `[{"a":1},${LARGE},{"a":2}]`],
  [datadogLines, `{"a":1}\n${LARGE}\n{"a":2}`],
  [splunkEvents, `{"event":"a"}{"event":"b","fields":${LARGE}}{"event":"c"}`],
  [lokiPush, `{"streams":[{"stream":{},"values":[["1","a"],["1","b",${LARGE}],["1","c"]]}]}`],
  [otlpJson, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${OTLP_RECORDS}]}]}]}`],
  [
    otlpProtobuf,
    field(
      1,
      field(2, Buffer.concat([[], MANY_ATTRIBUTES, []].map((each) => field(2, Buffer.from(each))))),
    ),
  ],
];

test('an event that is too large is refused by itself, whatever its format', async () => {
  for (const [index, [format, body, mediaType = 'application/json']] of BODIES.entries()) {
    const { events } = await translated(format, body, { mediaType });
    // Metadata of Loki is passed on as it was sent, and refused where it is decoded.
    const isRefused = events.map((event) => event === null);
    assert.deepEqual(isRefused, [false, format !== lokiPush, false], `${index}`);
  }
});

test('a document of Elasticsearch that is too large is refused', async () => {
  await assert.rejects(translated(elasticsearchDocument, LARGE), MalformedBodyError);
});

test('data that many events share has the limits of an event', async () => {
  const loki = `{"streams":[{"stream":{${MEMBERS}},"values":[["1","a"]]}]}`;
  await assert.rejects(translated(lokiPush, loki), BodyLimitError);
  const otlp = `{"resourceLogs":[{"resource":{"attributes":[${ATTRIBUTES}]},"scopeLogs":[]}]}`;
  await assert.rejects(translated(otlpJson, otlp), BodyLimitError);
});

test('casts are found by their paths, in lists of lists as far as paths may go', async () => {
  const cast = (...path: string[]): string =>
    `{"path":${JSON.stringify(path)},"from":"string","to":"float"}`;
  const casts = [cast('a'), cast('b', 'c'), cast('b', 'd', 'e'), cast('a', 'x')].join();
  const read = async (body: string): Promise<unknown> => {
    const { events } = await translated(
      typecasts,
      `{"batch":[{"body":${body},"typecasts":[${casts}]}]}`,
    );
    return events[0];
  };
  assert.deepEqual(await read('{"a":"1","b":{"c":["2",["3"]],"d":{"e":"4"}},"c":"5"}'), {
    a: 1,
    b: { c: [2, [3]], d: { e: 4 } },
    c: '5',
  });
  assert.deepEqual(await read('{"a":{"x":"1","a":"2"},"b":"3"}'), { a: { x: 1, a: '2' }, b: '3' });
  const deep = `${'['.repeat(100_000)}"1"${']'.repeat(100_000)}`;
  const { events } = await translated(
    typecasts,
    `{"batch":[{"body":{"a":"2"},"typecasts":[${casts}],"x":${deep}}]}`,
  );
  assert.deepEqual(events, [{ a: 2 }]);
  const list = (levels: number): string => `${'['.repeat(levels)}"1"${']'.repeat(levels)}`;
  const levels = ATTRIBUTE_DEPTH_MAX;
  assert.deepEqual(
    await read(`{"a":${list(levels)}}`),
    JSON.parse(`{"a":${list(levels)}}`.replace('"1"', '1')),
  );
  assert.deepEqual(
    await read(`{"a":${list(levels + 1)}}`),
    JSON.parse(`{"a":${list(levels + 1)}}`),
  );
});

test('events are bounded by their bytes, and parts of a body by their number', () => {
  const events = new EventTexts();
  const text = `"${'\u20ac'.repeat(TRANSLATED_BYTES_MAX / 3 - 1)}"`;
  events.addText(text);
  assert.throws(() => events.addText('"\u20ac"'), BodyLimitError);
  for (let part = 0; part < BODY_EVENTS_MAX; part++) events.addPart();
  assert.throws(() => events.addPart(), BodyLimitError);
});

/** Turns of the event loop that go by while something is done. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turnCount = 0;
  const count = (): void => {
    turnCount++;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  await work();
  clearImmediate(turn);
  return turnCount;
}

test('other work runs while parts of a body are read repeatedly', async () => {
  const passCount = 20;
  const going: WireFormat = {
    *translate() {
      for (let pass = 0; pass < passCount; pass++) {
        for (let position = 0; position <= 2 * DECODE_SLICE_BYTES; position += 1_024)
          yield position;
      }
    },
  };
  const turnCount = await countTurns(() => translated(going, ''));
  assert.ok(turnCount >= passCount, `${turnCount}`);
});

test('other work runs while short events are written with the data that they share', async () => {
  const eventCount = 20;
  const label = 'x'.repeat(DECODE_SLICE_BYTES);
  const lines = Array(eventCount).fill('["1","a"]').join();
  const body = {
    pieces: [Buffer.from(`{"streams":[{"stream":{"label":"${label}"},"values":[${lines}]}]}`)],
    mediaType: 'application/json',
    headers: {},
    query: new Map(),
    nowUs: 0,
    newId: () => 'new',
    memory: new MemoryPool(0).lend(),
  };
  const turnCount = await countTurns(() => translateBody(lokiPush, body));
  assert.ok(turnCount >= eventCount, `${turnCount}`);
});

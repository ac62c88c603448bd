import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { must } from '../../../engine/assert.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { firehoseDelivery, warningsOf } from './receivers.ts';

const SOURCE = 'gotrue.logs.prod';
const NOON_US = 1_768_478_100_000_000;

/** A receiver, and how its events give a message and a time. */
type Receiver = {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly body: (time: string, message: string) => string | Uint8Array;
  readonly headers?: (time: string) => Readonly<Record<string, string>>;
  /** The texts that its format allows; all by default. */
  readonly fits?: RegExp;
};

const json = (value: unknown): string => JSON.stringify(value);
const NDJSON = 'application/x-ndjson';
const JSON_TYPE = 'application/json';

const RECEIVERS: readonly Receiver[] = [
  {
    name: 'list',
    path: '/logs',
    type: JSON_TYPE,
    body: (timestamp, message) => json([{ timestamp, message }]),
  },
  {
    name: 'batch',
    path: '/api/logs',
    type: JSON_TYPE,
    body: (timestamp, message) => json({ batch: [{ timestamp, message }] }),
  },
  {
    name: 'lines',
    path: '/api/events',
    type: NDJSON,
    body: (timestamp, message) => `${json({ timestamp, message })}\n`,
  },
  {
    name: 'json',
    path: '/logs/json',
    type: JSON_TYPE,
    body: (timestamp, message) => json({ timestamp, message }),
  },
  {
    name: 'vector',
    path: '/logs/vector',
    type: NDJSON,
    body: (timestamp, message) => `${json({ timestamp, message })}\n`,
  },
  {
    name: 'typecasts',
    path: '/logs/typecasts',
    type: JSON_TYPE,
    body: (timestamp, message) =>
      json({ batch: [{ body: { timestamp, message }, typecasts: [] }] }),
  },
  {
    name: 'typecasts to numbers',
    path: '/logs/typecasts',
    type: JSON_TYPE,
    body: (timestamp, message) => {
      const typecasts = [{ from: 'string', to: 'integer', path: ['timestamp'] }];
      return json({ batch: [{ body: { timestamp, message }, typecasts }] });
    },
  },
  {
    name: 'elixir',
    path: '/logs/elixir/logger',
    type: JSON_TYPE,
    body: (timestamp, message) => json({ batch: [{ timestamp, message, metadata: {} }] }),
  },
  {
    name: 'cloud event',
    path: '/logs/cloud-event',
    type: 'application/cloudevents+json',
    body: (time, message) => json({ id: '1', type: 't', time, data: { message } }),
  },
  {
    name: 'cloud event in headers',
    path: '/logs/cloud-event',
    type: JSON_TYPE,
    body: (_time, message) => json({ message }),
    headers: (time) => ({ 'ce-id': '1', 'ce-type': 't', 'ce-time': encodeURIComponent(time) }),
  },
  {
    name: 'logpush',
    path: '/logs/cloudflare',
    type: NDJSON,
    body: (EdgeStartTimestamp, message) => `${json({ EdgeStartTimestamp, message })}\n`,
  },
  {
    name: 'bulk',
    path: '/_bulk',
    type: NDJSON,
    body: (time, message) => `{"index":{}}\n${json({ '@timestamp': time, message })}\n`,
  },
  {
    name: 'document',
    path: '/logs-2026/_doc',
    type: JSON_TYPE,
    body: (time, message) => json({ '@timestamp': time, message }),
  },
  {
    name: 'loki',
    path: '/loki/api/v1/push',
    type: JSON_TYPE,
    body: (time, message) => json({ streams: [{ stream: {}, values: [[time, message]] }] }),
  },
  {
    name: 'firehose',
    path: '/firehose',
    type: JSON_TYPE,
    body: (time, message) => firehoseDelivery(Buffer.from(json({ time, message }))),
  },
  {
    name: 'gelf',
    path: '/gelf',
    type: JSON_TYPE,
    body: (timestamp, message) => json({ short_message: message, timestamp }),
  },
  {
    name: 'splunk',
    path: '/services/collector/event',
    type: JSON_TYPE,
    body: (time, event) => json({ time, event }),
  },
  {
    name: 'journal',
    path: '/upload',
    type: 'application/vnd.fdo.journal',
    body: (time, message) => `__REALTIME_TIMESTAMP=${time}\nMESSAGE=${message}\n\n`,
  },
  {
    name: 'datadog',
    path: '/api/v2/logs',
    type: JSON_TYPE,
    body: (timestamp, message) => json([{ timestamp, message }]),
  },
  {
    name: 'datadog in lines',
    path: '/v1/input',
    type: 'text/plain',
    body: (date, message) => `${json({ date, message })}\n`,
  },
  {
    name: 'syslog of RFC 5424',
    path: '/logs/syslog',
    type: 'text/plain',
    body: (time, message) => `<13>1 ${time} host app - - - ${message}\n`,
    fits: /^\S+$/,
  },
  {
    name: 'syslog of RFC 3164',
    path: '/logs/syslog',
    type: 'text/plain',
    body: (time, message) => `<13>${time} host app: ${message}\n`,
    fits: /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d$/,
  },
  {
    name: 'OTLP in JSON',
    path: '/v1/logs',
    type: JSON_TYPE,
    body: (timeUnixNano, stringValue) => {
      const logRecords = [{ timeUnixNano, body: { stringValue } }];
      return json({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    },
    fits: /^[1-9]\d{0,18}$/,
  },
  {
    name: 'OTLP in protobuf',
    path: '/v1/logs',
    type: 'application/x-protobuf',
    body: (time, message) => exportRequest(BigInt(time), message),
    fits: /^[1-9]\d{0,18}$/,
  },
];

/** An `ExportLogsServiceRequest` of one record. */
function exportRequest(timeUnixNano: bigint, message: string): Uint8Array {
  const body = new BinaryWriter().tag(1, WireType.LengthDelimited).string(message).finish();
  let bytes = new BinaryWriter()
    .tag(1, WireType.Bit64)
    .fixed64(timeUnixNano)
    .tag(5, WireType.LengthDelimited)
    .bytes(body)
    .finish();
  for (const field of [2, 2, 1]) {
    bytes = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  }
  return bytes;
}

/** Every text, with the difference of its time from NOON_US. */
const READABLE: readonly (readonly [text: string, us: number])[] = [
  ['2026-01-15T11:55:00.123456789Z', 123_456],
  ['2026-01-15T11:54:60Z', 0],
  ['2026-01-15 12:55:00,5 +0100', 500_000],
  ['20260115T115500Z', 0],
  ['2026/01/15 11:55:00', 0],
  ['Thu, 15 Jan 2026 11:55:00 GMT', 0],
  ['Thursday, 15-Jan-26 11:55:00 GMT', 0],
  ['Thu Jan 15 11:55:00 2026', 0],
  ['Jan 15 11:55:00', 0],
  ['15/Jan/2026:12:55:00 +0100', 0],
  ['1768478100', 0],
  ['1768478100.123456', 123_456],
  ['1768478100123', 123_000],
  ['1768478100123456', 123_456],
  ['1768478100123456789', 123_456],
];

const UNREADABLE = [
  'yesterday',
  '2026-02-30T00:00:00Z',
  'Feb 30 11:55:00',
  'Jan 15 25:00:00',
  '12345',
  '15.01.2026',
];

type Event = {
  readonly event_message: string;
  readonly timestamp: number;
  readonly timestamp_text: string | null;
};

const EVERYTHING = {
  name: 'test.everything',
  query: `SELECT event_message, timestamp, timestamp_text FROM \`${SOURCE}\``,
};

let services: ReadonlyMap<string, ServiceUnderTest>;

before(async () => {
  services = new Map([
    ['default', await ServiceUnderTest.start()],
    ['supabase', await ServiceUnderTest.start({ PROFILE: 'supabase' })],
  ]);
  for (const service of services.values()) {
    const made = await service.ask('POST', '/api/endpoints', json(EVERYTHING));
    assert.equal(made.status, 201, made.text);
  }
});

after(async () => {
  for (const service of services.values()) await service.stop();
});

function post(
  service: ServiceUnderTest,
  { path, type, body, headers }: Receiver,
  time: string,
  message: string,
): Promise<HttpAnswer> {
  return service.ask('POST', `${path}?source_name=${SOURCE}`, body(time, message), {
    'Content-Type': type,
    ...headers?.(time),
  });
}

async function stored(service: ServiceUnderTest): Promise<ReadonlyMap<string, Event>> {
  const answer = await service.ask('GET', `/api/endpoints/${EVERYTHING.name}`);
  const { result } = JSON.parse(answer.text) as { result: readonly Event[] };
  return new Map(result.map((event) => [event.event_message, event]));
}

/** The number of unreadable timestamps so far, from `/metrics`. */
async function unreadableCount(service: ServiceUnderTest): Promise<number> {
  const { text } = await service.ask('GET', '/metrics');
  const sample = /^weir_unreadable_timestamps_total\{source="gotrue\.logs\.prod"\} (\d+)$/m;
  return Number(sample.exec(text)?.[1] ?? 0);
}

for (const profile of ['default', 'supabase']) {
  test(`in the profile ${profile} every receiver parses a text to the same time`, async () => {
    const service = must(services.get(profile), 'it was started');
    const wanted = new Map<string, number>();
    for (const receiver of RECEIVERS) {
      for (const [text, us] of READABLE) {
        if (receiver.fits?.test(text) === false) continue;
        const message = `${receiver.name}: ${text}`;
        const answer = await post(service, receiver, text, message);
        assert.equal(Math.trunc(answer.status / 100), 2, `${message}: ${answer.text}`);
        assert.equal(warningsOf(answer), undefined, message);
        wanted.set(message, NOON_US + us);
      }
    }
    const events = await stored(service);
    for (const [message, us] of wanted) {
      const event = must(events.get(message), message);
      assert.deepEqual([event.timestamp, event.timestamp_text], [us, null], message);
    }
    assert.ok(wanted.size > 200, `${wanted.size} posts`);
  });

  test(`in the profile ${profile} every receiver keeps an unreadable timestamp and warns of it`, async () => {
    const service = must(services.get(profile), 'it was started');
    const texts = new Map<string, string>();
    const countBefore = await unreadableCount(service);
    for (const receiver of RECEIVERS) {
      for (const text of UNREADABLE) {
        if (receiver.fits?.test(text) === false) continue;
        const message = `${receiver.name}: ${text}`;
        const answer = await post(service, receiver, text, message);
        assert.equal(Math.trunc(answer.status / 100), 2, `${message}: ${answer.text}`);
        assert.equal(
          warningsOf(answer),
          `the timestamp of 1 event cannot be read and is kept as timestamp_text, it is "${text}"`,
        );
        texts.set(message, text);
      }
    }
    const events = await stored(service);
    for (const [message, text] of texts) {
      const event = must(events.get(message), message);
      assert.deepEqual([event.timestamp, event.timestamp_text], [NOON_US + 300_000_000, text]);
    }
    assert.equal((await unreadableCount(service)) - countBefore, texts.size);
    assert.ok(texts.size > 80, `${texts.size} posts`);
  });
}

test('a warning counts the events, and shows the first text in ASCII, shortened', async () => {
  const service = must(services.get('default'), 'it was started');
  const path = `/logs?source_name=${SOURCE}`;
  const warningOf = async (events: unknown): Promise<unknown> =>
    warningsOf(await service.ask('POST', path, json(events)));
  assert.equal(
    await warningOf([{ timestamp: 'soon' }, {}, { timestamp: 'later' }, { timestamp: {} }]),
    'the timestamp of 3 events cannot be read and is kept as timestamp_text, the first is "soon"',
  );
  const kept = 'the timestamp of 1 event cannot be read and is kept as timestamp_text, it is';
  assert.equal(await warningOf([{ timestamp: 'x'.repeat(5_000) }]), `${kept} "${'x'.repeat(40)}"`);
  assert.equal(
    await warningOf([{ timestamp: 'a"\\\r\n\u007f\u00e9\ud83d\ude00' }]),
    `${kept} "a\\"\\\\\\r\\n\\u007f\\u00e9\\ud83d\\ude00"`,
  );
  assert.equal(await warningOf([{ timestamp: [] }, { timestamp: NOON_US }]), `${kept} "[]"`);
});

test('events of an index and of the body’s source are counted together', async () => {
  const service = must(services.get('default'), 'it was started');
  const line = (index: string, time: string): string =>
    `{"index":{"_index":"${index}"}}\n{"message":"a","@timestamp":"${time}"}\n`;
  const body = `${line('postgres.logs', 'soon')}${line('gotrue.logs.prod', 'later')}`;
  const answer = await service.ask('POST', '/_bulk', body, { 'Content-Type': NDJSON });
  assert.equal(
    warningsOf(answer),
    'the timestamp of 2 events cannot be read and is kept as timestamp_text, the first is "soon"',
  );
});

test('an answer that refuses some events warns of the others, too', async () => {
  const service = must(services.get('default'), 'it was started');
  const events = json([{ timestamp: 'soon' }, 7]);
  const answer = await service.ask('POST', `/logs?source_name=${SOURCE}`, events);
  assert.equal(answer.status, 406);
  assert.match(String(warningsOf(answer)), /^the timestamp of 1 event .* "soon"$/);
});

test('an event posted alone keeps its time in the profile default only', async () => {
  for (const [profile, service] of services) {
    const path = `/logs?source_name=${SOURCE}`;
    const post = (timestamp: string) =>
      service.ask('POST', path, json({ timestamp, event_message: `alone: ${timestamp}` }));
    const answers = [await post('2026-01-15T11:55:00Z'), await post('soon')];
    const isTimed = profile === 'default';
    assert.deepEqual(
      answers.map((answer) => [answer.status, warningsOf(answer) !== undefined]),
      [
        [200, false],
        [200, isTimed],
      ],
    );
    const events = await stored(service);
    const readable = must(events.get('alone: 2026-01-15T11:55:00Z'), profile);
    const unreadable = must(events.get('alone: soon'), profile);
    const nowUs = NOON_US + 300_000_000;
    assert.equal(readable.timestamp, isTimed ? NOON_US : nowUs);
    assert.deepEqual(
      [unreadable.timestamp, unreadable.timestamp_text],
      [nowUs, isTimed ? 'soon' : null],
    );
  }
});

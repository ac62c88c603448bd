import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { EVENT_FIELDS_MAX } from '../../../ingest/limits.ts';
import { parseLokiLabels } from '../../../ingest/wire/loki-label-text.ts';
import { lokiProtobuf } from '../../../ingest/wire/loki-protobuf.ts';
import { lokiPush } from '../../../ingest/wire/loki-push.ts';
import { runsOf } from '../../support/budget.ts';
import { type LokiLine, lokiPushBytes } from '../../support/loki-push.ts';
import { translated } from './translated.ts';

function labelsOf(text: string): unknown {
  return JSON.parse(parseLokiLabels(text).json);
}

test('a push in protobuf gives the same events as the same push in JSON', async () => {
  const value = fc.string({ unit: 'grapheme', maxLength: 12 });
  const names = fc.constantFrom('app', 'env', 'project', 'trace_id');
  const pairs = fc.dictionary(names, value, { maxKeys: 3, noNullPrototype: true });
  const line = fc.record({
    seconds: fc.bigInt({ min: 0n, max: 4_000_000_000n }),
    nanos: fc.nat(999_999_999),
    line: value,
    metadata: pairs,
  });
  const streams = fc.array(fc.record({ labels: pairs, lines: fc.array(line, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  });
  const property = fc.asyncProperty(streams, async (sent) => {
    const bytes = lokiPushBytes(
      sent.map(({ labels, lines }) => ({ labels: asPrometheusWrites(labels), lines })),
    );
    const json = JSON.stringify({
      streams: sent.map(({ labels, lines }) => ({ stream: labels, values: lines.map(jsonLine) })),
    });
    const [got, wanted] = [await translated(lokiProtobuf, bytes), await translated(lokiPush, json)];
    deepEqual(got.events, wanted.events);
  });
  await fc.assert(property, { numRuns: runsOf(200) });
});

function asPrometheusWrites(labels: Readonly<Record<string, string>>): string {
  // JSON's escapes are among those of Go, but for one that it writes for some halves of pairs.
  return `{${Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)}}`;
}

function jsonLine({ seconds, nanos = 0, line, metadata = {} }: LokiLine): unknown[] {
  const time = `${seconds * 1_000_000_000n + BigInt(nanos)}`;
  return Object.keys(metadata).length === 0 ? [time, line] : [time, line, metadata];
}

test('labels are read as Prometheus writes them', () => {
  deepEqual(labelsOf('{}'), {});
  deepEqual(labelsOf(' { } '), {});
  deepEqual(labelsOf('{app="shop"}'), { app: 'shop' });
  deepEqual(labelsOf('{ app = "shop" , env="a,b}c=" }'), { app: 'shop', env: 'a,b}c=' });
  deepEqual(labelsOf('{a="  x ", b=""}'), { a: '  x ', b: '' });
  deepEqual(labelsOf(String.raw`{a="\a\b\f\n\r\t\v\\\"\'"}`), { a: '\x07\b\f\n\r\t\v\\"\'' });
  deepEqual(labelsOf(String.raw`{a="\x01\xff\u00e9\U0001F980"}`), { a: '\x01\u{FFFD}é\u{1F980}' });
  equal(parseLokiLabels('{project="alpha"}').project, '"alpha"');
  equal(parseLokiLabels('{app="alpha"}').project, undefined);
});

for (const [text, wanted] of [
  ['', /"\{" at character 1$/],
  ['app="shop"', /"\{" at character 1$/],
  ['{app}', /"=" at character 5$/],
  ['{="x"}', /a name or "\}" at character 2$/],
  ['{app=shop}', /a value in quotes at character 6$/],
  ['{app="shop', /the end of a quoted value at character 12$/],
  ['{app="shop"', /"," or "\}" at character 12$/],
  ['{app="shop"}x', /the end at character 13$/],
  [String.raw`{app="\q"}`, /an escape of a quoted string/],
  [String.raw`{app="\u12"}`, /4 hexadecimal digits/],
  [String.raw`{app="\UFFFFFFFF"}`, /8 hexadecimal digits/],
] as const) {
  test(`labels like ${JSON.stringify(text)} are refused, with the place`, async () => {
    const body = lokiPushBytes([{ labels: text, lines: [{ seconds: 1n, line: 'a' }] }]);
    await rejects(translated(lokiProtobuf, body), (error: Error) => {
      equal(error instanceof MalformedBodyError, true);
      return wanted.test(error.message);
    });
  });
}

test('labels with more names than an event may have fields are refused', async () => {
  const many = Array.from({ length: EVENT_FIELDS_MAX + 1 }, (_, index) => `a${index}="b"`);
  const body = lokiPushBytes([{ labels: `{${many}}`, lines: [] }]);
  await rejects(translated(lokiProtobuf, body), /an event may have \d+ keys and maps; got more/);
});

test('a line with too many fields is refused, and the others are events', async () => {
  const metadata = Object.fromEntries(
    Array.from({ length: EVENT_FIELDS_MAX }, (_, index) => [`k${index}`, 'v']),
  );
  const lines = [
    { seconds: 1n, line: 'a' },
    { seconds: 2n, line: 'b', metadata },
    { seconds: 3n, line: 'c' },
  ];
  const { events } = await translated(lokiProtobuf, lokiPushBytes([{ labels: '{}', lines }]));
  deepEqual(
    events.map((event) => (event as { event_message?: string } | null)?.event_message),
    ['a', undefined, 'c'],
  );
});

test('fields may come in any order, and those that are not known are skipped', async () => {
  const body = Buffer.from(
    // streams: entries with the line "a", an unknown field 9, labels `{b="c"}`.
    ['0a11', '1203120161', '4a0178', '0a077b623d2263227d'].join(''),
    'hex',
  );
  const { events } = await translated(lokiProtobuf, body);
  deepEqual(events, [{ event_message: 'a', metadata: { labels: { b: 'c' } } }]);
});

test('a body without a stream is not a push', async () => {
  await rejects(translated(lokiProtobuf, Buffer.from('1000', 'hex')), /must have field 1, streams/);
  await rejects(translated(lokiProtobuf, Buffer.from('0aff', 'hex')), /not a PushRequest/);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../scripts/script.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { naughtyStrings } from './naughty-strings.ts';

const EDGE = 'cloudflare.logs.prod';
const ASKED = { project: 'alpha', project_tier: 'PRO' };

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({ MEMORY_LIMIT: '1GiB' });
});
after(() => service.stop());

type Row = { readonly id: string; readonly event_message: string; readonly metadata: unknown };

/** Posts up to 100 events of one project as JSON texts, newest last, and gives them as they are answered. */
async function answered(project: string, events: readonly string[]): Promise<readonly Row[]> {
  await service.postText(EDGE, `[${events.join()}]`, us(NOW));
  const text = await service.callText('logs.all', { ...ASKED, project });
  return (JSON.parse(text) as { readonly result: readonly Row[] }).result.toReversed();
}

/** The members of an event that are not what a test is about. */
function eventText(project: string, index: number, members: string): string {
  return `{"project":"${project}","timestamp":${us(NOW) - 1000 + index},${members}}`;
}

test('at least five hundred naughty strings are returned byte for byte, as values and as keys', async () => {
  const strings = naughtyStrings();
  assert.ok(strings.length >= 500, String(strings.length));
  for (let start = 0; start < strings.length; start += 100) {
    const page = strings.slice(start, start + 100);
    const project = `naughty-${start}`;
    const rows = await answered(
      project,
      page.map((text, index) => {
        const json = JSON.stringify(text);
        const metadata = `{${json}:${json},"list":[${json},[${json}]],"a":{"b":${json}}}`;
        return eventText(project, index, `"event_message":${json},"metadata":${metadata}`);
      }),
    );
    assert.equal(rows.length, page.length);
    for (const [index, text] of page.entries()) {
      const { event_message, metadata } = rows[index]!;
      assert.equal(event_message, text);
      const sent = JSON.parse(
        `{${JSON.stringify(text)}:${JSON.stringify(text)},"list":0,"a":[{"b":0}]}`,
      ) as Record<string, unknown>;
      Object.assign(sent, { list: [text, [text]], a: [{ b: text }] });
      const [record] = metadata as readonly Record<string, unknown>[];
      assert.deepEqual(record, sent);
    }
  }
});

test('strings of every character are returned', async () => {
  const codes = Array.from({ length: 0x110000 }, (_, code) => code).filter(
    (code) => code < 0xd800 || code > 0xdfff,
  );
  const pages = Array.from({ length: Math.ceil(codes.length / 16_384) }, (_, page) =>
    String.fromCodePoint(...codes.slice(page * 16_384, (page + 1) * 16_384)),
  );
  const rows = await answered(
    'characters',
    pages.map((text, index) =>
      eventText('characters', index, `"event_message":${JSON.stringify(text)}`),
    ),
  );
  // Without metadata there is no row of edge logs.
  assert.equal(rows.length, 0);
  const withMetadata = await answered(
    'characters',
    pages.map((text, index) =>
      eventText(
        'characters',
        index,
        `"event_message":${JSON.stringify(text)},"metadata":{"a":${JSON.stringify(text)}}`,
      ),
    ),
  );
  assert.deepEqual(
    withMetadata.map(({ event_message }) => event_message),
    pages,
  );
  assert.deepEqual(
    withMetadata.map(({ metadata }) => metadata),
    pages.map((a) => [{ a }]),
  );
});

test('lone surrogates are returned as they were escaped', async () => {
  const halves = ['\ud800', '\udfff', 'a\ud800b', '\udc00\ud800', '\ud83d', '\ud800\ud800'];
  const rows = await answered(
    'halves',
    halves.map((text, index) => {
      const json = JSON.stringify(text);
      return eventText('halves', index, `"event_message":${json},"metadata":{"a":${json}}`);
    }),
  );
  for (const [index, text] of halves.entries()) {
    assert.equal(rows[index]!.event_message, text);
    assert.deepEqual(rows[index]!.metadata, [{ a: text }]);
  }
});

test('of equal keys the last counts, however they are spelled, at every level', async () => {
  const members = [
    '"event_message":"a","event_message":"b","metadata":{"k":1,"k":2,"\\u006b":3}',
    '"event_message":"b","metadata":{"k":9},"metadata":{"k":{"__proto__":1},"k":3}',
    '"event_message":"b","metadata":{"k":[1,{"k":2}],"k":3}',
  ];
  const rows = await answered(
    'equal-keys',
    members.map((text, index) => eventText('equal-keys', index, text)),
  );
  for (const { event_message, metadata } of rows) {
    assert.equal(event_message, 'b');
    assert.deepEqual(metadata, [{ k: 3 }]);
  }
});

test('numbers of any size are returned, none as another', async () => {
  const integers = ['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'];
  const beyond = ['9223372036854775808', `1${'0'.repeat(400)}`, '1e309', '-1e400', '1e-400'];
  const events = [...integers, ...beyond].map((number, index) =>
    eventText('numbers', index, `"event_message":"n","metadata":{"n":${number}}`),
  );
  await service.postText(EDGE, `[${events.join()}]`, us(NOW));
  const text = await service.callText('logs.all', { ...ASKED, project: 'numbers' });
  const told = Array.from(
    text.matchAll(/"metadata":\[\{"n":([^}]*)\}\]/g),
    ([, number]) => number!,
  );
  told.reverse();
  assert.deepEqual(told.slice(0, integers.length), integers);
  for (const [index, number] of told.slice(integers.length).entries()) {
    assert.equal(Number(number.replaceAll('"', '')), Number(beyond[index]), number);
  }
});

test('deep nesting is stored, returned and blocks nobody', async () => {
  const depth = 100_000;
  const deep = [
    `${'['.repeat(depth)}${']'.repeat(depth)}`,
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    `${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`,
  ];
  for (const [index, value] of deep.entries()) {
    const project = `deep-${index}`;
    const event = eventText(project, 0, `"event_message":"m","metadata":{"x":${value}}`);
    await service.postText(EDGE, `[${event}]`, us(NOW));
    const text = await service.callText('logs.all', { ...ASKED, project });
    const brackets = (of: string) => of.replace(/[^[{]/g, '').length;
    assert.ok(brackets(text) >= brackets(value));
    // Cut off, it is refused, wherever the end is missing.
    const answer = await service.ask('POST', `/api/logs?source_name=${EDGE}`, event.slice(0, -5));
    assert.equal(answer.status, 400);
  }
});

test('keys may have the names of properties of JavaScript objects', async () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON'];
  const members = names.map((name, index) => `"${name}":{"${name}":[{"${name}":${index}}]}`).join();
  const event = eventText('inborn', 0, `"event_message":"m","metadata":{${members}},${members}`);
  await service.postText(EDGE, `[${event}]`, us(NOW));
  const text = await service.callText('logs.all', { ...ASKED, project: 'inborn' });
  for (const [index, name] of names.entries()) {
    assert.ok(text.includes(`"${name}":[{"${name}":[{"${name}":${index}}]}]`), text);
  }
  assert.ok(text.includes('"metadata":[{"__proto__":'), text);
  assert.equal(Object.keys(Object.prototype).length, 0);
});

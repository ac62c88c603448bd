import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { must } from '../../../engine/assert.ts';
import { runsOf } from '../../support/budget.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { bytesOf, type Choice, type Json, mutate, readJson } from './mutated-json.ts';
import { encode, logsRequest, lokiRequest, mutateFields } from './mutated-protobuf.ts';
import { eventCounts, firehoseDelivery, postTo, RECEIVERS, type Receiver } from './receivers.ts';

/** The documented statuses of posts, by path. */
const documented = new Map<string, ReadonlySet<string>>();
let service: ServiceUnderTest;
/** The counters after the last post. */
let counts = { stored: 0, refused: 0 };

before(async () => {
  service = await ServiceUnderTest.start();
  const { text } = await service.ask('GET', '/api/openapi.json');
  const { paths } = JSON.parse(text) as {
    readonly paths: Readonly<Record<string, { readonly post?: { readonly responses: object } }>>;
  };
  for (const [path, { post }] of Object.entries(paths)) {
    if (post !== undefined) documented.set(path, new Set(Object.keys(post.responses)));
  }
});

after(async () => {
  await service.stop();
  const bugs = service.entries.filter(({ level }) => level === 'error');
  assert.deepEqual(bugs, []);
});

const choices: fc.Arbitrary<readonly Choice[]> = fc.array(
  fc.tuple(fc.nat(1_000), fc.nat(1_000), fc.nat(1_000)),
  { minLength: 1, maxLength: 4 },
);

/** Sometimes truncates the body, at a thousandth of its length. */
const cuts = fc.oneof(
  { weight: 5, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.nat(999) },
);

function cutOff(body: Buffer, at: number | null): Buffer {
  return at === null ? body : body.subarray(0, Math.floor((body.length * at) / 1000));
}

/**
 * Posts a body and checks that it causes no internal error, and that each event is stored or
 * refused.
 */
async function check(
  receiver: Receiver,
  body: Buffer,
  eventCount: number | undefined,
): Promise<void> {
  const answer = await postTo(service, receiver, body);
  const { status, text } = answer;
  const said = `${receiver.path} ${status} ${text.slice(0, 300)} for ${body.toString('latin1').slice(0, 1_000)}`;
  assert.ok(status < 500, said);
  assert.ok(must(documented.get(receiver.path)).has(String(status)), said);
  const before = counts;
  counts = await eventCounts(service);
  const stored = counts.stored - before.stored;
  const refused = counts.refused - before.refused;
  if (isWhollyRefused(answer)) assert.deepEqual([stored, refused], [0, 0], said);
  else if (eventCount !== undefined) assert.equal(stored + refused, eventCount, said);
  if (status === 406) assert.ok(refused > 0, said);
}

/** Whether nothing of a body was decided. A 400 may also list the invalid events. */
function isWhollyRefused({ status, text }: HttpAnswer): boolean {
  return status >= 400 && status !== 406 && !/event \d+: /.test(text);
}

/** Counts the values below lists under these keys, one in the other. */
function countBelow(json: Json, [key, ...rest]: readonly string[]): number {
  if (key === undefined) return json.kind === 'list' ? json.items.length : 1;
  if (json.kind !== 'object') return 0;
  let count = 0;
  for (const [name, value] of json.entries) {
    if (name !== key || value.kind !== 'list') continue;
    for (const item of value.items) count += rest.length === 0 ? 1 : countBelow(item, rest);
  }
  return count;
}

/** Where the events of a body are, for formats whose events can be counted in the text. */
const EVENTS_BELOW: ReadonlyMap<string, readonly string[]> = new Map([
  ['/v1/logs', ['resourceLogs', 'scopeLogs', 'logRecords']],
  ['/loki/api/v1/push', ['streams', 'values']],
  ['/logs/elixir/logger', ['batch']],
  ['/logs/typecasts', ['batch']],
  ['/logs/json', []],
  ['/logs/cloud-event', []],
  ['/logs', []],
]);

const DOCUMENTS = RECEIVERS.filter(
  ({ type, isLines, isStream, enclose }) =>
    /json/.test(type) && !isLines && !isStream && enclose === undefined,
);

for (const receiver of DOCUMENTS) {
  const { path, type } = receiver;
  test(`${path} stores or refuses each event of a mutated ${type}`, async () => {
    const property = fc.asyncProperty(choices, cuts, async (changes, cut) => {
      // In a list, so that the whole value can be changed, too.
      const holder: Json = { kind: 'list', items: [readJson(String(receiver.body))] };
      for (const change of changes) mutate(holder, change);
      const [root] = holder.items;
      if (root === undefined || holder.items.length > 1) return;
      const below = EVENTS_BELOW.get(path);
      // A value that was turned into bytes is not searched.
      const isKnown = cut === null && below !== undefined && !hasBytesWithin(root);
      const body = cutOff(bytesOf(root), cut);
      await check(receiver, body, isKnown ? countBelow(root, below) : undefined);
    });
    await fc.assert(property, { numRuns: runsOf(200) });
  });
}

/** Whether some containers are available as text only. */
function hasBytesWithin(json: Json): boolean {
  if (json.kind === 'bytes') return /^[[{]/.test(json.text);
  const values = json.kind === 'list' ? json.items : json.entries.map(([, value]) => value);
  return values.some(hasBytesWithin);
}

/** Counts the events of lines. The only line of a body may be a list or a batch, so its events are unknown then. */
function countLines(body: Buffer): number | undefined {
  const [only = '', ...others] = body
    .toString('latin1')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const isDocument = others.length === 0 && /^\s*\[|"batch"/.test(only);
  return isDocument ? undefined : others.length + (only === '' ? 0 : 1);
}

for (const receiver of RECEIVERS.filter(({ isLines }) => isLines)) {
  test(`${receiver.path} stores or refuses each mutated line`, async () => {
    const property = fc.asyncProperty(choices, cuts, async (changes, cut) => {
      const texts = String(receiver.body).trimEnd().split('\n');
      const lines: Json = { kind: 'list', items: texts.map(readJson) };
      for (const change of changes) mutate(lines, change);
      const whole = Buffer.concat(
        lines.items.flatMap((line) => [bytesOf(line), Buffer.from('\n')]),
      );
      const body = cutOff(whole, cut);
      // The test cannot tell documents from actions.
      await check(receiver, body, receiver.path === '/_bulk' ? undefined : countLines(body));
    });
    await fc.assert(property, { numRuns: runsOf(200) });
  });
}

for (const receiver of RECEIVERS.filter(({ isStream }) => isStream)) {
  test(`${receiver.path} stores or refuses each mutated value`, async () => {
    const texts = String(receiver.body).split('\n');
    const separators = fc.constantFrom('\n', ' ', '');
    const property = fc.asyncProperty(
      choices,
      cuts,
      separators,
      async (changes, cut, separator) => {
        const values: Json = { kind: 'list', items: texts.map(readJson) };
        for (const change of changes) mutate(values, change);
        const parts = values.items.flatMap((value) => [bytesOf(value), Buffer.from(separator)]);
        const body = cutOff(Buffer.concat(parts), cut);
        // Without a separator, two numbers may become one.
        const isKnown = cut === null && separator !== '';
        await check(receiver, body, isKnown ? values.items.length : undefined);
      },
    );
    await fc.assert(property, { numRuns: runsOf(200) });
  });
}

const MESSAGES = new Map([
  ['/v1/logs', logsRequest],
  ['/loki/api/v1/push', lokiRequest],
]);

for (const receiver of RECEIVERS.filter(({ type }) => type === 'application/x-protobuf')) {
  test(`${receiver.path} stores or refuses each event of mutated protobuf`, async () => {
    const make = must(MESSAGES.get(receiver.path));
    await check(receiver, Buffer.from(encode(make())), 2);
    const property = fc.asyncProperty(choices, cuts, async (changes, cut) => {
      const request = make();
      for (const change of changes) mutateFields(request, change);
      await check(receiver, cutOff(Buffer.from(encode(request)), cut), undefined);
    });
    await fc.assert(property, { numRuns: runsOf(300) });
  });
}

test('/firehose stores or refuses each event of a mutated delivery and of mutated records', async () => {
  const { body, ...receiver } = must(RECEIVERS.find(({ path }) => path === '/firehose'));
  const [message = '', text = ''] = String(body).split('\n');
  const delivery: Receiver = { path: receiver.path, type: receiver.type, body };
  const property = fc.asyncProperty(choices, choices, cuts, async (inner, outer, cut) => {
    const holder: Json = { kind: 'list', items: [readJson(message)] };
    for (const change of inner) mutate(holder, change);
    const records = Buffer.concat([
      ...holder.items.map((item) => cutOff(bytesOf(item), cut)),
      Buffer.from(`\n${text}`),
    ]);
    const whole = firehoseDelivery(records);
    await check(delivery, whole, undefined);
    const envelope: Json = { kind: 'list', items: [readJson(String(whole))] };
    for (const change of outer) mutate(envelope, change);
    for (const item of envelope.items) await check(delivery, cutOff(bytesOf(item), cut), undefined);
  });
  await fc.assert(property, { numRuns: runsOf(200) });
});

test('/upload stores or refuses each mutated entry', async () => {
  const receiver = must(RECEIVERS.find(({ path }) => path === '/upload'));
  const parts = [
    ...[String(receiver.body), 'A=1\n', 'MESSAGE=a\n', 'MESSAGE\n', 'a=1', '=', '\n', '\n\n'],
    ...['\x01\0\0\0\0\0\0\0', '\x01\0\0\0\0\0\0\0b\n', '\xff\xff\xff\xff\xff\xff\xff\xff'],
    ...['__REALTIME_TIMESTAMP=', '1768478100000000\n', 'PROJECT=a\n', 'x'.repeat(3_000), '"\\\0'],
  ].map((part) => Buffer.from(part, 'latin1'));
  const part = fc.constantFrom(...parts);
  const property = fc.asyncProperty(fc.array(part, { maxLength: 12 }), cuts, async (body, cut) => {
    await check(receiver, cutOff(Buffer.concat(body), cut), undefined);
  });
  await fc.assert(property, { numRuns: runsOf(200) });
});

for (const receiver of RECEIVERS.filter(({ type }) => type === 'text/plain')) {
  test(`${receiver.path} stores or refuses each mutated message`, () => postMutated(receiver));
}

async function postMutated(receiver: Receiver): Promise<void> {
  const parts = [
    ...[String(receiver.body), '<13>1 ', '<191>', '<999>', '2026-01-15T11:55:00+00:00 ', '- - - '],
    ...[
      'Jan 15 11:55:00 host app[1]: ',
      '[a@1 k="v"]',
      '[a@1 k="',
      '\ufeff',
      '\n',
      '12 ',
      '99999999 ',
    ],
    ...['message', 'x'.repeat(3_000), '"', '\\', '\u0000'],
  ].map((part) => Buffer.from(part));
  const part = fc.oneof(
    fc.constantFrom(...parts),
    fc.constantFrom([0xff], [0xe2, 0x82], [0xc3]).map((bad) => Buffer.from(bad)),
  );
  const property = fc.asyncProperty(fc.array(part, { maxLength: 12 }), cuts, async (body, cut) => {
    await check(receiver, cutOff(Buffer.concat(body), cut), undefined);
  });
  await fc.assert(property, { numRuns: runsOf(200) });
}

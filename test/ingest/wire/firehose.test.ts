import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { BodyLimitError, MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { BODY_BYTES_MAX, EVENT_FIELDS_MAX } from '../../../ingest/limits.ts';
import { firehose } from '../../../ingest/wire/firehose.ts';
import { runsOf } from '../../support/budget.ts';
import { translated } from './translated.ts';

/** A delivery with records of these bytes. */
function delivery(...records: readonly (string | Uint8Array)[]): string {
  const list = records.map((record) => ({ data: Buffer.from(record).toString('base64') }));
  return JSON.stringify({ requestId: 'r', timestamp: 1_768_478_100_000, records: list });
}

async function eventsOf(...records: readonly (string | Uint8Array)[]): Promise<readonly unknown[]> {
  return (await translated(firehose, delivery(...records))).events;
}

const SUBSCRIPTION = {
  messageType: 'DATA_MESSAGE',
  owner: '123456789012',
  logGroup: '/aws/lambda/shop',
  logStream: '2026/01/15/[1]abc',
  subscriptionFilters: ['all'],
  logEvents: [
    { id: '1', timestamp: 1_768_478_100_000, message: 'order made\n' },
    { id: '2', timestamp: 1_768_478_100_001, message: 'order paid', extractedFields: { n: '7' } },
  ],
};

test('each log event of a compressed message of CloudWatch Logs becomes an event', async () => {
  const metadata = {
    owner: '123456789012',
    logGroup: '/aws/lambda/shop',
    logStream: '2026/01/15/[1]abc',
    subscriptionFilters: ['all'],
  };
  const control = { ...SUBSCRIPTION, messageType: 'CONTROL_MESSAGE' };
  const { logEvents, ...head } = SUBSCRIPTION;
  const records = [SUBSCRIPTION, control, { logEvents: [logEvents[0], 7], ...head }];
  const events = await eventsOf(...records.map((record) => gzipSync(JSON.stringify(record))));
  const first = { id: '1', timestamp: 1_768_478_100_000, event_message: 'order made\n', metadata };
  assert.deepEqual(events, [
    first,
    {
      id: '2',
      timestamp: 1_768_478_100_001,
      event_message: 'order paid',
      metadata: { ...metadata, extractedFields: { n: '7' } },
    },
    first,
    // Admission refuses it.
    7,
  ]);
});

test('an object that only resembles a message of CloudWatch Logs is an ordinary one', async () => {
  const others = [
    { messageType: 'OTHER', logEvents: [] },
    { messageType: 'DATA_MESSAGE', logEvents: {} },
    { logEvents: [{ message: 'a' }] },
  ];
  const events = await eventsOf(...others.map((other) => JSON.stringify(other)));
  assert.deepEqual(
    events,
    others.map((other) => ({ event_message: JSON.stringify(other), metadata: other })),
  );
});

test('records hold objects one after the other, on any number of lines, and texts line by line', async () => {
  const object = (order: number): object => ({ event_message: 'a', metadata: { order } });
  const text = (message: string): object => ({ event_message: message, metadata: {} });
  const rows: readonly (readonly [record: string, events: readonly object[]])[] = [
    ['', []],
    [' \r\n\n', []],
    ['{"message":"a","order":1}', [object(1)]],
    ['{"message":"a","order":1}{"message":"a","order":2}', [object(1), object(2)]],
    ['{"message":"a",\n "order":1}\n{"message":"a","order":2}\n', [object(1), object(2)]],
    ['first\r\n\n  second  \nthird', [text('first'), text('  second'), text('third')]],
    ['first\n{"message":"a","order":1}\nthird', [text('first'), object(1), text('third')]],
    ['{"message":"a","order":1} first\n{"cut":', [object(1), text(' first'), text('{"cut":')]],
    ['{\n{"message":"a","order":1}\n}', [text('{'), object(1), text('}')]],
    ['[12] {"a":1}', [text('[12] {"a":1}')]],
    ['[{"a":1}]', [text('[{"a":1}]')]],
  ];
  for (const [record, events] of rows) assert.deepEqual(await eventsOf(record), events, record);
  const all = await eventsOf(...rows.map(([record]) => record));
  assert.deepEqual(
    all,
    rows.flatMap(([, events]) => events),
  );
});

test('a bad record is refused by itself', async () => {
  const records = [
    '7',
    '{}',
    '{"data":null}',
    '{"data":"YQ"}',
    '{"data":"Y Q=="}',
    `{"data":"${gzipSync('abc').subarray(0, -4).toString('base64')}"}`,
    `{"data":"${Buffer.concat([gzipSync('abc'), Buffer.from('more')]).toString('base64')}"}`,
    `{"data":"YQ==",${Array.from({ length: EVENT_FIELDS_MAX }, (_, index) => `"k${index}":1`).join()}}`,
  ];
  const good = '{"data":"YQ=="}';
  for (const record of records) {
    const body = `{"records":[${good},${record},${good}]}`;
    const { events } = await translated(firehose, body);
    assert.deepEqual(
      events.map((event) => event === null),
      [false, true, false],
      record.slice(0, 80),
    );
    await assert.rejects(translated(firehose, `{"records":[${record}]}`), MalformedBodyError);
  }
});

test('an object with too many members is refused by itself', async () => {
  const members = Array.from(
    { length: EVENT_FIELDS_MAX + 1 },
    (_, index) => `"k${index}":1`,
  ).join();
  const events = await eventsOf(`{"a":1}{${members}}{"a":2}`);
  assert.deepEqual(
    events.map((event) => event === null),
    [false, true, false],
  );
});

test('records inflate to what a body may have, and not to more', async () => {
  const half = gzipSync(Buffer.alloc(BODY_BYTES_MAX / 2, ' '));
  assert.deepEqual(await eventsOf(half, half), []);
  await assert.rejects(eventsOf(half, half, ' '), BodyLimitError);
  const bomb = gzipSync(Buffer.alloc(10 * BODY_BYTES_MAX));
  await assert.rejects(eventsOf(bomb), /12000000 bytes after decompression; got more/);
});

test('common attributes name the source and the project, and are metadata otherwise', async () => {
  const read = (attributes: unknown, ...records: readonly string[]) =>
    translated(firehose, delivery(...records), {
      headers: { 'x-amz-firehose-common-attributes': JSON.stringify(attributes) },
    });
  const commonAttributes = { source_name: 'app.logs', project: 'alpha', stage: 'test' };
  const { events, bodyAddress } = await read({ commonAttributes }, '{"project":"beta"}', 'text');
  assert.equal(bodyAddress, 'app.logs');
  const metadata = { common_attributes: { stage: 'test' } };
  assert.deepEqual(events, [
    { event_message: JSON.stringify(metadata), project: 'beta', metadata },
    { event_message: 'text', project: 'alpha', metadata },
  ]);
  assert.equal((await read({ commonAttributes: {} }, 'text')).bodyAddress, undefined);
  for (const wrong of [null, 7, {}, { commonAttributes: 'a' }]) {
    await assert.rejects(read(wrong, 'text'), MalformedBodyError);
  }
  const headers = { 'x-amz-firehose-common-attributes': '{"commonAttributes":' };
  await assert.rejects(translated(firehose, delivery('a'), { headers }), MalformedBodyError);
});

test('bytes that are not UTF-8 are repaired in their record', async () => {
  const { events, isRepaired } = await translated(
    firehose,
    delivery(Buffer.from([0x61, 0xff]), Buffer.from('b')),
  );
  assert.equal(isRepaired, true);
  assert.deepEqual(events, [
    { event_message: 'a\ufffd', metadata: {} },
    { event_message: 'b', metadata: {} },
  ]);
});

test('no byte of a record that is not white space is lost, whatever the record', async () => {
  const part = fc.constantFrom(
    '{"message":"a"}',
    '{"a":{',
    '}',
    'text',
    '\n',
    ' ',
    '"',
    '{}',
    '\\',
    '\u20ac',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
      const events = (await eventsOf(parts.join(''))) as readonly {
        readonly event_message: string;
        readonly metadata: unknown;
      }[];
      const kept = events.map(({ event_message: message }) =>
        message === 'a' ? '{"message":"a"}' : message,
      );
      const dense = (text: string): string => text.replaceAll(/\s/g, '');
      assert.equal(dense(kept.join('')), dense(parts.join('')));
    }),
    { numRuns: runsOf(500) },
  );
});

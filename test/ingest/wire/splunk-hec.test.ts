import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { BULK_INDEX_LENGTH_MAX } from '../../../ingest/limits.ts';
import { splunkEvents, splunkLines } from '../../../ingest/wire/splunk-hec.ts';
import { translated } from './translated.ts';

const QUERY = new Map([
  ['host', ['shared-host']],
  ['source', ['shared-source', 'another']],
  ['sourcetype', ['']],
  ['index', ['app.logs']],
  ['time', ['1768478100']],
  ['api_key', ['a-token']],
]);

test('an event that is a text is a message, and what stands beside it is metadata', async () => {
  const body = `{"time": 1768478100.123, "host": "h", "source": "s", "sourcetype": "t", "event": "one",
    "fields": {"a": "1", "b": [2], "project": "alpha"}, "more": 9007199254740993}`;
  const { events } = await translated(splunkEvents, body);
  assert.deepEqual(events, [
    {
      timestamp: 1768478100.123,
      event_message: 'one',
      project: 'alpha',
      metadata: {
        ...{ host: 'h', source: 's', sourcetype: 't' },
        more: JSON.parse('9007199254740993') as number,
        fields: { a: '1', b: [2], project: 'alpha' },
      },
    },
  ]);
});

test('an event of another kind is in the metadata, with its message and project taken out', async () => {
  const docker = '{"event":{"line":"of Docker","source":"stdout","tag":"t"},"time":"1768478100.5"}';
  const object =
    '{"event":{"message":"m","log":"l","project":"beta","n":1},"fields":{"project":"alpha"}}';
  const others = '{"event":{"n":[1]}}{"event":5}{"event":[1,"a"]}{"event":false}';
  const { events } = await translated(splunkEvents, docker + object + others);
  assert.deepEqual(events, [
    {
      timestamp: '1768478100.5',
      event_message: 'of Docker',
      metadata: { event: { source: 'stdout', tag: 't' } },
    },
    {
      event_message: 'm',
      project: 'beta',
      metadata: { fields: { project: 'alpha' }, event: { n: 1, log: 'l' } },
    },
    { event_message: '{"n":[1]}', metadata: { event: { n: [1] } } },
    { event_message: '5', metadata: { event: 5 } },
    { event_message: '[1,"a"]', metadata: { event: [1, 'a'] } },
    { event_message: 'false', metadata: { event: false } },
  ]);
});

test('events may have white space between them, or none, and each names its index', async () => {
  const body =
    ' {"event":"a","index":"x"}{"event":"b"}\r\n\n{"index":"","event":"c"}\t{"event":"d","index":5} ';
  const { byAddress } = await translated(splunkEvents, body);
  const own = (event_message: string): object => ({ event_message, metadata: {} });
  assert.deepEqual(
    [...byAddress],
    [
      ['x', [own('a')]],
      [undefined, [own('b'), own('c'), { event_message: 'd', metadata: { index: 5 } }]],
    ],
  );
  const long = `{"event":"a","index":"${'i'.repeat(BULK_INDEX_LENGTH_MAX + 1)}"}`;
  const { byAddress: cut } = await translated(splunkEvents, long);
  assert.deepEqual([...cut.keys()], ['i'.repeat(BULK_INDEX_LENGTH_MAX)]);
});

test('the query string gives what an event lacks, and nothing else of it is stored', async () => {
  const body =
    '{"event":"a"}{"event":"b","host":"own","time":5,"index":"own"}{"event":"c","host":null}';
  const { byAddress } = await translated(splunkEvents, body, { query: QUERY });
  const shared = { host: 'shared-host', source: 'shared-source' };
  assert.deepEqual(
    [...byAddress],
    [
      [
        'app.logs',
        ['a', 'c'].map((event_message) => ({
          timestamp: '1768478100',
          event_message,
          metadata: shared,
        })),
      ],
      ['own', [{ timestamp: 5, event_message: 'b', metadata: { ...shared, host: 'own' } }]],
    ],
  );
});

test('each line of text is a message, with what the query string gives', async () => {
  const body = 'one \r\n\n\n  two "quoted"\n \nthree';
  const { byAddress } = await translated(splunkLines, body, { query: QUERY });
  const metadata = { host: 'shared-host', source: 'shared-source' };
  const messages = ['one', '  two "quoted"', 'three'];
  assert.deepEqual(
    [...byAddress],
    [
      [
        'app.logs',
        messages.map((event_message) => ({ timestamp: '1768478100', event_message, metadata })),
      ],
    ],
  );
  assert.deepEqual((await translated(splunkLines, 'a')).events, [
    { event_message: 'a', metadata: {} },
  ]);
});

test('an event that Splunk refuses is refused by itself', async () => {
  const bad = ['{}', '{"event":null}', '{"event":""}', '{"event":"a","fields":[1]}', '7', '["a"]'];
  const { events } = await translated(splunkEvents, `{"event":"a"}${bad.join(' ')}{"event":"b"}`);
  assert.deepEqual(
    events.map((event) => event !== null),
    [true, ...bad.map(() => false), true],
  );
});

test('a body without an event that could be stored is refused, with the sentence of Splunk', async () => {
  for (const [format, body, message] of [
    [splunkEvents, ' \n', /^No data: the body must have an event; got none$/],
    [splunkLines, '\r\n \n', /^No data: the body must have an event; got none$/],
    [splunkEvents, '{"message":"a"}', /^Event field is required: an event must have "event"/],
    [splunkEvents, '{"event":""}', /^Event field cannot be blank: "event" must have a text/],
    [splunkEvents, '{"event":1,"fields":"a"}', /^Error in handling indexed fields: "fields" must/],
    [splunkEvents, '[{"event":"a"}]', /^an event must be an object; got another value$/],
    [
      splunkEvents,
      '{"event":"a"},{"event":"b"}',
      /^the body is not JSON: expected a value; got ","/,
    ],
    [splunkEvents, '{"event":"a"}{"event":"b"', /^the body is not JSON: expected "," or "}"/],
  ] as const) {
    await assert.rejects(translated(format, body), (error) => {
      assert.ok(error instanceof MalformedBodyError, body);
      assert.match(error.message, message);
      return true;
    });
  }
});

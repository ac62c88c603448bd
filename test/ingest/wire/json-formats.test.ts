import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { BULK_ID_LENGTH_MAX, BULK_INDEX_LENGTH_MAX } from '../../../ingest/limits.ts';
import { cloudEvents } from '../../../ingest/wire/cloud-events.ts';
import { documentLines, documents } from '../../../ingest/wire/documents.ts';
import { elasticsearchBulk } from '../../../ingest/wire/elasticsearch-bulk.ts';
import { elixirLogger } from '../../../ingest/wire/elixir-logger.ts';
import { logpush } from '../../../ingest/wire/logpush.ts';
import { lokiPush } from '../../../ingest/wire/loki-push.ts';
import { otlpJson } from '../../../ingest/wire/otlp-json.ts';
import { typecasts } from '../../../ingest/wire/typecasts.ts';
import { translated } from './translated.ts';

test('a line of a Loki stream is a message with the labels of its stream', async () => {
  const body = `{"streams": [{
    "stream": {"app": "api", "project": "alpha"},
    "values": [["1768478100000000001", "one"], ["1768478100000000002", "two", {"trace": "t"}]]
  }, {"values": [["1768478100000000003", "three"]], "stream": {"app": "job"}}]}`;
  const { events } = await translated(lokiPush, body);
  const labels = { app: 'api', project: 'alpha' };
  assert.deepEqual(events, [
    {
      timestamp: '1768478100000000001',
      event_message: 'one',
      project: 'alpha',
      metadata: { labels },
    },
    {
      timestamp: '1768478100000000002',
      event_message: 'two',
      project: 'alpha',
      metadata: { labels, structured_metadata: { trace: 't' } },
    },
    {
      timestamp: '1768478100000000003',
      event_message: 'three',
      metadata: { labels: { app: 'job' } },
    },
  ]);
});

test('a bulk has an event for each document that is stored, at the index it names', async () => {
  const body = [
    '{"index": {"_index": "a", "_id": "7"}}',
    '{"@timestamp": "2026-01-15T11:55:00Z", "msg": "one", "n": 9007199254740993, "message": "first"}',
    '{"delete": {"_index": "a", "_id": "6"}}',
    '',
    '{"create": {}}',
    '{"log.level": "info", "message": 5}',
    '{"update": {"_index": "b", "_id": "5"}}',
    '{"doc": {}}',
  ].join('\n');
  const { byAddress, notes } = await translated(elasticsearchBulk, body);
  assert.deepEqual(byAddress.get('a'), [
    {
      id: '7',
      timestamp: '2026-01-15T11:55:00Z',
      event_message: 'first',
      metadata: { n: JSON.parse('9007199254740993') as number, msg: 'one' },
    },
  ]);
  const rest = { 'log.level': 'info', message: 5 };
  assert.deepEqual(byAddress.get(undefined), [
    { id: 'new', event_message: JSON.stringify(rest), metadata: rest },
  ]);
  assert.deepEqual(
    notes.map(({ action, index, id, event }) => [action, index, id, event]),
    [
      ['index', 'a', '7', 0],
      ['delete', 'a', '6', undefined],
      ['create', undefined, 'new', 1],
      ['update', 'b', '5', undefined],
    ],
  );
});

test('members beside an action are ignored, and make a line behind a bad action its document', async () => {
  const body = [
    '{"index":{"_index":"a"},"attempts":0}',
    '{"message":"first"}',
    '{"index"',
    '{"create":{},"message":"document of the bad action"}',
    '{"index":{"_index":"a"},"attempts":1}',
    '{"message":"second"}',
  ].join('\n');
  const { byAddress, notes } = await translated(elasticsearchBulk, body);
  const messages = (byAddress.get('a') as { readonly event_message: string }[]).map(
    ({ event_message }) => event_message,
  );
  assert.deepEqual(messages, ['first', 'second']);
  assert.equal(notes.length, 3);
});

test('an id or an index that is too long is repeated in part, and a document with such an id is refused', async () => {
  const [id, index] = ['i'.repeat(BULK_ID_LENGTH_MAX), 'x'.repeat(BULK_INDEX_LENGTH_MAX)];
  const lines = [
    { index: { _id: id, _index: index } },
    { message: 'stored' },
    { index: { _id: `${id}i`, _index: `${index}x` } },
    { message: 'refused' },
    { delete: { _id: `${id}i` } },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { byAddress, notes } = await translated(elasticsearchBulk, body);
  const stored = { id, event_message: 'stored', metadata: {} };
  assert.deepEqual([...byAddress], [[index, [stored, null]]]);
  assert.deepEqual(
    notes.map((item) => [item.id, item.index]),
    [
      [id, index],
      [id, index],
      [id, undefined],
    ],
  );
});

test('a bulk without the document of its last action is refused', async () => {
  await assert.rejects(translated(elasticsearchBulk, '{"index":{}}\n'), MalformedBodyError);
  await assert.rejects(translated(elasticsearchBulk, '{"index":{}}\n{"a":1'), MalformedBodyError);
  await assert.rejects(
    translated(elasticsearchBulk, '{"index":{},"b":{}}\n{}'),
    MalformedBodyError,
  );
});

const OTLP = {
  resourceLogs: [
    {
      scopeLogs: [
        {
          scope: {
            name: 'app',
            version: '1.0',
            attributes: [{ key: 'team', value: { stringValue: 'shop' } }],
          },
          logRecords: [
            {
              timeUnixNano: '1768478100123456789',
              severityNumber: 'SEVERITY_NUMBER_WARN2',
              severityText: 'WARN',
              body: { stringValue: 'hello' },
              attributes: [
                { key: 'code', value: { intValue: '9223372036854775807' } },
                { key: 'list', value: { arrayValue: { values: [{ boolValue: true }, {}] } } },
                {
                  key: 'map',
                  value: {
                    kvlistValue: { values: [{ key: 'x', value: { doubleValue: 'NaN' } }] },
                  },
                },
              ],
              traceId: '5B8EFFF798038103D269B633813FC60C',
              spanId: 'EEE19B7EC3C1B174',
              flags: 1,
            },
            {
              observedTimeUnixNano: 1768478100,
              timeUnixNano: '0',
              body: { kvlistValue: { values: [{ key: 'a', value: { intValue: 1 } }] } },
              attributes: [{ key: 'project', value: { stringValue: 'beta' } }],
            },
          ],
        },
      ],
      resource: { attributes: [{ key: 'project', value: { stringValue: 'alpha' } }] },
    },
  ],
};

test('a log record of OTLP in JSON is an event with its resource and scope', async () => {
  const { events } = await translated(otlpJson, JSON.stringify(OTLP));
  const scope = { name: 'app', version: '1.0', attributes: { team: 'shop' } };
  const of = { resource: { project: 'alpha' }, scope };
  assert.deepEqual(events, [
    {
      timestamp: '1768478100123456789',
      event_message: 'hello',
      project: 'alpha',
      metadata: {
        severity_number: 14,
        severity_text: 'WARN',
        trace_id: '5b8efff798038103d269b633813fc60c',
        span_id: 'eee19b7ec3c1b174',
        flags: 1,
        attributes: {
          code: JSON.parse('9223372036854775807') as number,
          list: [true, null],
          map: { x: 'NaN' },
        },
        ...of,
      },
    },
    {
      timestamp: '1768478100',
      event_message: '{"a":1}',
      project: 'beta',
      metadata: { body: { a: 1 }, attributes: { project: 'beta' }, ...of },
    },
  ]);
});

test('null counts as absent everywhere in OTLP, and in lines of Loki', async () => {
  const names = ['timeUnixNano', 'observedTimeUnixNano', 'severityNumber', 'severityText'];
  const others = ['eventName', 'traceId', 'spanId', 'flags', 'body', 'attributes'];
  const nothing = Object.fromEntries([...names, ...others].map((name) => [name, null]));
  const attributes = [
    { key: 'a', value: null },
    { key: 'b', value: { arrayValue: null } },
  ];
  const logRecords = [nothing, { body: { kvlistValue: { values: null } }, attributes }];
  const scopes = [
    { scope: null, logRecords },
    { scope: { name: null, attributes: null }, logRecords: null },
  ];
  const body = {
    resourceLogs: [
      { resource: null, scopeLogs: scopes },
      { resource: { attributes: null }, scopeLogs: null },
    ],
  };
  const { events } = await translated(otlpJson, JSON.stringify(body));
  const [first, second] = events as [object, { metadata: object }];
  assert.equal(events.length, 2);
  assert.deepEqual(first, (await translated(otlpJson, EMPTY_RECORD)).events[0]);
  assert.deepEqual(second.metadata, { body: {}, attributes: { a: null, b: null } });
  assert.deepEqual((await translated(otlpJson, '{"resourceLogs":null}')).events, []);
  assert.deepEqual((await translated(lokiPush, '{"streams":[{"values":null}]}')).events, []);
});

const EMPTY_RECORD = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}';

test('values within values are read up to a depth', async () => {
  const nested = (depth: number): object =>
    depth === 0 ? { intValue: 1 } : { arrayValue: { values: [nested(depth - 1)] } };
  const body = (depth: number): string =>
    JSON.stringify({
      resourceLogs: [{ resource: {}, scopeLogs: [{ logRecords: [{ body: nested(depth) }] }] }],
    });
  assert.equal((await translated(otlpJson, body(31))).events.length, 1);
  await assert.rejects(translated(otlpJson, body(32)), /at most 32 levels/);
});

test('a record of Logpush is metadata, and a line of an access log its message', async () => {
  const body = [
    '{"ClientIP":"203.0.113.7","EdgeStartTimestamp":1768478100000000000,"ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeResponseStatus":200}',
    '{"Timestamp":"2026-01-15T11:55:00Z","Outcome":"ok"}',
  ].join('\n');
  const { events } = await translated(logpush, body);
  assert.deepEqual(events, [
    {
      timestamp: JSON.parse('1768478100000000000') as number,
      event_message: 'GET | 200 | 203.0.113.7 | /a',
      metadata: {
        ClientIP: '203.0.113.7',
        ClientRequestMethod: 'GET',
        ClientRequestURI: '/a',
        EdgeResponseStatus: 200,
      },
    },
    {
      timestamp: '2026-01-15T11:55:00Z',
      event_message: '{"Outcome":"ok"}',
      metadata: { Outcome: 'ok' },
    },
  ]);
  assert.deepEqual((await translated(logpush, `${body}\n{not json`)).events, [...events, null]);
});

test('any object is metadata but for its time, message and project', async () => {
  const body = '[{"timestamp":1768478100,"message":"m","project":"p","a":{"b":1}},{"project":3}]';
  assert.deepEqual((await translated(documents, body)).events, [
    { timestamp: 1768478100, event_message: 'm', project: 'p', metadata: { a: { b: 1 } } },
    { event_message: '{"project":3}', metadata: { project: 3 } },
  ]);
  assert.equal((await translated(documents, '{"a":1}')).events.length, 1);
});

test('objects on lines of their own are read as those of a list', async () => {
  const lines = '{"timestamp":1768478100,"message":"m","project":"p","a":1}\r\n\n{"message":"n"}';
  assert.deepEqual((await translated(documentLines, lines)).events, [
    { timestamp: 1768478100, event_message: 'm', project: 'p', metadata: { a: 1 } },
    { event_message: 'n', metadata: {} },
  ]);
  assert.equal((await translated(documentLines, '{}\n{not json')).events[1], null);
  await assert.rejects(translated(documentLines, '{not json'), /line 1 is not JSON/);
});

test('a value that is no object is passed on and refused, and the objects beside it are stored', async () => {
  const bulk = '{"index":{}}\n5\n{"create":{}}\n{"msg":"m"}';
  const batched = { mediaType: 'application/cloudevents-batch+json' };
  const bodies = [
    await translated(documents, '[5,{"message":"m"}]'),
    await translated(documentLines, '5\n{"message":"m"}'),
    await translated(logpush, '5\n{"message":"m"}'),
    await translated(typecasts, '{"batch":[5,{"message":"m"}]}'),
    await translated(elixirLogger, '{"batch":[5,{"message":"m"}]}'),
    await translated(cloudEvents, '[5,{"type":"m"}]', batched),
    await translated(elasticsearchBulk, bulk),
  ];
  for (const { events } of bodies) {
    assert.equal(events.length, 2);
    assert.equal(events[0], 5);
    assert.match(JSON.stringify(events[1]), /"m"/);
  }
});

test('strings at the paths of casts become numbers', async () => {
  const body = JSON.stringify({
    batch: [
      {
        typecasts: [
          { path: ['metadata', 'a'], from: 'string', to: 'float' },
          { path: ['metadata', 'list', 'n'], from: 'string', to: 'integer' },
        ],
        body: { message: 'm', metadata: { a: '1.5', b: '2', list: [{ n: '3' }, { n: 'x' }] } },
      },
      { message: 'plain' },
    ],
  });
  assert.deepEqual((await translated(typecasts, body)).events, [
    { message: 'm', metadata: { a: 1.5, b: '2', list: [{ n: 3 }, { n: 'x' }] } },
    { message: 'plain' },
  ]);
});

test('an event of Elixir has its project in its metadata, and its source in the body', async () => {
  const metadata = { user: { id: 7 }, project: 'alpha', level: 'info', context: { line: 12 } };
  const body = JSON.stringify({
    source_name: 'by name',
    batch: [
      { timestamp: '2026-01-15T11:55:00.123456Z', message: 'one', metadata },
      { timestamp: 1768478100123, message: 'two', level: 'warn', metadata: { level: 'error' } },
      { id: 'x', project: 'beta', message: 'three', context: {}, metadata: { project: 'alpha' } },
      { message: 'four', metadata: null },
      { message: 'five', metadata: { project: 5 } },
    ],
    source: 'by id',
  });
  const { events, bodyAddress } = await translated(elixirLogger, body);
  assert.deepEqual(events, [
    {
      timestamp: '2026-01-15T11:55:00.123456Z',
      event_message: 'one',
      project: 'alpha',
      metadata,
    },
    { timestamp: 1768478100123, event_message: 'two', metadata: { level: 'error' } },
    {
      id: 'x',
      event_message: 'three',
      project: 'beta',
      metadata: { context: {}, project: 'alpha' },
    },
    { event_message: 'four', metadata: {} },
    { event_message: 'five', metadata: { project: 5 } },
  ]);
  assert.equal(bodyAddress, 'by name');
  await assert.rejects(translated(elixirLogger, '{"batch":[{}]'), MalformedBodyError);
  await assert.rejects(translated(elixirLogger, '[]'), MalformedBodyError);
});

test('a CloudEvent is read in each of its three modes', async () => {
  const attributes = {
    specversion: '1.0',
    id: 'x1',
    type: 'order.made',
    time: '2026-01-15T11:55:00Z',
  };
  const event = { ...attributes, data: { message: 'made', total: 5 } };
  const wanted = {
    id: 'x1',
    timestamp: '2026-01-15T11:55:00Z',
    event_message: 'made',
    metadata: { total: 5, cloud_event: attributes },
  };
  const structured = await translated(cloudEvents, JSON.stringify(event), {
    mediaType: 'application/cloudevents+json',
  });
  assert.deepEqual(structured.events, [wanted]);
  const batched = await translated(
    cloudEvents,
    JSON.stringify([event, { ...attributes, data: 'd' }]),
    {
      mediaType: 'application/cloudevents-batch+json',
    },
  );
  assert.deepEqual(batched.events, [
    wanted,
    { ...wanted, event_message: 'd', metadata: { data: 'd', cloud_event: attributes } },
  ]);
  const headers = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]),
  );
  const binary = await translated(cloudEvents, JSON.stringify(event.data), { headers });
  assert.deepEqual(binary.events, [wanted]);
});

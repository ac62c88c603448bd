import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATADOG_TAGS_MAX } from '../../../ingest/limits.ts';
import { datadogLines, datadogLogs } from '../../../ingest/wire/datadog.ts';
import { translated } from './translated.ts';

const QUERY = new Map([
  ['ddsource', ['heroku']],
  ['ddtags', ['env:prod,project:alpha']],
  ['service', ['']],
  ['dd-api-key', ['a-token']],
]);
const SHARED = {
  ddsource: 'heroku',
  ddtags: 'env:prod,project:alpha',
  tags: { env: 'prod', project: 'alpha' },
};

test('a log is an event with its tags split, and the tag project names the project', async () => {
  const body = `[{"message": "one", "status": "info", "timestamp": 1768478100123, "hostname": "h",
    "service": "s", "ddsource": "nginx", "ddtags": "env:prod, url:http://a:80,plain,,project:alpha,env:test"},
    {"msg": "two", "date": "2026-01-15T11:55:00Z", "project": "beta", "ddtags": "project:alpha"},
    {"log": "three", "n": {"m": 9007199254740993}, "ddtags": ["project:alpha"]}, {"n": 1}]`;
  const { events } = await translated(datadogLogs, body);
  assert.deepEqual(events, [
    {
      timestamp: 1768478100123,
      event_message: 'one',
      project: 'alpha',
      metadata: {
        tags: { env: 'test', url: 'http://a:80', plain: '', project: 'alpha' },
        ...{ status: 'info', hostname: 'h', service: 's', ddsource: 'nginx' },
        ddtags: 'env:prod, url:http://a:80,plain,,project:alpha,env:test',
      },
    },
    {
      timestamp: '2026-01-15T11:55:00Z',
      event_message: 'two',
      project: 'beta',
      metadata: { tags: { project: 'alpha' }, ddtags: 'project:alpha' },
    },
    {
      event_message: 'three',
      metadata: {
        n: { m: JSON.parse('9007199254740993') as number },
        ddtags: ['project:alpha'],
      },
    },
    { event_message: '{"n":1}', metadata: { n: 1 } },
  ]);
});

test('a body may be one log, and the probe of the agent is none', async () => {
  const { events } = await translated(datadogLogs, '{"message":"a"}');
  assert.deepEqual(events, [{ event_message: 'a', metadata: {} }]);
  for (const body of ['{}', ' {} ', '[]']) {
    assert.deepEqual((await translated(datadogLogs, body)).events, [], body);
  }
});

test('the query string gives what a log lacks, and nothing else of it is stored', async () => {
  const body =
    '[{"message":"a"},{"message":"b","ddsource":"own","ddtags":"team:x"},{"message":"c","ddtags":null}]';
  const { events } = await translated(datadogLogs, body, { query: QUERY });
  assert.deepEqual(events, [
    { event_message: 'a', project: 'alpha', metadata: SHARED },
    {
      event_message: 'b',
      metadata: { tags: { team: 'x' }, ddsource: 'own', ddtags: 'team:x' },
    },
    { event_message: 'c', metadata: { ddsource: 'heroku', ddtags: null } },
  ]);
});

test('a line is an object, or else a message', async () => {
  const body = 'one\r\n\n {"message":"two","status":"warn"}\n{"cut":\n[1]\n5\n  three  ';
  const { events } = await translated(datadogLines, body, { query: QUERY });
  const text = (event_message: string): object => ({
    event_message,
    project: 'alpha',
    metadata: SHARED,
  });
  assert.deepEqual(events, [
    text('one'),
    { event_message: 'two', project: 'alpha', metadata: { ...SHARED, status: 'warn' } },
    ...['{"cut":', '[1]', '5', 'three'].map(text),
  ]);
});

test('of many tags only the first are split, and the text of all is kept', async () => {
  const tags = Array.from({ length: DATADOG_TAGS_MAX + 1 }, (_, index) => `k${index}:v`).join();
  const { events } = await translated(datadogLogs, JSON.stringify({ ddtags: tags }));
  const { metadata } = events[0] as { metadata: { tags: object; ddtags: string } };
  assert.equal(Object.keys(metadata.tags).length, DATADOG_TAGS_MAX);
  assert.equal(metadata.ddtags, tags);
});

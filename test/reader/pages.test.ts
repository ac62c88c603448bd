import { after, before, test } from 'node:test';
import { at, ReaderUnderTest } from './reader-under-test.ts';

/**
 * The forms in which pages ask for logs and charts, each once, in words of its own, over events of both
 * kinds of sender; rows were worked out by hand from `events.ts`.
 */
let reader: ReaderUnderTest;

before(async () => {
  reader = await ReaderUnderTest.start();
});

after(() => reader?.stop());

test('the newest edge requests, through maps and lists of records alike', () =>
  reader.expectRows(
    `-- newest first
     select id, edge_logs.timestamp, req.method, req.path, req.search, res.status_code
     from edge_logs
     cross join unnest(metadata) as meta
       cross join unnest(meta.request) as req
       cross join unnest(meta.response) as res

     order by timestamp desc
     limit 3;`,
    {
      id: 'v1',
      timestamp: at('11:03:00'),
      method: 'GET',
      path: '/rest/v1/items',
      search: null,
      status_code: 200,
    },
    {
      id: 'e3',
      timestamp: at('11:01:05'),
      method: 'GET',
      path: '/storage/v1/object/a.png',
      search: '?t=1',
      status_code: 404,
    },
    {
      id: 'e2',
      timestamp: at('11:00:40'),
      method: 'POST',
      path: '/rest/v1/orders',
      search: null,
      status_code: 500,
    },
  ));

test('entries of the database without metadata are none once it is unnested', () =>
  reader.expectRows(
    `select postgres_logs.timestamp, id, info.error_severity, info.detail, info.hint
     from postgres_logs cross join unnest(metadata) as meta cross join unnest(meta.parsed) as info
     order by timestamp desc limit 100`,
    { timestamp: at('11:01:50'), id: 'p3', error_severity: 'WARNING', detail: null, hint: null },
    { timestamp: at('11:00:50'), id: 'p2', error_severity: 'LOG', detail: null, hint: null },
    {
      timestamp: at('11:00:30'),
      id: 'p1',
      error_severity: 'ERROR',
      detail: 'no such table',
      hint: null,
    },
  ));

test('a log as it is, without its fields', () =>
  reader.expectRows(
    'select id, function_edge_logs.timestamp, event_message from function_edge_logs order by timestamp desc limit 2',
    { id: 'f3', timestamp: at('11:10:30'), event_message: 'serving the request' },
    { id: 'f2', timestamp: at('11:10:20'), event_message: 'POST | 503 | /bye' },
  ));

test('an alias of an unnested element may be the name of the column it comes from', () =>
  reader.expectRows(
    `select id, auth_logs.timestamp, metadata.level, metadata.status, metadata.path, metadata.msg as msg,
       metadata.error from auth_logs
       cross join unnest(metadata) as metadata
       order by timestamp desc limit 2`,
    {
      id: 'a2',
      timestamp: at('11:20:30'),
      level: 'error',
      status: 500,
      path: '/token',
      msg: null,
      error: 'no database',
    },
    {
      id: 'a1',
      timestamp: at('11:20:00'),
      level: 'info',
      status: 200,
      path: '/token',
      msg: 'request completed',
      error: null,
    },
  ));

test('a log whose project stands in its metadata', () =>
  reader.expectRows(
    'select id, storage_logs.timestamp, event_message from storage_logs order by timestamp desc limit 100',
    { id: 's2', timestamp: at('11:31:00'), event_message: 'GET | 404 | /object/a.png' },
    { id: 's1', timestamp: at('11:30:00'), event_message: "it's in [1] bucket" },
  ));

test('a cast in the way of PostgreSQL beside LIKE', () =>
  reader.expectRows(
    `select id, info.query from postgres_logs
     cross join unnest(metadata) as meta cross join unnest(meta.parsed) as info
     where ( info.application_name = 'pg_cron' or event_message::text LIKE '%cron job%' )
     order by timestamp desc limit 100`,
    { id: 'p2', query: null },
    { id: 'p1', query: 'select 1 from orders' },
  ));

test('a text that is looked for, as a regular expression', () =>
  reader.expectRows(
    `select id from edge_logs cross join unnest(metadata) as meta
     where (regexp_contains(event_message, 'storage/v1')) order by timestamp desc limit 100;`,
    { id: 'e3' },
  ));

test('a text with quotes and backslashes, escaped as strings are', () =>
  reader.expectRows(
    `select id from storage_logs where (regexp_contains(event_message, 'it\\'s in \\\\[1\\\\]')) limit 100`,
    { id: 's1' },
  ));

test('severities of a list', () =>
  reader.expectRows(
    `select id from postgres_logs cross join unnest(metadata) as meta cross join unnest(meta.parsed) as info
     where (info.error_severity in ('ERROR', 'FATAL')) order by timestamp desc limit 100`,
    { id: 'p1' },
  ));

test('a status that is a number here and a text there', () =>
  reader.expectRows(
    `select id from auth_logs cross join unnest(metadata) as metadata
     where (IFNULL(metadata.level, '') IN ('fatal') OR IFNULL(SAFE_CAST(metadata.status AS INT64), 0) >= 200)
     order by timestamp desc`,
    { id: 'a2' },
    { id: 'a1' },
    { id: 'a3' },
  ));

test('the identifier that some senders give', () =>
  reader.expectRows(
    'select id, identifier from edge_logs cross join unnest(metadata) as meta order by timestamp desc limit 2',
    { id: 'v1', identifier: null },
    { id: 'e3', identifier: 'shop-1' },
  ));

test('no order of its own: that of the table, which is newest first', () =>
  reader.expectRows(
    `select id, timestamp, req.method from edge_logs
     cross join unnest(metadata) as meta cross join unnest(meta.request) as req
     cross join unnest(meta.response) as res limit 2`,
    { id: 'v1', timestamp: at('11:03:00'), method: 'GET' },
    { id: 'e3', timestamp: at('11:01:05'), method: 'GET' },
  ));

test('a search with STRPOS over columns cast to STRING', () =>
  reader.expectRows(
    `select id from storage_logs
     where (strpos(lower(cast(id as string)), 'bucket') > 0
       or strpos(lower(cast(event_message as string)), 'bucket') > 0)
     order by timestamp desc limit 100`,
    { id: 's1' },
  ));

test('a whole entry, nested records as lists of one', () =>
  reader.expectRows(
    "select id, timestamp, event_message, metadata from edge_logs where id = 'v1' limit 1",
    {
      id: 'v1',
      timestamp: at('11:03:00'),
      event_message: '10.1.0.1 "GET /rest/v1/items HTTP/1.1" 200',
      metadata: [
        {
          request: [
            {
              headers: [{ cf_connecting_ip: '10.1.0.1' }],
              method: 'GET',
              path: '/rest/v1/items',
              protocol: 'HTTP/1.1',
            },
          ],
          response: [{ status_code: 200 }],
        },
      ],
    },
  ));

test('conditions joined by AND, OR and NOT, and metadata that is not there', () =>
  reader.expectRows(
    `select cast(timestamp as datetime) as timestamp, id, metadata from postgres_logs
     where (regexp_contains(event_message, 'connection') and regexp_contains(event_message, 'host'))
       or not regexp_contains(event_message, 'o');`,
    {
      timestamp: '2026-01-15T11:01:50',
      id: 'p3',
      metadata: [{ host: 'db', parsed: [{ error_severity: 'WARNING' }] }],
    },
  ));

test('a column without a name', () =>
  reader.expectRows(
    `select datetime(timestamp), h.x_real_ip from edge_logs
     cross join unnest(metadata) as meta cross join unnest(meta.request) as r cross join unnest(r.headers) as h
     where h.x_real_ip is not null and r.method = "GET" order by timestamp;`,
    { f0_: '2026-01-15T11:00:10', x_real_ip: '10.0.0.1' },
    { f0_: '2026-01-15T11:01:05', x_real_ip: '10.0.0.3' },
  ));

test('how many entries there are', async () => {
  await reader.expectRows(
    `SELECT count(*) as count FROM edge_logs cross join unnest(metadata) as meta
     cross join unnest(meta.request) as req cross join unnest(meta.response) as res `,
    { count: 5 },
  );
  await reader.expectRows('SELECT count(*) as count FROM postgres_logs', { count: 4 });
  await reader.expectRows('SELECT count(*) as count FROM pgbouncer_logs', { count: 0 });
});

test('a chart by minute: a comma before FROM, an alias that hides a column, a time as a text', () =>
  reader.expectRows(
    `SELECT
     -- a chart
       timestamp_trunc(e.timestamp, minute) as timestamp,
       count(CASE WHEN NOT (res.status_code >= 500 OR res.status_code >= 400 AND res.status_code < 500) THEN 1 END) as good,
       count(CASE WHEN res.status_code >= 500 THEN 1 END) as bad,
       count(CASE WHEN res.status_code >= 400 AND res.status_code < 500 THEN 1 END) as odd,
     FROM
       edge_logs e
       cross join unnest(metadata) as meta
       cross join unnest(meta.request) as req
       cross join unnest(meta.response) as res
       where e.timestamp > '2026-01-15T11:00:00.000Z'
     GROUP BY
     timestamp
     ORDER BY
       timestamp ASC`,
    { timestamp: at('11:00:00'), good: 1, bad: 1, odd: 0 },
    { timestamp: at('11:01:00'), good: 0, bad: 0, odd: 1 },
    { timestamp: at('11:03:00'), good: 1, bad: 0, odd: 0 },
  ));

test('a chart of severities', () =>
  reader.expectRows(
    `SELECT timestamp_trunc(p.timestamp, minute) as timestamp,
       count(CASE WHEN NOT (info.error_severity IN ('ERROR', 'FATAL') OR info.error_severity IN ('WARNING')) THEN 1 END) as good,
       count(CASE WHEN info.error_severity IN ('ERROR', 'FATAL') THEN 1 END) as bad,
     FROM postgres_logs p cross join unnest(metadata) as meta cross join unnest(meta.parsed) as info
     where (info.application_name = 'pg_cron' OR event_message LIKE '%cron job%' OR false)
       and p.timestamp > '2026-01-15T05:00:00.000Z'
     GROUP BY timestamp ORDER BY timestamp ASC`,
    { timestamp: at('11:00:00'), good: 1, bad: 1 },
  ));

test('a chart of a log that has no levels', () =>
  reader.expectRows(
    `SELECT timestamp_trunc(s.timestamp, minute) as timestamp,
       count(CASE WHEN NOT (false OR false) THEN 1 END) as good, count(CASE WHEN false THEN 1 END) as bad,
     FROM storage_logs s where s.timestamp > '2026-01-15T05:00:00.000Z'
     GROUP BY timestamp ORDER BY timestamp ASC`,
    { timestamp: at('11:30:00'), good: 1, bad: 0 },
    { timestamp: at('11:31:00'), good: 1, bad: 0 },
  ));

test('a chart by hour of a part of the paths', () =>
  reader.expectRows(
    `SELECT timestamp_trunc(e.timestamp, hour) as timestamp, count(*) as entries,
     FROM edge_logs e cross join unnest(metadata) as meta cross join unnest(meta.request) as req
     where (req.path like '/rest/%' or req.path like '/auth/%') and e.timestamp > '2026-01-10T12:00:00.000Z'
     GROUP BY timestamp ORDER BY timestamp ASC`,
    { timestamp: at('10:00:00'), entries: 1 },
    { timestamp: at('11:00:00'), entries: 3 },
  ));

test('a wildcard, a statement that is no query, and logs that are not there', async () => {
  await reader.expectRefusal('select * from edge_logs', /wildcard \*/);
  await reader.expectRefusal("delete from edge_logs where id = 'e1'", /^only a query is taken/);
  await reader.expectRefusal(
    `select cast(timestamp as datetime) as timestamp, event_message, metadata
     from audit_logs
     limit 10`,
    /^there is no table audit_logs here: there are edge_logs, postgres_logs, .*; did you mean auth_logs\?$/,
  );
  await reader.expectRefusal(
    'select id, pooler_logs.timestamp from pooler_logs cross join unnest(metadata) as m order by timestamp desc',
    /^there is no table pooler_logs here/,
  );
});

import { after, before, test } from 'node:test';
import { at, ReaderUnderTest } from './reader-under-test.ts';

/**
 * The forms in which reports ask, as `pages.test.ts` has those of pages.
 */
let reader: ReaderUnderTest;

before(async () => {
  reader = await ReaderUnderTest.start();
});

after(() => reader?.stop());

test('requests by place, those without one among them', () =>
  reader.expectRows(
    `select place.country, count(*) as count from edge_logs
       left join unnest(metadata) as meta on true
       left join unnest(meta.request) as req on true
       left join unnest(req.cf) as place on true
     group by place.country order by count desc, place.country`,
    { country: null, count: 2 },
    { country: 'DE', count: 2 },
    { country: 'FR', count: 1 },
  ));

test('failed requests, their time without a zone under the name of the column', () =>
  reader.expectRows(
    `select cast(timestamp as datetime) as timestamp, event_message, res.status_code from edge_logs
       cross join unnest(metadata) as meta cross join unnest(meta.response) as res
     where res.status_code >= 500 order by timestamp desc limit 100`,
    {
      timestamp: '2026-01-15T11:00:40',
      event_message: 'POST | 500 | /rest/v1/orders',
      status_code: 500,
    },
  ));

test('the paths asked for most, grouped by the names of the select list', () =>
  reader.expectRows(
    `select req.path as path, req.search as params, count(timestamp) as c from edge_logs
       cross join unnest(metadata) as meta cross join unnest(meta.request) as req
     group by path, params order by c desc, path, params limit 3`,
    { path: '/auth/v1/token', params: '?grant_type=password', c: 1 },
    { path: '/rest/v1/items', params: null, c: 1 },
    { path: '/rest/v1/orders', params: null, c: 1 },
  ));

test('misses of the cache', () =>
  reader.expectRows(
    `select r.path as path, r.search as search, count(id) as count from edge_logs f
       cross join unnest(f.metadata) as meta cross join unnest(meta.request) as r
       cross join unnest(meta.response) as res cross join unnest(res.headers) as h
     where starts_with(r.path, '/storage/v1/object') and r.method = 'GET'
       and h.cf_cache_status in ('MISS', 'EXPIRED', 'BYPASS')
     group by path, search order by count desc limit 12;`,
    { path: '/storage/v1/object/a.png', search: '?t=1', count: 1 },
  ));

test('routes by path, method and status; entries without headers are left out', () =>
  reader.expectRows(
    `        -- routes
       select req.path as path, req.method as method, res.status_code as status_code, count(e.id) as count
       from edge_logs e
         cross join unnest(metadata) as meta
         cross join unnest(meta.response) as res
         cross join unnest(meta.request) as req
         cross join unnest(res.headers) as headers
       group by req.path, req.method, res.status_code
       order by count desc, status_code limit 3`,
    { path: '/rest/v1/orders', method: 'GET', status_code: 200, count: 1 },
    { path: '/auth/v1/token', method: 'POST', status_code: 400, count: 1 },
    { path: '/storage/v1/object/a.png', method: 'GET', status_code: 404, count: 1 },
  ));

test('how long answers took, by hour without a zone', () =>
  reader.expectRows(
    `select cast(timestamp_trunc(e.timestamp, hour) as datetime) as timestamp, avg(res.origin_time) as avg
     FROM edge_logs e cross join unnest(metadata) as meta cross join unnest(meta.response) as res
     GROUP BY timestamp ORDER BY timestamp ASC`,
    { timestamp: '2026-01-15T10:00:00', avg: 20 },
    { timestamp: '2026-01-15T11:00:00', avg: 80 },
  ));

test('functions by path, a filter in capitals before the grouping', () =>
  reader.expectRows(
    `select req.path as path, req.method as method, res.status_code as status_code, count(f.id) as count
     from function_edge_logs f cross join unnest(metadata) as meta
       cross join unnest(meta.response) as res cross join unnest(meta.request) as req
       cross join unnest(req.headers) as headers
       WHERE REGEXP_CONTAINS(req.pathname, 'hel+o')
     group by req.path, req.method, res.status_code order by count desc limit 10`,
    { path: null, method: 'GET', status_code: 200, count: 1 },
  ));

test('distinct people, read from messages that are JSON', () =>
  reader.expectRows(
    `     --people
     select timestamp_trunc(timestamp, hour) as timestamp,
       count(distinct json_value(a.event_message, "$.auth_event.actor_id")) as count
     from auth_logs a
     where json_value(a.event_message, "$.auth_event.action") in ('login', 'user_recovery_requested')
     group by timestamp order by timestamp desc`,
    { timestamp: at('11:00:00'), count: 1 },
    { timestamp: at('10:00:00'), count: 1 },
  ));

test('entries of one action by hour', () =>
  reader.expectRows(
    `select timestamp_trunc(timestamp, hour) as timestamp, count(*) as count from auth_logs a
     where json_value(a.event_message, "$.auth_event.action") = 'user_recovery_requested'
     group by timestamp order by timestamp desc`,
    { timestamp: at('10:00:00'), count: 1 },
  ));

test('latencies: averages, least and greatest, and quantiles, rounded', () =>
  reader.expectRows(
    `select timestamp_trunc(timestamp, hour) as timestamp,
       json_value(event_message, "$.grant_type") as grant_type, count(*) as requests,
       round(avg(cast(json_value(event_message, "$.duration") as int64)) / 1000000, 2) as mean,
       round(min(cast(json_value(event_message, "$.duration") as int64)) / 1000000, 2) as least,
       round(approx_quantiles(cast(json_value(event_message, "$.duration") as int64), 100)[offset(50)] / 1000000, 2) as p50,
       round(approx_quantiles(cast(json_value(event_message, "$.duration") as int64), 100)[offset(99)] / 1000000, 2) as p99
     from auth_logs where json_value(event_message, "$.path") = '/token'
     group by timestamp, grant_type order by timestamp desc, grant_type`,
    {
      timestamp: at('11:00:00'),
      grant_type: 'password',
      requests: 2,
      mean: 50,
      least: 40,
      p50: 40,
      p99: 60,
    },
  ));

test('a bare word that only unnested records have, and a grouping by an implied name', () =>
  reader.expectRows(
    `select timestamp_trunc(timestamp, hour) as timestamp, count(*) as count, res.status_code from edge_logs
       cross join unnest(metadata) as meta cross join unnest(meta.request) as req
       cross join unnest(meta.response) as res cross join unnest(res.headers) as h
     where path like '%auth/v1%' and res.status_code >= 400 and res.status_code <= 599
     group by timestamp, status_code order by timestamp desc`,
    { timestamp: at('10:00:00'), count: 1, status_code: 400 },
  ));

test('invocations of one function, and blanks behind the semicolon', () =>
  reader.expectRows(
    `--invocations
     select timestamp_trunc(timestamp, hour) as timestamp, req.pathname as route, count(*) as count
     from function_edge_logs CROSS JOIN UNNEST(metadata) AS meta
       CROSS JOIN UNNEST(meta.request) AS req CROSS JOIN UNNEST(meta.response) AS res
     WHERE function_id = 'fn-a'
     group by timestamp, route order by timestamp desc;        

    `,
    { timestamp: at('11:00:00'), route: '/hello', count: 1 },
  ));

test('invocations by function, all filters set', () =>
  reader.expectRows(
    `select timestamp_trunc(timestamp, minute) as timestamp, function_id, count(*) as count
     from function_edge_logs CROSS JOIN UNNEST(metadata) AS meta
       CROSS JOIN UNNEST(meta.request) AS req CROSS JOIN UNNEST(meta.response) AS res
       CROSS JOIN UNNEST(res.headers) AS h
     WHERE function_id IN ('fn-a','fn-b') AND res.status_code >= 200
       AND h.x_sb_edge_region IN ('eu-central-1') AND meta.execution_time_ms > 5
     group by timestamp, function_id order by timestamp desc;`,
    { timestamp: at('11:10:00'), function_id: 'fn-a', count: 1 },
  ));

test('execution times by function', () =>
  reader.expectRows(
    `select timestamp_trunc(timestamp, minute) as timestamp, function_id, avg(meta.execution_time_ms) as mean
     from function_edge_logs cross join unnest(metadata) as meta
       cross join unnest(meta.response) as res cross join unnest(res.headers) as h
     group by timestamp, function_id order by timestamp desc, function_id`,
    { timestamp: at('11:10:00'), function_id: 'fn-a', mean: 9 },
    { timestamp: at('11:10:00'), function_id: 'fn-b', mean: 31 },
  ));

test('several measures of one log in one tall table: CTEs, a row of settings, a union in an order', () =>
  reader.expectRows(
    `-- measures
     WITH
     span AS (
       SELECT
         COALESCE(
           PARSE_TIMESTAMP('%Y-%m-%dT%H:%M:%E*S%Ez', '2026-01-15T11:00:00.000Z'),
           TIMESTAMP('2026-01-15T11:00:00.000Z')
         ) AS first_ts,
         TIMESTAMP('2026-01-15T12:00:00.000Z') AS last_ts
     ),
     entries AS (
       SELECT TIMESTAMP_TRUNC(timestamp, minute) AS ts,
         COALESCE(JSON_VALUE(event_message, '$.auth_event.action'), JSON_VALUE(event_message, '$.action')) AS action,
         JSON_VALUE(event_message, '$.auth_event.actor_id') AS actor,
         COALESCE(JSON_VALUE(event_message, '$.provider'), 'unknown') AS provider,
         JSON_VALUE(event_message, '$.login_method') AS login_method,
         CASE WHEN JSON_QUERY(event_message, '$.metering') = 'true' THEN 'true' ELSE '' END AS metering
       FROM auth_logs, span
       WHERE timestamp >= first_ts AND timestamp < last_ts
     ),
     usage AS (
       SELECT ts, COUNT(DISTINCT IF(action IN ('login'), actor, NULL)) AS people,
         COUNTIF(action = 'user_recovery_requested') AS recoveries
       FROM entries GROUP BY ts
     ),
     signin AS (
       SELECT ts,
         CASE WHEN COALESCE(provider, '') != '' THEN CONCAT(login_method, ' (', provider, ')')
           ELSE login_method END AS kind,
         COUNTIF(action = 'login' AND metering = 'true') AS count
       FROM entries GROUP BY ts, kind
     )
     SELECT ts AS timestamp, 'People' AS metric, people AS count, CAST(NULL AS STRING) AS kind FROM usage
     UNION ALL
     SELECT ts, 'Recoveries', recoveries, CAST(NULL AS STRING) FROM usage
     UNION ALL
     SELECT ts, 'SignIns', count, kind FROM signin WHERE kind IS NOT NULL
     ORDER BY timestamp DESC, metric`,
    { timestamp: at('11:20:00'), metric: 'People', count: 1, kind: null },
    { timestamp: at('11:20:00'), metric: 'Recoveries', count: 0, kind: null },
    { timestamp: at('11:20:00'), metric: 'SignIns', count: 1, kind: 'password (email)' },
  ));

/** Of the page of all logs: its five parts, united under NULLs that stand in for what a log has not. */
const ALL_LOGS = `WITH everything AS (
    select id, e.timestamp as timestamp, 'rest' as kind, CAST(res.status_code AS STRING) as status,
      CASE WHEN res.status_code BETWEEN 200 AND 299 THEN 'success'
        WHEN res.status_code BETWEEN 400 AND 499 THEN 'warning'
        WHEN res.status_code >= 500 THEN 'error' ELSE 'success' END as level,
      req.path as pathname, null as event_message, req.method as method, null as said_count, null as said
    from edge_logs as e
    cross join unnest(metadata) as meta
    cross join unnest(meta.request) as req
    cross join unnest(meta.response) as res
    -- one product only
    WHERE req.path LIKE '%/rest/%'
    union all
    select id, p.timestamp as timestamp, 'postgres' as kind, CAST(info.sql_state_code AS STRING) as status,
      CASE WHEN info.error_severity = 'LOG' THEN 'success' WHEN info.error_severity = 'WARNING' THEN 'warning'
        WHEN info.error_severity = 'ERROR' THEN 'error' ELSE null END as level,
      null as pathname, event_message as event_message, null as method, null as said_count, null as said
    from postgres_logs as p
    cross join unnest(p.metadata) as meta cross join unnest(meta.parsed) as info
    union all
    select id, f.timestamp as timestamp, 'function' as kind, CAST(res.status_code AS STRING) as status,
      CASE WHEN res.status_code BETWEEN 200 AND 299 THEN 'success' ELSE 'error' END as level,
      req.pathname as pathname, COALESCE(spoken.last_message, '') as event_message, req.method as method,
      spoken.said_count as said_count, spoken.said as said
    from function_edge_logs as f
    cross join unnest(metadata) as meta
    cross join unnest(meta.response) as res
    cross join unnest(meta.request) as req
    left join (
      SELECT fm.execution_id, COUNT(l.id) as said_count, MAX(l.event_message) as last_message,
        ARRAY_AGG(STRUCT(l.id, l.timestamp, fm.level, fm.event_type) ORDER BY l.id) as said
      FROM function_logs as l
      CROSS JOIN UNNEST(l.metadata) as fm
      WHERE fm.execution_id IS NOT NULL
      GROUP BY fm.execution_id
    ) as spoken on meta.execution_id = spoken.execution_id
    union all
    select a.id as id, ea.timestamp as timestamp, 'auth' as kind, CAST(ear.status_code AS STRING) as status,
      CASE WHEN ear.status_code BETWEEN 200 AND 299 THEN 'success' ELSE 'error' END as level,
      eaq.path as pathname, null as event_message, eaq.method as method, null as said_count, null as said
    from auth_logs as a
    cross join unnest(metadata) as am
    left join (
      edge_logs as ea
        cross join unnest (metadata) as eam
        cross join unnest (eam.response) as ear
        cross join unnest (ear.headers) as eah
        cross join unnest (eam.request) as eaq
    )
    on am.request_id = eah.cf_ray
    WHERE am.request_id is not null
  )`;

test('all logs in one, charted by minute', () =>
  reader.expectRows(
    `${ALL_LOGS}
     SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) as bucket, COUNTIF(level = 'success') as success,
       COUNTIF(level = 'warning') as warning, COUNTIF(level = 'error') as error, COUNT(*) as total
     FROM everything
     GROUP BY bucket
     ORDER BY bucket ASC`,
    // e1, e2, p1, p2, and e1 again as that of a1.
    { bucket: at('11:00:00'), success: 3, warning: 0, error: 2, total: 5 },
    { bucket: at('11:01:00'), success: 0, warning: 1, error: 0, total: 1 },
    { bucket: at('11:03:00'), success: 1, warning: 0, error: 0, total: 1 },
    { bucket: at('11:10:00'), success: 1, warning: 0, error: 1, total: 2 },
  ));

test('all logs in one, a page of them, functions with how much they said', () =>
  reader.expectRows(
    `${ALL_LOGS}
     SELECT id, timestamp, kind, status, level, pathname, event_message, method, said_count
     FROM everything WHERE kind = 'function' OR kind = 'auth' ORDER BY timestamp DESC, id LIMIT 50`,
    {
      id: 'f2',
      timestamp: at('11:10:20'),
      kind: 'function',
      status: '503',
      level: 'error',
      pathname: '/bye',
      event_message: '',
      method: 'POST',
      said_count: null,
    },
    {
      id: 'f1',
      timestamp: at('11:10:00'),
      kind: 'function',
      status: '200',
      level: 'success',
      pathname: '/hello',
      event_message: 'said l2',
      method: 'GET',
      said_count: 2,
    },
    {
      id: 'a1',
      timestamp: at('11:00:10'),
      kind: 'auth',
      status: '200',
      level: 'success',
      pathname: '/rest/v1/orders',
      event_message: null,
      method: 'GET',
      said_count: null,
    },
  ));

test('all logs in one, what functions said as a list of records', () =>
  reader.expectRows(
    `${ALL_LOGS}
     SELECT id, said FROM everything WHERE kind = 'function' ORDER BY id`,
    {
      id: 'f1',
      said: [
        { id: 'l1', timestamp: at('11:10:01'), level: 'info', event_type: 'Log' },
        { id: 'l2', timestamp: at('11:10:02'), level: 'error', event_type: 'Log' },
      ],
    },
    // A list that is NULL leaves as an empty one.
    { id: 'f2', said: [] },
  ));

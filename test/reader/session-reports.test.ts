import { after, before, suite, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { countOf, type Entry, grouped, newestFirst } from './session-entries.ts';
import { STACKS, type Stack } from './session-stacks.ts';
import { type SessionRow, SessionUnderTest } from './session-under-test.ts';

/**
 * What reports ask in a reader's session, of both kinds of stack, each expected by plain loops over the
 * events that were posted.
 */
let session: SessionUnderTest;

before(async () => {
  session = await SessionUnderTest.start();
});

after(() => session?.stop());

const HOUR_US = 3_600_000_000;
const MINUTE_US = 60_000_000;

const METHOD = 'metadata.request.method';
const PATH = 'metadata.request.path';
const SEARCH = 'metadata.request.search';
const STATUS = 'metadata.response.status_code';
const ORIGIN_TIME = 'metadata.response.origin_time';

const EDGE = 'cloudflare.logs.prod';
const AUTH = 'gotrue.logs.prod';
const CALLS = 'deno-relay-logs';

/** The entries of a source that UNNEST of all these records leaves. */
function entriesOf(stack: Stack, source: string, ...paths: readonly string[]): Entry[] {
  const all = newestFirst(must(stack.events[source]));
  return all.filter((entry) => ['metadata', ...paths].every((path) => entry.has(path)));
}

function bucketUs(entry: Entry, unitUs: number): number {
  return Math.floor(entry.timestampUs / unitUs) * unitUs;
}

/** Rows of groups by the start of their bucket, ascending. */
function byTime(
  entries: readonly Entry[],
  unitUs: number,
  measure: (group: readonly Entry[]) => SessionRow,
): SessionRow[] {
  const groups = grouped(entries, (entry) => String(bucketUs(entry, unitUs)));
  return Array.from(groups, ([timestamp, group]) => ({
    timestamp: Number(timestamp),
    ...measure(group),
  }));
}

/** The time without a zone. */
function withDatetime(rows: readonly SessionRow[]): SessionRow[] {
  return rows.map((row) => {
    const text = new Date(Number(row['timestamp']) / 1000).toISOString();
    return { ...row, timestamp: text.slice(0, 19) };
  });
}

/** NULL first, numbers by size, texts by their characters. */
function compare(left: unknown, right: unknown): number {
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  return (left as number) < (right as number) ? -1 : 1;
}

/** Rows by `count` descending, then by the other columns in their order. */
function byCount(rows: SessionRow[]): SessionRow[] {
  return rows.sort((a, b) => {
    const keys = Object.keys(a).filter((key) => key !== 'count');
    const order = [compare(b['count'], a['count']), ...keys.map((key) => compare(a[key], b[key]))];
    return order.find((each) => each !== 0) ?? 0;
  });
}

/** Groups by the values at the paths, under the names of the columns, with how many there are. */
function counts(
  entries: readonly Entry[],
  columns: Readonly<Record<string, string>>,
): SessionRow[] {
  const cells = (entry: Entry) =>
    Object.entries(columns).map(([name, path]) => [name, entry.at(path)] as const);
  const groups = grouped(entries, (entry) => JSON.stringify(cells(entry)));
  return byCount(
    Array.from(groups.values(), (group) => ({
      ...Object.fromEntries(cells(group[0]!)),
      count: group.length,
    })),
  );
}

function numbers(entries: readonly Entry[], path: string): number[] {
  const values = entries.map((entry) => entry.number(path)).filter((value) => value !== null);
  return values.sort((a, b) => a - b);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function average(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length;
}

/** The element of APPROX_QUANTILES(…, 100) at this index: the nearest rank. */
function quantile(sorted: readonly number[], index: number): number | null {
  return sorted[Math.max(Math.ceil((index * sorted.length) / 100) - 1, 0)] ?? null;
}

const FROM_EDGE = `from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request`;

function testRequests(stack: Stack): void {
  const requests = () => entriesOf(stack, EDGE, 'metadata.request', 'metadata.response');

  test('the routes asked for most', () =>
    session.expectRows(
      stack,
      `-- routes
       select request.path as path, request.method as method, request.search as search,
         response.status_code as status_code, count(t.id) as count
       ${FROM_EDGE} cross join unnest(request.headers) as headers
       group by request.path, request.method, request.search, response.status_code
       order by count desc, path, method, search, status_code limit 10`,
      counts(requests(), { path: PATH, method: METHOD, search: SEARCH, status_code: STATUS }).slice(
        0,
        10,
      ),
    ));

  test('failed requests by hour, and the share of them', () =>
    session.expectRows(
      stack,
      `select cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp,
         countif(response.status_code >= 400) as count,
         round(safe_divide(countif(response.status_code >= 400), count(*)), 6) as share
       ${FROM_EDGE}
       group by timestamp order by timestamp asc`,
      withDatetime(
        byTime(requests(), HOUR_US, (group) => {
          const count = countOf(group, (entry) => Number(entry.at(STATUS)) >= 400);
          return { count, share: Math.round((count / group.length) * 1e6) / 1e6 };
        }),
      ),
    ));

  test('how long answers took: averages and quantiles, NULL where nobody measured', () =>
    session.expectRows(
      stack,
      `select timestamp_trunc(t.timestamp, hour) as timestamp, avg(response.origin_time) as avg,
         min(response.origin_time) as least,
         approx_quantiles(response.origin_time, 100)[offset(50)] as p50,
         approx_quantiles(response.origin_time, 100)[safe_offset(95)] as p95
       ${FROM_EDGE}
       group by timestamp order by timestamp asc`,
      byTime(requests(), HOUR_US, (group) => {
        const times = numbers(group, ORIGIN_TIME);
        const [p50, p95] = [quantile(times, 50), quantile(times, 95)];
        return { avg: average(times), least: times[0] ?? null, p50, p95 };
      }),
    ));

  test('the slowest routes', () => {
    const groups = grouped(requests(), (entry) => String(entry.at(PATH)));
    const rows = Array.from(groups, ([path, group]) => ({
      path,
      mean: average(numbers(group, ORIGIN_TIME)),
      count: group.length,
    }));
    rows.sort((a, b) => compare(b.mean, a.mean) || compare(a.path, b.path));
    return session.expectRows(
      stack,
      `select request.path as path, avg(response.origin_time) as mean, count(t.id) as count
       ${FROM_EDGE} group by request.path order by mean desc, path limit 4`,
      rows.slice(0, 4),
    );
  });

  test('traffic in megabytes: what is no number counts for nothing', () => {
    const own = (path: string) => (group: readonly Entry[]) =>
      sum(group.map((entry) => Number(/^\d+$/.exec(entry.text(path) ?? '')?.[0] ?? 0))) / 1e6;
    const [received, sent] = ['metadata.request.headers', 'metadata.response.headers'].map(
      (headers) => own(`${headers}.content_length`),
    );
    return session.expectRows(
      stack,
      `select timestamp_trunc(t.timestamp, hour) as timestamp,
         coalesce(safe_divide(sum(safe_cast(coalesce(headers.content_length, '0') as int64)), 1000000), 0) as received,
         coalesce(safe_divide(sum(safe_cast(sent.content_length as int64)), 1000000), 0) as sent,
         safe_divide(count(*), 0) as nothing
       ${FROM_EDGE}
         cross join unnest(request.headers) as headers
         left join unnest(response.headers) as sent
       group by timestamp order by timestamp desc`,
      byTime(requests(), HOUR_US, (group) => ({
        received: received!(group),
        sent: sent!(group),
        nothing: null,
      })).reverse(),
    );
  });

  test('how often the cache had it', () => {
    const cache = 'metadata.response.headers.cf_cache_status';
    const objects = requests().filter(
      (entry) =>
        entry.has('metadata.response.headers') &&
        entry.text(PATH)!.startsWith('/storage/v1/object') &&
        entry.at(METHOD) === 'GET',
    );
    return session.expectRows(
      stack,
      `select timestamp_trunc(t.timestamp, hour) as timestamp,
         countif(h.cf_cache_status in ('HIT', 'STALE')) as hits,
         countif(h.cf_cache_status in ('MISS', 'EXPIRED', 'DYNAMIC')) as misses
       ${FROM_EDGE} cross join unnest(response.headers) as h
       where starts_with(request.path, '/storage/v1/object') and request.method = 'GET'
       group by timestamp order by timestamp asc`,
      byTime(objects, HOUR_US, (group) => ({
        hits: countOf(group, (entry) => ['HIT', 'STALE'].includes(String(entry.at(cache)))),
        misses: countOf(group, (entry) => !['HIT', 'STALE'].includes(String(entry.at(cache)))),
      })),
    );
  });

  test('routes and their answers as one text', () => {
    const text = (entry: Entry) => `${entry.at(METHOD)} -> ${entry.at(STATUS)}`;
    return session.expectRows(
      stack,
      `select concat(request.method, ' -> ', response.status_code) as answer, count(*) as count
       ${FROM_EDGE} group by answer order by answer`,
      Array.from(grouped(requests(), text), ([answer, { length }]) => ({ answer, count: length })),
    );
  });

  test('places, and requests without one', () =>
    session.expectRows(
      stack,
      `select cf.country, count(*) as count from edge_logs
         left join unnest(metadata) as m on true
         left join unnest(m.request) as r on true
         left join unnest(r.cf) as cf on true
       group by cf.country order by count desc, cf.country`,
      counts(entriesOf(stack, EDGE), { country: 'metadata.request.cf.country' }),
    ));

  test('the methods of each product, told apart and in an order', () => {
    const product = (entry: Entry) => entry.text(PATH)!.split('/')[1]!;
    const groups = grouped(entriesOf(stack, EDGE, 'metadata.request'), product);
    return session.expectRows(
      stack,
      `select split(r.path, '/')[safe_offset(1)] as product,
         string_agg(distinct r.method, ', ' order by r.method) as methods,
         array_agg(struct(t.id is not null as has_id, r.method) order by t.event_message desc limit 1) as last
       from edge_logs as t, unnest(t.metadata) as m, unnest(m.request) as r
       group by product order by product`,
      Array.from(groups, ([name, group]) => ({
        product: name,
        methods: [...new Set(group.map((entry) => entry.text(METHOD)!))].sort().join(', '),
        last: [{ has_id: true, method: lastMessage(group).text(METHOD) }],
      })),
    );
  });
}

function lastMessage(group: readonly Entry[]): Entry {
  return group.reduce((last, entry) => (entry.message > last.message ? entry : last));
}

/** The JSON of a message, if it is any. */
function fieldsOf(entry: Entry): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(entry.message);
  } catch {
    return {};
  }
}

function actionOf(entry: Entry): string | null {
  const { auth_event: event, action } = fieldsOf(entry) as {
    readonly auth_event?: { readonly action: string };
    readonly action?: string;
  };
  return event?.action ?? action ?? null;
}

function testAuth(stack: Stack): void {
  const entries = () => entriesOf(stack, AUTH);
  const ACTIVE = ['login', 'user_signedup', 'token_refreshed'];

  test('people, sign-ups and ways in, in one tall table', () => {
    const rows = byTime(entries(), MINUTE_US, (group) => ({ group })).reverse();
    const tall = rows.flatMap(({ timestamp, group }) => {
      const list = group as readonly Entry[];
      const people = new Set<unknown>();
      const ways = new Map<string | null, number>();
      for (const entry of list) {
        const { auth_event: event, user_id, provider, login_method, metering } = fieldsOf(entry);
        const actor = (event as { actor_id?: string } | undefined)?.actor_id ?? user_id ?? null;
        if (ACTIVE.includes(actionOf(entry) ?? '') && actor !== null) people.add(actor);
        const method = (login_method as string | undefined) ?? null;
        const from = (provider as string | undefined) ?? 'unknown';
        const way = from === '' || method === null ? method : `${method} (${from})`;
        const isLogin = actionOf(entry) === 'login' && metering === true;
        ways.set(way, (ways.get(way) ?? 0) + Number(isLogin));
      }
      return [
        { timestamp, metric: 'People', count: people.size, way: null },
        {
          timestamp,
          metric: 'SignUps',
          count: countOf(list, (entry) => actionOf(entry) === 'user_signedup'),
          way: null,
        },
        ...[...ways]
          .sort(([a], [b]) => compare(a, b))
          .map(([way, count]) => ({ timestamp, metric: 'Ways', count, way })),
      ];
    });
    return session.expectRows(
      stack,
      `WITH entries AS (
         SELECT TIMESTAMP_TRUNC(timestamp, minute) AS ts,
           COALESCE(JSON_VALUE(event_message, '$.auth_event.action'), JSON_VALUE(event_message, '$.action')) AS action,
           COALESCE(JSON_VALUE(event_message, '$.auth_event.actor_id'), JSON_VALUE(event_message, '$.user_id')) AS actor,
           COALESCE(JSON_VALUE(event_message, '$.provider'), 'unknown') AS provider,
           JSON_VALUE(event_message, '$.login_method') AS method,
           JSON_QUERY(event_message, '$.metering') = 'true' AS is_metered
         FROM auth_logs
       ),
       totals AS (
         SELECT ts, COUNT(DISTINCT IF(action IN ('login','user_signedup','token_refreshed'), actor, NULL)) AS people,
           COUNTIF(action = 'user_signedup') AS signups
         FROM entries GROUP BY ts
       ),
       ways AS (
         SELECT ts, CASE WHEN COALESCE(provider, '') != '' THEN CONCAT(method, ' (', provider, ')') ELSE method END AS way,
           COUNTIF(action = 'login' AND is_metered) AS count
         FROM entries GROUP BY ts, way
       )
       SELECT ts AS timestamp, 'People' AS metric, people AS count, CAST(NULL AS STRING) AS way FROM totals
       UNION ALL SELECT ts, 'SignUps', signups, NULL FROM totals
       UNION ALL SELECT ts, 'Ways', count, way FROM ways
       ORDER BY timestamp DESC, metric, way`,
      tall,
    );
  });

  test('latencies of one path by how people came in', () => {
    const list = entries().filter((entry) => fieldsOf(entry)['path'] === '/token');
    const groups = grouped(list, (entry) => String(fieldsOf(entry)['grant_type']));
    const rows = Array.from(groups, ([grant, group]) => {
      const times = group.map((entry) => Number(fieldsOf(entry)['duration'])).sort((a, b) => a - b);
      const round = (value: number) => Math.round(value / 1e4) / 100;
      return {
        grant_type: grant,
        count: group.length,
        mean: round(average(times)!),
        p95: round(quantile(times, 95)!),
      };
    });
    return session.expectRows(
      stack,
      `select json_value(event_message, "$.grant_type") as grant_type, count(*) as count,
         round(avg(cast(json_value(event_message, "$.duration") as int64)) / 1000000, 2) as mean,
         round(approx_quantiles(cast(json_value(event_message, "$.duration") as int64), 100)[offset(95)] / 1000000, 2) as p95
       from auth_logs where json_value(event_message, "$.path") = '/token'
       group by grant_type order by grant_type`,
      rows,
    );
  });

  test('the codes of errors beside their status, which may be a number or a text', () => {
    const code = 'metadata.error_code';
    const failed = entries().filter(
      (entry) => entry.at(code) !== null && Number(entry.at('metadata.status')) >= 400,
    );
    const groups = grouped(failed, (entry) => `${entry.at(code)} ${entry.at('metadata.status')}`);
    return session.expectRows(
      stack,
      `select m.error_code, cast(m.status as string) as status, count(*) as count
       from auth_logs cross join unnest(metadata) as m
       where m.error_code is not null and safe_cast(m.status as int64) >= 400
       group by m.error_code, status order by error_code, status`,
      Array.from(groups, ([key, { length }]) => {
        const [error_code, status] = key.split(' ');
        return { error_code, status, count: length };
      }),
    );
  });
}

function testFunctions(stack: Stack): void {
  const calls = () => entriesOf(stack, CALLS, 'metadata.request', 'metadata.response');

  test('invocations by function, their errors and how long they took', () => {
    const time = 'metadata.execution_time_ms';
    const groups = grouped(calls(), (entry) => String(entry.at('metadata.function_id')));
    return session.expectRows(
      stack,
      `select function_id, count(*) as count, countif(response.status_code >= 500) as failed,
         max(m.execution_time_ms) as longest, avg(m.execution_time_ms) as mean
       from function_edge_logs
         CROSS JOIN UNNEST(metadata) AS m
         CROSS JOIN UNNEST(m.request) AS request
         CROSS JOIN UNNEST(m.response) AS response
       group by function_id order by function_id;`,
      Array.from(groups, ([function_id, group]) => ({
        function_id,
        count: group.length,
        failed: countOf(group, (entry) => Number(entry.at(STATUS)) >= 500),
        longest: numbers(group, time).at(-1) ?? null,
        mean: average(numbers(group, time)),
      })),
    );
  });

  test('time of the processor and memory of those that ended', () => {
    const cpu = 'metadata.cpu_time_used';
    const heap = 'metadata.memory_used.heap';
    const ended = entriesOf(stack, 'deno-subhosting-events').filter(
      (entry) => entry.at('metadata.event_type') === 'Shutdown',
    );
    return session.expectRows(
      stack,
      `select timestamp_trunc(timestamp, hour) as timestamp, avg(metadata.cpu_time_used) as cpu,
         max(metadata.cpu_time_used) as cpu_max, avg(memory.heap) as heap
       from function_logs
         cross join unnest(metadata) as metadata
         cross join unnest(metadata.memory_used) as memory
       where metadata.event_type = 'Shutdown'
       group by timestamp order by timestamp`,
      byTime(ended, HOUR_US, (group) => ({
        cpu: average(numbers(group, cpu)),
        cpu_max: numbers(group, cpu).at(-1) ?? null,
        heap: average(numbers(group, heap)),
      })),
    );
  });

  test('how much each invocation said, those that said nothing among them', () => {
    const id = 'metadata.execution_id';
    const said = grouped(entriesOf(stack, 'deno-subhosting-events'), (entry) =>
      String(entry.at(id)),
    );
    const groups = grouped(calls(), (entry) => String(entry.at(id)));
    const rows = Array.from(groups, ([execution_id, { length }]) => ({
      execution_id,
      count: length,
      said: said.get(execution_id)?.length ?? 0,
    }));
    return session.expectRows(
      stack,
      `select m.execution_id, count(*) as count, max(coalesce(spoken.n, 0)) as said
       from function_edge_logs as f
         cross join unnest(f.metadata) as m
         cross join unnest(m.response) as response
         left join (
           select x.execution_id, count(*) as n from function_logs as l, unnest(l.metadata) as x
           where x.execution_id is not null group by x.execution_id
         ) as spoken on spoken.execution_id = m.execution_id
       group by m.execution_id order by m.execution_id`,
      rows,
    );
  });
}

function testEndpoints(stack: Stack): void {
  test('a text over the tables of functions.invocation-stats', () => {
    const entries = entriesOf(stack, CALLS, 'metadata.response');
    const rows = byTime(entries, HOUR_US, (group) => ({
      count: group.length,
      failed: countOf(group, (entry) => Number(entry.at(STATUS)) >= 400),
    }));
    return session.expectRows(
      stack,
      `select bucket as timestamp, invocation_count as count, error_count as failed
       from stats order by bucket`,
      rows,
      { endpoint: 'functions.invocation-stats' },
    );
  });

  test('a text over the tables of usage.api-counts', () => {
    const requests = entriesOf(stack, EDGE, 'metadata.request');
    const groups = grouped(requests, (entry) => entry.text(PATH)!.split('?')[0]!);
    const rows = Array.from(groups, ([path, { length }]) => ({ path, count: length }));
    return session.expectRows(
      stack,
      `select split(path, '?')[offset(0)] as path, count(*) as count from requests
       group by path order by path`,
      rows,
      { endpoint: 'usage.api-counts', window: { interval: 'daily' } },
    );
  });
}

for (const stack of STACKS) {
  suite(`reports of ${stack.name}`, () => {
    testRequests(stack);
    testAuth(stack);
    testFunctions(stack);
    testEndpoints(stack);
  });
}

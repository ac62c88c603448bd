// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { edge, invocation, NOW, us } from '../scripts/script.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { DATABASE } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse, until } from './service-on-clickhouse.ts';

const SOURCE = 'postgres.logs';
/** A post is visible in queries within this time. */
const VISIBLE_MS_MAX = 2_000;
/** More than a query of a few events takes; where one takes longer, other programs have the processor, and all else does, too. */
const QUERY_MS_MAX = 200;
const TRIES_MAX = 10;

const NOW_US = us(NOW);

function event(id: string, project = 'alpha', more: object = {}): object {
  return { id, timestamp: Date.now(), event_message: `message of ${id}`, project, ...more };
}

/** The code of an error. */
function codeOf(text: string): string {
  const { error } = JSON.parse(text) as { readonly error?: { readonly code: string } };
  ok(error !== undefined, text);
  return error.code;
}

suite('the service with its events in ClickHouse', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let service: ServiceOnClickHouse | undefined;

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
  });

  beforeEach(() => {
    chdb.run(`DROP DATABASE IF EXISTS ${DATABASE}`);
    chdb.run(`CREATE DATABASE ${DATABASE}`);
    chdb.run(`USE ${DATABASE}`);
    door.isOpen = true;
    door.beforeSelect = () => {};
    door.statements.length = 0;
  });

  after(async () => {
    await door?.close();
    await chdb?.close();
  });

  /** Runs a test with a service that is stopped in the end. */
  async function withService(
    work: (service: ServiceOnClickHouse) => Promise<void>,
    options: Omit<Parameters<typeof ServiceOnClickHouse.start>[0], 'url'> = {},
  ): Promise<void> {
    service = await ServiceOnClickHouse.start({ url: door.url, ...options });
    try {
      await work(service);
    } finally {
      door.isOpen = true;
      await service.stopForGood();
    }
  }

  async function idsIn(of: ServiceOnClickHouse): Promise<readonly unknown[]> {
    const rows = await of.rows(`SELECT id FROM \`${SOURCE}\` ORDER BY id`);
    return rows.map(({ id }) => id);
  }

  /** How long something would have taken if a query took no longer than it should. */
  async function inQuietMs(on: ServiceOnClickHouse, ms: number): Promise<number> {
    const startMs = Date.now();
    await idsIn(on);
    return ms / Math.max(1, (Date.now() - startMs) / QUERY_MS_MAX);
  }

  test('a query before the first post has no rows; a post is in queries soon, and the header says so', async () => {
    await withService(async (on) => {
      deepEqual(await idsIn(on), []);
      const postedMs = Date.now();
      await on.post(SOURCE, [event('a'), event('b')]);
      const acknowledgedMs = Date.now();
      const early = await on.query(`SELECT COUNT(*) AS n FROM \`${SOURCE}\``);
      const untilMs = Date.parse(String(early.headers['weir-complete-until']));
      ok(untilMs <= acknowledgedMs, 'the header promises no event that is not there');
      await until(async () => (await idsIn(on)).length === 2);
      const times = [await inQuietMs(on, Date.now() - postedMs)];
      // A short burst of other work says nothing, either.
      while (times.at(-1)! >= VISIBLE_MS_MAX && times.length < TRIES_MAX) {
        const nextMs = Date.now();
        await on.post(SOURCE, [event(`c${times.length}`)]);
        await until(async () => (await idsIn(on)).length === 2 + times.length);
        times.push(await inQuietMs(on, Date.now() - nextMs));
      }
      ok(times.at(-1)! < VISIBLE_MS_MAX, `it takes two seconds at most: ${times} ms`);
      await on.shipped();
      const late = await on.query(`SELECT COUNT(*) AS n FROM \`${SOURCE}\``);
      ok(Date.parse(String(late.headers['weir-complete-until'])) >= acknowledgedMs);
      equal(late.text, `{"result":[{"n":${1 + times.length}}]}`);
      equal((await on.ask('GET', '/health')).text.includes('"status":"ok"'), true);
    });
  });

  test('the three built-in queries have the rows of the embedded store', async () => {
    const embedded = await ServiceUnderTest.start();
    await withService(
      async (on) => {
        const events = {
          'cloudflare.logs.prod': [
            edge('2026-01-15T11:30:00Z', '/rest/v1/a'),
            edge('2026-01-15T11:40:00Z', '/auth/v1/token'),
            edge('2026-01-15T11:50:00Z', '/storage/v1/x', { project: 'beta' }),
          ],
          'deno-relay-logs': [
            invocation('2026-01-15T11:20:00Z'),
            invocation('2026-01-15T11:21:00Z', { response: { status_code: 500 } }),
            invocation('2026-01-15T11:22:00Z', { project_ref: 'beta' }),
          ],
        };
        for (const [source, list] of Object.entries(events)) {
          await embedded.post(source, list, NOW_US);
          await on.post(source, list);
        }
        await on.shipped();
        let rowCount = 0;
        for (const path of [
          'logs.all?project=alpha&iso_timestamp_start=2026-01-15T00:00:00Z&iso_timestamp_end=2026-01-15T12:00:00Z',
          'functions.invocation-stats?project=alpha&interval=1day',
          'usage.api-counts?project=alpha&interval=daily',
        ]) {
          const answer = await on.ask('GET', `/api/endpoints/${path}`);
          equal(answer.status, 200, answer.text);
          const expected = await embedded.ask('GET', `/api/endpoints/${path}`);
          deepEqual(JSON.parse(answer.text), JSON.parse(expected.text), path);
          rowCount += (JSON.parse(answer.text) as { result: unknown[] }).result.length;
        }
        ok(rowCount > 3, 'there are rows');
      },
      { nowUs: () => NOW_US },
    );
    await embedded.stop();
  });

  test('a definition selects from a definition, and its answer is kept for a time', async () => {
    await withService(async (on) => {
      const put = async (name: string, definition: object): Promise<void> => {
        const body = JSON.stringify({ name, ...definition });
        const { status, text } = await on.ask('PUT', `/api/endpoints/${name}`, { body });
        equal(status, 201, text);
      };
      await put('app.events', { query: `SELECT id, project FROM \`${SOURCE}\`` });
      await put('app.counts', {
        query: 'SELECT project, COUNT(*) AS n FROM `app.events` GROUP BY project ORDER BY project',
        cache: '60s',
      });
      await on.post(SOURCE, [event('a'), event('b', 'beta'), event('c', 'beta')]);
      await on.shipped();
      const path = '/api/endpoints/app.counts';
      const first = await on.ask('GET', path);
      equal(first.text, '{"result":[{"project":"alpha","n":1},{"project":"beta","n":2}]}');
      await on.post(SOURCE, [event('d')]);
      await on.shipped();
      const kept = await on.ask('GET', path);
      equal(kept.text, first.text);
      match(String(kept.headers['cache-status']), /hit/);
      equal(kept.headers['weir-complete-until'], first.headers['weir-complete-until']);
      const csv = await on.ask('GET', `${path}.csv`);
      equal(csv.text.trim().split(/\r?\n/).length, 3);
    });
  });

  test('a bound token reads its own project only', async () => {
    await withService(async (on) => {
      const body = JSON.stringify({ name: 'of alpha', scopes: ['explore'], projects: ['alpha'] });
      const made = await on.ask('POST', '/api/tokens', { body });
      const { token } = (JSON.parse(made.text) as { readonly result: { readonly token: string } })
        .result;
      ok(typeof token === 'string', made.text);
      await on.post(SOURCE, [
        event('a'),
        event('b', 'beta'),
        { id: 'c', event_message: 'of nobody' },
      ]);
      await on.shipped();
      const sql = `SELECT id FROM \`${SOURCE}\``;
      deepEqual(await on.rows(sql, token), [{ id: 'a' }]);
      const counted = `SELECT (SELECT COUNT(*) FROM \`${SOURCE}\`) AS n`;
      deepEqual(await on.rows(counted, token), [{ n: 1 }]);
      deepEqual(await on.rows(counted), [{ n: 3 }]);
      equal((await on.query(`${sql} WHERE project = 'beta'`, token)).status, 403);
    });
  });

  test('what ClickHouse cannot compute is refused with its place, and a wrong value by its code', async () => {
    await withService(async (on) => {
      await on.post(SOURCE, [event('a')]);
      await on.shipped();
      const failed = await on.query(`SELECT CAST(id AS INT64) AS n FROM \`${SOURCE}\``);
      equal(failed.status, 422, failed.text);
      equal(codeOf(failed.text), 'query_failed');
      const sql = `SELECT\n  TO_JSON_STRING(metadata, TRUE) AS text FROM \`${SOURCE}\``;
      const refused = await on.query(sql);
      equal(codeOf(refused.text), 'invalid_sql');
      match(refused.text, /the ClickHouse store does not support/);
      match(refused.text, /"line":2,"column":3/);
    });
  });

  test('an explanation shows the statement, in which texts are bound', async () => {
    await withService(async (on) => {
      const sql = `SELECT id FROM \`${SOURCE}\` WHERE event_message = 'it''s'`.replace("''", "\\'");
      const options = { body: sql, type: 'application/sql' };
      const { status, text } = await on.ask('POST', '/api/query?explain=true', options);
      equal(status, 200, text);
      match(text, /FROM events WHERE source = \{text\d+:String\}/);
      match(text, /"it's"/);
    });
  });

  test('a caller that hangs up has its statement broken off at ClickHouse', async () => {
    await withService(async (on) => {
      await on.post(SOURCE, [event('a')]);
      await on.shipped();
      const seen: Readonly<Record<string, string>>[] = [];
      let isGone = false;
      door.beforeSelect = async (settings, gone) => {
        seen.push(settings);
        if (gone.aborted) return;
        await new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve()));
        isGone = true;
      };
      const hangUp = new AbortController();
      const options = {
        body: `SELECT id FROM \`${SOURCE}\``,
        type: 'application/sql',
        signal: hangUp.signal,
      };
      const asked = on.ask('POST', '/api/query', options).catch((error: Error) => error.name);
      await until(() => seen.length === 1);
      hangUp.abort();
      equal(await asked, 'AbortError');
      await until(() => isGone);
      // With these ClickHouse stops a statement whose client is gone, and one that takes too long or too much.
      const [settings = {}] = seen;
      equal(settings['cancel_http_readonly_queries_on_client_close'], '1');
      equal(settings['readonly'], '2');
      ok(Number(settings['max_execution_time']) > 0);
      ok(Number(settings['max_memory_usage']) > 0);
      ok(Number(settings['max_result_rows']) > 0);
    });
  });

  test('while ClickHouse is away posts are stored and queries refused; then all is there', async () => {
    await withService(async (on) => {
      await on.post(SOURCE, [event('a')]);
      await on.shipped();
      door.isOpen = false;
      await on.post(SOURCE, [event('b'), event('c')]);
      const refused = await on.query(`SELECT id FROM \`${SOURCE}\``);
      equal(refused.status, 503, refused.text);
      equal(codeOf(refused.text), 'store_unavailable');
      ok(Number(refused.headers['retry-after']) > 0);
      await until(async () => (await on.ask('GET', '/health')).text.includes('store_unavailable'));
      const health = await on.ask('GET', '/health');
      equal(health.status, 200);
      match(health.text, /"status":"degraded"/);
      equal((await on.ask('GET', '/ready')).status, 200);
      const metrics = (await on.ask('GET', '/metrics')).text;
      match(metrics, /^weir_unsent_events 2$/m);
      match(metrics, /^weir_unsent_bytes [1-9]/m);
      await until(async () =>
        /^weir_send_failures_total [1-9]/m.test((await on.ask('GET', '/metrics')).text),
      );
      match((await on.ask('GET', '/metrics')).text, /^weir_unsent_age_seconds (?!0$)/m);
      door.isOpen = true;
      await on.shipped();
      deepEqual(await idsIn(on), ['a', 'b', 'c']);
      match((await on.ask('GET', '/health')).text, /"status":"ok"/);
    });
  });

  test('beyond the limit of what is unsent posts are refused, until ClickHouse is back', async () => {
    const limits = { unsentBytesMax: 4_000, retryTickMs: 1 };
    await withService(
      async (on) => {
        door.isOpen = false;
        let stored = 0;
        let answer = await on.tryPost(SOURCE, [event('p000')]);
        for (stored = 1; answer.status === 200 && stored < 100; stored++) {
          answer = await on.tryPost(SOURCE, [event(`p${String(stored).padStart(3, '0')}`)]);
        }
        equal(answer.status, 503, answer.text);
        ok(Number(answer.headers['retry-after']) > 0);
        match((await on.ask('GET', '/health')).text, /posts_refused/);
        door.isOpen = true;
        await on.shipped();
        // The log is trimmed once ClickHouse has what it holds.
        await until(async () => (await on.tryPost(SOURCE, [event('z')])).status === 200);
        await on.shipped();
        equal((await idsIn(on)).length, stored);
      },
      { shipLimits: limits, logFileBytesMax: 1_000 },
    );
  });

  test('a restart sends what was not sent, once, and trims the log', async () => {
    const first = await ServiceOnClickHouse.start({ url: door.url });
    const { folder } = first;
    await first.post(SOURCE, [event('a')]);
    await first.shipped();
    door.isOpen = false;
    await first.post(SOURCE, [event('b')]);
    await until(() => first.backend.stats().shipping?.isFailing === true);
    await first.stop();
    const second = await ServiceOnClickHouse.start({ url: door.url, folder });
    try {
      deepEqual(second.backend.stats().shipping?.events, 1);
      await second.post(SOURCE, [event('c')]);
      door.isOpen = true;
      await second.shipped();
      deepEqual(await idsIn(second), ['a', 'b', 'c']);
    } finally {
      await second.stopForGood();
    }
  });

  test('a source gets no name under which ClickHouse has events', async () => {
    const environment = { SOURCES: 'later.logs' };
    const first = await ServiceOnClickHouse.start({ url: door.url, environment });
    const { folder } = first;
    await first.post('later.logs', [event('a')]);
    await first.shipped();
    await first.stop();
    await withService(
      async (on) => {
        const put = (name: string) => on.ask('PUT', `/api/sources/${name}`, { body: '{}' });
        equal((await put('later.logs')).status, 409);
        equal((await put('other.logs')).status, 201);
        door.isOpen = false;
        equal((await put('third.logs')).status, 503);
      },
      { folder },
    );
  });

  test('the list and the histogram of an exploration have one bound, and fields are counted', async () => {
    await withService(async (on) => {
      const posted = Array.from({ length: 600 }, (_, index) =>
        event(`e${index}`, index % 3 === 0 ? 'beta' : 'alpha', {
          metadata: { n: index % 7, level: 'info' },
        }),
      );
      await on.post(SOURCE, posted);
      await on.shipped();
      // An event that comes meanwhile, with a time after the bound, is in neither.
      let selects = 0;
      door.beforeSelect = async () => {
        if (selects++ !== 1) return;
        door.beforeSelect = () => {};
        await on.post(SOURCE, [event('late')]);
        await on.shipped();
      };
      const body = JSON.stringify({
        source: SOURCE,
        where: "t.event_message LIKE 'message of e%'",
        limit: 5,
        buckets: 10,
      });
      const explored = await on.ask('POST', '/api/explore', { body });
      equal(explored.status, 200, explored.text);
      const lines = explored.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const counted = lines
        .filter(({ type }) => type === 'buckets')
        .flatMap(({ buckets }) => buckets as { count: number }[])
        .reduce((sum, { count }) => sum + count, 0);
      equal(counted, 600, explored.text);
      equal(lines.find(({ type }) => type === 'rows')?.rows.length, 5);

      const path = `/api/sources/${SOURCE}/fields`;
      const found = JSON.parse((await on.ask('GET', path)).text);
      equal(found.events, 601);
      equal(found.sampled_events, 500);
      const names = found.fields.map((field: { path: string }) => field.path);
      deepEqual(names.toSorted(), ['metadata.level', 'metadata.n']);
      const ofBeta = JSON.parse((await on.ask('GET', `${path}?project=beta`)).text);
      equal(ofBeta.events, 200);
      equal(ofBeta.sampled_events, undefined);
      const level = ofBeta.fields.find(
        (field: { path: string }) => field.path === 'metadata.level',
      );
      deepEqual(level.top, [{ value: 'info', count: 200 }]);
      deepEqual([level.distinct_is_exact, level.events], [true, 200]);
    });
  });
});

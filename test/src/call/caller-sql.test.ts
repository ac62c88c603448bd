import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SQL_LENGTH_MAX } from '../../../engine/limits.ts';
import { CALLER_SQL_LENGTH_MAX } from '../../../src/limits.ts';
import { NOW, us } from '../../scripts/script.ts';
import { runWeir } from '../../support/command-under-test.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

/** Two tables over one log of a project, and a default query that callers replace. */
const DEFINITION = `-- id: 11111111-2222-4333-8444-555555555555
-- name: app.logs
-- max_rows: 3
-- sandbox: enabled
-- param: project string required
-- param: since timestamp
WITH
entries AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM \`gotrue.logs.prod\` AS t
  WHERE t.project = @project AND (@since IS NULL OR t.timestamp > @since)
  ORDER BY t.timestamp DESC
),
levels AS (SELECT e.id, m.level FROM entries AS e CROSS JOIN UNNEST(e.metadata) AS m)
SELECT 'own' AS id FROM entries LIMIT 1
`;

const CACHED = DEFINITION.replace('1111', '2222')
  .replace('app.logs', 'app.cached')
  .replace('-- max_rows: 3', '-- cache: 60s');

const CLOSED = DEFINITION.replace('1111', '3333')
  .replace('app.logs', 'app.closed')
  .replace('sandbox: enabled', 'sandbox: disabled');

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-caller-sql-'));
  const files = { DEFINITION, CACHED, CLOSED };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, `${name}.sql`), text);
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder, CACHE_LIMIT: '1MiB' });
  const event = (id: string, project: string, minute: number, level: string) => ({
    id,
    project,
    timestamp: `2026-01-15T11:0${minute}:00Z`,
    event_message: `message ${id}`,
    metadata: { level },
  });
  const events = [
    event('a1', 'alpha', 1, 'info'),
    event('a2', 'alpha', 2, 'error'),
    event('a3', 'alpha', 3, 'info'),
    event('a4', 'alpha', 4, 'error'),
    event('b1', 'beta', 5, 'error'),
  ];
  await service.post('gotrue.logs.prod', events, us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const PATH = '/api/endpoints/app.logs';

function get(
  sql: string,
  more: Readonly<Record<string, string>> = {},
  path = PATH,
): Promise<HttpAnswer> {
  const query = new URLSearchParams({ project: 'alpha', sql, ...more });
  return service.ask('GET', `${path}?${query}`);
}

async function expectRows(sql: string, rows: string, more?: Readonly<Record<string, string>>) {
  const answer = await get(sql, more);
  assert.equal(answer.text, `{"result":${rows}}`, sql);
  assert.equal(answer.status, 200);
}

/** `code`, line and column, and the message. */
async function expectRefusal(sql: string, place: string, message: RegExp) {
  const answer = await get(sql);
  assert.equal(answer.status, 422, `${sql}: ${answer.text}`);
  const { error } = JSON.parse(answer.text);
  assert.match(error.message, message, sql);
  assert.equal(`${error.code} ${error.line}:${error.column}`, place, sql);
  return error;
}

test('a caller’s query runs over the definition’s tables, in their order', async () => {
  await expectRows('SELECT id FROM entries LIMIT 2', '[{"id":"a4"},{"id":"a3"}]');
  await expectRows(
    'select level, count(*) as count from levels group by level order by level;',
    '[{"level":"error","count":2},{"level":"info","count":2}]',
  );
  await expectRows('SELECT 2 AS two', '[{"two":2}]');
});

test('keys of a row are in the order of the select list', async () => {
  await expectRows(
    "SELECT event_message, id, 'x' AS a FROM entries WHERE id = 'a1'",
    '[{"event_message":"message a1","id":"a1","a":"x"}]',
  );
});

test('parameters of the call apply inside the tables', async () => {
  await expectRows('SELECT id FROM entries', '[{"id":"a4"}]', { since: '2026-01-15T11:03:00Z' });
  await expectRows('SELECT id FROM entries', '[{"id":"b1"}]', { project: 'beta' });
  const missing = await service.ask('GET', `${PATH}?sql=SELECT+1`);
  assert.equal(missing.status, 400);
  assert.equal(JSON.parse(missing.text).error.code, 'missing_parameter');
});

test('the text may use the definition’s parameters', async () => {
  await expectRows('SELECT @project AS project', '[{"project":"alpha"}]');
});

test('max_rows of the definition applies', async () => {
  const answer = await get('SELECT id FROM entries LIMIT 4');
  assert.equal(JSON.parse(answer.text).result.length, 3);
});

test('all paths and ways of sending a text give the same answer', async () => {
  const sql = "SELECT id FROM entries WHERE id = 'a2'";
  const expected = '{"result":[{"id":"a2"}]}';
  const id = '11111111-2222-4333-8444-555555555555';
  for (const path of [
    PATH,
    '/api/endpoints/query/app.logs',
    `/api/endpoints/query/${id}`,
    '/api/endpoints/query/name/app.logs',
    '/endpoints/query/app.logs',
  ]) {
    assert.equal((await get(sql, {}, path)).text, expected, path);
    const body = JSON.stringify({ project: 'alpha', sql });
    assert.equal((await service.ask('POST', path, body)).text, expected, path);
    assert.equal((await service.ask('GET', path, body)).text, expected, path);
    for (const type of ['text/plain', 'application/sql; charset=utf-8']) {
      const posted = await fetch(`${service.url}${path}?project=alpha`, {
        method: 'POST',
        headers: { 'X-API-KEY': 'a-private-token', 'Content-Type': type },
        body: sql,
      });
      assert.equal(await posted.text(), expected, `${path} ${type}`);
    }
  }
});

test('an empty text counts as absent, and a repeated one is refused', async () => {
  await expectRows('', '[{"id":"own"}]');
  const twice = await service.ask('GET', `${PATH}?project=alpha&sql=SELECT+1&sql=SELECT+2`);
  assert.equal(twice.status, 400);
  assert.equal(JSON.parse(twice.text).error.code, 'repeated_parameter');
  const both = await service.ask(
    'POST',
    `${PATH}?project=alpha&sql=SELECT+1`,
    '{"sql":"SELECT 2"}',
  );
  assert.equal(JSON.parse(both.text).error.parameter, 'sql');
});

test('a definition without a sandbox ignores the text and refuses a body of text', async () => {
  const path = '/api/endpoints/app.closed';
  assert.equal((await get('SELECT 2 AS two', {}, path)).text, '{"result":[{"id":"own"}]}');
  const body = JSON.stringify({ project: 'alpha', sql: 'DROP TABLE x' });
  assert.equal((await service.ask('POST', path, body)).text, '{"result":[{"id":"own"}]}');
  const posted = await fetch(`${service.url}${path}?project=alpha`, {
    method: 'POST',
    headers: { 'X-API-KEY': 'a-private-token', 'Content-Type': 'application/sql' },
    body: 'SELECT 2 AS two',
  });
  assert.equal(posted.status, 415);
});

test('anything but a single query is refused', async () => {
  const only =
    /^only a query is taken: SELECT, or WITH before it; got (DELETE|INSERT|CREATE|SHOW)$/;
  await expectRefusal("delete from entries where id = 'a1'", 'invalid_sql 1:1', only);
  await expectRefusal("insert into entries (id) values ('a')", 'invalid_sql 1:1', only);
  await expectRefusal('CREATE TABLE x AS SELECT 1', 'invalid_sql 1:1', only);
  await expectRefusal('SHOW TABLES', 'invalid_sql 1:1', only);
  const two = /^only one query is allowed, and ";" ends it; got "select" after it$/;
  await expectRefusal('select 1; select 2', 'invalid_sql 1:11', two);
  await expectRefusal('  ', 'invalid_sql 1:3', /^expected SELECT, WITH or "\("/);
});

test('an error has its line, column and caret in the sent text', async () => {
  const error = await expectRefusal(
    'SELECT id\nFROM entrys AS e',
    'invalid_sql 2:6',
    /^there is no table entrys here: there are entries, levels; did you mean entries\?$/,
  );
  assert.equal(error.caret, 'FROM entrys AS e\n     ^');
  await expectRefusal('SELECT idd FROM entries', 'invalid_sql 1:8', /did you mean id\?$/);
  await expectRefusal('SELECT session_user()', 'invalid_sql 1:8', /SESSION_USER/);
});

test('an error of the run has its position, too, wherever the value came from', async () => {
  const sql = 'SELECT id,\n  1 / (LENGTH(id) - 2) AS x FROM entries';
  const error = await expectRefusal(sql, 'query_failed 2:3', /division by zero/);
  assert.equal(error.caret, '  1 / (LENGTH(id) - 2) AS x FROM entries\n  ^');
});

test('a text that is too long is refused before it is parsed', async () => {
  const body = (length: number) => {
    const sql = `SELECT 1 AS one -- ${'x'.repeat(length)}`.slice(0, length);
    return JSON.stringify({ project: 'alpha', sql });
  };
  const most = await service.ask('POST', PATH, body(CALLER_SQL_LENGTH_MAX));
  assert.equal(most.text, '{"result":[{"one":1}]}');
  for (const length of [CALLER_SQL_LENGTH_MAX + 1, SQL_LENGTH_MAX + 1]) {
    const answer = await service.ask('POST', PATH, body(length));
    assert.equal(answer.status, 422);
    assert.match(JSON.parse(answer.text).error.message, /at most 65536 characters; got \d+/);
  }
});

test('answers are kept as the definition says, separately for each text', async () => {
  const path = '/api/endpoints/app.cached';
  const statusOf = (answer: HttpAnswer) => String(answer.headers['cache-status']);
  const text = 'SELECT COUNT(*) AS count FROM entries';
  const first = await get(text, {}, path);
  assert.equal(statusOf(first), 'weir; fwd=miss; stored');
  assert.equal(first.text, '{"result":[{"count":4}]}');
  const again = await get(text, {}, path);
  assert.match(statusOf(again), /^weir; hit/);
  assert.equal(again.text, first.text);
  assert.equal(statusOf(await get(`${text} `, {}, path)), 'weir; fwd=miss; stored');
  assert.equal((await get(text, { project: 'beta' }, path)).text, '{"result":[{"count":1}]}');
  const own = await service.ask('GET', `${path}?project=alpha`);
  assert.equal(own.text, '{"result":[{"id":"own"}]}');
});

test('the service and weir explain give the same explanation of a caller’s query', async () => {
  const sql = "SELECT id FROM entries WHERE timestamp > '2026-01-15T11:02:00Z' LIMIT 5";
  const query = new URLSearchParams({ project: 'alpha', sql, explain: 'true' });
  const { text } = await service.ask('GET', `${PATH}?${query}`);
  const asked = await explain(['--sql', sql, '--url', service.url]);
  const planned = await explain(['--sql', sql, '--plan-only']);
  const window = /window +from 2026-01-15 11:02:00\.000001/;
  for (const told of [text, asked.out, planned.out]) {
    assert.match(told, /scan `gotrue\.logs\.prod`/);
    assert.match(told, window);
    assert.match(told, /project +'alpha'/);
    assert.match(told, /columns +id, timestamp, project, arrival\n/);
  }
  assert.match(text, /answer +2 rows/);
  assert.match(asked.out, /answer +2 rows/);
  assert.match(planned.out, /not run: --plan-only was given/);
});

test('weir explain shows the position in the text, and knows which definitions accept one', async () => {
  for (const where of [['--url', service.url], ['--plan-only']]) {
    const wrong = await explain(['--sql', 'SELECT ix FROM entries', ...where]);
    assert.equal(wrong.status, 1);
    assert.match(wrong.err, /line 1, column 8\n\nSELECT ix FROM entries\n {7}\^\n$/);
    const closed = await explain(['--sql', 'SELECT 1', ...where], 'app.closed');
    assert.equal(closed.status, 2);
    assert.match(closed.err, /app\.closed takes no --sql: its definition has no sandbox/);
  }
});

function explain(words: readonly string[], name = 'app.logs') {
  return runWeir(['explain', name, 'project=alpha', ...words], {
    environment: { ENDPOINTS_DIR: folder, PRIVATE_ACCESS_TOKEN: 'a-private-token' },
    nowUs: us(NOW),
  });
}

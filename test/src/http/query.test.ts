import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SQL_TOKENS_WITHIN_MAX } from '../../../engine/limits.ts';
import { CALLER_SQL_LENGTH_MAX, DEFINITION_ROWS_MAX, PARAMETERS_MAX } from '../../../src/limits.ts';
import { NOW, us } from '../../scripts/script.ts';
import { makeToken } from '../../support/granted.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

/** A saved query with parameters of its own. */
const LEVELS = `-- id: 11111111-2222-4333-8444-555555555551
-- name: app.levels
-- alias: app.by-level
-- param: project string required
-- param: level string enum(info, error) default=error
SELECT t.id, m.level FROM \`gotrue.logs.prod\` AS t, UNNEST(t.metadata) AS m
WHERE t.project = @project AND m.level = @level ORDER BY t.id
`;

const TABLE_OF_OTHERS = `-- id: 11111111-2222-4333-8444-555555555552
-- name: app.secret
SELECT t.id AS secret_id FROM \`postgres.logs\` AS t
`;

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-query-'));
  await writeFile(join(folder, 'levels.sql'), LEVELS);
  await writeFile(join(folder, 'secret.sql'), TABLE_OF_OTHERS);
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder, CACHE_LIMIT: '1MiB' });
  const event = (id: string, project: string, level: string) => ({
    id,
    project,
    timestamp: `2026-01-15T11:0${id.at(-1)}:00Z`,
    event_message: `message ${id}`,
    metadata: { level },
  });
  const events = [
    event('a1', 'alpha', 'info'),
    event('a2', 'alpha', 'error'),
    event('b3', 'beta', 'error'),
  ];
  await service.post('gotrue.logs.prod', events, us(NOW));
  await service.post('postgres.logs', [event('p4', 'alpha', 'info')], us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

type Headers = Readonly<Record<string, string>>;

function run(sql: string, path = '/api/query', headers: Headers = {}): Promise<HttpAnswer> {
  return service.ask('POST', path, sql, { 'Content-Type': 'application/sql', ...headers });
}

function runJson(body: unknown, headers: Headers = {}): Promise<HttpAnswer> {
  return service.ask('POST', '/api/query', JSON.stringify(body), headers);
}

/** The code and message of an error, and its place if it has one. */
function problem({ status, text }: HttpAnswer): string {
  const { code, line, column, message } = JSON.parse(text).error;
  const place = line === undefined ? '' : ` ${line}:${column}`;
  return `${status} ${code}${place}: ${message}`;
}

async function expectRows(sql: string, rows: string): Promise<void> {
  const answer = await run(sql);
  equal(answer.text, `{"result":${rows}}`, sql);
  equal(answer.status, 200);
}

test('SQL runs over sources and saved queries, by each of their names', async () => {
  await expectRows('SELECT 1 AS one', '[{"one":1}]');
  await expectRows(
    'SELECT id FROM `gotrue.logs.prod` ORDER BY id DESC LIMIT 2;',
    '[{"id":"b3"},{"id":"a2"}]',
  );
  await expectRows('SELECT * FROM app.secret', '[{"secret_id":"p4"}]');
  const joined =
    'WITH s AS (SELECT * FROM app.secret) SELECT COUNT(*) AS n FROM s, `gotrue.logs.prod` AS t';
  await expectRows(joined, '[{"n":3}]');
});

test('a text may come as SQL, as plain text, without a type, or in JSON', async () => {
  const sql = 'SELECT 1 AS one';
  const rows = '{"result":[{"one":1}]}';
  for (const type of ['application/sql', 'text/plain; charset=utf-8', '']) {
    equal((await run(sql, '/api/query', { 'Content-Type': type })).text, rows, type);
  }
  equal((await runJson({ sql })).text, rows);
  const other = await run(sql, '/api/query', { 'Content-Type': 'application/xml' });
  equal(other.status, 415);
});

test('a parameter has the type of its JSON value, or the one beside it', async () => {
  const parameters = {
    text: 'a',
    whole: 1,
    part: 1.5,
    yes: true,
    time: { type: 'TIMESTAMP', value: '2026-01-15T12:00:00Z' },
    long: { type: 'int64', value: '9007199254740993' },
    half: { type: 'FLOAT64', value: 1 },
    none: { type: 'STRING', value: null },
  };
  const sql =
    'SELECT @text AS text, @whole + 1 AS whole, @part AS part, @yes AS yes, @time AS time, @LONG AS long, @half / 2 AS half, @none AS none';
  deepEqual(JSON.parse((await runJson({ sql, parameters })).text).result, [
    {
      ...{ text: 'a', whole: 2, part: 1.5, yes: true, time: us('2026-01-15T12:00:00Z') },
      ...{ long: '9007199254740993', half: 0.5, none: null },
    },
  ]);
});

test('parameters in the query string are strings, also beside those of a JSON body', async () => {
  const sql = 'SELECT @a AS a, @b AS b';
  const text = await run(sql, '/api/query?a=1&b=%27');
  equal(text.text, '{"result":[{"a":"1","b":"\'"}]}');
  const both = await service.ask(
    'POST',
    '/api/query?a=1',
    JSON.stringify({ sql, parameters: { b: 2 } }),
  );
  equal(both.text, '{"result":[{"a":"1","b":2}]}');
});

test('the parameters of a saved query are read as it declares them', async () => {
  const sql = 'SELECT id, level FROM app.levels';
  const ids = async (parameters: object): Promise<unknown> => {
    const answer = await runJson({ sql, parameters });
    return answer.status === 200 ? JSON.parse(answer.text).result : problem(answer);
  };
  deepEqual(await ids({ project: 'alpha' }), [{ id: 'a2', level: 'error' }]);
  deepEqual(await ids({ PROJECT: 'alpha', level: 'info' }), [{ id: 'a1', level: 'info' }]);
  deepEqual(await ids({ project: 'alpha', level: '' }), [{ id: 'a2', level: 'error' }]);
  match(String(await ids({})), /^400 missing_parameter: project must be text; got nothing/);
  match(
    String(await ids({ project: 'alpha', level: 'all' })),
    /^400 invalid_parameter: level must be/,
  );
  match(
    String(await ids({ project: 1 })),
    /^422 invalid_sql 1:\d+: parameter @project must have one type/,
  );
});

test('errors say where in the text they are', async () => {
  const answer = await run('SELECT secret_id,\n  nothing FROM app.secret');
  match(problem(answer), /^422 invalid_sql 2:3: /);
  equal(JSON.parse(answer.text).error.caret, '  nothing FROM app.secret\n  ^');
  match(problem(await run('SELECT ')), /^422 invalid_sql 1:8: /);
  match(problem(await run('SELECT 1 / 0 AS x')), /^422 query_failed 1:8: /);
  match(problem(await run('SELECT @x AS x')), /there is no parameter @x/);
  match(
    problem(await run('SELECT 1 AS x FROM gotrue.logs.prd')),
    /there is no table gotrue.logs.prd; did you mean gotrue.logs.prod\?/,
  );
});

test('what curl -d sends without a header, and a token without Bearer, are refused with the reason', async () => {
  const typed = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const untyped = await service.ask('POST', '/api/query', 'SELECT 1 AS x', typed);
  equal(untyped.status, 415);
  match(
    untyped.text,
    /got \\"application\/x-www-form-urlencoded\\", which curl sends if no -H names another/,
  );
  const headers = { Authorization: 'a-private-token', 'X-API-KEY': '' };
  const bare = await service.ask('POST', '/api/query', 'SELECT 1 AS x', headers);
  equal(bare.status, 401);
  match(bare.text, /in X-API-KEY.*; got an Authorization header of another form/);
});

test('a query that is not as it must be is refused', async () => {
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [{}, /^400 invalid_body: a query must be/],
    [[], /^400 invalid_body: a query must be/],
    [{ sql: 1 }, /^400 invalid_body: .*got something else as sql/],
    [{ sql: ' ' }, /^400 missing_parameter: sql must be a query/],
    [{ sql: 'SELECT 1', query: 1 }, /^400 invalid_body: .*got also "query"/],
    [
      { sql: 'SELECT 1', parameters: { a: null } },
      /^400 invalid_parameter: a must be a string, .*got null/,
    ],
    [{ sql: 'SELECT 1', parameters: { a: [1] } }, /^400 invalid_parameter: a must be .*got \[1\]/],
    [
      { sql: 'SELECT 1', parameters: { a: 2 ** 60 } },
      /^400 invalid_parameter: a must be .*loses digits/,
    ],
    [
      { sql: 'SELECT 1', parameters: { 'a b': 1 } },
      /^400 invalid_parameter: the name of a parameter/,
    ],
    [
      { sql: 'SELECT 1', parameters: { a: 1, A: 1 } },
      /^400 repeated_parameter: A must be given once/,
    ],
    [
      { sql: 'SELECT 1', parameters: { a: { type: 'DATE', value: '2026-01-01' } } },
      /^400 invalid_parameter: the type of a must be STRING, INT64, FLOAT64, BOOL or TIMESTAMP; got "DATE"/,
    ],
    [
      { sql: 'SELECT 1', parameters: { a: { type: 'INT64', value: 'one' } } },
      /^400 invalid_parameter: a must be a whole number within 64 bits; got "one"/,
    ],
    [
      {
        sql: 'SELECT 1',
        parameters: Object.fromEntries(
          Array.from({ length: PARAMETERS_MAX + 1 }, (_, i) => [`p${i}`, i]),
        ),
      },
      /^400 invalid_parameter: a query has at most 100 parameters/,
    ],
    ...[0, 1.5, '10', DEFINITION_ROWS_MAX + 1].map(
      (max_rows) =>
        [
          { sql: 'SELECT 1', max_rows },
          /^400 invalid_parameter: max_rows must be a whole number/,
        ] as const,
    ),
  ];
  for (const [body, wanted] of refused) match(problem(await runJson(body)), wanted);
  match(problem(await run('')), /^400 missing_parameter/);
  match(problem(await run('SELECT 1', '/api/query?a=1&a=2')), /^400 repeated_parameter/);
  match(problem(await run('SELECT 1', '/api/query?max_rows=many')), /^400 invalid_parameter/);
  match(
    problem(await run('SELECT 1', '/api/query?columns=1')),
    /^400 invalid_parameter: columns must be/,
  );
});

test('a text has the limits of the SQL of callers', async () => {
  match(
    problem(await run(`SELECT '${'x'.repeat(CALLER_SQL_LENGTH_MAX)}'`)),
    /^422 query_limit: sql may have at most 65536 characters/,
  );
  const words = `SELECT 1${' '.repeat(3)}${', 1'.repeat(SQL_TOKENS_WITHIN_MAX / 2)}`;
  match(problem(await run(words)), /^422 query_limit .*words, numbers and symbols/);
});

test('max_rows cuts the answer and says so', async () => {
  const sql = 'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 2000)) AS n';
  const count = ({ text }: HttpAnswer): number => JSON.parse(text).result.length;
  const plain = await run(sql);
  deepEqual([count(plain), plain.headers['weir-truncated']], [1000, '1000']);
  deepEqual(count(await run(sql, '/api/query?max_rows=3')), 3);
  const asked = await runJson({ sql, max_rows: 1500 });
  deepEqual([count(asked), asked.headers['weir-truncated']], [1500, '1500']);
  equal((await runJson({ sql, max_rows: 2000 })).headers['weir-truncated'], undefined);
});

test('the answer comes in the format that the path or Accept says, and is never kept', async () => {
  const sql = "SELECT 1 AS one, 'a' AS text";
  const csv = '"one","text"\r\n1,"a"\r\n'.replaceAll(/"(one|text)"/g, '$1');
  const lines = '{"one":1,"text":"a"}\n';
  equal((await run(sql, '/api/query.csv')).text, csv);
  equal((await run(sql, '/api/query.ndjson')).text, lines);
  equal((await run(sql, '/api/query', { Accept: 'text/csv' })).text, csv);
  const json = await run(sql, '/api/query.json', { Accept: 'text/csv' });
  equal(json.text, '{"result":[{"one":1,"text":"a"}]}');
  equal(json.headers['cache-status'], 'weir; fwd=bypass');
  match(String(json.headers['server-timing']), /^parse;dur=/);
});

test('columns=true adds the names and types of the columns, of a saved query, too', async () => {
  const sql = 'SELECT id, timestamp, metadata, [1] AS list FROM `postgres.logs` LIMIT 0';
  const { text } = await run(sql, '/api/query?columns=true');
  deepEqual(JSON.parse(text), {
    result: [],
    columns: [
      { name: 'id', type: 'STRING' },
      { name: 'timestamp', type: 'TIMESTAMP' },
      { name: 'metadata', type: 'ARRAY<DYNAMIC>' },
      { name: 'list', type: 'ARRAY<INT64>' },
    ],
  });
  const saved = await service.ask('GET', '/api/endpoints/app.secret?columns=true');
  equal(
    saved.text,
    '{"result":[{"secret_id":"p4"}],"columns":[{"name":"secret_id","type":"STRING"}]}',
  );
  const kept = '/api/endpoints/usage.api-counts?project=alpha&interval=daily';
  for (const _ of ['run', 'kept']) {
    const { text: withColumns } = await service.ask('GET', `${kept}&columns=true`);
    deepEqual(JSON.parse(withColumns).columns[0], { name: 'timestamp', type: 'DATETIME' });
    equal('columns' in JSON.parse((await service.ask('GET', kept)).text), false);
  }
  equal((await run('SELECT 1 AS one', '/api/query.csv?columns=true')).text, 'one\r\n1\r\n');
});

test('explain=true gives the plan in place of the rows', async () => {
  const answer = await run('SELECT id FROM `postgres.logs`', '/api/query?explain=true');
  match(answer.text, /postgres\.logs/);
  match(answer.text, /scan/);
  const json = await run('SELECT 1 AS one', '/api/query?explain=true', {
    Accept: 'application/json',
  });
  equal(JSON.parse(json.text).name, 'query');
});

async function tokenOf(order: Omit<Parameters<typeof makeToken>[2], 'scopes'>): Promise<Headers> {
  const name = `explorer ${JSON.stringify(order)}`.replaceAll(/[^a-z ]/g, '');
  return { 'X-API-KEY': (await makeToken(service, name, { scopes: ['explore'], ...order })).token };
}

/** What each of these texts is answered for a token. */
async function answers(texts: readonly string[], token: Headers): Promise<readonly string[]> {
  const made: string[] = [];
  for (const sql of texts) {
    const answer = await run(sql, '/api/query', token);
    made.push(answer.status === 200 ? answer.text : problem(answer));
  }
  return made;
}

test('a token bound to projects gets rows of these alone', async () => {
  const token = await tokenOf({ projects: ['alpha'] });
  const texts = [
    'SELECT id FROM `gotrue.logs.prod` ORDER BY id',
    "SELECT id FROM `gotrue.logs.prod` WHERE project = 'beta'",
    'SELECT secret_id FROM app.secret',
  ];
  const [rows, others, saved] = await answers(texts, token);
  equal(rows, '{"result":[{"id":"a1"},{"id":"a2"}]}');
  match(String(others), /^403 out_of_reach: .*its caller may read "alpha"/);
  equal(saved, '{"result":[{"secret_id":"p4"}]}');
});

test('to a token bound to sources all others, and what reads them, are not there', async () => {
  const token = await tokenOf({ sources: ['gotrue.logs.prod'] });
  const texts = [
    'SELECT COUNT(*) AS n FROM `gotrue.logs.prod`',
    'SELECT id FROM `postgres.logs`',
    'SELECT id FROM `postgres.logz`',
    'SELECT * FROM app.secret',
    'SELECT * FROM app.secrets',
    'SELECT * FROM app.level',
  ];
  deepEqual(await answers(texts, token), [
    '{"result":[{"n":3}]}',
    '422 invalid_sql 1:16: there is no table postgres.logs',
    '422 invalid_sql 1:16: there is no table postgres.logz',
    '422 invalid_sql 1:15: there is no table app.secret',
    '422 invalid_sql 1:15: there is no table app.secrets',
    '422 invalid_sql 1:15: there is no table app.level; did you mean app.levels?',
  ]);
});

test('a token bound to endpoints selects from these, and has no sources and no plans', async () => {
  const token = await tokenOf({ endpoints: ['app.secret'] });
  const texts = [
    'SELECT * FROM app.secret',
    'SELECT secret FROM app.secret',
    'SELECT id FROM `postgres.logs`',
    'SELECT id FROM app.levels',
    'SELECT id FROM app.secreta',
  ];
  deepEqual(await answers(texts, token), [
    '{"result":[{"secret_id":"p4"}]}',
    '422 invalid_sql 1:8: there is no column secret here',
    '422 invalid_sql 1:16: there is no table postgres.logs',
    '422 invalid_sql 1:16: there is no table app.levels',
    '422 invalid_sql 1:16: there is no table app.secreta; did you mean app.secret?',
  ]);
  const plan = await run('SELECT * FROM app.secret', '/api/query?explain=true', token);
  match(problem(plan), /^403 out_of_reach: the token .* is not for plans of queries/);
});

test('what comes into reach is there for the next query, and what changes has its new meaning', async () => {
  const text = async (): Promise<string> =>
    (await answers(['SELECT * FROM app.changed'], await admin()))[0]!;
  const put = async (query: string): Promise<void> => {
    const path = '/api/endpoints/11111111-2222-4333-8444-555555555559';
    const body = JSON.stringify({ name: 'app.changed', query });
    const { status, text: told } = await service.ask('PUT', path, body, { 'If-Match': '*' });
    ok(status === 200 || status === 201, told);
  };
  match(await text(), /there is no table app.changed/);
  const made = JSON.stringify({
    id: '11111111-2222-4333-8444-555555555559',
    name: 'app.changed',
    query: 'SELECT 1 AS one',
  });
  equal((await service.ask('POST', '/api/endpoints', made)).status, 201);
  equal(await text(), '{"result":[{"one":1}]}');
  await put('SELECT 2 AS two');
  equal(await text(), '{"result":[{"two":2}]}');
});

let adminToken: Headers | undefined;

/** One token, so that what was bound for it is found again. */
async function admin(): Promise<Headers> {
  adminToken ??= await tokenOf({});
  return adminToken;
}

test('who may only query or ingest may not run SQL', async () => {
  for (const scope of ['query', 'ingest'] as const) {
    const { token } = await makeToken(service, `only ${scope}`, { scopes: [scope] });
    const answer = await run('SELECT 1', '/api/query', { 'X-API-KEY': token });
    match(problem(answer), /^403 forbidden: this needs a token with the scope explore/);
  }
});

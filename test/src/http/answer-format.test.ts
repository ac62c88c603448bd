import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { acceptedFormat } from '../../../src/http/accepted-format.ts';
import { NOW, us } from '../../scripts/script.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const LOGS = `-- id: 11111111-2222-4333-8444-555555555555
-- name: app.logs
-- sandbox: enabled
-- max_rows: 100000
-- param: project string required
WITH entries AS (
  SELECT t.id, t.timestamp, t.event_message, t.project, t.metadata
  FROM \`gotrue.logs.prod\` AS t WHERE t.project = @project
)
SELECT e.id, e.timestamp, e.event_message, e.metadata FROM entries AS e ORDER BY e.timestamp
`;

const variant = (digit: string, name: string, header = ''): string =>
  LOGS.replace('11111111', digit.repeat(8)).replace('name: app.logs', `name: ${name}${header}`);

const FILES = {
  LOGS,
  KEPT: variant('2', 'app.kept', '\n-- cache: 60s'),
  /** Its own name has the extension of a format. */
  NAMED: variant('3', 'app.logs.csv').replace('SELECT e.id, e', "SELECT 'own' AS own, e"),
};

const CSV = 'text/csv; charset=utf-8; header=present';
const NDJSON = 'application/x-ndjson; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const PATH = '/api/endpoints/app.kept';

const TABLE = [
  'id,timestamp,event_message,metadata',
  '"a1",1768474860000000,"said ""no"", left","[{""level"":""info"",""n"":1}]"',
  '"a2",1768474920000000,"=1+1","[{""level"":""error"",""n"":null}]"',
  '',
].join('\r\n');

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-formats-'));
  for (const [name, text] of Object.entries(FILES)) {
    await writeFile(join(folder, `${name}.sql`), text);
  }
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder, CACHE_LIMIT: '64MiB' });
  const event = (id: string, minute: number, message: string, metadata: object) => ({
    id,
    project: 'alpha',
    timestamp: `2026-01-15T11:0${minute}:00Z`,
    event_message: message,
    metadata,
  });
  await service.post(
    'gotrue.logs.prod',
    [
      event('a1', 1, 'said "no", left', { level: 'info', n: 1 }),
      event('a2', 2, '=1+1', { level: 'error', n: null }),
    ],
    us(NOW),
  );
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Calls for a project with this `Accept` header. */
function call(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  project = 'alpha',
  method = 'GET',
) {
  return service.ask(method, `${path}?project=${project}`, undefined, headers);
}

test('Accept selects CSV or NDJSON, for kept answers and others', async () => {
  for (const path of ['/api/endpoints/app.logs', PATH, PATH]) {
    const csv = await call(path, { Accept: 'text/csv' });
    assert.deepEqual([csv.status, csv.text], [200, TABLE]);
    assert.equal(csv.headers['content-type'], CSV);
    assert.equal(csv.headers['content-length'], String(TABLE.length));
    assert.equal(csv.headers['vary'], 'Authorization, X-API-KEY, Accept');
    const json = await call(path);
    assert.equal(json.headers['content-type'], JSON_TYPE);
    assert.equal(json.headers['vary'], 'Authorization, X-API-KEY, Accept');
    const lines = await call(path, { Accept: 'application/x-ndjson' });
    assert.equal(lines.headers['content-type'], NDJSON);
    const rows = lines.text.trimEnd().split('\n');
    assert.equal(`{"result":[${rows.join(',')}]}`, json.text);
    assert.equal(lines.text.at(-1), '\n');
  }
});

test('the extension of the path selects the format and overrides Accept', async () => {
  const id = '22222222-2222-4333-8444-555555555555';
  for (const path of [PATH, `/api/endpoints/query/${id}`, `/endpoints/query/app.kept`]) {
    for (const [end, type] of [
      ['.csv', CSV],
      ['.ndjson', NDJSON],
      ['.json', JSON_TYPE],
    ]) {
      for (const Accept of ['*/*', 'text/csv', 'application/json;q=0']) {
        const answer = await call(`${path}${end}`, { Accept });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers['content-type'], type);
        assert.equal(answer.headers['vary'], 'Authorization, X-API-KEY');
      }
    }
  }
});

test('an endpoint whose own name has such an extension takes precedence', async () => {
  const answer = await call('/api/endpoints/app.logs.csv');
  assert.equal(answer.headers['content-type'], JSON_TYPE);
  assert.equal(JSON.parse(answer.text).result[0].own, 'own');
  const csv = await call('/api/endpoints/app.logs.csv.csv');
  assert.match(csv.text, /^own,timestamp,/);
  const none = await call('/api/endpoints/app.frob.csv');
  assert.equal(none.status, 404);
  assert.match(none.text, /there is no saved query \\"app\.frob\.csv\\"/);
});

test('an answer without rows has the header row', async () => {
  for (const path of ['/api/endpoints/app.logs.csv.csv', `${PATH}.csv`]) {
    const { text } = await call(path, {}, 'nobody');
    assert.match(text, /^(?:id|own),timestamp,event_message,metadata\r\n$/);
  }
  assert.equal((await call(`${PATH}.ndjson`, {}, 'nobody')).text, '');
});

test('a POST gets the format, too, and a caller’s SQL names the columns', async () => {
  const sql = "SELECT e.id, CONCAT(e.project, ',') AS p FROM entries AS e WHERE e.id = 'a2'";
  for (const path of ['/api/endpoints/app.logs', PATH]) {
    const body = JSON.stringify({ project: 'alpha', sql });
    const answer = await service.ask('POST', path, body, { Accept: 'text/csv' });
    assert.equal(answer.text, 'id,p\r\n"a2","alpha,"\r\n');
  }
});

test('each format has its own tag, gets 304 for it, and has headers for HEAD', async () => {
  for (const path of ['/api/endpoints/app.logs', PATH]) {
    const tags = new Set<string>();
    for (const Accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
      const answer = await call(path, { Accept });
      const etag = String(answer.headers['etag']);
      tags.add(etag);
      const head = await call(path, { Accept }, 'alpha', 'HEAD');
      assert.deepEqual([head.status, head.text], [200, '']);
      for (const name of ['etag', 'content-type', 'content-length', 'vary']) {
        assert.equal(head.headers[name], answer.headers[name], name);
      }
      const same = await call(path, { Accept, 'If-None-Match': etag });
      assert.deepEqual([same.status, same.text, same.headers['etag']], [304, '', etag]);
      assert.equal(same.headers['vary'], 'Authorization, X-API-KEY, Accept');
    }
    assert.equal(tags.size, 3);
    const other = await call(path, { Accept: 'text/csv', 'If-None-Match': [...tags][0]! });
    assert.equal(other.status, 200, 'the tag of JSON is not that of CSV');
  }
});

test('a failure is JSON in any format, and an unavailable format is refused before the query runs', async () => {
  const failed = await service.ask('GET', `${PATH}.csv`, undefined, { Accept: 'text/csv' });
  assert.equal(failed.status, 400);
  assert.equal(JSON.parse(failed.text).error.code, 'missing_parameter');
  assert.equal(failed.headers['vary'], 'Authorization, X-API-KEY, Accept');
  const none = await call(PATH, { Accept: 'application/json;q=0, text/html' });
  assert.equal(none.status, 406);
  const { code, message } = JSON.parse(none.text).error;
  assert.equal(code, 'not_acceptable');
  assert.match(message, /application\/json, text\/csv or application\/x-ndjson; got /);
});

test('Accept is weighed by weight, then by the more specific range, then JSON first', () => {
  for (const [accept, name] of [
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/problem+json', 'json'],
    ['text/plain', 'json'],
    ['text/csv', 'csv'],
    ['TEXT/CSV; header=absent', 'csv'],
    ['text/*', 'csv'],
    ['text/csv, */*;q=0.1', 'csv'],
    ['text/csv, application/json', 'json'],
    ['text/csv, application/json;q=0.9', 'csv'],
    ['text/csv;q=0.5, application/json;q=0.4, application/x-ndjson;q=0.6', 'ndjson'],
    ['application/ndjson', 'ndjson'],
    ['application/*', 'json'],
    ['application/*, application/json;q=0.1', 'ndjson'],
    ['application/json;q=0, */*', 'csv'],
    ['text/csv;q=0', 'json'],
  ] as const) {
    assert.equal(acceptedFormat(accept).name, name, accept);
  }
  for (const accept of ['application/json;q=0', '*/*;q=0', 'application/*;q=0, text/html']) {
    assert.throws(() => acceptedFormat(accept), { code: 'not_acceptable' });
  }
});

const MANY = 3_000;

/** Posts many events of one project. */
async function postMany(): Promise<void> {
  const events = Array.from({ length: MANY }, (_, index) => ({
    id: `m${String(index).padStart(5, '0')}`,
    project: 'many',
    timestamp: us(NOW) - MANY + index,
    event_message: 'x'.repeat(300),
    metadata: { index },
  }));
  await service.post('gotrue.logs.prod', events, us(NOW));
}

test('a long answer is sent in pieces, or whole and compressed if it is kept', async () => {
  await postMany();
  const run = await call('/api/endpoints/app.logs.csv.csv', {}, 'many');
  const isInPieces = run.headers['transfer-encoding'] === 'chunked';
  assert.deepEqual([run.headers['content-length'], isInPieces], [undefined, true]);
  assert.equal(parseCsv(run.text).length, MANY + 1);
  const head = await call('/api/endpoints/app.logs.csv.csv', {}, 'many', 'HEAD');
  assert.deepEqual([head.status, head.headers['etag']], [200, run.headers['etag']]);
  const plain = await call(`${PATH}.csv`, {}, 'many');
  assert.equal(plain.headers['content-length'], String(plain.text.length));
  assert.deepEqual(
    parseCsv(plain.text).map(([first]) => first!.text),
    ['id', ...Array.from({ length: MANY }, (_, index) => `m${String(index).padStart(5, '0')}`)],
  );
  for (const [encoding, open] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const) {
    const { body, headers } = await askBytes(`${PATH}.csv?project=many`, encoding);
    assert.equal(headers['content-encoding'], encoding);
    assert.equal(headers['vary'], 'Authorization, X-API-KEY, Accept-Encoding');
    assert.match(String(headers['cache-status']), /hit/);
    assert.match(String(headers['etag']), new RegExp(`-csv-${encoding}"$`));
    assert.equal(open(body).toString(), plain.text);
  }
});

async function askBytes(path: string, encoding: string) {
  const headers = { 'X-API-KEY': 'a-private-token', 'Accept-Encoding': encoding };
  const request = httpRequest(new URL(path, service.url), { headers, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { headers: response.headers, body: Buffer.concat(chunks) };
}

test('a caller that disconnects during a long answer leaves no memory in use', async () => {
  await postMany();
  const headers = { 'X-API-KEY': 'a-private-token' };
  for (let count = 0; count < 20; count++) {
    const path = '/api/endpoints/app.logs.csv.csv?project=many';
    const request = httpRequest(new URL(path, service.url), { headers, agent: false });
    request.end();
    const [response] = await once(request, 'response');
    response.destroy();
    await once(response, 'close');
  }
  assert.equal((await call(`${PATH}.csv`)).text, TABLE);
  assert.deepEqual(
    service.entries.map(({ event }) => event),
    ['started'],
  );
});

import { equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../scripts/script.ts';
import { ACCESS_TABLE, type AccessRow } from './access-table.ts';
import { GuardedService, tokenText } from './guarded-service.ts';

const NOW_US = us(NOW);

let service: GuardedService;

before(async () => {
  service = await GuardedService.start();
});

after(() => service.stop());

let count = 0;

/** A token that may do no more than this, made as whoever runs the service would. */
async function makeToken(order: object): Promise<string> {
  const { status, text } = await service.client.ask({
    method: 'POST',
    path: '/api/tokens',
    headers: { 'X-API-KEY': tokenText('all'), 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: `narrowed ${++count}`, ...order }),
  });
  equal(status, 201, text);
  return JSON.parse(text).result.token;
}

async function statusFor({ route, path, body, type }: AccessRow, token: string): Promise<number> {
  const headers = { 'X-API-KEY': token, 'Content-Type': type };
  const [method] = route.split(' ');
  return (await service.client.ask({ method: method!, path, headers, body })).status;
}

/** Every row of the table posts to this source, names it in its path, or means the default one. */
const OWN = ['postgres.logs', 'logs'];

test('a token bound to sources posts to them at every receiver, and to no others', async () => {
  const own = await makeToken({ scopes: ['ingest'], sources: OWN });
  const other = await makeToken({ scopes: ['ingest'], sources: ['gotrue.logs.prod'] });
  const rows = ACCESS_TABLE.filter(({ needs }) => needs === 'ingest');
  ok(rows.length > 30);
  for (const row of rows) {
    equal(await statusFor(row, own), row.status, row.route);
    equal(await statusFor(row, other), row.otherSourceStatus ?? 403, row.route);
  }
});

test('a token bound to endpoints calls them by every path, and no others', async () => {
  const own = await makeToken({ scopes: ['query'], endpoints: ['logs.all'] });
  const other = await makeToken({ scopes: ['query'], endpoints: ['usage.api-counts'] });
  const rows = ACCESS_TABLE.filter(
    ({ needs, route }) => needs === 'query' && route.includes('/endpoints/'),
  );
  equal(rows.length, 8);
  for (const row of rows) {
    equal(await statusFor(row, own), row.status, row.route);
    equal(await statusFor(row, other), 403, row.route);
  }
});

test('the API document shows a bound token its endpoints only', async () => {
  const token = await makeToken({ scopes: ['query', 'ingest'], endpoints: ['logs.all'] });
  const { text } = await service.client.ask({
    method: 'GET',
    path: '/api/openapi.json',
    headers: { 'X-API-KEY': token },
  });
  const { paths } = JSON.parse(text);
  ok('/api/endpoints/logs.all' in paths);
  ok(!('/api/endpoints/usage.api-counts' in paths));
});

/** What the events of each project say, in every part of them. */
const OWN_SECRET = 'own-7b2e';
const SECRET = 'other-1c9d';

/** Reads of a row's path for the other project, in the ways that a caller might try. */
const PARAMETERS_TRIED = ['project=other', 'project=other&project_tier=PRO', 'q=1c9d', ''];

/** Calls that read events, with what they need. A token that is not bound gets the other project's by each. */
const READS: readonly (readonly [name: string, path: string, body?: string])[] = [
  ['a saved query', '/api/endpoints/logs.all?project=other&project_tier=PRO'],
  ['SQL', '/api/query', 'SELECT * FROM `cloudflare.logs.prod`'],
  [
    'a count by project',
    '/api/query',
    'SELECT project, COUNT(*) AS n FROM `cloudflare.logs.prod` GROUP BY 1',
  ],
  ['Explore', '/api/explore', '{"source":"cloudflare.logs.prod","project":"other"}'],
  ['Explore without a project', '/api/explore', '{"source":"cloudflare.logs.prod"}'],
  ['bars by project', '/api/explore', '{"source":"cloudflare.logs.prod","by":"project"}'],
  ['a search', '/api/explore', '{"source":"cloudflare.logs.prod","search":"1c9d"}'],
  ['fields', '/api/sources/cloudflare.logs.prod/fields'],
  ['fields of a project', '/api/sources/cloudflare.logs.prod/fields?project=other'],
];

async function read(
  token: string,
  [, path, body]: (typeof READS)[number],
): Promise<{ readonly status: number; readonly text: string }> {
  const type = body?.startsWith('{') === true ? 'application/json' : 'application/sql';
  const headers = { 'X-API-KEY': token, ...(body !== undefined && { 'Content-Type': type }) };
  return await service.client.ask({
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers,
    body,
  });
}

async function postSecrets(): Promise<void> {
  const event = (project: string, said: string) => ({
    ...{ timestamp: NOW_US - 60_000_000, project, id: `id-${said}`, event_message: `GET ${said}` },
    metadata: { [`key-${said}`]: said, request: { url: `https://${said}/`, method: said } },
  });
  const events = [event('other', SECRET), event('own', OWN_SECRET)];
  for (const source of ['cloudflare.logs.prod', 'postgres.logs', 'logs']) {
    const { status, text } = await service.client.ask({
      method: 'POST',
      path: `/api/logs?source_name=${source}`,
      headers: { 'X-API-KEY': tokenText('all'), 'Content-Type': 'application/json' },
      body: JSON.stringify(events),
    });
    equal(status, 200, text);
  }
}

test('a token bound to a project reads its events by every call, and none of another', async () => {
  await postSecrets();
  const scopes = ['query', 'explore'];
  const [bound, free] = [
    await makeToken({ scopes, projects: ['own'] }),
    await makeToken({ scopes }),
  ];
  for (const call of READS) {
    const [name] = call;
    const [all, own] = [await read(free, call), await read(bound, call)];
    ok(all.text.includes('other'), `${name} finds the events without a bound: ${all.text}`);
    ok(!own.text.includes(SECRET), `${name}: ${own.text}`);
    ok(own.status === 200 || own.status === 403, `${name}: ${own.status} ${own.text}`);
  }
});

test('no answer of any route has anything of another project for a bound token', async () => {
  await postSecrets();
  const scopes = ['ingest', 'query', 'explore'];
  const token = await makeToken({ scopes, projects: ['own'] });
  // A tail does not end.
  for (const row of ACCESS_TABLE.filter(({ route }) => !route.endsWith('/tail'))) {
    for (const parameters of PARAMETERS_TRIED) {
      const [path] = row.path.split('?');
      const [method] = row.route.split(' ');
      const tried = { method: method!, path: `${path}?${parameters}`, body: row.body };
      const headers = { 'X-API-KEY': token, 'Content-Type': row.type };
      const { text } = await service.client.ask({ ...tried, headers });
      ok(!text.includes(SECRET), `${row.route} ${parameters}: ${text}`);
    }
  }
});

test('a token bound to a project follows its events alone', async () => {
  await postSecrets();
  const token = await makeToken({ scopes: ['query'], projects: ['own'] });
  for (const parameters of ['last=10', 'last=10&project=other', 'last=10&search=1c9d']) {
    const followed = new AbortController();
    const response = await fetch(`${service.url}/api/sources/logs/tail?${parameters}`, {
      headers: { 'X-API-KEY': token },
      signal: followed.signal,
    });
    const isOwn = parameters === 'last=10';
    // The other project's event was there before: it would have come by then.
    const text = await readUntil(response, isOwn ? OWN_SECRET : ':');
    ok(!text.includes(SECRET), `${parameters}: ${text}`);
    ok(!isOwn || text.includes(OWN_SECRET), `${parameters}: ${text}`);
    followed.abort();
  }
});

/** What comes up to a text, or to the end. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  let text = '';
  for await (const bytes of response.body!) {
    text += Buffer.from(bytes as Uint8Array).toString();
    if (text.includes(wanted)) break;
  }
  return text;
}

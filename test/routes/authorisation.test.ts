import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { METHODS } from '../../src/http/route.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { fakeDefinitions, withApp } from '../src/harness.ts';
import { budgetOf } from '../support/budget.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { ACCESS_TABLE, type AccessRow } from './access-table.ts';
import { GuardedService, TOKEN_SCOPES, tokenText } from './guarded-service.ts';

let service: GuardedService;
let container: GuardedService;

before(async () => {
  service = await GuardedService.start();
  container = await GuardedService.start({ PROFILE: 'supabase' });
});

after(async () => {
  await service.stop();
  await container.stop();
});

function rowsByPath(): readonly (readonly AccessRow[])[] {
  const byPath = new Map<string, AccessRow[]>();
  for (const row of ACCESS_TABLE) {
    const path = row.path.replace(/\?.*/, '');
    byPath.set(path, [...(byPath.get(path) ?? []), row]);
  }
  return [...byPath.values()];
}

/** Who asks: nobody, somebody with a wrong token, or the bearer of one with these scopes. */
type Asker = { readonly name: string; readonly token: string | undefined };

const ASKERS: readonly Asker[] = [
  { name: 'nobody', token: undefined },
  { name: 'a wrong token', token: 'wrong' },
  { name: 'a right token and a letter', token: `${tokenText('all')}x` },
  ...Object.keys(TOKEN_SCOPES).map((name) => ({ name, token: tokenText(name) })),
];

/** What an asker is answered, by the table alone. */
function statusOf(
  { needs, status, wrongTokenStatus = 401, noTokenStatus = 401 }: AccessRow,
  { name, token }: Asker,
): number {
  const given = TOKEN_SCOPES[name];
  const scopes = given?.includes('manage') ? [...given, 'explore'] : given;
  if (needs === 'nothing') return status;
  if (token === undefined) return needs === 'no wrong token' ? status : noTokenStatus;
  if (scopes === undefined) return wrongTokenStatus;
  if (needs === 'any token' || needs === 'no wrong token' || scopes.includes(needs)) return status;
  return 403;
}

/** The profile `supabase` has one word for what may not be and what is not there. */
function statusInContainer(status: number, { hasOwnWords }: AccessRow): number {
  return status === 403 && hasOwnWords !== true ? 401 : status;
}

async function askAs(
  of: GuardedService,
  row: AccessRow,
  headers: Readonly<Record<string, string | undefined>>,
  query = '',
): Promise<HttpAnswer> {
  const [method] = row.route.split(' ');
  const sign = row.path.includes('?') ? '&' : '?';
  return await of.client.ask({
    method: method!,
    path: query === '' ? row.path : `${row.path}${sign}${query}`,
    headers: { 'Content-Type': row.type, ...headers },
    body: row.body,
  });
}

/** What every answer says, whoever asked for what. */
function checkHeaders({ status, headers }: HttpAnswer, what: string): void {
  equal(headers['x-content-type-options'], 'nosniff', what);
  equal(headers['access-control-allow-origin'], '*', what);
  equal(headers['access-control-allow-credentials'], undefined, what);
  match(String(headers['access-control-expose-headers']), /X-Request-Id/, what);
  match(String(headers['x-request-id']), /^[\w.:+/=-]+$/, what);
  equal(headers['x-powered-by'], undefined, what);
  equal(headers['www-authenticate'] !== undefined, status === 401, what);
  if (status < 300 && headers.allow !== undefined) return;
  match(String(headers['cache-control']), /^(?:no-store|private, (?:no-cache|max-age=\d+))$/, what);
}

test('every route is in the table with each of its meanings, and nothing else is', async () => {
  const metrics = new Metrics({
    version: '1',
    hasEndpoint: () => true,
    read: () => {
      throw new Error('nobody asks for numbers');
    },
  });
  await withApp({ metrics, definitions: await fakeDefinitions() }, async ({ routes }) => {
    const served = routes.flatMap(({ path, operations }) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    );
    const rows = ACCESS_TABLE.filter(({ isByName }) => isByName !== true);
    deepEqual(rows.map(({ route }) => route).sort(), served.sort());
  });
  metrics.close();
});

/** Each asker tries the other methods of one path in so many; the next asker of the next paths. */
const PATH_STEP = budgetOf('WEIR_METHOD_PATH_STEP', { fast: 4, all: 1 });

for (const [number, asker] of ASKERS.entries()) {
  test(`${asker.name}: every route answers as the table says, in both profiles`, async () => {
    for (const row of ACCESS_TABLE) {
      const what = `${row.route} of ${asker.name}`;
      const wanted = statusOf(row, asker);
      const answer = await askAs(service, row, { 'X-API-KEY': asker.token });
      equal(answer.status, wanted, `${what}: ${answer.text}`);
      checkHeaders(answer, what);
      const told = await askAs(container, row, { 'X-API-KEY': asker.token });
      equal(told.status, statusInContainer(wanted, row), `${what}: ${told.text}`);
      checkHeaders(told, what);
    }
  });

  test(`${asker.name}: HEAD is answered as GET, OPTIONS always, and other methods with 405`, async () => {
    const asked = [...rowsByPath()].filter((_, index) => (index + number) % PATH_STEP === 0);
    for (const rows of asked) {
      const taken = rows.map(({ route }) => route.split(' ')[0]!);
      const [row] = rows;
      if (row!.isElsewhereNothing === true) continue;
      const headers = { 'X-API-KEY': asker.token };
      const options = await askAs(service, { ...row!, route: 'OPTIONS' }, headers);
      equal(options.status, row!.optionsStatus ?? 204, row!.path);
      checkHeaders(options, row!.path);
      for (const method of METHODS) {
        if (taken.includes(method)) continue;
        const get = rows.find(({ route }) => route.startsWith('GET'));
        const isHead = method === 'HEAD' && get !== undefined;
        const answer = await askAs(service, { ...row!, route: method }, headers);
        const what = `${method} ${row!.path} of ${asker.name}`;
        equal(answer.status, isHead ? statusOf(get, asker) : 405, what);
        equal(answer.headers.allow !== undefined, !isHead, what);
        checkHeaders(answer, what);
      }
    }
  });
}

test('a token is accepted where the table says, and not elsewhere', async () => {
  const token = tokenText('all');
  const basic = `Basic ${Buffer.from(`anyone:${token}`).toString('base64')}`;
  for (const row of ACCESS_TABLE.filter(({ needs }) => !needs.startsWith('no'))) {
    const { route, status, tokenIn, noTokenStatus = 401 } = row;
    const inUrl = tokenIn === 'headers' ? 401 : status;
    const asPassword = tokenIn === 'password' ? status : 401;
    const bearer = await askAs(service, row, { Authorization: `Bearer ${token}` });
    const url = await askAs(service, row, {}, `api_key=${token}`);
    const password = await askAs(service, row, { Authorization: basic });
    const cookie = await askAs(service, row, { Cookie: `token=${token}; api_key=${token}` });
    deepEqual(
      [bearer.status, url.status, password.status, cookie.status],
      [status, inUrl, asPassword, noTokenStatus],
      route,
    );
  }
});

test('a refused request has no effect', async () => {
  const before = await rowCounts();
  const posts = ACCESS_TABLE.filter(({ needs }) => needs === 'ingest');
  ok(posts.length > 30);
  for (const row of posts) {
    for (const { name, token } of ASKERS) {
      if (TOKEN_SCOPES[name]?.includes('ingest')) continue;
      await askAs(service, row, { 'X-API-KEY': token });
    }
  }
  deepEqual(await rowCounts(), before);
});

async function rowCounts(): Promise<unknown> {
  const headers = { 'X-API-KEY': tokenText('all') };
  const { text } = await service.client.ask({ method: 'GET', path: '/api/sources', headers });
  return JSON.parse(text);
}

test('no token is ever in the log', () => {
  ok(!JSON.stringify([...service.entries, ...container.entries]).includes('secret-'));
});

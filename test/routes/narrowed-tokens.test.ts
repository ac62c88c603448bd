import { equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ACCESS_TABLE, type AccessRow } from './access-table.ts';
import { GuardedService, tokenText } from './guarded-service.ts';

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

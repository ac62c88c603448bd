import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { makeToken } from '../../support/granted.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const NOW_US = us(NOW);

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start();
  const event = (id: string, project: string, status: number) => ({
    ...{ id, project, timestamp: NOW_US - 1_000_000, event_message: `GET /${id}` },
    metadata: { response: { status_code: status }, request: { 'odd key': id } },
  });
  await service.post(
    'cloudflare.logs.prod',
    [event('a', 'alpha', 200), event('b', 'beta', 500), event('c', 'alpha', 200)],
    NOW_US,
  );
});

after(() => service.stop());

async function explore(body: unknown, token?: string) {
  const headers = token === undefined ? {} : { 'X-API-KEY': token };
  const answer = await service.ask('POST', '/api/explore', JSON.stringify(body), headers);
  const lines = answer.status === 200 ? answer.text.trimEnd().split('\n') : [];
  return { ...answer, lines: lines.map((line) => JSON.parse(line)) };
}

function idsOf({ lines }: Awaited<ReturnType<typeof explore>>): string[] {
  return lines.find(({ type }) => type === 'rows').rows.map(({ id }: { id: string }) => id);
}

const SOURCE = { source: 'cloudflare.logs.prod' };

test('rows and bars are sent as lines of JSON', async () => {
  const answer = await explore({ ...SOURCE, search: 'status_code:200', by: 'status_code' });
  equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8');
  deepEqual(idsOf(answer), ['c', 'a']);
  const [bar] = answer.lines.flatMap(({ buckets = [] }) => buckets);
  deepEqual([bar.series, bar.count], ['200', 2]);
  equal(answer.lines.at(-1).type, 'end');
});

test('the texts that are shown give the same by POST /api/query', async () => {
  const { lines } = await explore({
    ...SOURCE,
    project: 'alpha',
    search: '-/^POST/',
    where: 'TRUE',
  });
  const [{ list_sql: sql }] = lines;
  const answer = await service.ask('POST', '/api/query', JSON.stringify({ sql }));
  deepEqual(JSON.parse(answer.text).result, lines[1].rows);
});

test('a token that is bound to a project explores its events alone', async () => {
  const order = { scopes: ['explore'], projects: ['alpha'] } as const;
  const { token } = await makeToken(service, 'alpha', order);
  deepEqual(idsOf(await explore(SOURCE, token)), ['c', 'a']);
  const other = await explore({ ...SOURCE, project: 'beta' }, token);
  deepEqual([other.status, JSON.parse(other.text).error.code], [403, 'out_of_reach']);
  const fields = await service.ask('GET', '/api/sources/cloudflare.logs.prod/fields', undefined, {
    'X-API-KEY': token,
  });
  const { events, fields: found } = JSON.parse(fields.text);
  equal(events, 2);
  deepEqual(
    found.map(({ path, events: count, top }: Record<string, unknown>) => [path, count, top]).sort(),
    [
      [
        'metadata.request.`odd key`',
        2,
        [
          { value: 'a', count: 1 },
          { value: 'c', count: 1 },
        ],
      ],
      ['metadata.response.status_code', 2, [{ value: 200, count: 2 }]],
    ],
  );
  // A field that only others have is as good as not there.
  const hidden = await explore({ ...SOURCE, search: 'nothing:1' }, token);
  match(hidden.text, /no event of the window has a field/);
});

test('tokens for endpoints, other sources and other scopes explore nothing', async () => {
  const orders = [
    { scopes: ['query', 'explore'], endpoints: ['logs.all'] },
    { scopes: ['explore'], sources: ['postgres.logs'] },
    { scopes: ['query'] },
  ] as const;
  for (const [index, order] of orders.entries()) {
    const { token } = await makeToken(service, `bound ${index}`, order);
    equal((await explore(SOURCE, token)).status, 403);
    const headers = { 'X-API-KEY': token };
    const path = '/api/sources/cloudflare.logs.prod/fields';
    equal((await service.ask('GET', path, undefined, headers)).status, 403);
  }
});

test('what is wrong with a request is told with its place', async () => {
  const wrong = await explore({ ...SOURCE, search: 'a  none:1' });
  const { error } = JSON.parse(wrong.text);
  deepEqual([wrong.status, error.code, error.column], [400, 'invalid_parameter', 4]);
  const where = await explore({ ...SOURCE, where: 'TRUE) OR (TRUE' });
  deepEqual([where.status, JSON.parse(where.text).error.code], [422, 'invalid_sql']);
  equal((await explore({ source: 'none' })).status, 404);
});

test('a query that fails amid the lines is told by a line', async () => {
  const { lines } = await explore({ ...SOURCE, where: '1 / (LENGTH(t.id) - 1) > 0' });
  deepEqual(
    lines.map(({ type }) => type),
    ['query', 'error'],
  );
  equal(lines[1].error.code, 'query_failed');
});

import { deepEqual, equal, match } from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { fileOf, idOf, ServiceWithDefinitions } from './service-with-definitions.ts';

const NOON = '2026-01-15T11:59:00Z';

let service: ServiceWithDefinitions;

before(async () => {
  service = await ServiceWithDefinitions.begin({ environment: { SOURCES: 'shop.orders' } });
  await service.post(
    'shop.orders',
    ['a', 'a', 'b'].map((project, index) => ({
      ...{ project, timestamp: NOON, event_message: `order ${index}` },
      metadata: { price: 10 * (index + 1) },
    })),
  );
});

afterEach(() => service.clear());

after(() => service.end());

const ORDERS = {
  name: 'shop.recent',
  parameters: [
    { name: 'project', type: 'string', required: true },
    { name: 'least', type: 'int64', default: '0' },
  ],
  max_rows: 1,
  query: `SELECT o.event_message AS text, m.price FROM \`shop.orders\` AS o
CROSS JOIN UNNEST(o.metadata) AS m WHERE o.project = @project AND m.price >= @least`,
};

/** Puts definitions under the ids of their positions, from the last to the first. */
async function putAll(...bodies: readonly object[]): Promise<void> {
  for (const [index, body] of [...bodies.entries()].reverse()) {
    const { status, text } = await service.send('PUT', idOf(index), body);
    equal(status, 201, text);
  }
}

test('a definition that selects from another also has its parameters', async () => {
  await putAll({ name: 'shop.sum', query: 'SELECT SUM(price) AS sum FROM `shop.recent`' }, ORDERS);
  deepEqual(await service.call('shop.sum', '?project=a'), [{ sum: 30 }], 'max_rows is not its');
  deepEqual(await service.call('shop.sum', '?project=a&least=15'), [{ sum: 20 }]);
  match(JSON.stringify(await service.call('shop.sum')), /missing_parameter.*project must be/);
  const { json } = await service.ask({ path: `/api/endpoints/${idOf(0)}` });
  deepEqual(json.result.parameters, []);
  deepEqual(json.result.selects_from, ['shop.recent']);
  deepEqual(
    json.result.inherited_parameters.map(({ name }: { name: string }) => name),
    ['project', 'least'],
  );
  await service.restart();
  deepEqual(await service.call('shop.sum', '?project=b'), [{ sum: 30 }]);
});

test('a declaration of the outer definition takes precedence if the types agree', async () => {
  const outer = {
    name: 'shop.sum',
    parameters: [{ name: 'Project', type: 'string', default: 'a' }],
    query: 'SELECT SUM(price) AS sum FROM shop.recent',
  };
  await putAll(outer, ORDERS);
  deepEqual(await service.call('shop.sum'), [{ sum: 30 }]);
  const other = { ...outer, parameters: [{ name: 'project', type: 'int64', default: '1' }] };
  const { status, json } = await service.send('PUT', idOf(0), other, { 'If-Match': '*' });
  equal(status, 422);
  match(json.error.message, /parameter @project must have one type; it is INT64 here and STRING/);
});

test('parameters declared differently by two must be declared by the one that selects from both', async () => {
  const [one, two] = ['1', '2'].map((given) => ({
    name: `n${given}`,
    parameters: [{ name: 'n', type: 'int64', default: given }],
    query: 'SELECT @n AS n',
  }));
  await putAll({ name: 'empty', query: 'SELECT 1 AS x' }, one!, two!);
  const query = 'SELECT n1.n + n2.n AS n FROM n1, n2';
  const refused = await service.send('PUT', idOf(5), { name: 'both', query });
  deepEqual([refused.status, refused.json.error.code], [400, 'invalid_definition']);
  match(
    refused.json.error.message,
    /parameter n is declared in one way by n1 and in another by n2/,
  );
  const parameters = [{ name: 'n', type: 'int64', default: '5' }];
  await service.send('PUT', idOf(5), { name: 'both', query, parameters });
  deepEqual(await service.call('both'), [{ n: 10 }]);
});

test('a change reaches all definitions that select from it, and drops their kept answers', async () => {
  const cache = '900s';
  await putAll(
    { name: 'top', cache, query: 'SELECT y FROM middle' },
    { name: 'middle', cache, query: 'SELECT x + 1 AS y FROM base' },
    { name: 'base', query: 'SELECT 1 AS x' },
  );
  deepEqual(await service.call('top'), [{ y: 2 }]);
  await service.send('PATCH', idOf(2), { query: 'SELECT 10 AS x' }, { 'If-Match': '*' });
  deepEqual(await service.call('top'), [{ y: 11 }]);
  deepEqual(await service.call('middle'), [{ y: 11 }]);
});

test('a change that would break another definition is refused and has no effect', async () => {
  await putAll(
    { name: 'top', query: 'SELECT x FROM base' },
    { name: 'also', query: 'SELECT x FROM ground' },
    { name: 'base', alias: ['ground'], query: 'SELECT 1 AS x' },
  );
  for (const [method, body, reason] of [
    [
      'DELETE',
      undefined,
      /would stop working: also: there is no table ground; top: there is no table base/,
    ],
    ['PATCH', { query: 'SELECT 1 AS y' }, /also: there is no column x.*; top: /],
    ['PATCH', { alias: [] }, /working: also: there is no table ground$/],
    ['PATCH', { name: 'new' }, /working: top: there is no table base/],
  ] as const) {
    const { status, json } = await service.send(method, idOf(2), body, { 'If-Match': '*' });
    deepEqual([status, json.error.code], [409, 'definition_in_use'], JSON.stringify(json));
    match(json.error.message, reason);
  }
  deepEqual(await service.call('top'), [{ x: 1 }]);
  equal((await service.ask({ path: `/api/endpoints/${idOf(2)}` })).json.result.version, 1);
});

test('a cycle of definitions is refused with its path', async () => {
  await putAll(
    { name: 'a', query: 'SELECT x FROM b' },
    { name: 'b', query: 'SELECT x FROM c' },
    { name: 'c', query: 'SELECT 1 AS x' },
  );
  const body = { query: 'SELECT x FROM a' };
  const { status, json } = await service.send('PATCH', idOf(2), body, { 'If-Match': '*' });
  equal(status, 422, JSON.stringify(json));
  match(json.error.message, /c selects from itself: c → a → b → c$/);
  const self = await service.send('POST', '', { name: 'self', query: 'SELECT x FROM self' });
  match(self.json.error.message, /self selects from itself: self → self/);
});

test('a definition may have the name of a source that no definition selects from', async () => {
  await putAll({ name: 'uses', query: 'SELECT id FROM `shop.orders`' });
  const shadow = { name: 'shop.orders', query: "SELECT 'mine' AS id" };
  const refused = await service.send('POST', '', shadow);
  deepEqual([refused.status, refused.json.error.code], [409, 'definition_in_use']);
  match(refused.json.error.message, /uses: shop\.orders is both a source and a saved query/);
  await service.send('DELETE', idOf(0), undefined, { 'If-Match': '*' });
  equal((await service.send('POST', '', shadow)).status, 201);
  deepEqual(await service.call('shop.orders'), [{ id: 'mine' }]);
});

test('an error of a run names the definition it is in', async () => {
  await putAll(
    { name: 'outer.one', query: 'SELECT n FROM `inner.one`' },
    {
      name: 'inner.one',
      parameters: [{ name: 'text', type: 'string' }],
      query: 'SELECT\n  CAST(@text AS INT64) AS n',
    },
  );
  deepEqual(await service.call('outer.one', '?text=5'), [{ n: 5 }]);
  const failed = JSON.stringify(await service.call('outer.one', '?text=x'));
  match(failed, /query_failed.*in inner\.one, line 2, column 3: /);
});

test('callers’ SQL reaches other definitions only through the tables of the sandbox', async () => {
  const query = 'WITH entries AS (SELECT * FROM shop.recent) SELECT text FROM entries';
  await putAll({ name: 'shop.open', sandbox: 'enabled', query }, ORDERS);
  const call = (sql: string) =>
    service.call('shop.open', `?project=a&sql=${encodeURIComponent(sql)}`);
  deepEqual(await call('SELECT SUM(price) AS sum FROM entries WHERE @least = 0'), [{ sum: 30 }]);
  match(
    JSON.stringify(await call('SELECT text FROM `shop.recent`')),
    /there is no table shop\.recent here/,
  );
  await service.send(
    'PATCH',
    idOf(1),
    { query: `${ORDERS.query} AND m.price < 20` },
    { 'If-Match': '*' },
  );
  deepEqual(await call('SELECT SUM(price) AS sum FROM entries WHERE @least = 0'), [{ sum: 10 }]);
});

test('errors in a SQL file that selects from another definition have positions in that file', async () => {
  await putAll({ name: 'base', query: 'SELECT 1 AS x' });
  const file = fileOf(1, 'top', 'SELECT x\nFROM bose');
  const { json } = await service.send('POST', '', file);
  deepEqual([json.error.line, json.error.column], [5, 6]);
  match(json.error.message, /there is no table bose; did you mean base\?/);
});

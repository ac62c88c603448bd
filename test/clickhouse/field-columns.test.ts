// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ClickHouseClient } from '@clickhouse/client';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { FieldColumns } from '../../src/clickhouse/fields/field-columns.ts';
import { ONE_SERVER } from '../../src/clickhouse/table-layout.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { DATABASE } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse, until } from './service-on-clickhouse.ts';

const SOURCE = 'postgres.logs';
const NAME = 'requests.by-path';
const QUERY = `SELECT r.path, SUM(r.size + 0) AS bytes FROM \`${SOURCE}\` t
  CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r
  WHERE LOWER(m.host) = 'a' GROUP BY r.path ORDER BY r.path`;

const EVENTS = [
  { host: 'a', request: { path: '/x', size: 3 } },
  {
    host: 'a',
    request: [
      { path: '/x', size: 4 },
      { Path: '/y', size: '5' },
    ],
  },
  { host: 'b', request: { path: '/x', size: 1 } },
  [{ HOST: 'A', request: { path: 7, size: 2.5 } }, { host: 'a' }],
].map((metadata) => ({ timestamp: Date.now(), event_message: 'm', metadata }));

const ROWS = [
  { path: 7, bytes: 2.5 },
  { path: '/x', bytes: 7 },
  { path: '/y', bytes: null },
];

suite('columns of the fields that saved queries read', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let service: ServiceOnClickHouse;

  before(async () => {
    chdb = ChdbUnderTest.start();
    chdb.run(`DROP DATABASE IF EXISTS ${DATABASE}`);
    chdb.run(`CREATE DATABASE ${DATABASE}`);
    chdb.run(`USE ${DATABASE}`);
    door = await HttpDoor.open(chdb);
    service = await ServiceOnClickHouse.start({ url: door.url });
  });

  after(async () => {
    await service?.stopForGood();
    await door?.close();
    await chdb?.close();
  });

  function columnsOf(source: string): readonly string[] {
    const rows = chdb.rows<[string]>(
      `SELECT name FROM system.columns WHERE table = 'events' AND endsWith(comment, 'of ${source}')`,
    );
    return rows.map(([name]) => name);
  }

  /** The rows of the saved query, and whether its statement reads columns of fields. */
  async function called(): Promise<{ readonly rows: unknown; readonly hasColumns: boolean }> {
    const { status, text } = await service.ask('GET', `/api/endpoints/query/${NAME}`);
    equal(status, 200, text);
    const { result } = JSON.parse(text) as { readonly result: unknown };
    return { rows: result, hasColumns: / field_/.test(door.statements.at(-1) ?? '') };
  }

  test('a query is answered before they are there and after', async () => {
    await service.post(SOURCE, EVENTS);
    await service.shipped();
    await until(() => columnsOf('deno-relay-logs').length > 3);
    const body = JSON.stringify({ name: NAME, query: QUERY, cache: 'disabled' });
    const { status, text } = await service.ask('POST', '/api/endpoints', { body });
    equal(status, 201, text);
    deepEqual(await called(), { rows: ROWS, hasColumns: false });
    await until(() => columnsOf(SOURCE).length === 3);
    await until(async () => (await called()).hasColumns);
    deepEqual(await called(), { rows: ROWS, hasColumns: true });
    match(columnsOf(SOURCE).join(' '), /field_metadata_request_size_number_\w{12}\b/);
  });

  test('one that somebody drops fails no call, and comes back', async () => {
    for (const name of columnsOf(SOURCE)) chdb.run(`ALTER TABLE events DROP COLUMN ${name}`);
    deepEqual(await called(), { rows: ROWS, hasColumns: false });
    await until(async () => (await called()).hasColumns);
    deepEqual((await called()).rows, ROWS);
  });
});

/** A table without columns of fields, whose changes may be refused. */
class RefusingTable {
  isRefusing = true;
  readonly changes: string[] = [];

  readonly client = {
    query: async () => ({ json: async () => [{ engine: 'MergeTree', names: [] }] }),
    command: async ({ query }: { readonly query: string }) => {
      this.changes.push(query);
      if (this.isRefusing) throw new Error('refused');
    },
    close: async () => {},
  } as unknown as ClickHouseClient;
}

test('a change that ClickHouse refuses is reported once, and tried again after longer and longer', async () => {
  const sources = [{ name: 'logs', projectPath: ['project'] }];
  const query = prepareQuery('SELECT COUNT(*) AS n FROM logs t WHERE t.level = "x"', {
    ...{ sources, parameters: [] },
  });
  const table = new RefusingTable();
  const failures: unknown[] = [];
  const columns = new FieldColumns({
    ...{ client: table.client, makeTable: async () => ONE_SERVER, sources },
    onFailure: (error) => failures.push(error),
  });
  const path = { source: 'logs', steps: [{ field: 'level' }], read: 'STRING' } as const;
  columns.follow({ version: 1, list: () => [{ query }] });
  const tick = async (count: number) => {
    for (; count > 0; count--) {
      columns.tick();
      await columns.settled();
    }
  };
  await tick(9);
  equal(table.changes.length, 0, 'a start has other work to do');
  await tick(1);
  deepEqual([table.changes.length, failures.length], [1, 1]);
  await tick(6);
  deepEqual([table.changes.length, failures.length], [3, 1]);
  equal(columns.find(path), undefined);
  table.isRefusing = false;
  await tick(8);
  equal(table.changes.length, 4);
  match(columns.find(path) ?? '', /^field_level_string_\w{12}$/);
  match(table.changes[0] ?? '', /ADD COLUMN IF NOT EXISTS field_level_string_/);
  await columns.close();
});

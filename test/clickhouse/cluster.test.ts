// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import { ChdbUnderTest, CLUSTER, missingChdb } from './chdb.ts';
import { connectionTo, DATABASE } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse, until } from './service-on-clickhouse.ts';

const SOURCE = 'cloudflare.logs.prod';
const ENVIRONMENT = { CLICKHOUSE_CLUSTER: CLUSTER };

/** Each is about what runs on a cluster of several servers only, and becomes what one server runs in its place. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [new RegExp(` ON CLUSTER ${CLUSTER}`, 'g'), ''],
  [/Replicated(MergeTree)\('[^']+', '\{replica\}'\)/g, '$1'],
  [
    /(replicated_deduplication_window = \d+), replicated_deduplication_window_seconds = \d+/g,
    'non_$1',
  ],
];

/**
 * The tables of a cluster. This process is its only server: what a statement asks of the others is taken out, and the number
 * of shards is what the test says. That rows are on several servers cannot be had here.
 */
suite('a cluster of several shards', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let shardCount: number;

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
    door.translate = (sql) =>
      sql.includes('system.clusters')
        ? `SELECT ${shardCount} AS count`
        : REPLACED.reduce((text, [part, other]) => text.replace(part, other), sql);
  });

  after(async () => {
    await door?.close();
    await chdb?.close();
  });

  beforeEach(() => {
    shardCount = 2;
    chdb.run(`DROP DATABASE IF EXISTS ${DATABASE}`);
    chdb.run(`CREATE DATABASE ${DATABASE}`);
    chdb.run(`USE ${DATABASE}`);
    door.statements.length = 0;
  });

  async function withService(run: (service: ServiceOnClickHouse) => Promise<void>): Promise<void> {
    const service = await ServiceOnClickHouse.start({ url: door.url, environment: ENVIRONMENT });
    try {
      await run(service);
    } finally {
      await service.stopForGood();
    }
  }

  async function make(): Promise<void> {
    const table = new ClickHouseTable({ ...connectionTo(door.url), made: { cluster: CLUSTER } });
    try {
      await table.make();
    } finally {
      await table.close();
    }
  }

  /** Name, engine and version of each table. */
  const tables = () =>
    chdb.rows<[string, string, string]>(
      `SELECT name, engine, comment FROM system.tables WHERE database = '${DATABASE}' ORDER BY name`,
    );

  const changes = () => door.statements.filter((sql) => /^\s*(?:CREATE|ALTER)/.test(sql));

  const columnsOf = (table: string) =>
    chdb
      .rows<[string]>(
        `SELECT name FROM system.columns WHERE database = '${DATABASE}' AND table = '${table}' ORDER BY name`,
      )
      .map(([name]) => name);

  const indexes = () =>
    chdb
      .rows<[string]>(
        `SELECT name FROM system.data_skipping_indices WHERE database = '${DATABASE}' AND table = 'events_of_shard' ORDER BY name`,
      )
      .map(([name]) => name);

  test('each shard has a replicated table, and a table over all shards has the name', async () => {
    await make();
    deepEqual(tables(), [
      ['arrivals', 'Distributed', 'weir: arrivals_of_shard of all shards'],
      ['arrivals_of_shard', 'MergeTree', ''],
      ['events', 'Distributed', 'weir: events_of_shard of all shards'],
      ['events_of_shard', 'MergeTree', 'weir: version 2'],
    ]);
    const made = changes();
    equal(made.length, 4);
    for (const sql of made) match(sql, new RegExp(` ON CLUSTER ${CLUSTER}\\b`));
    match(made[0]!, /ENGINE = ReplicatedMergeTree\('.*\{shard\}', '\{replica\}'\)/);
    match(
      made[1]!,
      /ENGINE = Distributed\(of_one_shard, currentDatabase\(\), events_of_shard, cityHash64\(project\)\)/,
    );
    door.statements.length = 0;
    await make();
    deepEqual(
      door.statements.length,
      1,
      'what is there is not made again, and no shards are counted',
    );
  });

  test('one shard has replicated tables alone', async () => {
    shardCount = 1;
    await make();
    deepEqual(tables(), [
      ['arrivals', 'MergeTree', ''],
      ['events', 'MergeTree', 'weir: version 2'],
    ]);
    // The cluster grows: the tables stay where their rows are.
    shardCount = 2;
    await make();
    equal(tables().length, 2);
  });

  test('tables that an operator made for an older version are changed on all shards', async () => {
    await make();
    for (const table of ['events_of_shard', 'events']) {
      if (table !== 'events') {
        for (const index of indexes()) chdb.run(`ALTER TABLE ${table} DROP INDEX ${index}`);
      }
      chdb.run(`ALTER TABLE ${table} DROP COLUMN received`);
    }
    chdb.run("ALTER TABLE events_of_shard MODIFY COMMENT ''");
    await make();
    for (const table of ['events_of_shard', 'events']) {
      equal(columnsOf(table).includes('received'), true, table);
    }
    deepEqual(indexes(), ['message_texts', 'received']);
    deepEqual(tables().at(-1), ['events_of_shard', 'MergeTree', 'weir: version 2']);
  });

  test('a table over tables of other names is left alone, and says so', async () => {
    await make();
    for (const table of ['events', 'arrivals']) {
      chdb.run(`RENAME TABLE ${table}_of_shard TO rows_of_shard`);
      await rejects(make(), {
        code: 'store_unavailable',
        message: `the table ${table} in ClickHouse has its rows in other tables than ${table}_of_shard: leave CLICKHOUSE_CLUSTER empty, and change these tables yourself`,
      });
      equal(tables().length, 4);
      chdb.run(`RENAME TABLE rows_of_shard TO ${table}_of_shard`);
    }
  });

  test('events are taken in once, followed, counted and joined; saved queries have columns of fields', async () => {
    await withService(async (service) => {
      const stream = await service.follow(SOURCE);
      const events = Array.from({ length: 40 }, (_, index) => ({
        project: `p${index % 4}`,
        timestamp: Date.now() - index,
        event_message: `message ${index}`,
        metadata: {
          request: {
            url: `https://p${index % 4}.example/rest/v1/${index}`,
            path: `/rest/v1/${index}`,
          },
        },
      }));
      await service.post(SOURCE, events);
      await service.shipped();
      equal(door.insertSettings['insert_quorum'], 'auto');
      equal((await stream.take(events.length)).length, events.length);
      stream.close();
      const shard = chdb.rows('SELECT project, count() FROM events_of_shard GROUP BY 1 ORDER BY 1');
      deepEqual(
        shard,
        ['p0', 'p1', 'p2', 'p3'].map((project) => [project, 10]),
      );
      const joined = await service.rows(
        `SELECT a.project, COUNT(*) AS n FROM \`${SOURCE}\` a JOIN \`${SOURCE}\` b ON a.id = b.id
          WHERE a.project IN (SELECT project FROM \`${SOURCE}\` WHERE event_message = 'message 1')
          GROUP BY a.project`,
      );
      deepEqual(joined, [{ project: 'p1', n: 10 }]);
      const added = () =>
        ['events_of_shard', 'events'].map((table) =>
          columnsOf(table).filter((name) => name.startsWith('field_')),
        );
      await until(() => added().every((names) => names.length > 3));
      const [ofShard, ofAll] = added();
      deepEqual(ofShard, ofAll);
      const counted = () =>
        service.rows(
          `SELECT t.project, COUNTIF(STRPOS(r.path, '/rest') > 0) AS n FROM \`${SOURCE}\` t
            CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r
            WHERE STRPOS(r.url, 'p1') > 0 GROUP BY t.project`,
        );
      // The service finds the columns a moment after ClickHouse has them.
      await until(async () => {
        deepEqual(await counted(), [{ project: 'p1', n: 10 }]);
        return door.statements.some((sql) =>
          /^\s*SELECT\b.* field_metadata_request_path_/s.test(sql),
        );
      });
    });
  });
});

// In a process of its own: ClickHouse has one folder open in a process.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import { ShipBatch } from '../../src/clickhouse/ship-batch.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { connectionTo, makeDatabase } from './events-database.ts';
import { HttpDoor } from './http-door.ts';

const DAY_US = 20_000 * PARTITION_US;

async function batchWith(
  events: readonly TestEvent[],
  { sequence = 7, source = 's' } = {},
): Promise<ShipBatch> {
  const batch = new ShipBatch('gate');
  const decoded = batchOf(events);
  const times = events.map(({ timestampUs }) => timestampUs);
  await batch.add({
    ...{
      source,
      sequence,
      receivedUs: 1_728_000_005_999_999,
      arrivalBase: 0,
      rowCount: events.length,
    },
    timestampUsMin: Math.min(...times),
    timestampUsMax: Math.max(...times),
    batch: () => decoded,
  });
  return batch;
}

test('rows are divided by UTC day, oldest first, in the order of arrival, the same each time', async () => {
  const timesUs = [DAY_US, DAY_US - 1, DAY_US + PARTITION_US, DAY_US + 1, -1];
  const events = timesUs.map((timestampUs, n) => ({ id: `e${n}`, timestampUs }));
  const texts = (await batchWith(events)).days().map(({ day, rowCount, rows }) => {
    return `${day} ${rowCount}\n${Buffer.from(rows)}`;
  });
  assert.deepEqual(texts, [
    '1969-12-31 1\ns\t\t0\t1969-12-31 23:59:59.999999\te4\t\\N\t\\N\t{}\t\\N\tgate\t7\t4\t1728000005\n',
    '2024-10-03 1\ns\t\t0\t2024-10-03 23:59:59.999999\te1\t\\N\t\\N\t{}\t\\N\tgate\t7\t1\t1728000005\n',
    '2024-10-04 2\ns\t\t0\t2024-10-04 00:00:00.000000\te0\t\\N\t\\N\t{}\t\\N\tgate\t7\t0\t1728000005\n' +
      's\t\t0\t2024-10-04 00:00:00.000001\te3\t\\N\t\\N\t{}\t\\N\tgate\t7\t3\t1728000005\n',
    '2024-10-05 1\ns\t\t0\t2024-10-05 00:00:00.000000\te2\t\\N\t\\N\t{}\t\\N\tgate\t7\t2\t1728000005\n',
  ]);
  const again = await batchWith(events);
  assert.deepEqual(
    again.days().map(({ rows }) => Buffer.from(rows).toString()),
    texts.map((text) => text.slice(text.indexOf('\n') + 1)),
  );
  assert.equal(
    again.byteSize,
    again.days().reduce((size, { rows }) => size + rows.length, 0),
  );
});

suite('rows in ClickHouse', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let table: ClickHouseTable;

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
    table = new ClickHouseTable(connectionTo(door.url));
  });

  after(async () => {
    await table.close();
    await door.close();
    await chdb.close();
  });

  async function insert(batch: ShipBatch, token: string): Promise<void> {
    for (const { day, rows } of batch.days()) {
      await table.insert(rows, `${token} ${day}`, new AbortController().signal);
    }
  }

  function rowsOf(columns: string): unknown[] {
    const sql = `SELECT ${columns} FROM weir.events ORDER BY gateway, sequence, event`;
    return [...chdb.rows(sql)];
  }

  test('a table of an earlier version gets the columns that it lacks, and keeps its rows', async () => {
    makeDatabase(chdb);
    chdb.run('ALTER TABLE events DROP INDEX received');
    chdb.run('ALTER TABLE events DROP COLUMN received');
    chdb.run("ALTER TABLE events MODIFY COMMENT ''");
    chdb.run('DROP TABLE arrivals');
    chdb.run("INSERT INTO events (id, gateway, timestamp) VALUES ('old', 'a', now())");
    const made = new ClickHouseTable({ ...connectionTo(door.url), made: {} });
    for (const id of ['x', 'y']) {
      const [day] = (await batchWith([{ id, timestampUs: DAY_US }])).days();
      await made.insert(day!.rows, id, new AbortController().signal);
    }
    await made.close();
    const rows = chdb.rows('SELECT id, toUnixTimestamp(received) FROM events ORDER BY id');
    assert.deepEqual(rows, [
      ['old', 0],
      ['x', 1_728_000_005],
      ['y', 1_728_000_005],
    ]);
    assert.deepEqual(chdb.rows('SELECT count() FROM arrivals'), [[0]]);
    assert.deepEqual(versions(), [['weir: version 2']]);
  });

  test('a table of version 1 gets the index of messages', async () => {
    makeDatabase(chdb);
    chdb.run('ALTER TABLE events DROP INDEX message_texts');
    chdb.run("ALTER TABLE events MODIFY COMMENT 'weir: version 1'");
    const made = new ClickHouseTable({ ...connectionTo(door.url), made: {} });
    await made.make();
    await made.close();
    assert.deepEqual(versions(), [['weir: version 2']]);
    const indexes = chdb.rows(
      "SELECT name FROM system.data_skipping_indices WHERE database = 'weir' AND table = 'events' ORDER BY name",
    );
    assert.deepEqual(indexes, [['message_texts'], ['received']]);
  });

  test('tables of a newer version are left alone, and say so', async () => {
    makeDatabase(chdb);
    chdb.run("ALTER TABLE events MODIFY COMMENT 'weir: version 3'");
    const options = { ...connectionTo(door.url), made: {} };
    const [day] = (await batchWith([{ id: 'x', timestampUs: DAY_US }])).days();
    for (const made of [options.made, undefined]) {
      const table = new ClickHouseTable({ ...options, made });
      await assert.rejects(table.insert(day!.rows, 'x', new AbortController().signal), {
        code: 'store_unavailable',
        message:
          'the tables in ClickHouse are of version 3; this weir knows versions up to 2: start a newer one',
      });
      await table.close();
    }
    assert.deepEqual(chdb.rows('SELECT count() FROM events'), [[0]]);
    assert.deepEqual(versions(), [['weir: version 3']]);
    // Another process changes the tables, and this one has only to be asked again.
    const table = new ClickHouseTable(options);
    await assert.rejects(table.make());
    chdb.run("ALTER TABLE events MODIFY COMMENT 'weir: version 2'");
    await table.make();
    await table.close();
  });

  const versions = () =>
    chdb.rows("SELECT comment FROM system.tables WHERE database = 'weir' AND name = 'events'");

  test('come back as they were: columns, NULLs, odd characters, the JSON of the rest', async () => {
    makeDatabase(chdb);
    const odd = 'tab\t line\n return\r zero\0 back\\slash \\N quote" ü 😀';
    await insert(
      await batchWith(
        [
          {
            id: 'a',
            timestampUs: DAY_US + 123_456,
            project: 'p',
            event_message: odd,
            metadata: { [odd]: odd },
          },
          {
            id: '\\N',
            timestampUs: DAY_US,
            project: 'q',
            projectKey: MIXED_PROJECTS,
            event_message: '',
          },
          {
            id: '',
            timestampUs: DAY_US,
            project: null,
            projectKey: 'key',
            metadata: { big: 2n ** 64n, n: null, e: [] },
          },
        ],
        { source: 'cloudflare.logs.prod' },
      ),
      'token',
    );
    const columns =
      'source, project, is_mixed, toUnixTimestamp64Micro(timestamp), id, event_message, named_project';
    const rest = 'body, posted_body, gateway, sequence, event';
    const time = String(DAY_US);
    const [first, second, third] = rowsOf(`${columns}, ${rest}`) as unknown[][];
    const root = JSON.stringify({ metadata: [{ [odd]: odd }] });
    assert.deepEqual(first?.map(String), [
      ...[
        'cloudflare.logs.prod',
        'p',
        'false',
        String(DAY_US + 123_456),
        'a',
        odd,
        'p',
        root,
        'null',
        'gate',
        '7',
        '0',
      ],
    ]);
    assert.deepEqual(second?.map(String), [
      ...['cloudflare.logs.prod', '', 'true', time, '\\N', '', 'q', '{}', 'null', 'gate', '7', '1'],
    ]);
    assert.deepEqual(third?.map(String), [
      ...['cloudflare.logs.prod', 'key', 'false', time, '', 'null', 'null'],
      '{"metadata":[{"big":"18446744073709551616","n":null,"e":[]}]}',
      ...['{"metadata":[{"big":18446744073709551616,"n":null,"e":[]}]}', 'gate', '7', '2'],
    ]);
  });

  test('of a token that came before are left out, whatever they are; of another token they are not', async () => {
    makeDatabase(chdb);
    const events = [0, 1, 2].map((n) => ({ id: `e${n}`, timestampUs: DAY_US + n * PARTITION_US }));
    for (const token of ['one', 'one', 'two', 'one']) await insert(await batchWith(events), token);
    assert.deepEqual(rowsOf('id').flat(), ['e0', 'e0', 'e1', 'e1', 'e2', 'e2']);
  });

  test('of a large batch are one part of each day, so that it is there as a whole or not at all', async () => {
    makeDatabase(chdb);
    const events = Array.from({ length: 60_000 }, (_, n) => ({
      id: `e${n}`,
      timestampUs: DAY_US + n,
      text: 'x'.repeat(300),
    }));
    chdb.run('SYSTEM STOP MERGES weir.events');
    await insert(await batchWith(events), 'token');
    const parts = `SELECT count(), sum(rows) FROM system.parts WHERE database = 'weir' AND active`;
    assert.deepEqual(chdb.rows<unknown[]>(parts)[0]?.map(Number), [1, 60_000]);
  });

  test('an insert that ClickHouse refuses rejects with its reason', async () => {
    const missing = new ClickHouseTable({ ...connectionTo(door.url), table: 'weir.missing' });
    const { signal } = new AbortController();
    const rows = (await batchWith([{ timestampUs: DAY_US }])).days()[0]!.rows;
    await assert.rejects(missing.insert(rows, 'token', signal), /missing/);
    await missing.close();
  });
});

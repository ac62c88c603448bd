// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ArrivalsTrim } from '../../src/clickhouse/arrivals-trim.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import type { Stretch } from '../../src/clickhouse/stretches.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { connectionTo, makeDatabase } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { until } from './service-on-clickhouse.ts';

const DAY_US = 86_400_000_000;
const { signal } = new AbortController();

/** A record of one event that came so many days ago. */
function stretch(sequence: number, daysAgo: number): Stretch {
  const us = Date.now() * 1_000 - daysAgo * DAY_US;
  return {
    ...{ sequenceStart: sequence, sequenceEnd: sequence + 1, stride: 10, rowCount: 1 },
    ...{ sources: ['a'], timestampUsMin: us, timestampUsMax: us },
    ...{ receivedUsMin: us, receivedUsMax: us },
  };
}

suite('the table of arrivals', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let table: ClickHouseTable;

  before(async () => {
    chdb = ChdbUnderTest.start();
    makeDatabase(chdb);
    door = await HttpDoor.open(chdb);
    table = new ClickHouseTable({ ...connectionTo(door.url), made: {} });
  });

  after(async () => {
    await table?.close();
    await door?.close();
    await chdb?.close();
  });

  const ends = () =>
    chdb
      .rows<[string]>('SELECT number_end FROM arrivals ORDER BY number_end')
      .map(([end]) => Number(end));

  const changes = () => door.statements.filter((sql) => sql.startsWith('ALTER TABLE arrivals'));

  test('loses the rows of events that are gone, but never its first row and its last one', async () => {
    const { journal } = table;
    const ages = [12, 10.1, 9.9, 0, 11];
    for (const [index, age] of ages.entries()) {
      await journal.append('g', [stretch(index + 1, age)], signal);
    }
    deepEqual(ends(), [1, 11, 21, 31, 41, 51]);
    await journal.trim({ days: 10, rowsMin: 4 }, signal);
    equal(changes().length, 0, 'for a few rows not all others are written anew');
    await journal.trim({ days: 10, rowsMin: 3 }, signal);
    await until(() => ends().length === 4);
    deepEqual(ends(), [1, 31, 41, 51]);
    const { end } = await journal.readEnds(signal);
    equal(end, 51);
    await journal.append('g', [stretch(6, 0)], signal);
    await journal.trim({ days: 10, rowsMin: 1 }, signal);
    await until(() => ends().length === 4);
    deepEqual(ends(), [1, 31, 41, 61]);
    deepEqual(
      (await journal.read(0, signal)).map(({ start }) => start),
      [0, 21, 31, 51],
    );
  });
});

test('old rows are looked for once an hour, three days after the retention', async () => {
  const looks: { readonly days: number }[] = [];
  const failures: unknown[] = [];
  const trim = new ArrivalsTrim({
    journal: {
      trim: async (which) => {
        looks.push(which);
        if (looks.length === 2) throw new Error('refused');
      },
    },
    retentionDays: 90,
    onFailure: (error) => failures.push(error),
  });
  const hours = async (count: number) => {
    for (let tick = 0; tick < count * 3_600; tick++) {
      trim.tick();
      if (tick % 3_600 === 3_599) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await hours(1);
  deepEqual(
    looks.map(({ days }) => days),
    [93],
  );
  await hours(2);
  deepEqual([looks.length, failures.map(String)], [3, ['Error: refused']]);
  await trim.close();
});

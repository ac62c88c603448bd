// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { INT64 } from '../../engine/column/type.ts';
import { numberedScan } from '../../src/clickhouse/render/numbered-scan.ts';
import { EVENTS_TABLE, tableStatements } from '../../src/clickhouse/schema.ts';
import type { EventStream, StreamEvent } from '../support/event-stream.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { DATABASE } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse, until } from './service-on-clickhouse.ts';

const SOURCE = 'postgres.logs';
const OTHER = 'gotrue.logs.prod';
const DAY_MS = 86_400_000;
/** New events are looked for as often while anybody follows. */
const LOOK_EVERY_MS = 250;

let eventCount = 0;

type Event = { readonly id: string; readonly timestamp: number };

function event(project = 'alpha', more: object = {}): Event {
  eventCount += 1;
  const id = `event-${eventCount}`;
  return { id, timestamp: Date.now(), ...{ event_message: `message of ${id}`, project }, ...more };
}

function idsOf(events: readonly StreamEvent[]): readonly string[] {
  return events.map(({ event: kind, data }) => {
    equal(kind, 'message', data);
    return JSON.parse(data).id;
  });
}

const namesOf = (events: readonly Event[]) => events.map(({ id }) => id);

const take = async (stream: EventStream, count: number) => idsOf(await stream.take(count));

suite('sources are followed over ClickHouse', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let gateways: ServiceOnClickHouse[] = [];
  let streams: EventStream[] = [];

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
  });

  beforeEach(() => {
    chdb.run(`DROP DATABASE IF EXISTS ${DATABASE}`);
    chdb.run(`CREATE DATABASE ${DATABASE}`);
    chdb.run(`USE ${DATABASE}`);
    door.isOpen = true;
    door.statements.length = 0;
  });

  after(async () => {
    await door?.close();
    await chdb?.close();
  });

  /** Gateways that wait only a moment before they send. */
  async function withGateways(
    count: number,
    work: (...gateways: ServiceOnClickHouse[]) => Promise<void>,
  ): Promise<void> {
    gateways = [];
    streams = [];
    try {
      for (let index = 0; index < count; index++) await start();
      await work(...gateways);
    } finally {
      door.isOpen = true;
      for (const stream of streams) stream.close();
      for (const gateway of gateways) await gateway.stopForGood();
    }
  }

  async function start(folder?: string): Promise<ServiceOnClickHouse> {
    const shipLimits = { batchWaitMs: 5, retryTickMs: 1 };
    const gateway = await ServiceOnClickHouse.start({
      ...{ url: door.url, shipLimits },
      ...(folder === undefined ? {} : { folder }),
    });
    gateways.push(gateway);
    return gateway;
  }

  async function follow(
    gateway: ServiceOnClickHouse,
    ...how: [Readonly<Record<string, string>>?, { token?: string; lastEventId?: string }?]
  ): Promise<EventStream> {
    const stream = await gateway.follow(SOURCE, ...how);
    streams.push(stream);
    return stream;
  }

  test('two gateways show the same events in the same order, each once, also of records of several days', async () => {
    await withGateways(2, async (first, second) => {
      const both = [await follow(first!), await follow(second!)];
      const posted: Event[] = [];
      for (let post = 0; post < 6; post++) {
        const yesterday = { timestamp: Date.now() - (post % 2) * DAY_MS };
        const events = [event('beta', yesterday), event(), event('alpha', yesterday)];
        posted.push(...events);
        const gateway = post % 3 === 0 ? second! : first!;
        await gateway.post(OTHER, [event()]);
        await gateway.post(SOURCE, events);
        if (post === 3) await gateway.shipped();
      }
      const [seen = [], other] = await Promise.all(
        both.map((stream) => take(stream, posted.length)),
      );
      deepEqual(seen, other);
      deepEqual(seen.toSorted(), namesOf(posted).toSorted());
      // The order of each gateway's own events is that of their posts.
      const firstPosted = namesOf(posted.filter((_, index) => Math.floor(index / 3) % 3 !== 0));
      deepEqual(
        seen.filter((id) => firstPosted.includes(id)),
        firstPosted,
      );
      // An id of one gateway is good at the other, and the last events are the same.
      for (const gateway of [first!, second!]) {
        deepEqual(await take(await follow(gateway, { last: '7' }), 7), seen.slice(-7));
        const events = await (await follow(gateway, { after: '0' })).take(posted.length);
        deepEqual(idsOf(events), seen);
        for (const other of [first!, second!]) {
          const again = await follow(other, {}, { lastEventId: events[4]!.id });
          deepEqual(await take(again, posted.length - 5), seen.slice(5));
        }
      }
      const [ofFirst, ofSecond] = both.map(({ lastId }) => lastId);
      const next = event();
      await first!.post(SOURCE, [next]);
      for (const [gateway, lastEventId] of [
        [first!, ofSecond!],
        [second!, ofFirst!],
      ] as const) {
        deepEqual(await take(await follow(gateway, {}, { lastEventId }), 1), [next.id]);
      }
    });
  });

  test('a follower gets what its token, its project, its search and its time allow', async () => {
    await withGateways(2, async (first, second) => {
      const body = JSON.stringify({ name: 'of alpha', scopes: ['query'], projects: ['alpha'] });
      const made = await second!.ask('POST', '/api/tokens', { body });
      const { token } = (JSON.parse(made.text) as { result: { token: string } }).result;
      const old = event('alpha', { timestamp: Date.now() - 3_600_000, metadata: { n: 1 } });
      const before = [event('beta'), old, event('alpha', { metadata: { n: 2 } })];
      await first!.post(SOURCE, before);
      await first!.shipped();
      const since = new Date(Date.now() - 60_000).toISOString();
      const bound = await follow(second!, {}, { token });
      const refused = await follow(second!, { project: 'beta' }, { token });
      equal(refused.response.statusCode, 403);
      const boundLast = await follow(second!, { last: '3' }, { token });
      deepEqual(await take(boundLast, 2), namesOf(before.slice(1)));
      const boundAll = await follow(second!, {}, { token, lastEventId: '0' });
      deepEqual(await take(boundAll, 2), namesOf(before.slice(1)));
      const project = await follow(second!, { project: 'beta', last: '9' });
      deepEqual(await take(project, 1), [before[0]!.id]);
      const sinceTime = await follow(second!, { since });
      deepEqual(await take(sinceTime, 2), [before[0]!.id, before[2]!.id]);
      const search = await follow(second!, { search: 'n>=2', last: '5' });
      deepEqual(await take(search, 1), [before[2]!.id]);
      const next = [
        event('beta', { metadata: { n: 3 } }),
        event('alpha', { metadata: { n: 1 } }),
        { ...event('alpha', { metadata: { n: 7 } }), timestamp: Date.now() - 120_000 },
        event('nobody'),
        event('beta', { metadata: { n: 1 } }),
        event('alpha', { metadata: { n: 9 } }),
      ];
      await first!.post(SOURCE, next);
      const at = (...indexes: readonly number[]) => indexes.map((index) => next[index]!.id);
      for (const stream of [bound, boundLast, boundAll]) {
        deepEqual(await take(stream, 3), at(1, 2, 5));
      }
      deepEqual(await take(project, 2), at(0, 4));
      deepEqual(await take(sinceTime, 5), at(0, 1, 3, 4, 5));
      deepEqual(await take(search, 3), at(0, 2, 5));
    });
  });

  test('an event has the form that it has over the embedded store', async () => {
    await withGateways(1, async (gateway) => {
      const stream = await follow(gateway!);
      const posted = event('alpha', { metadata: { n: 1, list: [{ a: 'x' }, { a: null }] } });
      await gateway!.post(SOURCE, [posted]);
      const [got] = await stream.take(1);
      deepEqual(JSON.parse(got!.data), {
        id: posted.id,
        timestamp: posted.timestamp * 1000,
        event_message: `message of ${posted.id}`,
        project: 'alpha',
        metadata: [{ n: 1, list: [{ a: 'x' }, { a: null }] }],
      });
      match(got!.id, /^[\w-]{22}$/);
    });
  });

  test('while ClickHouse is away streams stay open, and go on without loss or repetition', async () => {
    await withGateways(2, async (first, second) => {
      const streams = [await follow(first!), await follow(second!)];
      const early = event();
      await first!.post(SOURCE, [early]);
      for (const stream of streams) deepEqual(await take(stream, 1), [early.id]);
      door.isOpen = false;
      const meanwhile = [event(), event(), event()];
      await first!.post(SOURCE, meanwhile.slice(0, 2));
      await second!.post(SOURCE, meanwhile.slice(2));
      const refused = await follow(first!);
      equal(refused.response.statusCode, 503);
      await until(() => first!.backend.stats().shipping?.isFailing === true);
      await first!.stop();
      const restarted = await start(gateways.shift()!.folder);
      door.isOpen = true;
      const seen = await take(streams[1]!, 3);
      deepEqual(seen.toSorted(), namesOf(meanwhile).toSorted());
      const again = await follow(restarted, {}, { lastEventId: streams[0]!.lastId });
      deepEqual(await take(again, 3), seen);
      const late = event();
      await second!.post(SOURCE, [late]);
      for (const stream of [again, streams[1]!]) deepEqual(await take(stream, 1), [late.id]);
    });
  });

  test('one statement looks for new events of all followers, and one reads a page for those of a token', async () => {
    await withGateways(1, async (gateway) => {
      const many = await Promise.all(Array.from({ length: 8 }, () => follow(gateway!)));
      await follow(gateway!);
      const pages = () => door.statements.filter((text) => text.includes('ASOF')).length;
      const looks = () => door.statements.filter((text) => text.includes('AS start')).length;
      await until(() => looks() > 0);
      door.statements.length = 0;
      const posted = event();
      await gateway!.post(SOURCE, [posted]);
      // Of a source that nobody follows nothing is read.
      await gateway!.post(OTHER, [event()]);
      const before = looks();
      const beforeMs = performance.now();
      await Promise.all(many.map((stream) => take(stream, 1)));
      const between = looks() - before;
      const betweenMs = performance.now() - beforeMs;
      ok(pages() <= 2, `a page for all: ${pages()}`);
      await gateway!.shipped();
      const perSecond = looks();
      await until(() => looks() >= perSecond + 2);
      equal(pages() <= 2, true);
      ok(between <= 8 + betweenMs / LOOK_EVERY_MS, `a look for all: ${between} in ${betweenMs} ms`);
      for (const stream of streams) stream.close();
      await until(async () =>
        /^weir_followers 0$/m.test((await gateway!.ask('GET', '/metrics')).text),
      );
    });
  });

  test('what a page reads does not grow with the table, however old the events of a batch are', async () => {
    for (const { sql } of tableStatements()) chdb.run(sql);
    const readFor = (rowCount: number): readonly (readonly unknown[])[] => {
      const [number, hours] = [rowCount * 2, 6];
      // Many projects, whose events of all times lie beside each other in a part.
      chdb.run(`INSERT INTO events (source, project, timestamp, id, body, gateway, sequence, event, received)
        SELECT 's', toString(cityHash64(number) % 500), toDateTime64('2026-01-15 12:00:00', 6, 'UTC') - number % (${hours} * 3600),
        '', '{}', 'g', ${number}, number, toDateTime('2026-01-15 12:00:00', 'UTC') + ${number} FROM numbers(${rowCount})`);
      chdb.run('OPTIMIZE TABLE events FINAL');
      const received = `toDateTime('2026-01-15 12:00:00', 'UTC') + ${number} + 1`;
      chdb.run(`INSERT INTO events (source, project, timestamp, id, body, gateway, sequence, event, received)
        SELECT 's', toString(number), toDateTime64('2026-01-15 12:00:00', 6, 'UTC') - number * 100, '', '{}', 'g', ${number} + 1, number, ${received} FROM numbers(200)`);
      chdb.run(`INSERT INTO arrivals SELECT ${number}, ${number} + 200, 'g', ${number} + 1, ${number} + 2, 200, 200, ['s'],
        1768478400000000 - ${hours} * 3600000000, 1768478400000000, toUnixTimestamp(${received}), toUnixTimestamp(${received})`);
      const numbers = { start: number, end: number + 200 };
      const column = { id: 1, name: 'n', type: INT64 };
      const columns = [{ column, field: 'arrival' as const }];
      const page = numberedScan({
        ...{ table: EVENTS_TABLE, list: '1 AS one', conditions: ['1'], columns, numbers },
        source: "'s'",
      });
      return chdb
        .rows<[string, string, number, number, number]>(`EXPLAIN ESTIMATE ${page}`)
        .map(([, table, , rows]) => [table, rows]);
    };
    const small = readFor(20_000);
    deepEqual(
      small.find(([table]) => table === 'events'),
      ['events', 200],
    );
    deepEqual(readFor(200_000), small);
  });
});

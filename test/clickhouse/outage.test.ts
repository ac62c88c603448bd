// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { must } from '../../engine/assert.ts';
import type { EventStream } from '../support/event-stream.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { DATABASE } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse, until } from './service-on-clickhouse.ts';

const SOURCE = 'postgres.logs';
const FOLLOWED = 'gotrue.logs.prod';

/** Events that are posted to each gateway while ClickHouse is there, away, and there again: some seconds of load. */
const PHASE_EVENTS = 1_500;

const SENDERS = 2;
const POST_EVENTS = 20;
const PAUSE_MS = 4;
/** One post in so many is for the source that is followed. */
const FOLLOWED_STEP = 10;

const LOG_FILE_BYTES = 200_000;

/** Senders that post to a gateway, one post after another, until they are stopped. */
class Load {
  static #count = 0;
  readonly #name = `load${Load.#count++}`;
  readonly #gateway: ServiceOnClickHouse;
  readonly #senders: readonly Promise<void>[];
  #isOn = true;
  #postCount = 0;
  /** Ids of acknowledged events, by source. */
  readonly acknowledged = new Map<string, string[]>([
    [SOURCE, []],
    [FOLLOWED, []],
  ]);

  constructor(gateway: ServiceOnClickHouse) {
    this.#gateway = gateway;
    this.#senders = Array.from({ length: SENDERS }, () => this.#send());
  }

  async #send(): Promise<void> {
    while (this.#isOn) {
      const number = this.#postCount++;
      const source = number % FOLLOWED_STEP === 0 ? FOLLOWED : SOURCE;
      const ids = Array.from({ length: POST_EVENTS }, (_, row) => `${this.#name}-${number}-${row}`);
      const events = ids.map((id) => ({ id, event_message: `message of ${id}`, project: 'p' }));
      // Each post is answered with 200, whether ClickHouse is there or not.
      await this.#gateway.post(source, events);
      this.acknowledged.get(source)!.push(...ids);
      await wait(PAUSE_MS);
    }
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    await Promise.all(this.#senders);
  }
}

suite('an outage of ClickHouse under load', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  const gateways: ServiceOnClickHouse[] = [];
  const loads: Load[] = [];

  before(async () => {
    chdb = ChdbUnderTest.start();
    chdb.run(`DROP DATABASE IF EXISTS ${DATABASE}`);
    chdb.run(`CREATE DATABASE ${DATABASE}`);
    chdb.run(`USE ${DATABASE}`);
    door = await HttpDoor.open(chdb);
  });

  after(async () => {
    for (const load of loads) await load.stop();
    for (const gateway of gateways) await gateway.stopForGood();
    await door?.close();
    await chdb?.close();
  });

  async function startLoaded(folder?: string): Promise<ServiceOnClickHouse> {
    const gateway = await ServiceOnClickHouse.start({
      ...{ url: door.url, logFileBytesMax: LOG_FILE_BYTES },
      shipLimits: { batchWaitMs: 5, retryTickMs: 1 },
      ...(folder === undefined ? {} : { folder }),
    });
    gateways.push(gateway);
    loads.push(new Load(gateway));
    return gateway;
  }

  const shippingOf = (gateway: ServiceOnClickHouse) => must(gateway.backend.stats().shipping);
  const unsentOf = (gateway: ServiceOnClickHouse) => shippingOf(gateway).events;
  const acknowledged = (source: string) =>
    loads.flatMap((load) => load.acknowledged.get(source) ?? []);

  /** ClickHouse goes away when it has rows, and has not said so. */
  async function goAway(): Promise<void> {
    door.beforeAnswer = () => {
      door.isOpen = false;
    };
    await until(() => !door.isOpen);
  }

  function comeBack(): void {
    door.beforeAnswer = () => {};
    door.isOpen = true;
  }

  test('two gateways, one of which is restarted meanwhile, lose nothing and send nothing twice', async (context) => {
    const first = await startLoaded();
    const second = await startLoaded();
    const stream = await first.follow(FOLLOWED, { after: '0' });
    const areUnsent = (count: number) =>
      until(() => gateways.every((gateway) => unsentOf(gateway) > count));
    await until(() => gateways.every((gateway) => shippingOf(gateway).rowCount > PHASE_EVENTS));
    await goAway();
    await areUnsent(PHASE_EVENTS);
    equal((await first.query(`SELECT COUNT(*) AS n FROM \`${SOURCE}\``)).status, 503);
    await loads[1]!.stop();
    await second.stop();
    gateways.splice(1);
    const restarted = await startLoaded(second.folder);
    await areUnsent(2 * PHASE_EVENTS);
    const unsent = gateways.map(unsentOf);
    const wanted = gateways.map((gateway) => shippingOf(gateway).rowCount + unsentOf(gateway));
    comeBack();
    // The load goes on meanwhile.
    await until(() =>
      gateways.every((gateway, index) => shippingOf(gateway).rowCount >= wanted[index]!),
    );
    for (const load of loads) await load.stop();
    for (const gateway of gateways) await gateway.shipped();

    const stored = chdb.rows<[string, string]>(`SELECT source, id FROM ${DATABASE}.events`);
    for (const source of [SOURCE, FOLLOWED]) {
      const ids = stored.flatMap(([of, id]) => (of === source ? [id] : []));
      expectOnce(ids, acknowledged(source));
    }
    const followed = acknowledged(FOLLOWED);
    const seen = await takeIds(first, stream, followed.length);
    expectOnce(seen, followed);
    const again = await restarted.follow(FOLLOWED, { after: '0' });
    deepEqual(await takeIds(restarted, again, followed.length), seen);
    for (const gateway of gateways) {
      await until(() => (gateway.backend.stats().log?.byteSize ?? 0) < 2 * LOG_FILE_BYTES);
    }
    context.diagnostic(
      `${stored.length} events; ${unsent} of them waited when ClickHouse came back`,
    );
  });
});

/** Ids of so many events of a stream, which is opened again where it ends: what cannot be read from ClickHouse ends it. */
async function takeIds(
  gateway: ServiceOnClickHouse,
  opened: EventStream,
  count: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let stream = opened;
  for (;;) {
    const events = await stream.take(count - ids.length);
    const found = events.filter(({ event }) => event !== 'failure');
    ids.push(...found.map(({ data }) => JSON.parse(data).id));
    if (ids.length === count) break;
    const place = stream.lastId === '' ? {} : { lastEventId: stream.lastId };
    stream = await gateway.follow(FOLLOWED, { after: '0' }, place);
  }
  stream.close();
  return ids;
}

function expectOnce(found: readonly string[], expected: readonly string[]): void {
  const there = new Set(found);
  deepEqual(
    expected.filter((id) => !there.has(id)),
    [],
  );
  deepEqual([found.length, there.size], [expected.length, expected.length]);
}

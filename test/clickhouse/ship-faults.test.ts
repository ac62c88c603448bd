// In a process of its own: ClickHouse has one folder open in a process.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { Crash } from '../ingest/memory-disk.ts';
import { budgetOf } from '../support/budget.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { connectionTo, makeDatabase } from './events-database.ts';
import { FAULTS, type Fault, FaultyProxy } from './faulty-proxy.ts';
import { HttpDoor } from './http-door.ts';
import { expectShipped, ShippedWorld } from './shipped-world.ts';

/** `WEIR_SHIP_SCHEDULES=1000` is the long form. */
const SCHEDULES = budgetOf('WEIR_SHIP_SCHEDULES', { fast: 6, all: 20 });

/** One in so many steps at which a process may die. */
const DEADLY_STEP = budgetOf('WEIR_SHIP_DEADLY_STEP', { fast: 4, all: 1 });

/** After this time the client gives up: rather more than an insert takes on a busy machine. */
const INSERT_MS_MAX = 1_000;
/** Of which the client hears nothing. */
const HARMLESS_FAULTS: ReadonlySet<Fault> = new Set(['repeated', 'doubled', 'repeated late']);
/** Those that need no waiting. */
const QUICK_FAULTS = FAULTS.filter((fault) => fault !== 'answer late');

suite('each event is in ClickHouse once', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let proxy: FaultyProxy;

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
    proxy = await FaultyProxy.open(door.url);
  });

  after(async () => {
    await proxy.close();
    await door.close();
    await chdb.close();
  });

  function openWorld(name: string, random: Random): ShippedWorld {
    makeDatabase(chdb);
    return new ShippedWorld({ name, random, connection: connectionTo(proxy.url, INSERT_MS_MAX) });
  }

  /** Restarts a world until all it has is sent. */
  async function finish(world: ShippedWorld): Promise<void> {
    world.beforeStep = () => {};
    proxy.choose = () => undefined;
    if (world.isDead) await world.start();
    await world.settled();
    await proxy.settled();
    await world.close();
  }

  test('a process that dies at any step, with any state of its disk, goes on with the same batch', async () => {
    for (let deadly = fuzzSeed() % DEADLY_STEP; ; deadly += DEADLY_STEP) {
      const world = openWorld('g', new Random(deadly));
      let step = 0;
      world.beforeStep = () => {
        if (step++ === deadly) throw new Crash();
      };
      await world.start();
      for (let post = 0; post < 3; post++) await world.post();
      await world.settled();
      const isOver = !world.isDead;
      if (world.isDead) {
        await world.start();
        await world.post();
      }
      await finish(world);
      expectShipped(chdb, [world]);
      if (!isOver) continue;
      assert(deadly > 40, `there are ${deadly} steps`);
      return;
    }
  });

  for (const fault of FAULTS) {
    test(`${fault}: the batch is sent again, and is there once`, async () => {
      const world = openWorld('g', new Random(1));
      const faults: (Fault | undefined)[] = [
        fault,
        undefined,
        fault === 'answer late' ? undefined : fault,
      ];
      proxy.choose = () => faults.shift();
      await world.start();
      for (let post = 0; post < 12; post++) await world.post();
      await world.settled();
      assert.equal(faults.length, 0, 'there were requests');
      await finish(world);
      expectShipped(chdb, [world]);
      if (!HARMLESS_FAULTS.has(fault)) assert(world.failureCount > 0);
    });
  }

  test('while the server is away nothing is lost, and all follows in order', async () => {
    const world = openWorld('g', new Random(2));
    await world.start();
    door.isOpen = false;
    for (let post = 0; post < 100; post++) await world.post();
    assert.deepEqual(chdb.rows('SELECT id FROM weir.events'), []);
    while (world.failureCount === 0) await new Promise((resolve) => setImmediate(resolve));
    door.isOpen = true;
    await finish(world);
    expectShipped(chdb, [world]);
  });

  test('a gateway that is closed while an insert is under way does not wait; the next one finds the rows', async () => {
    const world = openWorld('g', new Random(4));
    const held = new Promise<() => void>((resolve) => {
      door.beforeAnswer = () => new Promise<void>((answer) => resolve(answer));
    });
    await world.start();
    await world.post();
    const answer = await held;
    await world.close();
    // It did not wait until the client gave up.
    assert.equal(world.failureCount, 0);
    door.beforeAnswer = () => {};
    answer();
    await world.start();
    await finish(world);
    expectShipped(chdb, [world]);
  });

  test('what was sent before is found also when its token is forgotten', async () => {
    const [world, other] = ['a', 'b'].map((name) => openWorld(name, new Random(3)));
    chdb.run('ALTER TABLE weir.events MODIFY SETTING non_replicated_deduplication_window = 1');
    world!.beforeStep = (step) => {
      if (step === 'insert is acknowledged') throw new Crash();
    };
    await world!.start();
    await world!.post();
    await world!.settled();
    assert(world!.isDead);
    await other!.start();
    for (let post = 0; post < 10; post++) {
      await other!.post();
      await other!.settled();
    }
    for (const each of [world!, other!]) await finish(each);
    expectShipped(chdb, [world!, other!]);
  });

  for (let schedule = 0; schedule < SCHEDULES; schedule++) {
    const seed = (fuzzSeed() + schedule) >>> 0;
    test(`two gateways, faults and deaths by the dice of WEIR_FUZZ_SEED=${seed}`, async () => {
      const random = new Random(seed);
      const worlds = ['a', 'b'].map((name) => openWorld(name, new Random(random.below(2 ** 32))));
      const faultPart = random.pick([0, 0.1, 0.5]);
      const deathPart = random.pick([0, 0.005, 0.05]);
      let lateCount = random.below(2);
      proxy.choose = () => {
        if (random.next() >= faultPart) return undefined;
        return random.pick(lateCount-- > 0 ? FAULTS : QUICK_FAULTS);
      };
      for (const world of worlds) {
        world.beforeStep = () => {
          if (random.next() < deathPart) throw new Crash();
        };
      }
      await Promise.all(worlds.map((world) => live(world, random)));
      for (const world of worlds) await finish(world);
      expectShipped(chdb, worlds);
    });
  }

  /** Posts, trims, waits and restarts by the dice. */
  async function live(world: ShippedWorld, random: Random): Promise<void> {
    await world.start();
    for (let turn = 0; turn < 20; turn++) {
      if (world.isDead) await world.start();
      const dice = random.next();
      if (dice < 0.7) await world.post();
      else if (dice < 0.8) world.trim();
      else if (dice < 0.9) await world.settled();
      else if (dice < 0.93) world.crash();
    }
  }
});

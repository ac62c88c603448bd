import assert from 'node:assert/strict';
import { type MockTimers, type TestContext, test } from 'node:test';
import { Random } from '../../../src/demo/traffic/random.ts';
import { ByteGate, type ByteGateOptions } from '../../../src/http/byte-gate.ts';
import { FLOOD_WAITING_MIN, RECENT_TENANTS_MS } from '../../../src/limits.ts';
import { budgetOf } from '../../support/budget.ts';

/** After this many turns of the event loop, everything that needs no more time has happened. */
const SETTLED_TURNS = 10;

/** `a2` is work of tenant a and of two bytes. It is recorded when it is admitted. */
class SharedGate {
  nowMs = 0;
  readonly inside: string[] = [];
  readonly #gate = new ByteGate({
    bytesMax: 100,
    sharedBytesMax: () => 8,
    nowMs: () => this.nowMs,
  });

  async enter(...works: readonly string[]): Promise<readonly string[]> {
    for (const work of works) {
      void this.#gate.enter(Number(work.slice(1)), work[0]).then(() => this.inside.push(work));
    }
    await settle();
    return this.inside.splice(0);
  }

  async leave(work: string): Promise<readonly string[]> {
    this.#gate.leave(Number(work.slice(1)), work[0]);
    await settle();
    return this.inside.splice(0);
  }
}

/** Enters with each size in turn, and returns which were admitted. */
function entering(
  gate: ByteGate,
  sizes: readonly number[],
  tenant?: string,
): { readonly inside: number[] } {
  const inside: number[] = [];
  sizes.forEach((size, index) => void gate.enter(size, tenant).then(() => inside.push(index)));
  return { inside };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work is admitted up to the limit, and the rest in order as room becomes free', async () => {
  const gate = new ByteGate({ bytesMax: 10, nowMs: () => 0 });
  const { inside } = entering(gate, [6, 4, 1, 9, 1]);
  await settle();
  assert.deepEqual(inside, [0, 1]);
  gate.leave(4);
  await settle();
  // The last would fit, but waits for the one before it.
  assert.deepEqual(inside, [0, 1, 2]);
  gate.leave(6);
  await settle();
  assert.deepEqual(inside, [0, 1, 2, 3]);
  gate.leave(1);
  await settle();
  assert.deepEqual(inside, [0, 1, 2, 3, 4]);
});

test('work larger than the limit is admitted alone', async () => {
  const gate = new ByteGate({ bytesMax: 10, nowMs: () => 0 });
  const { inside } = entering(gate, [1, 11, 1]);
  await settle();
  assert.deepEqual(inside, [0]);
  gate.leave(1);
  await settle();
  assert.deepEqual(inside, [0, 1]);
  gate.leave(11);
  await settle();
  assert.deepEqual(inside, [0, 1, 2]);
});

test('a tenant that is alone fills the gate, and beside others it gets as much as is free of the shared part', async () => {
  const gate = new SharedGate();
  assert.deepEqual(await gate.enter('a60', 'a30'), ['a60', 'a30']);
  // A newcomer does not wait for admitted work, and later work waits.
  assert.deepEqual(await gate.enter('b2', 'a1', 'b2'), ['b2']);
  assert.deepEqual(await gate.leave('a60'), []);
  assert.deepEqual(await gate.leave('a30'), ['b2', 'a1']);
  assert.deepEqual(await gate.enter('a3', 'a1', 'b1'), []);
  assert.deepEqual(await gate.leave('b2'), ['b1', 'a3']);
});

test('a tenant without admitted work is admitted with work of any size, although others wait', async () => {
  const gate = new SharedGate();
  assert.deepEqual(await gate.enter('a4', 'b4', 'a4', 'b4', 'c20'), ['a4', 'b4', 'c20']);
  assert.deepEqual(await gate.leave('a4'), ['a4']);
});

test('a tenant is alone again when the others have not posted for some time', async () => {
  const gate = new SharedGate();
  assert.deepEqual(await gate.enter('b1', 'a8', 'a8', 'a8'), ['b1', 'a8']);
  gate.nowMs = RECENT_TENANTS_MS;
  assert.deepEqual(await gate.leave('b1'), []);
  gate.nowMs += 1;
  assert.deepEqual(await gate.enter('a8'), ['a8', 'a8', 'a8']);
});

/** A gate whose clock and timers the test controls. */
class DrivenGate {
  nowMs = 0;
  readonly gate: ByteGate;
  /** The time at which each work was admitted, in order. */
  readonly entered: { readonly tenant: string; readonly ms: number }[] = [];
  readonly #timers: MockTimers;
  /** Timers have whole milliseconds. */
  #tickedMs = 0;

  constructor(
    { mock }: TestContext,
    options: Pick<ByteGateOptions, 'bytesMax' | 'floodBytesPerMs'>,
    readMs: () => number = () => this.nowMs,
  ) {
    this.#timers = mock.timers;
    this.#timers.enable({ apis: ['setTimeout'] });
    this.gate = new ByteGate({ ...options, nowMs: readMs });
  }

  /** Enters this many works, each of which leaves in the turn after its admission. */
  work(tenant: string, bytes: number, count: number): void {
    for (let work = 0; work < count; work++) {
      void this.gate.enter(bytes, tenant).then(() => {
        this.entered.push({ tenant, ms: this.nowMs });
        setImmediate(() => this.gate.leave(bytes, tenant));
      });
    }
  }

  /**
   * Does everything that needs no more time, then advances the clock by a millisecond, this many
   * times.
   */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed++) {
      await this.settle();
      this.nowMs++;
      this.#timers.tick(Math.floor(this.nowMs) - this.#tickedMs);
      this.#tickedMs = Math.floor(this.nowMs);
    }
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < SETTLED_TURNS; turn++) await settle();
  }
}

test('a tenant that floods beside another pauses between its works', async (context) => {
  const driven = new DrivenGate(context, { bytesMax: 100, floodBytesPerMs: 1 });
  driven.work('quiet', 10, 1);
  // Ten works fill the gate, the others wait.
  driven.work('flood', 10, 20);
  await driven.pass(1000);
  const floodMs = driven.entered.filter(({ tenant }) => tenant === 'flood').map(({ ms }) => ms);
  const rested = 20 - 10 - FLOOD_WAITING_MIN;
  assert.equal(floodMs.length, 20);
  assert.ok(floodMs.at(-1)! >= rested * 10, `the last of a flood came after ${floodMs.at(-1)} ms`);
  const { inside } = entering(driven.gate, [10, 10], 'quiet');
  await settle();
  assert.deepEqual(inside, [0, 1], 'who does not flood does not rest');
});

test('if all tenants flood, none pauses', async (context) => {
  const driven = new DrivenGate(context, { bytesMax: 10, floodBytesPerMs: 0.001 });
  for (let work = 0; work < 20; work++) {
    driven.work('a', 1, 1);
    driven.work('b', 1, 1);
  }
  await driven.settle();
  assert.ok(driven.entered.length >= 20, `${driven.entered.length} works took no rest`);
});

/** The number of random clocks that advance while turns are given. */
const CLOCKS = budgetOf('WEIR_GATE_CLOCKS', { fast: 20, all: 100 });

test('a paused tenant continues even if the clock advances while turns are given', async (context) => {
  for (let seed = 0; seed < CLOCKS; seed++) {
    const random = new Random(seed);
    const readMs = (): number => {
      if (random.below(10) === 0) driven.nowMs += random.next();
      return driven.nowMs;
    };
    const floodBytesPerMs = 1 + random.below(20);
    const driven = new DrivenGate(context, { bytesMax: 100, floodBytesPerMs }, readMs);
    driven.work('quiet', 10, 1);
    driven.work('flood', 10, 40);
    await driven.pass(400);
    context.mock.timers.reset();
    assert.equal(driven.entered.length, 41, `all are let in, with seed ${seed}`);
  }
});

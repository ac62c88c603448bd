import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteGate } from '../../../src/http/byte-gate.ts';
import { COMPANY_MS, FLOOD_WAITING_MIN } from '../../../src/limits.ts';

/** `a2` stands for work of tenant a and of two bytes, which says so when it is let in. */
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

/** Enters for each size in turn; tells which have been let in. */
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

test('work is let in up to the bound, and the rest as room is made, in order', async () => {
  const gate = new ByteGate({ bytesMax: 10, nowMs: () => 0 });
  const { inside } = entering(gate, [6, 4, 1, 9, 1]);
  await settle();
  assert.deepEqual(inside, [0, 1]);
  gate.leave(4);
  await settle();
  // The last would fit, but it waits for the one before it.
  assert.deepEqual(inside, [0, 1, 2]);
  gate.leave(6);
  await settle();
  assert.deepEqual(inside, [0, 1, 2, 3]);
  gate.leave(1);
  await settle();
  assert.deepEqual(inside, [0, 1, 2, 3, 4]);
});

test('work larger than the bound goes in alone', async () => {
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

test('a tenant alone fills the gate; beside others it has as much inside as is free of the shared part', async () => {
  const gate = new SharedGate();
  assert.deepEqual(await gate.enter('a60', 'a30'), ['a60', 'a30']);
  // A newcomer does not wait for what is inside, and what comes behind does.
  assert.deepEqual(await gate.enter('b2', 'a1', 'b2'), ['b2']);
  assert.deepEqual(await gate.leave('a60'), []);
  assert.deepEqual(await gate.leave('a30'), ['b2', 'a1']);
  assert.deepEqual(await gate.enter('a3', 'a1', 'b1'), []);
  assert.deepEqual(await gate.leave('b2'), ['b1', 'a3']);
});

test('who has nothing inside is let in with whatever it brings, though others wait', async () => {
  const gate = new SharedGate();
  assert.deepEqual(await gate.enter('a4', 'b4', 'a4', 'b4', 'c20'), ['a4', 'b4', 'c20']);
  assert.deepEqual(await gate.leave('a4'), ['a4']);
});

test('a tenant is alone again when the others have not come for some time', async () => {
  const gate = new SharedGate();
  assert.deepEqual(await gate.enter('b1', 'a8', 'a8', 'a8'), ['b1', 'a8']);
  gate.nowMs = COMPANY_MS;
  assert.deepEqual(await gate.leave('b1'), []);
  gate.nowMs += 1;
  assert.deepEqual(await gate.enter('a8'), ['a8', 'a8', 'a8']);
});

test('a tenant that floods beside one that does not rests between its works', async () => {
  const startMs = performance.now();
  const gate = new ByteGate({ bytesMax: 100, floodBytesPerMs: 1, nowMs: () => performance.now() });
  const enteredMs = async (tenant: string): Promise<number> => {
    await gate.enter(10, tenant);
    setImmediate(() => gate.leave(10, tenant));
    return performance.now() - startMs;
  };
  const quiet = enteredMs('quiet');
  // Ten fill the gate, the others wait.
  const flood = await Promise.all(Array.from({ length: 20 }, () => enteredMs('flood')));
  await quiet;
  const rested = flood.length - 10 - FLOOD_WAITING_MIN;
  assert.ok(flood.at(-1)! >= rested * 10, `the last of a flood came after ${flood.at(-1)} ms`);
  const { inside } = entering(gate, [10, 10], 'quiet');
  await settle();
  assert.deepEqual(inside, [0, 1], 'who does not flood does not rest');
});

test('of tenants that all flood none rests', async () => {
  const gate = new ByteGate({
    bytesMax: 10,
    floodBytesPerMs: 0.001,
    nowMs: () => performance.now(),
  });
  const works = Array.from({ length: 40 }, async (_, index) => {
    const tenant = index % 2 === 0 ? 'a' : 'b';
    await gate.enter(1, tenant);
    setImmediate(() => gate.leave(1, tenant));
  });
  const isDone = await Promise.race([
    Promise.all(works.slice(0, 20)).then(() => true),
    new Promise((resolve) => setTimeout(resolve, 5_000, false).unref()),
  ]);
  assert.ok(isDone, 'a second of rest for each of sixteen would take longer');
});

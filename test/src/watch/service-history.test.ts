import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_ENDPOINTS_MAX, HISTORY_MS, HISTORY_STEP_MS } from '../../../src/limits.ts';
import { type HistoryReading, ServiceHistory } from '../../../src/watch/service-history.ts';

const READING: HistoryReading = {
  storedEvents: 0,
  storedBytes: 0,
  residentBytes: 7,
  backlogBytes: 8,
};

class World {
  nowMs = 0;
  reading = READING;
  readonly history = new ServiceHistory({
    wallMs: () => 1e12 + this.nowMs,
    monotonicMs: () => this.nowMs,
    read: () => this.reading,
  });

  pass(ms: number): void {
    this.nowMs += ms;
    this.history.tick();
  }
}

const call = (status: number, seconds: number) => ({ status, seconds, code: 'any' });

test('a step has what happened in it, and the next one begins at nothing', () => {
  const world = new World();
  world.history.countPost(call(200, 1));
  world.history.countPost(call(429, 1));
  world.history.countCall('a', call(200, 0.01));
  world.history.countCall(undefined, call(504, 30));
  world.reading = { ...READING, storedEvents: 5, storedBytes: 50 };
  world.pass(HISTORY_STEP_MS - 1);
  assert.deepEqual(world.history.points(), []);
  world.pass(1);
  world.pass(HISTORY_STEP_MS + 3);
  const [first, second] = world.history.points();
  const { p50Ms, p95Ms, ...counted } = first!;
  assert.deepEqual(counted, {
    atMs: 1e12 + HISTORY_STEP_MS,
    stepMs: HISTORY_STEP_MS,
    events: 5,
    bytes: 50,
    posts: 2,
    refusedPosts: 1,
    calls: 2,
    failedCalls: 1,
    residentBytes: 7,
    backlogBytes: 8,
  });
  assert.deepEqual([Math.round(p50Ms! / 10), Math.round(p95Ms! / 10_000)], [1, 3]);
  assert.deepEqual(
    [second?.stepMs, second?.events, second?.posts, second?.calls, second?.p50Ms],
    [HISTORY_STEP_MS + 3, 0, 0, 0, undefined],
  );
});

test('the history is an hour long', () => {
  const world = new World();
  const steps = HISTORY_MS / HISTORY_STEP_MS;
  for (let step = 0; step < steps + 5; step++) world.pass(HISTORY_STEP_MS);
  assert.equal(world.history.points().length, steps);
  assert.equal(world.history.points()[0]?.atMs, 1e12 + 6 * HISTORY_STEP_MS);
});

test('calls of an endpoint count for an hour', () => {
  const world = new World();
  world.history.countCall('early', call(200, 0.1));
  world.history.countCall('both', call(200, 0.1));
  world.pass(HISTORY_MS / 2);
  world.history.countCall('both', call(500, 0.1));
  const counts = () =>
    Array.from(world.history.endpoints(), ([name, { calls, failures }]) => [name, calls, failures]);
  assert.deepEqual(counts(), [
    ['early', 1, 0],
    ['both', 2, 1],
  ]);
  world.pass(HISTORY_MS / 2 + HISTORY_STEP_MS);
  assert.deepEqual(counts(), [['both', 1, 1]]);
  world.pass(HISTORY_MS);
  assert.deepEqual(counts(), []);
});

test('the number of endpoints is bounded, and those of long ago make room', () => {
  const world = new World();
  for (let index = 0; index <= HISTORY_ENDPOINTS_MAX; index++) {
    world.history.countCall(`e${index}`, call(200, 0.1));
  }
  assert.equal(world.history.endpoints().size, HISTORY_ENDPOINTS_MAX);
  world.pass(2 * HISTORY_MS);
  world.history.countCall('new', call(200, 0.1));
  assert.deepEqual([...world.history.endpoints().keys()], ['new']);
});

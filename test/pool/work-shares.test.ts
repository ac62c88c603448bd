import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TURN_MS_MIN } from '../../engine/limits.ts';
import type { Job, Waited } from '../../engine/pool/task.ts';
import { PARKING_LOOK_MS, TaskScheduler } from '../../engine/pool/task-scheduler.ts';
import {
  URGENT_SEAL_SHARE,
  WORK_KINDS,
  WORK_SHARES,
  type WorkKind,
} from '../../engine/pool/work-shares.ts';

const STEP_MS = 5;

/** The longest that what is due waits for the job that gives way to it, and what wants its thread back for it. */
const TURN_MS_MAX = TURN_MS_MIN + PARKING_LOOK_MS + STEP_MS;

type Work = {
  readonly kind: WorkKind;
  readonly job: Job;
  readonly addedMs: number;
  startMs: number | undefined;
  leftMs: number;
  ranMs: number;
  waited: Waited | undefined;
  state: 'waits' | 'runs' | 'parked' | 'ended';
  end: () => void;
};

/** Two workers as they are with two cores: one background job runs at a time, and one seals beside one that is parked. */
class Threads {
  readonly works: Work[] = [];
  readonly scheduler: TaskScheduler;
  nowMs = 0;
  isSealUrgent = false;
  readonly #wakes: { readonly atMs: number; readonly wake: () => void }[] = [];

  constructor({ threadCount = 2, begunMax = 2, parkedMax = 4 } = {}) {
    this.scheduler = new TaskScheduler({
      ...{ threadCount, parkedMax },
      background: { runningMax: 1, begunMax },
      isSealUrgent: () => this.isSealUrgent,
      time: {
        nowMs: () => this.nowMs,
        wakeIn: (ms, wake) => this.#wakes.push({ atMs: this.nowMs + ms, wake }),
      },
    });
  }

  add(kind: WorkKind, ms: number): Work {
    const work: Work = {
      ...{ kind, leftMs: ms, state: 'waits', ranMs: 0, startMs: undefined, waited: undefined },
      ...{ addedMs: this.nowMs, end: () => {} },
      job: {
        kind,
        start: (waited) => {
          Object.assign(work, { state: 'runs', startMs: this.nowMs, waited });
          return new Promise<void>((resolve) => {
            work.end = resolve;
          });
        },
        parking: {
          park: () => {
            if (work.state === 'runs') work.state = 'parked';
          },
          resume: () => {
            if (work.state === 'parked') work.state = 'runs';
          },
        },
      },
    };
    this.works.push(work);
    this.scheduler.add('turn', work.job);
    return work;
  }

  ranMs(kind: WorkKind): number {
    return this.#sum(kind, ({ ranMs }) => ranMs);
  }

  /** So many milliseconds; before each step `beside` may add more. */
  async run(ms: number, beside: () => void = () => {}): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      beside();
      await this.#step();
    }
  }

  async #step(): Promise<void> {
    this.nowMs += STEP_MS;
    for (const work of this.works) {
      if (work.state !== 'runs') continue;
      work.ranMs += STEP_MS;
      work.leftMs -= STEP_MS;
      if (work.leftMs > 0) continue;
      work.state = 'ended';
      work.end();
    }
    await settled();
    const due = this.#wakes.filter(({ atMs }) => atMs <= this.nowMs);
    for (const { wake } of this.#wakes.splice(0, due.length)) wake();
    await settled();
  }

  #sum(kind: WorkKind, of: (work: Work) => number): number {
    return this.works.reduce((sum, work) => sum + (work.kind === kind ? of(work) : 0), 0);
  }
}

/** What the scheduler does when a job ends, it does some microtasks later. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

/** Keeps so many calls waiting or running, each of so many milliseconds. */
function lastingCalls(threads: Threads, count: number, ms: number): () => void {
  const calls: Work[] = [];
  return () => {
    for (const [index, call] of calls.entries()) {
      if (call.state === 'ended') calls[index] = threads.add('call', ms);
    }
    while (calls.length < count) calls.push(threads.add('call', ms));
  };
}

test('a call never waits behind work of another kind, whatever of that runs or waits', async () => {
  const threads = new Threads({ threadCount: 1 });
  for (const kind of ['renewal', 'states', 'merge', 'seal'] as const) {
    const first = threads.add(kind, 10_000);
    const second = threads.add(kind, 10_000);
    equal(first.state, 'runs', kind);
    const call = threads.add('call', 10);
    deepEqual([first.state, second.state, call.state], ['parked', 'waits', 'runs'], kind);
    for (const work of [first, second, call]) Object.assign(work, { state: 'ended' });
    threads.scheduler.remove(second.job);
    for (const work of [first, call]) work.end();
    await settled();
  }
});

test('of what waits calls go first, then sealing, merging, states and renewals', async () => {
  const threads = new Threads({ threadCount: 1 });
  // Short enough for no kind to be owed a turn.
  const first = threads.add('call', STEP_MS);
  for (const kind of [...WORK_KINDS].reverse()) threads.add(kind, STEP_MS);
  await threads.run((WORK_KINDS.length + 1) * STEP_MS);
  const begun = threads.works
    .filter((work) => work !== first)
    .sort((left, right) => left.startMs! - right.startMs!);
  deepEqual(
    begun.map(({ kind }) => kind),
    WORK_KINDS,
  );
});

test('a merge gives its thread up to a sealing, though one thread has nothing to do, and goes on after it', async () => {
  const threads = new Threads();
  const merge = threads.add('merge', 10_000);
  await threads.run(100);
  const seal = threads.add('seal', 50);
  deepEqual([merge.state, seal.state], ['parked', 'runs']);
  await threads.run(50);
  deepEqual([merge.state, seal.state], ['runs', 'ended']);
});

for (const kind of ['seal', 'merge', 'states', 'renewal'] as const) {
  test(`under a lasting load of calls ${kind} has its share, and calls all the rest`, async () => {
    for (const callMs of [10, 1_000]) {
      const threads = new Threads();
      const calls = lastingCalls(threads, 6, callMs);
      threads.add(kind, 100_000);
      await threads.run(10_000, calls);
      const share = threads.ranMs(kind) / (2 * threads.nowMs);
      const wanted = WORK_SHARES[kind];
      ok(share > 0.8 * wanted && share < 1.3 * wanted, `${share} of ${wanted}, calls of ${callMs}`);
      ok(threads.ranMs('call') + threads.ranMs(kind) > 1.98 * threads.nowMs);
    }
  });
}

test('a sealing that posts wait for has more of the threads, and goes before calls in that', async () => {
  const threads = new Threads();
  threads.isSealUrgent = true;
  const calls = lastingCalls(threads, 6, 10);
  await threads.run(1_000, calls);
  const seal = threads.add('seal', 100_000);
  await threads.run(100, calls);
  ok(seal.startMs! <= 1_000 + TURN_MS_MAX, `it began at ${seal.startMs}`);
  await threads.run(5_000, calls);
  const share = seal.ranMs / (2 * (threads.nowMs - 1_000));
  ok(share > 0.8 * URGENT_SEAL_SHARE, `it had ${share}`);
});

test('beside a sealing that posts wait for, merging has its share', async () => {
  const threads = new Threads();
  threads.isSealUrgent = true;
  const calls = lastingCalls(threads, 6, 10);
  const merge = threads.add('merge', 100_000);
  const seals = (): void => {
    if (!threads.works.some(({ kind, state }) => kind === 'seal' && state !== 'ended')) {
      threads.add('seal', 500);
    }
    calls();
  };
  await threads.run(10_000, seals);
  const share = merge.ranMs / (2 * threads.nowMs);
  ok(share > 0.8 * WORK_SHARES.merge && share < 1.3 * WORK_SHARES.merge, `it had ${share}`);
  const sealShare = threads.ranMs('seal') / (2 * threads.nowMs);
  ok(sealShare > 0.8 * URGENT_SEAL_SHARE, `sealing had ${sealShare}`);
});

test('with one background thread a sealing lends its share to the merge that has that', async () => {
  const threads = new Threads({ begunMax: 1 });
  const merge = threads.add('merge', 400);
  const calls = lastingCalls(threads, 6, 10);
  while (merge.state !== 'parked') await threads.run(STEP_MS, calls);
  const startMs = threads.nowMs;
  const seal = threads.add('seal', 50);
  // On its own share alone the rest of the merge would take twice as long.
  await threads.run(1_000, calls);
  ok(seal.startMs !== undefined, `the merge had ${merge.ranMs} ms`);
  ok(merge.ranMs === 400 && seal.startMs > startMs);
});

for (const isSealUrgent of [false, true]) {
  const name = isSealUrgent ? 'sealing that posts wait for' : 'sealing';
  test(`with one background thread ${name} has what it lends to long steps of merges back`, async () => {
    const threads = new Threads({ begunMax: 1 });
    threads.isSealUrgent = isSealUrgent;
    const calls = lastingCalls(threads, 6, 10);
    // As in the store: a step of a merge is added when the one before has ended.
    const lasting = (kind: WorkKind, ms: number): void => {
      const isThere = threads.works.some((work) => work.kind === kind && work.state !== 'ended');
      if (!isThere) threads.add(kind, ms);
    };
    await threads.run(20_000, () => {
      lasting('seal', 300);
      lasting('merge', 2_000);
      calls();
    });
    const shareOf = (kind: WorkKind): number => threads.ranMs(kind) / (2 * threads.nowMs);
    // Sealing may have no more: one of two threads is all that both have together.
    for (const kind of ['seal', 'merge'] as const) {
      ok(shareOf(kind) > 0.8 * WORK_SHARES[kind], `${kind} had ${shareOf(kind)}`);
    }
  });
}

test('what a kind had while no other wanted the threads is not held against it', async () => {
  const threads = new Threads();
  const merge = threads.add('merge', 100_000);
  await threads.run(5_000);
  const calls = lastingCalls(threads, 6, 10);
  await threads.run(1_000, calls);
  const share = (merge.ranMs - 5_000) / 2_000;
  ok(share > 0.6 * WORK_SHARES.merge, `it had ${share}`);
});

test('a renewal that a caller waits for goes as a call', async () => {
  const threads = new Threads();
  const calls = lastingCalls(threads, 6, 10);
  await threads.run(100, calls);
  const renewal = threads.add('renewal', 10);
  await threads.run(50, calls);
  equal(renewal.state, 'waits');
  threads.scheduler.becomeCall(renewal.job);
  await threads.run(50, calls);
  equal(renewal.state, 'ended');
  const { call, renewal: stats } = threads.scheduler.stats();
  deepEqual([stats.waiting, stats.runMs, call.parked], [0, 0, 0]);
});

test('each job gets the time that it waited and what ran meanwhile; the times of all kinds add up to that of all threads', async () => {
  const threads = new Threads();
  threads.add('merge', 100);
  threads.add('seal', 300);
  // Short enough for no kind to be owed a turn.
  for (let count = 0; count < 2; count++) threads.add('call', 30);
  const call = threads.add('call', 10);
  await threads.run(400);
  deepEqual(call.waited?.ms, 30);
  deepEqual(call.waited?.besideMs, { call: 60, seal: 0, merge: 0, states: 0, renewal: 0 });
  const stats = threads.scheduler.stats();
  for (const kind of WORK_KINDS) equal(stats[kind].runMs, threads.ranMs(kind), kind);
  equal(stats.call.waitMs, 30);
});

const ARRIVALS = fc.array(
  fc.record({
    kind: fc.constantFrom(...WORK_KINDS),
    ms: fc.integer({ min: 1, max: 300 }),
    pauseMs: fc.integer({ min: 0, max: 60 }),
  }),
  { minLength: 1, maxLength: 25 },
);

const SHAPES = fc.record({
  threadCount: fc.integer({ min: 1, max: 3 }),
  begunMax: fc.integer({ min: 1, max: 2 }),
});

test('whatever comes, nothing starves: each job has ended after what came before it, in the share of its kind', async () => {
  await fc.assert(
    fc.asyncProperty(SHAPES, ARRIVALS, fc.boolean(), async (shape, arrivals, isUrgent) => {
      const threads = new Threads(shape);
      threads.isSealUrgent = isUrgent;
      // Calls that never end, more than there are threads.
      const calls = lastingCalls(threads, 4, 20);
      const others: Work[] = [];
      for (const { kind, ms, pauseMs } of arrivals) {
        if (kind === 'call') threads.add('call', ms);
        else others.push(threads.add(kind, ms));
        await threads.run(pauseMs, calls);
      }
      // Background work of one kind may have to wait for that of another, which has its thread.
      const totalMs = others.reduce(
        (sum, { leftMs }) => sum + Math.max(leftMs, 0) + TURN_MS_MAX,
        0,
      );
      const boundMs = (2 * totalMs) / (WORK_SHARES.renewal * shape.threadCount);
      for (let ms = 0; ms < boundMs && others.some(({ state }) => state !== 'ended'); ms += 100) {
        await threads.run(100, calls);
      }
      for (const { kind, state } of others) equal(state, 'ended', kind);
    }),
    { numRuns: 12 },
  );
});

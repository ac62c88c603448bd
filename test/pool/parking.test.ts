import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TURN_MS_MIN } from '../../engine/limits.ts';
import type { Job } from '../../engine/pool/task.ts';
import {
  PARKING_LOOK_MS,
  STARVED_MS_MAX,
  TaskScheduler,
} from '../../engine/pool/task-scheduler.ts';

const STEP_MS = 5;

/** The longest turn of a job while others wait who have had less. */
const TURN_MS_MAX = TURN_MS_MIN + PARKING_LOOK_MS + STEP_MS;

/** A job of the simulation, and what became of it. */
type Work = {
  readonly tenant: string;
  readonly addedMs: number;
  readonly job: Job;
  leftMs: number;
  state: 'waits' | 'runs' | 'parked' | 'ended' | 'given up';
  /** When it started first. */
  startMs: number | undefined;
  ranMs: number;
  parkedCount: number;
  endCount: number;
  end: () => void;
};

/** Threads that work as they are told, on a clock of their own. */
class Simulation {
  readonly works: Work[] = [];
  readonly scheduler: TaskScheduler;
  nowMs = 0;
  readonly #threadCount: number;
  readonly #parkedMax: number;
  readonly #wakes: { readonly atMs: number; readonly wake: () => void }[] = [];

  constructor(threadCount: number, parkedMax = 100) {
    this.#threadCount = threadCount;
    this.#parkedMax = parkedMax;
    this.scheduler = new TaskScheduler({
      threadCount,
      parkedMax,
      time: {
        nowMs: () => this.nowMs,
        wakeIn: (ms, wake) => this.#wakes.push({ atMs: this.nowMs + ms, wake }),
      },
    });
  }

  add(tenant: string, ms: number): Work {
    const work: Work = {
      ...{ tenant, addedMs: this.nowMs, leftMs: ms, state: 'waits', startMs: undefined },
      ...{ ranMs: 0, parkedCount: 0, endCount: 0, end: () => {} },
      job: {
        tenant,
        start: () => {
          equal(work.state, 'waits');
          work.state = 'runs';
          work.startMs = this.nowMs;
          return new Promise<void>((resolve) => {
            work.end = () => {
              work.endCount += 1;
              resolve();
            };
          });
        },
        parking: {
          park: () => {
            work.parkedCount += 1;
            // Its end may not be known yet.
            if (work.state === 'runs') work.state = 'parked';
          },
          resume: () => {
            if (work.state === 'parked') work.state = 'runs';
          },
          end: () => {
            work.state = 'given up';
            work.end();
          },
        },
      },
    };
    this.works.push(work);
    this.scheduler.add('turn', work.job);
    this.#check();
    return work;
  }

  of(tenant: string): readonly Work[] {
    return this.works.filter((work) => work.tenant === tenant);
  }

  ranMs(tenant: string): number {
    return this.of(tenant).reduce((sum, { ranMs }) => sum + ranMs, 0);
  }

  inState(state: Work['state']): readonly Work[] {
    return this.works.filter((work) => work.state === state);
  }

  async run(ms: number): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) await this.#step();
  }

  /** Until all that was added has ended. */
  async runAll(): Promise<void> {
    while (this.works.some(({ endCount }) => endCount === 0)) await this.#step();
    await settled();
    this.#check();
  }

  async #step(): Promise<void> {
    this.nowMs += STEP_MS;
    for (const work of this.inState('runs')) {
      work.ranMs += STEP_MS;
      work.leftMs -= STEP_MS;
      if (work.leftMs > 0) continue;
      work.state = 'ended';
      work.end();
    }
    await settled();
    for (const { wake } of this.#wakes.splice(0, this.#dueCount())) wake();
    await settled();
    this.#check();
  }

  #dueCount(): number {
    return this.#wakes.filter(({ atMs }) => atMs <= this.nowMs).length;
  }

  #check(): void {
    const running = this.inState('runs').length;
    const waiting = this.inState('waits').length + this.inState('parked').length;
    ok(running <= this.#threadCount, `${running} jobs run`);
    if (waiting > 0) equal(running, this.#threadCount, 'no thread is idle while something waits');
    ok(this.inState('parked').length <= this.#parkedMax);
  }
}

/** What the scheduler does when a job ends, it does some microtasks later. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

const TENANTS = ['a', 'b', 'c', 'd'] as const;

const WORKLOAD = fc.array(
  fc.record({
    tenant: fc.constantFrom(...TENANTS),
    ms: fc.integer({ min: 1, max: 400 }),
    pauseMs: fc.integer({ min: 0, max: 100 }),
  }),
  { maxLength: 12 },
);

const THREADS = fc.integer({ min: 1, max: 4 });

const RUNS = { numRuns: 25 };

test('a job of another tenant starts within a turn, and what was parked for it goes on to its end', async () => {
  const simulation = new Simulation(2);
  const hogs = [1, 2, 3].map(() => simulation.add('many', 1_000));
  await simulation.run(100);
  const short = simulation.add('few', 20);
  equal(short.state, 'runs', 'those that run have had their turn');
  deepEqual(
    hogs.map(({ state }) => state),
    ['runs', 'parked', 'waits'],
  );
  await simulation.run(20);
  deepEqual(
    hogs.map(({ state }) => state),
    ['runs', 'runs', 'waits'],
    'what is parked goes before what has not begun',
  );
  const next = simulation.add('few', 20);
  equal(next.state, 'runs');
  await simulation.runAll();
  deepEqual(
    hogs.map(({ state }) => state),
    ['ended', 'ended', 'ended'],
  );
});

test('a job that has just begun is not parked', async () => {
  const simulation = new Simulation(1);
  simulation.add('many', 1_000);
  const short = simulation.add('few', 500);
  await simulation.run(TURN_MS_MIN - STEP_MS);
  equal(short.state, 'waits');
  await simulation.run(TURN_MS_MAX - TURN_MS_MIN + STEP_MS);
  equal(short.state, 'runs');
});

test('a tenant that comes late has no claim on the time before', async () => {
  const simulation = new Simulation(1);
  simulation.add('early', 10_000);
  await simulation.run(5_000);
  simulation.add('late', 1_000);
  await simulation.run(1_000);
  const ms = simulation.ranMs('late');
  ok(Math.abs(ms - 500) <= TURN_MS_MAX, `it ran for ${ms} ms of 1000`);
  await simulation.runAll();
});

test('two tenants with a thread each keep them, whatever else each has waiting', async () => {
  const simulation = new Simulation(2);
  for (let count = 0; count < 4; count++) simulation.add('a', 1_000);
  for (let count = 0; count < 4; count++) simulation.add('b', 1_000);
  await simulation.run(900);
  equal(simulation.works.filter(({ parkedCount }) => parkedCount > 0).length, 1);
  await simulation.runAll();
});

test('a job that ends while it is parked is forgotten', async () => {
  const simulation = new Simulation(1);
  const parked = simulation.add('many', 1_000);
  await simulation.run(100);
  const other = simulation.add('few', 1_000);
  deepEqual([parked.state, other.state], ['parked', 'runs']);
  // As when its caller hangs up.
  parked.state = 'ended';
  parked.end();
  await settled();
  equal(simulation.scheduler.parkedCount, 0);
  await simulation.run(500);
  equal(other.parkedCount, 0);
  await simulation.runAll();
});

test('where no more may be parked, what has run longest is ended for a tenant of which nothing has begun', async () => {
  const simulation = new Simulation(1, 1);
  const longest = simulation.add('a', 10_000);
  await simulation.run(STARVED_MS_MAX);
  const second = simulation.add('b', 10_000);
  const waiting = simulation.add('c', 10);
  await simulation.run(STARVED_MS_MAX - STEP_MS);
  deepEqual([longest.endCount, waiting.state], [0, 'waits']);
  await simulation.run(2 * TURN_MS_MAX);
  deepEqual([longest.state, second.endCount, waiting.endCount], ['given up', 0, 1]);
  // One that has begun ends nobody, however long it waits for its turn.
  simulation.add('b', 10);
  simulation.add('d', 3_000);
  await simulation.run(2 * STARVED_MS_MAX);
  equal(simulation.inState('given up').length, 1);
  await simulation.runAll();
});

test('nothing is ended that has run for less than STARVED_MS_MAX', async () => {
  const simulation = new Simulation(1, 1);
  const first = simulation.add('a', STARVED_MS_MAX - STEP_MS);
  await simulation.run(100);
  const second = simulation.add('b', STARVED_MS_MAX - STEP_MS);
  const waiting = simulation.add('c', 10);
  await simulation.runAll();
  deepEqual([first.state, second.state, waiting.state], ['ended', 'ended', 'ended']);
  ok(waiting.startMs! > STARVED_MS_MAX, 'it waited for longer than others may be ended for');
});

test('a tenant that always has new jobs has its own ended, not those of others that have run longer', async () => {
  const simulation = new Simulation(1, 1);
  for (let count = 0; count < 20; count++) simulation.add('busy', 10_000);
  await simulation.run(100);
  const other = simulation.add('other', 2_000);
  for (let count = 0; count < 3; count++) {
    simulation.add(`newcomer ${count}`, 10);
    await simulation.run(2 * STARVED_MS_MAX);
  }
  const givenUp = simulation.inState('given up').map(({ tenant }) => tenant);
  deepEqual(givenUp, ['busy', 'busy', 'busy']);
  ok(other.ranMs > TURN_MS_MIN);
});

test('whatever comes, every job ends once, no thread is idle while something waits, and none has two', async () => {
  await fc.assert(
    fc.asyncProperty(THREADS, WORKLOAD, async (threadCount, workload) => {
      const simulation = new Simulation(threadCount);
      for (const { tenant, ms, pauseMs } of workload) {
        simulation.add(tenant, ms);
        await simulation.run(pauseMs);
      }
      await simulation.runAll();
      for (const { state, endCount } of simulation.works)
        deepEqual([state, endCount], ['ended', 1]);
      equal(simulation.scheduler.runningCount + simulation.scheduler.waitingCount, 0);
      await simulation.scheduler.idle();
    }),
    RUNS,
  );
});

test('with few places to be parked in, every job ends or is ended once', async () => {
  await fc.assert(
    fc.asyncProperty(THREADS, fc.integer({ min: 1, max: 2 }), WORKLOAD, async (...given) => {
      const [threadCount, parkedMax, workload] = given;
      const simulation = new Simulation(threadCount, parkedMax);
      for (const { tenant, ms, pauseMs } of workload) {
        simulation.add(tenant, ms);
        await simulation.run(pauseMs);
      }
      await simulation.runAll();
      for (const { endCount } of simulation.works) equal(endCount, 1);
    }),
    RUNS,
  );
});

test('a tenant alone has nothing parked', async () => {
  await fc.assert(
    fc.asyncProperty(THREADS, WORKLOAD, async (threadCount, workload) => {
      const simulation = new Simulation(threadCount);
      for (const { ms, pauseMs } of workload) {
        simulation.add('alone', ms);
        await simulation.run(pauseMs);
      }
      await simulation.runAll();
      for (const { parkedCount } of simulation.works) equal(parkedCount, 0);
    }),
    RUNS,
  );
});

test('however much others do, a newcomer waits for one turn of each of them at most', async () => {
  await fc.assert(
    fc.asyncProperty(THREADS, WORKLOAD, async (threadCount, workload) => {
      const simulation = new Simulation(threadCount);
      for (const { tenant, ms, pauseMs } of workload) {
        simulation.add(tenant, 10 * ms);
        await simulation.run(pauseMs);
      }
      const newcomer = simulation.add('new', 10);
      await simulation.run((TENANTS.length + 1) * TURN_MS_MAX);
      const waitedMs = (newcomer.startMs ?? Infinity) - newcomer.addedMs;
      const others = TENANTS.filter((tenant) => simulation.of(tenant).length > 0).length;
      ok(waitedMs <= others * TURN_MS_MAX, `${waitedMs} ms beside ${others} others`);
    }),
    RUNS,
  );
});

test('tenants that always have work for all threads have had the same time, but for a turn of each thread', async () => {
  await fc.assert(
    fc.asyncProperty(
      THREADS,
      fc.integer({ min: 2, max: 4 }),
      fc.array(fc.integer({ min: 10, max: 3_000 }), { minLength: 1, maxLength: 10 }),
      async (threadCount, tenantCount, sizes) => {
        const simulation = new Simulation(threadCount);
        const tenants = TENANTS.slice(0, tenantCount);
        let count = 0;
        const fill = () => {
          for (const tenant of tenants) {
            const left = simulation.of(tenant).filter(({ endCount }) => endCount === 0).length;
            for (let more = left; more < threadCount + 1; more++) {
              simulation.add(tenant, sizes[count++ % sizes.length]!);
            }
          }
        };
        for (fill(); simulation.nowMs < 1_000; fill()) {
          await simulation.run(STEP_MS);
          const had = tenants.map((tenant) => simulation.ranMs(tenant));
          const difference = Math.max(...had) - Math.min(...had);
          ok(difference <= 2 * threadCount * TURN_MS_MAX, `they have had ${had}`);
        }
      },
    ),
    { ...RUNS, examples: [[3, 4, [461, 461, 17]]] },
  );
});

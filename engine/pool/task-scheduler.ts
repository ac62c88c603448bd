import { assert, must } from '../assert.ts';
import { PARKING_LOOK_MS, STARVED_MS_MAX, TURN_MS_MIN } from '../limits.ts';
import { FairQueue } from './fair-queue.ts';
import { NO_TENANT, type Tenant } from './tenant-sets.ts';

/** Something that takes one thread from `start` until its promise settles. It never rejects. */
export type Job = {
  readonly start: () => Promise<void>;
  /** Whose time it takes. */
  readonly tenant?: Tenant | undefined;
  /** There where the job can be parked. */
  readonly parking?: Parking | undefined;
};

/** Steers a job that has started and not ended. The methods return at once; the job obeys at its next checkpoint. */
export interface Parking {
  /** The job pauses, and keeps its thread and its memory. */
  park(): void;
  /** The job, which is parked, goes on; it has run for so long in all. */
  resume(ranMs: number): void;
  /** The job ends, parked or not: others need its place. */
  end(): void;
}

/**
 * Whose turn it is. `ahead` jobs go first: the last task of a query that has had its turn, whose
 * partial states hold memory.
 */
export type Lane = 'ahead' | 'turn';

/** The clock of a scheduler. */
export type SchedulerTime = {
  readonly nowMs: () => number;
  /** Calls `wake` once, after so many milliseconds. */
  readonly wakeIn: (ms: number, wake: () => void) => void;
};

const TIME: SchedulerTime = {
  nowMs: () => performance.now(),
  wakeIn: (ms, wake) => {
    setTimeout(wake, ms).unref();
  },
};

export type SchedulerOptions = {
  /** Jobs that run at a time. */
  readonly threadCount: number;
  /** Jobs that may be parked at a time, beside those that run; none where left out. */
  readonly parkedMax?: number;
  /** Milliseconds that a job runs, at least, before it is parked. */
  readonly turnMsMin?: number | undefined;
  readonly time?: SchedulerTime | undefined;
};

/** What is known of a job until it ends. */
type JobState = {
  /** Since when it waits, runs or is parked. */
  sinceMs: number;
  /** What its tenant was charged for this turn, in milliseconds. */
  chargedMs: number;
  /** Milliseconds of its turns before this one. */
  ranMs: number;
  isEnding: boolean;
};

/** What is known of a tenant while it has jobs here. */
type TenantState = {
  jobCount: number;
  /** Milliseconds that its jobs have run since it last had none. */
  ranMs: number;
};

/**
 * Gives each job a thread to itself: those that go ahead in the order of arrival, the others in turns that are
 * fair between tenants by the time their jobs take, and of one tenant in the order of arrival.
 *
 * A job that runs for long gives its turn up to a tenant that has had less and has fewer jobs running: it is parked, and
 * waits for its tenant's next turn.
 *
 * Invariant: a job waits (`#ahead`, or `#turn` and not `#parked`), runs (`#running`) or is parked (`#parked` and `#turn`).
 */
export class TaskScheduler {
  readonly threadCount: number;
  readonly parkedMax: number;
  readonly #turnMsMin: number;
  readonly #time: SchedulerTime;
  /** A set keeps the order of arrival, and any job leaves it in constant time. */
  readonly #ahead = new Set<Job>();
  readonly #turn = new FairQueue<Job>();
  readonly #running = new Set<Job>();
  readonly #parked = new Set<Job>();
  readonly #states = new Map<Job, JobState>();
  readonly #tenants = new Map<Tenant, TenantState>();
  #isLookDue = false;
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: SchedulerOptions) {
    const { threadCount, parkedMax = 0, turnMsMin = TURN_MS_MIN, time = TIME } = options;
    assert(turnMsMin > 0, 'a job that has just begun is not parked');
    this.threadCount = threadCount;
    this.parkedMax = parkedMax;
    this.#turnMsMin = turnMsMin;
    this.#time = time;
  }

  /** Starts the job at once when a thread is free for it. */
  add(lane: Lane, job: Job): void {
    this.#charge();
    const sinceMs = this.#time.nowMs();
    this.#states.set(job, { sinceMs, chargedMs: 0, ranMs: 0, isEnding: false });
    const tenant = this.#tenants.get(tenantOf(job)) ?? { jobCount: 0, ranMs: 0 };
    tenant.jobCount += 1;
    this.#tenants.set(tenantOf(job), tenant);
    if (lane === 'ahead') this.#ahead.add(job);
    else this.#turn.add(job, job.tenant);
    this.#startNext();
  }

  /** Takes a job back that has not started. */
  remove(lane: Lane, job: Job): void {
    if (lane === 'ahead') this.#ahead.delete(job);
    else this.#turn.remove(job, job.tenant);
    this.#forget(job);
    this.#settleIdle();
  }

  /** Jobs that have started, not ended, and are not parked. */
  get runningCount(): number {
    return this.#running.size;
  }

  get parkedCount(): number {
    return this.#parked.size;
  }

  /** Jobs that have not started. */
  get waitingCount(): number {
    return this.#states.size - this.#running.size - this.#parked.size;
  }

  /** Resolves once nothing waits, nothing runs and nothing is parked. */
  idle(): Promise<void> {
    if (this.#idle === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#idle = { promise, resolve };
    }
    const { promise } = this.#idle;
    this.#settleIdle();
    return promise;
  }

  /** Charges tenants for what their jobs have run until now, so that turns go by what each has had. */
  #charge(): void {
    const nowMs = this.#time.nowMs();
    for (const job of this.#running) {
      const state = this.#stateOf(job);
      const turnMs = nowMs - state.sinceMs;
      this.#turn.charge(turnMs, job.tenant, state.chargedMs);
      this.#tenantOf(job).ranMs += turnMs - state.chargedMs;
      state.chargedMs = turnMs;
    }
    this.#turn.advance(tenantsOf(this.#running));
  }

  #startNext(): void {
    while (this.#running.size < this.threadCount) {
      const job = this.#takeNext(() => true);
      if (job === undefined) return;
      this.#begin(job);
    }
    if (this.parkedMax === 0) return;
    while (this.#exchange()) {}
    this.#endLongest();
    this.#lookLater();
  }

  #takeNext(mayGo: (job: Job) => boolean): Job | undefined {
    for (const job of this.#ahead) {
      if (!mayGo(job)) continue;
      this.#ahead.delete(job);
      return job;
    }
    return this.#turn.take(mayGo);
  }

  #begin(job: Job): void {
    const state = this.#stateOf(job);
    state.sinceMs = this.#time.nowMs();
    state.chargedMs = 0;
    this.#running.add(job);
    if (this.#parked.delete(job)) parkingOf(job).resume(state.ranMs);
    else void this.#run(job);
  }

  async #run(job: Job): Promise<void> {
    try {
      await job.start();
    } finally {
      this.#charge();
      this.#running.delete(job);
      if (this.#parked.delete(job)) this.#turn.remove(job, job.tenant);
      this.#forget(job);
      this.#startNext();
      this.#settleIdle();
    }
  }

  /** Parks one job, and gives its turn to one of another tenant. False where no tenant is to give a turn up. */
  #exchange(): boolean {
    if (this.#ahead.size + this.#turn.size === 0 || !this.#mayAnyGive()) return false;
    const counts = countByTenant(this.#running);
    const givers = new Map<Job, Job>();
    const next = this.#takeNext((job) => {
      if (this.#parked.size >= this.parkedMax && !this.#parked.has(job)) return false;
      const giver = this.#findGiver(job, counts);
      if (giver !== undefined) givers.set(job, giver);
      return giver !== undefined;
    });
    if (next === undefined) return false;
    this.#park(must(givers.get(next), 'who goes has one who gives'));
    this.#begin(next);
    return true;
  }

  /** Most jobs are short: of these nothing more is looked at. */
  #mayAnyGive(): boolean {
    for (const job of this.#running) if (this.#mayGive(job)) return true;
    return false;
  }

  #mayGive(job: Job): boolean {
    const { chargedMs, isEnding } = this.#stateOf(job);
    return chargedMs >= this.#turnMsMin && !isEnding && job.parking !== undefined;
  }

  /**
   * The job to be parked for this one: of the tenant that has had most, where that is no less than this one's tenant
   * has had, and that has more jobs running. So two tenants with a thread each keep them, whatever each has waiting.
   */
  #findGiver(job: Job, counts: ReadonlyMap<Tenant, number>): Job | undefined {
    const count = counts.get(tenantOf(job)) ?? 0;
    let most = this.#turn.spentOf(tenantOf(job));
    let giver: Job | undefined;
    for (const other of this.#running) {
      if (!this.#mayGive(other)) continue;
      if (counts.get(tenantOf(other))! <= count) continue;
      const spent = this.#turn.spentOf(tenantOf(other));
      if (spent < most) continue;
      // Of one tenant the last that began: the first is nearer to its end.
      giver = other;
      most = spent;
    }
    return giver;
  }

  #park(job: Job): void {
    const state = this.#stateOf(job);
    state.ranMs += state.chargedMs;
    state.sinceMs = this.#time.nowMs();
    state.chargedMs = 0;
    this.#running.delete(job);
    this.#parked.add(job);
    this.#turn.putBack(job, job.tenant);
    parkingOf(job).park();
  }

  /**
   * Where no more jobs may be parked, ends one for a tenant that has waited for long, and of which nothing has begun: of
   * the tenant whose jobs have run longest since it last had none, the one that has run longest. Whoever always has new
   * jobs would otherwise have those of others ended. Its jobs must have run STARVED_MS_MAX longer than those of the tenant
   * that waits: shorter ones end of themselves, however slow the machine is.
   */
  #endLongest(): void {
    if (this.#parked.size < this.parkedMax) return;
    const begun = [...this.#running, ...this.#parked];
    if (begun.some((job) => this.#stateOf(job).isEnding)) return;
    const starvedRanMs = this.#leastRanMsOfStarved(begun);
    const ranMs = (job: Job): number => this.#stateOf(job).ranMs + this.#stateOf(job).chargedMs;
    const tenantRanMs = (job: Job): number => this.#tenantOf(job).ranMs;
    const [longest] = begun
      .filter(({ parking }) => parking !== undefined)
      .toSorted(
        (left, right) => tenantRanMs(right) - tenantRanMs(left) || ranMs(right) - ranMs(left),
      );
    if (longest === undefined || tenantRanMs(longest) < starvedRanMs + STARVED_MS_MAX) return;
    this.#stateOf(longest).isEnding = true;
    parkingOf(longest).end();
  }

  /** How long the jobs have run of the tenant that waits for long and has had least; infinite where none does. */
  #leastRanMsOfStarved(begun: readonly Job[]): number {
    const tenants = new Set(tenantsOf(begun));
    const sinceMsMax = this.#time.nowMs() - STARVED_MS_MAX;
    let least = Number.POSITIVE_INFINITY;
    for (const [job, { sinceMs }] of this.#states) {
      const isStarved = sinceMs <= sinceMsMax && !tenants.has(tenantOf(job));
      if (isStarved) least = Math.min(least, this.#tenantOf(job).ranMs);
    }
    return least;
  }

  /** Looks again while something waits: what runs has had more by then. */
  #lookLater(): void {
    if (this.#isLookDue || this.#ahead.size + this.#turn.size === 0) return;
    this.#isLookDue = true;
    this.#time.wakeIn(PARKING_LOOK_MS, () => {
      this.#isLookDue = false;
      this.#charge();
      this.#startNext();
    });
  }

  #stateOf(job: Job): JobState {
    return must(this.#states.get(job), 'a job that has not ended is known');
  }

  #tenantOf(job: Job): TenantState {
    return must(
      this.#tenants.get(tenantOf(job)),
      'the tenant of a job that has not ended is known',
    );
  }

  #forget(job: Job): void {
    this.#states.delete(job);
    const tenant = this.#tenantOf(job);
    tenant.jobCount -= 1;
    if (tenant.jobCount === 0) this.#tenants.delete(tenantOf(job));
  }

  #settleIdle(): void {
    if (this.#states.size > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}

function parkingOf(job: Job): Parking {
  return must(job.parking, 'only jobs are parked that can be');
}

function tenantOf({ tenant = NO_TENANT }: Job): Tenant {
  return tenant;
}

function* tenantsOf(jobs: Iterable<Job>): Iterable<Tenant> {
  for (const job of jobs) yield tenantOf(job);
}

function countByTenant(jobs: Iterable<Job>): ReadonlyMap<Tenant, number> {
  const counts = new Map<Tenant, number>();
  for (const tenant of tenantsOf(jobs)) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return counts;
}

import { assert, must } from '../assert.ts';
import { TURN_MS_MIN } from '../limits.ts';
import { FairQueue, NO_TENANT, type Tenant } from './fair-queue.ts';
import type { Job, Lane, Parking, Waited } from './task.ts';
import {
  copyMsByKind,
  type MsByKind,
  noMsByKind,
  WORK_KINDS,
  type WorkKind,
  WorkShares,
} from './work-shares.ts';

/** While queries wait for threads that others have, it is looked so often whether one of these is to be parked. */
export const PARKING_LOOK_MS = 10;

/**
 * Milliseconds that the query of a tenant waits of which nothing has begun, while no more tasks may be parked: then
 * one of the tenant that has run so much longer without a break is ended. Shorter ones end of themselves.
 */
export const STARVED_MS_MAX = 500;

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

/** Work on segments has threads of its own, which are fewer. */
export type BackgroundLimits = {
  /**
   * Jobs that run at a time, but for those that are due; as many may have begun of sealing, and of all else. Sealing that
   * posts wait for is owed these places for as long as the load lasts.
   */
  readonly runningMax: number;
  /** Jobs that may have begun in all. */
  readonly begunMax: number;
};

export type SchedulerOptions = {
  /** Jobs that run at a time, of all kinds. */
  readonly threadCount: number;
  /** Calls and renewals that may be parked at a time, beside the jobs that run; none where left out. */
  readonly parkedMax?: number;
  /** As many as there are threads where left out. */
  readonly background?: BackgroundLimits | undefined;
  /** Milliseconds that a job runs, at least, before it is parked for another of its kind, or for one that is due. */
  readonly turnMsMin?: number | undefined;
  /** Whether posts are about to be refused, as sealing is behind; never where left out. */
  readonly isSealUrgent?: (() => boolean) | undefined;
  readonly time?: SchedulerTime | undefined;
};

/** What becomes of the jobs of one kind. Plain numbers. */
export type WorkStats = {
  readonly waiting: number;
  readonly running: number;
  readonly parked: number;
  /** Milliseconds since the start that jobs have waited for a thread, or were parked. */
  readonly waitMs: number;
  /** Milliseconds since the start that jobs have run. */
  readonly runMs: number;
};

/** What is known of a job until it ends. */
type JobState = {
  kind: WorkKind;
  /** Whose share it takes while it runs: that of its kind, or of one that waits for it. */
  claim: WorkKind;
  readonly waited: Waited;
  /** What the threads had run of each kind when it began to wait. */
  ranMsBefore: MsByKind;
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

/** The jobs of one kind that have no turn. A set keeps the order of arrival, and any job leaves it in constant time. */
type KindQueue = { readonly ahead: Set<Job>; readonly turn: FairQueue<Job> };

/**
 * Gives each job a thread to itself. Which kind goes first is said by `WorkShares`: a job of a kind that goes before
 * another takes the place of one of these that runs, which is *parked* until its kind has a turn again.
 *
 * Of one kind, those that go ahead do so in the order of arrival, the others in turns that are fair between tenants by the
 * time their jobs take, and of one tenant in the order of arrival. A call that runs for long gives its turn up to a tenant
 * that has had less and has fewer calls running.
 *
 * Invariant: a job waits (in the queue of its kind, and not `#parked`), runs (`#running`) or is parked (`#parked` and in its queue).
 */
export class TaskScheduler {
  readonly threadCount: number;
  readonly parkedMax: number;
  readonly #background: BackgroundLimits;
  readonly #turnMsMin: number;
  readonly #time: SchedulerTime;
  readonly #shares: WorkShares;
  readonly #queues: Readonly<Record<WorkKind, KindQueue>>;
  readonly #running = new Set<Job>();
  readonly #parked = new Set<Job>();
  readonly #states = new Map<Job, JobState>();
  readonly #tenants = new Map<Tenant, TenantState>();
  /** Of jobs that have begun, or were taken back. */
  readonly #waitMs = noMsByKind();
  readonly #ranMs = noMsByKind();
  #isLookDue = false;
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: SchedulerOptions) {
    const { threadCount, parkedMax = 0, turnMsMin = TURN_MS_MIN, time = TIME } = options;
    assert(turnMsMin > 0, 'a job that has just begun is not parked');
    this.threadCount = threadCount;
    this.parkedMax = parkedMax;
    this.#background = options.background ?? { runningMax: threadCount, begunMax: threadCount };
    this.#turnMsMin = turnMsMin;
    this.#time = time;
    this.#shares = new WorkShares(turnMsMin, options.isSealUrgent ?? (() => false));
    this.#queues = {
      call: newQueue(),
      seal: newQueue(),
      merge: newQueue(),
      states: newQueue(),
      renewal: newQueue(),
    };
  }

  /** Starts the job at once when a thread is free for it. */
  add(lane: Lane, job: Job): void {
    this.#charge();
    const { kind = 'call' } = job;
    this.#states.set(job, {
      kind,
      claim: kind,
      waited: { ms: 0, besideMs: noMsByKind() },
      ranMsBefore: copyMsByKind(this.#ranMs),
      sinceMs: this.#time.nowMs(),
      chargedMs: 0,
      ranMs: 0,
      isEnding: false,
    });
    const tenant = this.#tenants.get(tenantOf(job)) ?? { jobCount: 0, ranMs: 0 };
    tenant.jobCount += 1;
    this.#tenants.set(tenantOf(job), tenant);
    if (lane === 'ahead') this.#queues[kind].ahead.add(job);
    else this.#queues[kind].turn.add(job, job.tenant);
    this.#startNext();
  }

  /** Takes a job back that has not started. */
  remove(job: Job): void {
    this.#unqueue(job);
    this.#noteWait(job);
    this.#forget(job);
    this.#settleIdle();
  }

  /** Somebody waits for a renewal from now on, if it has not ended. */
  becomeCall(job: Job): void {
    const state = this.#states.get(job);
    if (state === undefined || state.kind === 'call') return;
    this.#charge();
    const { ahead } = this.#queues[state.kind];
    const isAhead = ahead.has(job);
    const isWaiting = this.#unqueue(job);
    state.kind = 'call';
    state.claim = 'call';
    if (isAhead) this.#queues.call.ahead.add(job);
    else if (this.#parked.has(job)) this.#queues.call.turn.putBack(job, job.tenant);
    else if (isWaiting) this.#queues.call.turn.add(job, job.tenant);
    this.#startNext();
  }

  /** Jobs that have started, not ended, and are not parked. */
  get runningCount(): number {
    return this.#running.size;
  }

  get parkedCount(): number {
    return this.#parked.size;
  }

  /** Whether one more may run. */
  get hasRoom(): boolean {
    return this.#running.size < this.threadCount;
  }

  /** Jobs that have not started. */
  get waitingCount(): number {
    return this.#states.size - this.#running.size - this.#parked.size;
  }

  /** Jobs that have started and not ended, of work on segments or of all else. */
  begunCount(where: 'background' | 'queries'): number {
    return this.#count(this.#begun(), (kind) => isBackground(kind) === (where === 'background'));
  }

  stats(): Readonly<Record<WorkKind, WorkStats>> {
    this.#charge();
    const nowMs = this.#time.nowMs();
    const stats = Object.fromEntries(
      WORK_KINDS.map((kind) => {
        const waitMs = this.#waitMs[kind];
        return [kind, { waiting: 0, running: 0, parked: 0, waitMs, runMs: this.#ranMs[kind] }];
      }),
    ) as Record<WorkKind, { -readonly [Name in keyof WorkStats]: WorkStats[Name] }>;
    for (const [job, { kind, sinceMs }] of this.#states) {
      const of = stats[kind];
      if (this.#running.has(job)) of.running += 1;
      else {
        if (this.#parked.has(job)) of.parked += 1;
        else of.waiting += 1;
        of.waitMs += nowMs - sinceMs;
      }
    }
    return stats;
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

  /** Charges kinds and tenants for what their jobs have run until now, so that turns go by what each has had. */
  #charge(): void {
    const nowMs = this.#time.nowMs();
    const ranMs = noMsByKind();
    const borrowedMs = noMsByKind();
    for (const job of this.#running) {
      const state = this.#stateOf(job);
      const turnMs = nowMs - state.sinceMs;
      const moreMs = turnMs - state.chargedMs;
      this.#queues[state.kind].turn.charge(turnMs, job.tenant, state.chargedMs);
      this.#tenantOf(job).ranMs += moreMs;
      this.#ranMs[state.kind] += moreMs;
      ranMs[state.claim] += moreMs;
      if (state.claim !== state.kind) borrowedMs[state.kind] += moreMs;
      state.chargedMs = turnMs;
    }
    this.#queues.call.turn.advance(this.#callingTenants());
    // Most jobs find a thread free for them.
    if (!this.#isAnyWaiting && !this.#shares.isAnyOwed) return;
    const hasWork = (kind: WorkKind): boolean => this.#isWaiting(kind) || this.#isClaimed(kind);
    this.#shares.note(ranMs, borrowedMs, hasWork);
  }

  #startNext(): void {
    if (!this.#isAnyWaiting) return;
    while (this.#shares.order().some((kind) => this.#isWaiting(kind) && this.#startOf(kind))) {}
    this.#endLongest();
    this.#lookLater();
  }

  /** Starts one job on the claim of a kind, where a thread is free or one of a kind behind it gives way. */
  #startOf(kind: WorkKind): boolean {
    if (this.hasRoom) {
      const job = this.#takeFor(kind, (next) => this.#hasPlace(next));
      if (job !== undefined) return this.#begin(job, kind);
    }
    const giver = this.#findBehind(kind);
    const job = giver && this.#takeFor(kind, (next) => this.#hasPlace(next, giver));
    if (job === undefined || giver === undefined) return kind === 'call' && this.#exchange();
    this.#park(giver);
    return this.#begin(job, kind);
  }

  /** One of the kind, or one that is parked and has the thread that a sealing needs. */
  #takeFor(kind: WorkKind, mayGo: (job: Job) => boolean): Job | undefined {
    const own = this.#take(kind, mayGo);
    if (own !== undefined || kind !== 'seal') return own;
    const mayResume = (job: Job): boolean => this.#parked.has(job) && mayGo(job);
    return this.#take('merge', mayResume) ?? this.#take('states', mayResume);
  }

  #take(kind: WorkKind, mayGo: (job: Job) => boolean): Job | undefined {
    const { ahead, turn } = this.#queues[kind];
    for (const job of ahead) {
      if (!mayGo(job)) continue;
      ahead.delete(job);
      return job;
    }
    return turn.take(mayGo, kind === 'call' ? this.#callingTenants() : []);
  }

  /** Whether there is a thread that may run the job, and a place where one that gives way to it may be parked. */
  #hasPlace(job: Job, giver?: Job): boolean {
    const { kind } = this.#stateOf(job);
    const isParked = this.#parked.has(job);
    const givesBackground = giver !== undefined && isBackground(this.#stateOf(giver).kind);
    if (giver !== undefined && !givesBackground && !this.#hasParkingFor(job)) return false;
    if (!isBackground(kind)) return true;
    const { runningMax, begunMax } = this.#background;
    const runningCount = this.#count(this.#running, isBackground) - (givesBackground ? 1 : 0);
    if (runningCount >= runningMax && !this.#shares.isDue(kind)) return false;
    if (isParked) return true;
    const isLike = (other: WorkKind): boolean =>
      isBackground(other) && (other === 'seal') === (kind === 'seal');
    const begun = this.#begun();
    return this.#count(begun, isLike) < runningMax && this.#count(begun, isBackground) < begunMax;
  }

  /** Whether a call or a renewal may be parked for this job; where all places are taken, only for one that leaves its own. */
  #hasParkingFor(job: Job): boolean {
    if (this.#count(this.#parked, isForeground) < this.parkedMax) return true;
    return this.#parked.has(job) && isForeground(this.#stateOf(job).kind);
  }

  /** Always true. */
  #begin(job: Job, claim: WorkKind): true {
    this.#noteWait(job);
    const state = this.#stateOf(job);
    state.claim = claim;
    state.sinceMs = this.#time.nowMs();
    state.chargedMs = 0;
    this.#running.add(job);
    if (this.#parked.delete(job)) parkingOf(job).resume(state.ranMs);
    else void this.#run(job, state.waited);
    return true;
  }

  async #run(job: Job, waited: Waited): Promise<void> {
    try {
      await job.start(waited);
    } finally {
      this.#charge();
      this.#running.delete(job);
      if (this.#parked.delete(job)) {
        this.#unqueue(job);
        this.#noteWait(job);
      }
      this.#forget(job);
      this.#startNext();
      this.#settleIdle();
    }
  }

  /** The job that is to give way to one of this kind: of the last kind behind it the last that began. */
  #findBehind(kind: WorkKind): Job | undefined {
    let found: Job | undefined;
    let last = -1;
    for (const job of this.#running) {
      const { claim } = this.#stateOf(job);
      const place = WORK_KINDS.indexOf(claim);
      if (place < last || !this.#isBehind(job, kind)) continue;
      found = job;
      last = place;
    }
    return found;
  }

  #isBehind(job: Job, kind: WorkKind): boolean {
    const { claim, chargedMs, isEnding } = this.#stateOf(job);
    if (job.parking === undefined || isEnding || claim === kind) return false;
    if (this.#shares.isOwed(claim)) return false;
    if (WORK_KINDS.indexOf(kind) < WORK_KINDS.indexOf(claim)) return true;
    return this.#shares.isDue(kind) && chargedMs >= this.#turnMsMin;
  }

  /** Parks one call, and gives its turn to one of another tenant. False where no tenant is to give a turn up. */
  #exchange(): boolean {
    const running = this.#runningOf('call').filter((job) => this.#mayGive(job));
    // Most jobs are short: of these nothing more is looked at.
    if (running.length === 0) return false;
    const counts = countByTenant(this.#runningOf('call'));
    const givers = new Map<Job, Job>();
    const next = this.#take('call', (job) => {
      if (!this.#hasParkingFor(job)) return false;
      const giver = this.#findGiver(job, running, counts);
      if (giver !== undefined) givers.set(job, giver);
      return giver !== undefined;
    });
    if (next === undefined) return false;
    this.#park(must(givers.get(next), 'a job that may run takes the thread of another'));
    return this.#begin(next, 'call');
  }

  #mayGive(job: Job): boolean {
    const { chargedMs, isEnding } = this.#stateOf(job);
    return chargedMs >= this.#turnMsMin && !isEnding && job.parking !== undefined;
  }

  /**
   * The job to be parked for this one: of the tenant that has had most, where that is no less than this one's tenant
   * has had, and that has more jobs running. So two tenants with a thread each keep them, whatever each has waiting.
   */
  #findGiver(
    job: Job,
    running: readonly Job[],
    counts: ReadonlyMap<Tenant, number>,
  ): Job | undefined {
    const { turn } = this.#queues.call;
    const count = counts.get(tenantOf(job)) ?? 0;
    let most = turn.spentOf(tenantOf(job));
    let giver: Job | undefined;
    for (const other of running) {
      if (counts.get(tenantOf(other))! <= count) continue;
      const spent = turn.spentOf(tenantOf(other));
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
    state.ranMsBefore = copyMsByKind(this.#ranMs);
    state.chargedMs = 0;
    this.#running.delete(job);
    this.#parked.add(job);
    this.#queues[state.kind].turn.putBack(job, job.tenant);
    parkingOf(job).park();
  }

  /**
   * Where no more calls may be parked, ends one for a tenant that has waited for long, and of which nothing has begun: of
   * the tenant whose jobs have run longest since it last had none, the one that has run longest. Whoever always has new
   * jobs would otherwise have those of others ended. Its jobs must have run STARVED_MS_MAX longer than those of the tenant
   * that waits: shorter ones end of themselves, however slow the machine is.
   */
  #endLongest(): void {
    if (this.parkedMax === 0 || this.#parked.size < this.parkedMax) return;
    if (this.#count(this.#parked, isForeground) < this.parkedMax) return;
    const begun = this.#begun().filter((job) => isForeground(this.#stateOf(job).kind));
    if (begun.some((job) => this.#stateOf(job).isEnding)) return;
    const starvedRanMs = this.#leastRanMsOfStarved(begun);
    const ranMs = (job: Job): number => this.#stateOf(job).ranMs + this.#stateOf(job).chargedMs;
    const tenantRanMs = (job: Job): number => this.#tenantOf(job).ranMs;
    const [longest] = begun
      .filter(({ parking }) => parking?.end !== undefined)
      .toSorted(
        (left, right) => tenantRanMs(right) - tenantRanMs(left) || ranMs(right) - ranMs(left),
      );
    if (longest === undefined || tenantRanMs(longest) < starvedRanMs + STARVED_MS_MAX) return;
    this.#stateOf(longest).isEnding = true;
    parkingOf(longest).end?.();
  }

  /** How long the jobs have run of the tenant that waits for long and has had least; infinite where none does. */
  #leastRanMsOfStarved(begun: readonly Job[]): number {
    const tenants = new Set(tenantsOf(begun));
    const sinceMsMax = this.#time.nowMs() - STARVED_MS_MAX;
    let least = Number.POSITIVE_INFINITY;
    for (const [job, { kind, sinceMs }] of this.#states) {
      const isStarved = kind === 'call' && sinceMs <= sinceMsMax && !tenants.has(tenantOf(job));
      if (isStarved) least = Math.min(least, this.#tenantOf(job).ranMs);
    }
    return least;
  }

  /** Looks again while something waits for what runs to have had more. */
  #lookLater(): void {
    if (this.#isLookDue || !this.#isAnyWaiting) return;
    if (![...this.#running].some(({ parking }) => parking !== undefined)) return;
    this.#isLookDue = true;
    this.#time.wakeIn(PARKING_LOOK_MS, () => {
      this.#isLookDue = false;
      this.#charge();
      this.#startNext();
    });
  }

  /** Takes note of how long a job has waited, or was parked, that does so no more. */
  #noteWait(job: Job): void {
    const { kind, sinceMs, waited, ranMsBefore } = this.#stateOf(job);
    const ms = this.#time.nowMs() - sinceMs;
    this.#waitMs[kind] += ms;
    waited.ms += ms;
    for (const each of WORK_KINDS) waited.besideMs[each] += this.#ranMs[each] - ranMsBefore[each];
  }

  /** Whether any job waits, or is parked. */
  get #isAnyWaiting(): boolean {
    return this.#states.size > this.#running.size;
  }

  #isClaimed(kind: WorkKind): boolean {
    for (const job of this.#running) if (this.#stateOf(job).claim === kind) return true;
    return false;
  }

  *#callingTenants(): Iterable<Tenant> {
    for (const job of this.#running) if (this.#stateOf(job).kind === 'call') yield tenantOf(job);
  }

  #isWaiting(kind: WorkKind): boolean {
    const { ahead, turn } = this.#queues[kind];
    return ahead.size + turn.size > 0;
  }

  /** Whether it was in the queue of its kind. */
  #unqueue(job: Job): boolean {
    const { ahead, turn } = this.#queues[this.#stateOf(job).kind];
    return ahead.delete(job) || turn.remove(job, job.tenant);
  }

  #begun(): readonly Job[] {
    return [...this.#running, ...this.#parked];
  }

  #runningOf(kind: WorkKind): readonly Job[] {
    return [...this.#running].filter((job) => this.#stateOf(job).kind === kind);
  }

  #count(jobs: Iterable<Job>, isCounted: (kind: WorkKind) => boolean): number {
    let count = 0;
    for (const job of jobs) if (isCounted(this.#stateOf(job).kind)) count += 1;
    return count;
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

function newQueue(): KindQueue {
  return { ahead: new Set(), turn: new FairQueue() };
}

/** Whether it works on segments, on threads of its own. */
function isBackground(kind: WorkKind): boolean {
  return kind === 'seal' || kind === 'merge' || kind === 'states';
}

function isForeground(kind: WorkKind): boolean {
  return !isBackground(kind);
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

import { HISTORY_ENDPOINTS_MAX, HISTORY_MS, HISTORY_STEP_MS } from '../limits.ts';
import type { Outcome } from '../metrics/metrics.ts';
import { CallTimes } from './call-times.ts';

/** What a sample reads: totals since the start, and sizes of this moment. */
export type HistoryReading = {
  readonly storedEvents: number;
  readonly storedBytes: number;
  readonly residentBytes: number;
  /** Bytes of events in memory that are in no segment file yet. */
  readonly backlogBytes: number;
};

/** The service during one step of the history. */
export type HistoryPoint = {
  /** When the step ended, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Its length; the clock is not exact. */
  readonly stepMs: number;
  readonly events: number;
  readonly bytes: number;
  readonly posts: number;
  readonly refusedPosts: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
  readonly residentBytes: number;
  readonly backlogBytes: number;
};

/** Steps of the calls of each endpoint: twelve an hour. */
const ENDPOINT_STEP_MS = HISTORY_MS / 12;

/** The last hour of the service, in memory: for charts where nothing scrapes the metrics. */
export class ServiceHistory {
  readonly #wallMs: () => number;
  readonly #monotonicMs: () => number;
  readonly #read: () => HistoryReading;
  /** Oldest first. */
  readonly #points: HistoryPoint[] = [];
  #before: Pick<HistoryReading, 'storedEvents' | 'storedBytes'> = {
    storedEvents: 0,
    storedBytes: 0,
  };
  #stepStartMs: number;
  #times = new CallTimes();
  #posts = 0;
  #refusedPosts = 0;
  /** By name of the endpoint: its calls by the number of the step. */
  readonly #endpoints = new Map<string, Map<number, CallTimes>>();

  constructor(parts: {
    /** Milliseconds since the epoch. */
    readonly wallMs: () => number;
    readonly monotonicMs: () => number;
    readonly read: () => HistoryReading;
  }) {
    this.#wallMs = parts.wallMs;
    this.#monotonicMs = parts.monotonicMs;
    this.#read = parts.read;
    this.#stepStartMs = parts.monotonicMs();
  }

  /** `endpoint`: the name of the saved query; `undefined` if the call named none. */
  countCall(endpoint: string | undefined, { status, seconds }: Outcome): void {
    const isFailure = status >= 400;
    this.#times.add(seconds * 1e3, isFailure);
    if (endpoint !== undefined) this.#endpointTimes(endpoint).add(seconds * 1e3, isFailure);
  }

  countPost({ status }: Outcome): void {
    this.#posts += 1;
    if (status >= 400) this.#refusedPosts += 1;
  }

  /** To be called about once a second: ends the step when its time is over. */
  tick(): void {
    const nowMs = this.#monotonicMs();
    const stepMs = nowMs - this.#stepStartMs;
    if (stepMs < HISTORY_STEP_MS) return;
    const reading = this.#read();
    const before = this.#before;
    this.#points.push({
      atMs: this.#wallMs(),
      stepMs,
      events: reading.storedEvents - before.storedEvents,
      bytes: reading.storedBytes - before.storedBytes,
      posts: this.#posts,
      refusedPosts: this.#refusedPosts,
      calls: this.#times.calls,
      failedCalls: this.#times.failures,
      p50Ms: this.#times.quantileMs(0.5),
      p95Ms: this.#times.quantileMs(0.95),
      residentBytes: reading.residentBytes,
      backlogBytes: reading.backlogBytes,
    });
    if (this.#points.length > HISTORY_MS / HISTORY_STEP_MS) this.#points.shift();
    this.#before = reading;
    this.#stepStartMs = nowMs;
    this.#times = new CallTimes();
    this.#posts = 0;
    this.#refusedPosts = 0;
  }

  /** The steps of the last hour, oldest first. */
  points(): readonly HistoryPoint[] {
    return this.#points;
  }

  /** The calls of each endpoint within the last hour. */
  endpoints(): ReadonlyMap<string, CallTimes> {
    const found = new Map<string, CallTimes>();
    const step = this.#endpointStep();
    for (const [name, steps] of this.#endpoints) {
      dropOld(steps, step);
      const all = new CallTimes();
      for (const times of steps.values()) all.addAll(times);
      if (steps.size === 0) this.#endpoints.delete(name);
      else found.set(name, all);
    }
    return found;
  }

  #endpointStep(): number {
    return Math.floor(this.#monotonicMs() / ENDPOINT_STEP_MS);
  }

  #endpointTimes(name: string): CallTimes {
    const step = this.#endpointStep();
    let steps = this.#endpoints.get(name);
    if (steps === undefined) {
      // Names whose calls are too old leave; so do names of definitions that were deleted.
      if (this.#endpoints.size >= HISTORY_ENDPOINTS_MAX) this.endpoints();
      if (this.#endpoints.size >= HISTORY_ENDPOINTS_MAX) return new CallTimes();
      steps = new Map();
      this.#endpoints.set(name, steps);
    }
    let times = steps.get(step);
    if (times === undefined) {
      dropOld(steps, step);
      times = new CallTimes();
      steps.set(step, times);
    }
    return times;
  }
}

/** Drops the steps that ended an hour or more before this one began. */
function dropOld(steps: Map<number, CallTimes>, current: number): void {
  for (const step of steps.keys()) {
    if (step <= current - HISTORY_MS / ENDPOINT_STEP_MS) steps.delete(step);
  }
}

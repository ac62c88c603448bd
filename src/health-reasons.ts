import type { Definitions } from './definition/definitions.ts';
import { ServiceError } from './errors.ts';
import { WORKERS_LOST_LATELY_MS } from './limits.ts';
import type { HealthReason, Readiness } from './readiness.ts';
import type { Backend } from './store/backend.ts';

type Stats = ReturnType<Backend['stats']>;

/**
 * Finds what an operator should know about a running service. Each reason is a public sentence, and
 * is given as long as its cause lasts.
 */
export class HealthReasons {
  readonly #definitions: Pick<Definitions, 'problems'>;
  readonly #backend: Pick<Backend, 'intake' | 'stats'>;
  readonly #readiness: Pick<Readiness, 'details'>;
  readonly #nowMs: () => number;
  #workersLost = 0;
  /** When the loss of worker threads was last noticed. */
  #lossMs = Number.NEGATIVE_INFINITY;

  constructor(parts: {
    readonly definitions: Pick<Definitions, 'problems'>;
    readonly backend: Pick<Backend, 'intake' | 'stats'>;
    readonly readiness: Pick<Readiness, 'details'>;
    /** The monotonic clock, in milliseconds. */
    readonly nowMs: () => number;
  }) {
    this.#definitions = parts.definitions;
    this.#backend = parts.backend;
    this.#readiness = parts.readiness;
    this.#nowMs = parts.nowMs;
  }

  find(): readonly HealthReason[] {
    // Read once for all reasons, because each read counts everything again.
    const stats = this.#backend.stats();
    return [
      ...this.#refusals(stats),
      ...this.#definitionProblems(),
      ...this.#damage(),
      ...this.#lostWorkers(stats),
      ...heldBackClock(stats),
      ...unsentEvents(stats),
    ];
  }

  /** Makes the checks that a post passes before its body is read. */
  #refusals({ log }: Stats): readonly HealthReason[] {
    try {
      this.#backend.intake.check(undefined);
      return [];
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isDiskLow = log?.isDiskLow === true;
      const code = isDiskLow ? 'disk_nearly_full' : 'posts_refused';
      return [{ code, message: `posts are refused: ${error.message}` }];
    }
  }

  #definitionProblems(): readonly HealthReason[] {
    const problems = this.#definitions.problems();
    if (problems.length === 0) return [];
    const asBefore = problems.filter(({ isServed }) => isServed).length;
    const message = `definition files with problems: ${problems.length}; of ${asBefore} the last good version is in force, ${problems.length - asBefore} are not in force; GET /api/endpoints names them`;
    return [{ code: 'definitions_not_in_force', message }];
  }

  #damage(): readonly HealthReason[] {
    const { damage } = this.#readiness.details;
    if (damage === undefined) return [];
    const message =
      'stored data is damaged (see damage); the rest is served. weir verify names the files';
    return [{ code: 'damage', message }];
  }

  #lostWorkers({ engine }: Stats): readonly HealthReason[] {
    const { workersLost } = engine;
    const nowMs = this.#nowMs();
    if (workersLost > this.#workersLost) this.#lossMs = nowMs;
    this.#workersLost = workersLost;
    if (nowMs - this.#lossMs >= WORKERS_LOST_LATELY_MS) return [];
    const message = `worker threads were lost recently, ${workersLost} since the start; all were replaced`;
    return [{ code: 'workers_lost', message }];
  }
}

function heldBackClock({ heldBackClock: clock }: Stats): readonly HealthReason[] {
  if (clock === undefined) return [];
  const message = `the clock is ${hours(clock.aheadUs)} ahead of the last trusted time, so logs are not deleted by age until the service has run for ${hours(clock.remainingUs)} more; if the clock is wrong, set it; if it is right, wait, or stop the service and run weir clock DATA_DIR --trust`;
  return [{ code: 'clock_ahead', message }];
}

function unsentEvents({ shipping }: Stats): readonly HealthReason[] {
  if (shipping?.isFailing !== true) return [];
  const { events, ageUs } = shipping;
  const waiting = `events that wait to be sent: ${events}, the oldest for ${Math.ceil(ageUs / 1e6)} s`;
  const message = `ClickHouse cannot be reached or fails; ${waiting}. Posts are stored, queries fail until it is back; the log has the reason`;
  return [{ code: 'store_unavailable', message }];
}

function hours(us: number): string {
  return `${Math.ceil(us / 3_600_000_000)} h`;
}

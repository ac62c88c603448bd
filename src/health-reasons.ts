import type { Definitions } from './definition/definitions.ts';
import { ServiceError } from './errors.ts';
import { WORKERS_LOST_LATELY_MS } from './limits.ts';
import type { HealthReason, Readiness } from './readiness.ts';
import type { Backend } from './store/backend.ts';

/**
 * What an operator should know of a service that runs, in sentences that anyone may read: each is there for as long as
 * its cause is.
 */
export class HealthReasons {
  readonly #definitions: Pick<Definitions, 'problems'>;
  readonly #backend: Pick<Backend, 'intake' | 'stats'>;
  readonly #readiness: Pick<Readiness, 'details'>;
  readonly #nowMs: () => number;
  #workersLost = 0;
  /** When it was last seen that workers had been lost. */
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
    return [
      ...this.#refusals(),
      ...this.#definitionProblems(),
      ...this.#damage(),
      ...this.#lostWorkers(),
    ];
  }

  /** Asks what a post asks before its body is read. */
  #refusals(): readonly HealthReason[] {
    try {
      this.#backend.intake.check(undefined);
      return [];
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isDiskLow = this.#backend.stats().log?.isDiskLow === true;
      const code = isDiskLow ? 'disk_nearly_full' : 'posts_refused';
      return [{ code, message: `posts are refused: ${error.message}` }];
    }
  }

  #definitionProblems(): readonly HealthReason[] {
    const problems = this.#definitions.problems();
    if (problems.length === 0) return [];
    const asBefore = problems.filter(({ isServed }) => isServed).length;
    const message = `${problems.length} definitions are not in force as their files say: of ${asBefore} the last good state is, ${problems.length - asBefore} cannot be called; GET /api/endpoints names them`;
    return [{ code: 'definitions_not_in_force', message }];
  }

  #damage(): readonly HealthReason[] {
    const { damage } = this.#readiness.details;
    if (damage === undefined) return [];
    const message = 'what is stored was found damaged, as damage tells; the rest is served';
    return [{ code: 'damage', message }];
  }

  #lostWorkers(): readonly HealthReason[] {
    const { workersLost } = this.#backend.stats().engine;
    const nowMs = this.#nowMs();
    if (workersLost > this.#workersLost) this.#lossMs = nowMs;
    this.#workersLost = workersLost;
    if (nowMs - this.#lossMs >= WORKERS_LOST_LATELY_MS) return [];
    const message = `worker threads were lost of late, ${workersLost} since the start; others are in their place`;
    return [{ code: 'workers_lost', message }];
  }
}

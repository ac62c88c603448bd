import { RunProgress } from '../../engine/pool/run-progress.ts';
import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';

/** How far a call is. */
export type RunStatus = {
  readonly id: string;
  /** `waiting` for a thread, or for the run of another call; `running`; `sending` the answer. */
  readonly state: 'waiting' | 'running' | 'sending';
  readonly elapsed_ms: number;
  readonly rows_done: number;
  /** 0 if it is not known, as of a download of many pages. */
  readonly rows_total: number;
  /** Of the rows, or of the time of a download's events, 0 to 1; 0 before it is known how many rows there are. */
  readonly share: number;
};

/** What a caller may name its call. */
const RUN_ID = /^[A-Za-z0-9_-]{8,64}$/;

/** A call that its caller has named, from the time it is begun until its answer has left. */
export class NamedRun {
  readonly id: string;
  readonly progress = new RunProgress();
  readonly #startMs: number;
  readonly #cancelled = new AbortController();
  #isSending = false;
  #pages: { readonly rowCount: number; readonly share: number } | undefined;

  constructor(id: string, startMs: number) {
    this.id = id;
    this.#startMs = startMs;
  }

  /** Aborted when the call is cancelled by its name. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  cancel(): void {
    this.#cancelled.abort();
  }

  noteSending(): void {
    this.#isSending = true;
  }

  /** Notes how far a download of many pages is. From then on, it counts instead of the call of the current page. */
  notePages(pages: { readonly rowCount: number; readonly share: number }): void {
    this.#isSending = true;
    this.#pages = pages;
  }

  describe(nowMs: number): RunStatus {
    const { rowsDone, rowsTotal, hasBegun } = this.progress;
    const elapsed_ms = Math.round(nowMs - this.#startMs);
    if (this.#pages !== undefined) {
      const { rowCount, share } = this.#pages;
      const rows = { rows_done: rowCount, rows_total: 0 };
      return { id: this.id, state: 'sending', elapsed_ms, ...rows, share };
    }
    return {
      id: this.id,
      state: this.#isSending ? 'sending' : hasBegun ? 'running' : 'waiting',
      elapsed_ms,
      rows_done: rowsDone,
      rows_total: rowsTotal,
      share: rowsTotal === 0 ? Number(this.#isSending) : rowsDone / rowsTotal,
    };
  }
}

/** The named calls that are under way. Those of one token do not see those of another. */
export class NamedRuns {
  readonly #nowMs: () => number;
  readonly #runs = new Map<string, NamedRun>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Names a call; `end` is to be called when it is over.
   *
   * @throws ServiceError for an id that is none, or that another call of the token has.
   */
  begin(id: string, tenant: Tenant): { readonly run: NamedRun; readonly end: () => void } {
    if (!RUN_ID.test(id)) {
      const message = `Weir-Query-Id must be 8 to 64 letters, digits, - and _; got ${echo(id)}`;
      throw new ServiceError('invalid_parameter', message);
    }
    const key = keyOf(id, tenant);
    if (this.#runs.has(key)) {
      const message = `Weir-Query-Id must be new; the call ${echo(id)} is still under way`;
      throw new ServiceError('invalid_parameter', message);
    }
    const run = new NamedRun(id, this.#nowMs());
    this.#runs.set(key, run);
    return { run, end: () => void this.#runs.delete(key) };
  }

  /** @throws ServiceError when no call of the token under way has this id. */
  mustFind(id: string, tenant: Tenant): NamedRun {
    const run = this.#runs.get(keyOf(id, tenant));
    if (run !== undefined) return run;
    throw new ServiceError('unknown_run', `no call ${echo(id)} of this token is under way`);
  }

  describe(run: NamedRun): RunStatus {
    return run.describe(this.#nowMs());
  }
}

function keyOf(id: string, tenant: Tenant): string {
  return `${id} ${tenant}`;
}

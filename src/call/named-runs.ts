import { RunProgress, type Tenant } from '../../engine/index.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { ENDED_DOWNLOAD_MS_MAX, ENDED_DOWNLOADS_MAX } from '../limits.ts';

/** How far a call is. */
export type RunStatus = {
  readonly id: string;
  /**
   * `waiting` for a thread, or for the run of another call; `running`; `sending` the answer. Of a download that is over:
   * `done` if all of it was sent, else `cancelled` by its id, or `failed`.
   */
  readonly state: 'waiting' | 'running' | 'sending' | 'done' | 'cancelled' | 'failed';
  readonly elapsed_ms: number;
  readonly rows_done: number;
  /** 0 if it is not known, as of a download of many pages. */
  readonly rows_total: number;
  /** Of the rows, or of the time of a download's events, 0 to 1; 0 before it is known how many rows there are. */
  readonly share: number;
  /** Rows of the answer, if `max_rows` cut it; absent before it is sent. */
  readonly truncated_to?: number;
  /** Why it failed; absent if the connection was broken off from outside. */
  readonly error?: RunFailure;
};

type RunFailure = Pick<ServiceError, 'code' | 'message'>;

/** When an answer ended, and whether all of it was sent. */
type RunEnd = { readonly timeMs: number; readonly isWhole: boolean };

/** What a caller may name its call. */
export const RUN_ID = /^[A-Za-z0-9_-]{8,64}$/;

/** A call that its caller has named, from the time it is begun until its answer has left. */
export class NamedRun {
  readonly id: string;
  readonly progress = new RunProgress();
  readonly #startMs: number;
  readonly #cancelled = new AbortController();
  #isSending = false;
  #truncatedTo: number | undefined;
  #pages: { readonly rowCount: number; readonly share: number } | undefined;
  #failure: RunFailure | undefined;
  #end: RunEnd | undefined;

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

  /** Notes that the answer is sent, with its rows if `max_rows` cut it. */
  noteSending(truncatedTo: number | undefined): void {
    this.#isSending = true;
    this.#truncatedTo = truncatedTo;
  }

  /** Notes how far a download of many pages is. From then on, it counts instead of the call of the current page. */
  notePages(pages: { readonly rowCount: number; readonly share: number }): void {
    this.#isSending = true;
    this.#pages = pages;
  }

  noteFailure({ code, message }: RunFailure): void {
    this.#failure = { code, message };
  }

  noteEnd(end: RunEnd): void {
    this.#end = end;
  }

  describe(nowMs: number): RunStatus {
    const elapsed_ms = Math.round((this.#end?.timeMs ?? nowMs) - this.#startMs);
    const state = this.#state();
    return {
      ...{ id: this.id, state, elapsed_ms, ...this.#rows() },
      ...(this.#truncatedTo !== undefined && { truncated_to: this.#truncatedTo }),
      ...(state === 'failed' && this.#failure !== undefined && { error: this.#failure }),
    };
  }

  #rows(): Pick<RunStatus, 'rows_done' | 'rows_total' | 'share'> {
    const { rowsDone: rows_done, rowsTotal: rows_total } = this.progress;
    if (this.#pages !== undefined) {
      const { rowCount, share } = this.#pages;
      return { rows_done: rowCount, rows_total: 0, share };
    }
    const share = rows_total === 0 ? Number(this.#isSending) : rows_done / rows_total;
    return { rows_done, rows_total, share };
  }

  #state(): RunStatus['state'] {
    if (this.#end !== undefined) {
      // A failure before the first byte has an answer that is sent whole.
      if (this.#end.isWhole && this.#failure === undefined) return 'done';
      return this.cancelled.aborted ? 'cancelled' : 'failed';
    }
    if (this.#isSending) return 'sending';
    return this.progress.hasBegun ? 'running' : 'waiting';
  }
}

/**
 * The named calls that are under way, and for a while the downloads that were. Those of one token do not see those of
 * another.
 *
 * Invariant: at most ENDED_DOWNLOADS_MAX are kept that are over, in the order of their ends.
 */
export class NamedRuns {
  readonly #nowMs: () => number;
  readonly #runs = new Map<string, NamedRun>();
  readonly #ended = new Map<string, { readonly run: NamedRun; readonly untilMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Names a call; `end` is to be called when it is over. The end of a download is kept: nobody but its browser, which is no
   * program that asks, sees its answer.
   *
   * @throws ServiceError for an id that is none, or that another call of the token has.
   */
  begin(
    id: string,
    tenant: Tenant,
    kind: 'call' | 'download' = 'call',
  ): { readonly run: NamedRun; readonly end: (isWhole: boolean) => void } {
    if (!RUN_ID.test(id)) {
      const message = `Weir-Query-Id must be 8 to 64 letters, digits, - and _; got ${echo(id)}`;
      throw new ServiceError('invalid_parameter', message);
    }
    const key = makeKey(id, tenant);
    if (this.#runs.has(key)) {
      const message = `Weir-Query-Id must be new; the call ${echo(id)} is still under way`;
      throw new ServiceError('invalid_parameter', message);
    }
    const run = new NamedRun(id, this.#nowMs());
    this.#runs.set(key, run);
    const end = (isWhole: boolean): void => {
      this.#runs.delete(key);
      if (kind === 'download') this.#keep(key, run, isWhole);
    };
    return { run, end };
  }

  /** @throws ServiceError when no call of the token has this id. */
  cancel(id: string, tenant: Tenant): void {
    const run = this.#runs.get(makeKey(id, tenant));
    if (run === undefined) throw unknownRun(id);
    run.cancel();
  }

  /** @throws ServiceError when no call of the token has this id, and no download that ended a while ago. */
  describe(id: string, tenant: Tenant): RunStatus {
    const nowMs = this.#nowMs();
    this.#forget(nowMs);
    const key = makeKey(id, tenant);
    const run = this.#runs.get(key) ?? this.#ended.get(key)?.run;
    if (run === undefined) throw unknownRun(id);
    return run.describe(nowMs);
  }

  #keep(key: string, run: NamedRun, isWhole: boolean): void {
    const timeMs = this.#nowMs();
    run.noteEnd({ timeMs, isWhole });
    this.#forget(timeMs);
    this.#ended.set(key, { run, untilMs: timeMs + ENDED_DOWNLOAD_MS_MAX });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > ENDED_DOWNLOADS_MAX) this.#ended.delete(oldest!);
  }

  #forget(nowMs: number): void {
    for (const [key, { untilMs }] of this.#ended) {
      if (nowMs < untilMs) return;
      this.#ended.delete(key);
    }
  }
}

function unknownRun(id: string): ServiceError {
  return new ServiceError('unknown_run', `no call ${echo(id)} of this token is under way`);
}

function makeKey(id: string, tenant: Tenant): string {
  return `${id} ${tenant}`;
}

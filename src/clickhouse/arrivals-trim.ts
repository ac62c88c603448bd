import type { ArrivalJournal } from './arrival-journal.ts';

/** How often old rows are looked for. */
const TRIM_TICKS = 3_600;

/** ClickHouse writes all rows anew to drop some: these are one gateway's of a day. */
const TRIMMED_ROWS_MIN = 80_000;

/** ClickHouse drops an event up to two days after its retention, and it may be an hour ahead of the time of its post. */
const DAYS_LATE_MAX = 3;

/** How long a look may take. */
const TRIM_MS_MAX = 60_000;

/** Drops rows of the table `arrivals` when ClickHouse has dropped their events: nobody can follow from there any more. */
export class ArrivalsTrim {
  readonly #journal: Pick<ArrivalJournal, 'trim'>;
  readonly #days: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #closed = new AbortController();
  #ticksLeft = TRIM_TICKS;
  #underWay: Promise<void> | undefined;

  constructor(parts: {
    readonly journal: Pick<ArrivalJournal, 'trim'>;
    readonly retentionDays: number;
    readonly onFailure: (error: unknown) => void;
  }) {
    this.#journal = parts.journal;
    this.#days = parts.retentionDays + DAYS_LATE_MAX;
    this.#onFailure = parts.onFailure;
  }

  /** Must be called about once a second. */
  tick(): void {
    this.#ticksLeft -= 1;
    if (this.#ticksLeft > 0) return;
    this.#ticksLeft = TRIM_TICKS;
    this.#underWay ??= this.#trim().finally(() => {
      this.#underWay = undefined;
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#underWay;
  }

  async #trim(): Promise<void> {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(TRIM_MS_MAX)]);
    try {
      await this.#journal.trim({ days: this.#days, rowsMin: TRIMMED_ROWS_MIN }, signal);
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#onFailure(error);
    }
  }
}

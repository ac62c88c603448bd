import { ClockFile } from '../../ingest/clock-file.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { CLOCK_HELD_US_MIN, CLOCK_WRITE_MS } from '../../ingest/limits.ts';
import {
  type ClockReading,
  isLeap,
  provisionalState,
  RetentionClock,
} from '../../ingest/retention-clock.ts';
import type { Log } from '../log.ts';
import type { HeldBackClock } from './backend.ts';

/**
 * The retention clock of a data folder, and its state on disk. The state is read at the start. It is written about once
 * a minute, at the end, and when the clock leaps, is held back or becomes trusted.
 */
export class DurableClock {
  readonly #file: ClockFile;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  /** `undefined` until the trusted time is known. */
  #clock: RetentionClock | undefined;
  #isHeldBack = false;
  /** Whether the clock leapt, was held back or became trusted since the last write began. */
  #isDue = false;
  /** The monotonic time at which the last write began. */
  #writtenMs = Number.NEGATIVE_INFINITY;
  /** Set while a write is under way; never rejects. */
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: {
    readonly disk: Disk;
    /** An absolute path. */
    readonly dataDir: string;
    readonly log: Log;
    /** The monotonic clock, in milliseconds. */
    readonly monotonicMs: () => number;
  }) {
    this.#file = new ClockFile(options.disk, options.dataDir);
    this.#log = options.log;
    this.#monotonicMs = options.monotonicMs;
  }

  /**
   * Reads the state, and changes nothing on disk. Returns the time from which retention is measured during the
   * recovery; without a state, nothing is too old. Rejects with a `DiskError`.
   */
  async recover(nowUs: number): Promise<number> {
    const state = await this.#file.read();
    if (state === 'damaged') {
      const reason =
        'the newest stored event counts as the last trusted time, and nothing is deleted by age until the service has run for 24 hours';
      this.#log({ level: 'error', event: 'clock_damaged', file: this.#file.path, reason });
    }
    if (state === 'damaged' || state === 'missing') return Number.NEGATIVE_INFINITY;
    this.#clock = new RetentionClock(state);
    return this.#advance(this.#clock, this.#readingAt(nowUs));
  }

  /**
   * Must be called after the recovery: from then on `tick` returns the time, and the state is written. Without a state,
   * the newest stored event, or `nowUs` if that is earlier, is the provisional trusted time.
   */
  begin(nowUs: number, newestStoredUs: number | undefined): void {
    this.#clock ??= new RetentionClock(provisionalState(Math.min(nowUs, newestStoredUs ?? nowUs)));
    this.tick(nowUs);
  }

  /** The time from which retention is measured; -Infinity: delete nothing. Must be called about once a second. */
  tick(nowUs: number): number {
    const clock = this.#clock;
    if (clock === undefined) return Number.NEGATIVE_INFINITY;
    const wasHeldBack = this.#isHeldBack;
    const reading = this.#readingAt(nowUs);
    this.#isDue ||= isLeap(clock.state.clockUs, nowUs);
    const retentionNowUs = this.#advance(clock, reading);
    this.#isDue ||= this.#isHeldBack !== wasHeldBack;
    if (this.#isDue || reading.monotonicMs - this.#writtenMs >= CLOCK_WRITE_MS) this.#write(clock);
    return retentionNowUs;
  }

  /** How far the clock is ahead, and how long it is held back; `undefined` while it is trusted. */
  get heldBack(): HeldBackClock | undefined {
    if (this.#clock === undefined || !this.#isHeldBack) return undefined;
    const { trustedUs, clockUs, heldUs } = this.#clock.state;
    return { aheadUs: clockUs - trustedUs, remainingUs: CLOCK_HELD_US_MIN - heldUs };
  }

  /** Resolves when the state of the last tick is written, if there is one. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#clock !== undefined && this.#writtenMs > Number.NEGATIVE_INFINITY) {
      this.#write(this.#clock);
      await this.#writing;
    }
  }

  #readingAt(nowUs: number): ClockReading {
    return { nowUs, monotonicMs: this.#monotonicMs() };
  }

  #advance(clock: RetentionClock, reading: ClockReading): number {
    const retentionNowUs = clock.tick(reading);
    if (clock.isHeldBack !== this.#isHeldBack) {
      this.#isHeldBack = clock.isHeldBack;
      this.#report();
    }
    return retentionNowUs;
  }

  #report(): void {
    const { heldBack } = this;
    if (heldBack === undefined) {
      this.#log({ level: 'info', event: 'clock_trusted' });
      return;
    }
    const { aheadUs, remainingUs } = heldBack;
    const seconds = { by_s: aheadUs / 1e6, remaining_s: remainingUs / 1e6 };
    this.#log({ level: 'error', event: 'clock_ahead', ...seconds });
  }

  #write(clock: RetentionClock): void {
    if (this.#writing !== undefined) return;
    this.#isDue = false;
    this.#writtenMs = this.#monotonicMs();
    this.#writing = this.#writeState(clock).finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeState(clock: RetentionClock): Promise<void> {
    try {
      await this.#file.write(clock.state);
      this.#isFailing = false;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      // Reported once until a write succeeds. The state on disk is older, so a restart waits longer.
      if (!this.#isFailing) {
        this.#log({ level: 'error', event: 'clock_write_failed', error: error.message });
      }
      this.#isFailing = true;
    }
  }
}

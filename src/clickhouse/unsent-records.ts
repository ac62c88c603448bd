import { must } from '../../engine/columns.ts';

/** Records that become durable within this time share a mark: a count of them may be that much too high. */
const MARK_US = 50_000;

/** Marks that are kept. Of more, every second one is dropped, and all numbers stay safe: too high, or too early. */
const MARKS_MAX = 8_192;

/** The first of some consecutive records, and what was in the log before it. */
type Mark = {
  readonly sequence: number;
  /** None of these records was acknowledged before. */
  timeUs: number;
  readonly eventsBefore: number;
  readonly bytesBefore: number;
};

/** What of the log ClickHouse may not have. */
type Unsent = {
  readonly events: number;
  readonly bytes: number;
  /** Age of the oldest event, in microseconds; 0 if there is none. */
  readonly ageUs: number;
};

/**
 * When the records of the log were acknowledged, for those that ClickHouse may not have yet.
 *
 * Invariant: the marks ascend by sequence, their times do not descend, and a record belongs to the last mark at or
 * before it.
 */
export class UnsentRecords {
  #marks: Mark[] = [];
  /** The sequence after the last record. */
  #end = 0;
  #events = 0;
  #bytes = 0;

  /**
   * Adds the next record, before it is acknowledged. `shippedBefore`: ClickHouse has all records before this one, here and
   * below.
   */
  add(
    record: {
      readonly sequence: number;
      readonly events: number;
      readonly bytes: number;
      readonly nowUs: number;
    },
    shippedBefore: number,
  ): void {
    const { sequence, events, bytes, nowUs } = record;
    this.#drop(shippedBefore);
    this.#setBack(nowUs);
    const last = this.#marks.at(-1);
    if (last === undefined || nowUs - last.timeUs >= MARK_US) {
      const before = { eventsBefore: this.#events, bytesBefore: this.#bytes };
      this.#marks.push({ sequence, timeUs: nowUs, ...before });
    }
    if (this.#marks.length > MARKS_MAX) {
      this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
    }
    this.#end = sequence + 1;
    this.#events += events;
    this.#bytes += bytes;
  }

  /** ClickHouse has every event that was acknowledged before this time. */
  completeUntilUs(shippedBefore: number, nowUs: number): number {
    this.#drop(shippedBefore);
    return Math.min(nowUs, this.#marks[0]?.timeUs ?? nowUs);
  }

  unsent(shippedBefore: number, nowUs: number): Unsent {
    this.#drop(shippedBefore);
    const [oldest] = this.#marks;
    if (oldest === undefined) return { events: 0, bytes: 0, ageUs: 0 };
    return {
      events: this.#events - oldest.eventsBefore,
      bytes: this.#bytes - oldest.bytesBefore,
      ageUs: Math.max(0, nowUs - oldest.timeUs),
    };
  }

  /** After a clock was set back, the times of earlier records are those of the first after it. */
  #setBack(nowUs: number): void {
    for (let index = this.#marks.length - 1; index >= 0; index--) {
      const mark = must(this.#marks[index]);
      if (mark.timeUs <= nowUs) return;
      mark.timeUs = nowUs;
    }
  }

  /** Drops the marks whose records were all sent. */
  #drop(shippedBefore: number): void {
    if (this.#end <= shippedBefore) {
      this.#marks = [];
      return;
    }
    let count = 0;
    while (
      count + 1 < this.#marks.length &&
      must(this.#marks[count + 1]).sequence <= shippedBefore
    ) {
      count += 1;
    }
    if (count > 0) this.#marks.splice(0, count);
  }
}

/**
 * The bytes that one owner of a quota posted, by UTC day (counted from the epoch), for as long as logs of that day are
 * kept: of a day and the `retentionDays` before it, since a day's logs are deleted when all of them are past the retention.
 *
 * Invariant: `total` is the sum over all days.
 */
export class StoredBytes {
  readonly #byDay = new Map<number, number>();
  #total = 0;
  /** `toText` of all days but one. */
  #others: { readonly day: number; readonly text: string } | undefined;

  /** What `toText` wrote. */
  static parse(text: string): StoredBytes {
    const stored = new StoredBytes();
    for (const pair of text.split(' ')) {
      const [day, bytes] = pair.split(':');
      stored.add(Number(day), Number(bytes));
    }
    return stored;
  }

  get total(): number {
    return this.#total;
  }

  add(day: number, bytes: number): void {
    if (this.#others?.day !== day) this.#others = undefined;
    this.#byDay.set(day, (this.#byDay.get(day) ?? 0) + bytes);
    this.#total += bytes;
  }

  /** Forgets the days of which all logs are deleted on `today`. */
  dropBefore(today: number, retentionDays: number): void {
    for (const [day, bytes] of this.#byDay) {
      if (day + retentionDays >= today) continue;
      this.#byDay.delete(day);
      this.#total -= bytes;
      this.#others = undefined;
    }
  }

  /** The first day on which so much is deleted that less than `max` is left. `max` is at least 1. */
  dayBelow(max: number, retentionDays: number): number {
    let left = this.#total;
    let last = 0;
    for (const [day, bytes] of [...this.#byDay].sort(([one], [other]) => one - other)) {
      left -= bytes;
      last = day;
      if (left < max) break;
    }
    return last + retentionDays + 1;
  }

  /**
   * `day:bytes`, with spaces between. What was posted before `today` stays as it is until the day ends, so its text is kept:
   * of thousands of projects it is some megabytes, and is written every half a minute.
   */
  toText(today: number): string {
    if (this.#others?.day !== today) {
      const others = [...this.#byDay].filter(([day]) => day !== today);
      this.#others = {
        day: today,
        text: others.map(([day, bytes]) => `${day}:${bytes}`).join(' '),
      };
    }
    const { text } = this.#others;
    const bytes = this.#byDay.get(today);
    if (bytes === undefined) return text;
    return text === '' ? `${today}:${bytes}` : `${text} ${today}:${bytes}`;
  }
}

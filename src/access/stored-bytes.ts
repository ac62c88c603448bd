/**
 * The bytes that one owner of a quota posted, by UTC day counted from the epoch, over a day and the
 * `retentionDays` before it: a day's logs are deleted when all of them are past the retention.
 *
 * Invariant: `total` is the sum over all days.
 */
export class StoredBytes {
  readonly #byDay = new Map<number, number>();
  #total = 0;
  /** The cached text of all days except the current one. */
  #others: { readonly day: number; readonly text: string } | undefined;

  /** Parses what `toText` formatted. */
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

  /** Drops the days whose logs are all deleted on `today`. */
  dropBefore(today: number, retentionDays: number): void {
    for (const [day, bytes] of this.#byDay) {
      if (day + retentionDays >= today) continue;
      this.#byDay.delete(day);
      this.#total -= bytes;
      this.#others = undefined;
    }
  }

  /** The first day on which deletion brings the total below `max`, which is at least 1. */
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
   * Formats `day:bytes` items with spaces between. The text of days before `today` is cached until
   * the day ends: for thousands of projects it takes some megabytes, and is written every half
   * minute.
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

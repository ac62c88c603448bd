/** A small seeded generator (mulberry32), so that the same seed makes the same traffic. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number in [0, end). */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** An index whose probability decreases with its rank (Zipf with exponent 1). */
  zipf(count: number): number {
    return Math.min(count - 1, Math.floor((count + 1) ** this.next()) - 1);
  }

  /** `length` lower-case hexadecimal digits. */
  hex(length: number): string {
    let digits = '';
    while (digits.length < length) {
      digits += ((this.next() * 4294967296) >>> 0).toString(16).padStart(8, '0');
    }
    return digits.slice(0, length);
  }

  uuid(): string {
    const digits = this.hex(32);
    return [
      digits.slice(0, 8),
      digits.slice(8, 12),
      `4${digits.slice(13, 16)}`,
      `8${digits.slice(17, 20)}`,
      digits.slice(20),
    ].join('-');
  }

  ip(): string {
    return `${1 + this.below(223)}.${this.below(256)}.${this.below(256)}.${this.below(256)}`;
  }

  /** Typical durations of services in milliseconds: mostly short, with a long tail. */
  durationMs(median: number): number {
    return Math.max(1, Math.round(median * Math.exp(1.1 * this.#normal())));
  }

  /** A standard normal deviate (Box and Muller). */
  #normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}

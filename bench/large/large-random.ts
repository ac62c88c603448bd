import { Random } from '../../src/demo/traffic/random.ts';

const DIGITS_BYTES = 4096;

/** A seeded generator whose hexadecimal digits cost little: an event has some five hundred. */
export class LargeRandom extends Random {
  readonly #bytes = Buffer.alloc(DIGITS_BYTES);
  #digits = '';
  #used = 0;

  override hex(length: number): string {
    if (this.#used + length > this.#digits.length) this.#refill();
    const start = this.#used;
    this.#used += length;
    return this.#digits.slice(start, this.#used);
  }

  #refill(): void {
    for (let offset = 0; offset < DIGITS_BYTES; offset += 4) {
      this.#bytes.writeUInt32LE(this.below(4_294_967_296), offset);
    }
    this.#digits = this.#bytes.toString('hex');
    this.#used = 0;
  }
}

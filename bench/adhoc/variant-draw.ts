import { Random } from '../../src/demo/traffic/random.ts';
import { NOW_US } from '../workload/clock.ts';

const HOUR_US = 3_600_000_000;

/** Draws what makes a variant one that was not asked before: nothing that it gives is given twice. */
export class VariantDraw {
  readonly random: Random;
  readonly #given = new Set<string>();

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** A time between some hours before the end of the events and some more, at no edge of an hour. */
  since(hoursMin: number, hoursMax: number): number {
    const hours = hoursMin + (hoursMax - hoursMin) * this.random.next();
    return NOW_US - Math.floor(hours * HOUR_US);
  }

  /** @throws Error when `make` gives hardly anything new. */
  fresh(make: (random: Random) => string): string {
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const text = make(this.random);
      if (this.#given.has(text)) continue;
      this.#given.add(text);
      return text;
    }
    throw new Error('no text is left that was not given before');
  }

  pickFresh(texts: readonly string[]): string {
    return this.fresh((random) => random.pick(texts));
  }
}

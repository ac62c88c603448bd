import { Draw } from './draw.ts';
import type { EventMaker } from './event-maker.ts';
import type { Tenants } from './tenants.ts';

const MEAN = 100;

/** The share of all measurements that are no greater than `value`: they are distributed exponentially. */
export function floatRank(value: number): number {
  return 1 - Math.exp(-value / MEAN);
}

/** Measurements of one project, each another number: the hardest case of quantiles. */
export class Floats implements EventMaker {
  readonly #draw: Draw;
  readonly #project: string;

  constructor(of: { readonly tenants: Tenants; readonly eventCount: number }) {
    this.#draw = new Draw(4, of);
    this.#project = of.tenants.hot.ref;
  }

  next(): string {
    const draw = this.#draw;
    const id = draw.uuid();
    const timestamp = draw.timestamp();
    // Two draws of 32 bits: hardly any two values are the same.
    const value = -Math.log(1 - draw.random.next()) * MEAN + draw.random.next() * 1e-6;
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"measured","project":"${this.#project}","metadata":{"value":${value}}}`;
  }
}

import type { Project } from '../../src/demo/traffic/log-event.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import type { Tenants } from './tenants.ts';
import { Timeline } from './timeline.ts';

/** Four hexadecimal digits of each number of sixteen bits. */
const HEX = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

/** Three decimal digits of each number below a thousand. */
const DIGITS = Array.from({ length: 1000 }, (_, value) => value.toString().padStart(3, '0'));

/** How far a run of a skewed choice is bent to its first items; 1 would be even. */
const SKEW = 2;

/** What events are made for. */
export type DrawOptions = {
  readonly tenants: Tenants;
  readonly eventCount: number;
  /** Another one makes other events of the same kind; 0 when left out. */
  readonly round?: number;
};

/** Seeds of kinds lie closer together than this. */
const ROUND_SEEDS = 1000;

/** The chances that one kind of events is made of, as texts that cost little: same seed, same texts. */
export class Draw {
  readonly random: Random;
  readonly #tenants: Tenants;
  readonly #timeline: Timeline;
  #second = -1;
  #secondText = '';

  constructor(seed: number, of: DrawOptions) {
    this.random = new Random(seed + ROUND_SEEDS * (of.round ?? 0));
    this.#tenants = of.tenants;
    this.#timeline = new Timeline(of.eventCount);
  }

  project(): Project {
    return this.#tenants.projects[this.#tenants.rank(this.random.next())]!;
  }

  /** What the next event begins with: the project it is of, its id and its time. */
  event(): { readonly project: Project; readonly id: string; readonly timestamp: string } {
    return { project: this.project(), id: this.uuid(), timestamp: this.timestamp() };
  }

  /** The time of the next event, in microseconds. */
  timestampUs(): number {
    return this.#timeline.nextUs(this.random.next());
  }

  /** Likewise, as the sixteen digits that JSON has for it: writing such a number costs more than this. */
  timestamp(): string {
    const timestampUs = this.timestampUs();
    const second = Math.floor(timestampUs / 1_000_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = String(second);
    }
    const rest = timestampUs - second * 1_000_000;
    const millisecond = Math.floor(rest / 1000);
    return this.#secondText + DIGITS[millisecond]! + DIGITS[rest - millisecond * 1000]!;
  }

  /** Eight hexadecimal digits. */
  hex8(): string {
    const bits = (this.random.next() * 4_294_967_296) >>> 0;
    return HEX[bits >>> 16]! + HEX[bits & 0xffff]!;
  }

  uuid(): string {
    const first = (this.random.next() * 4_294_967_296) >>> 0;
    const second = (this.random.next() * 4_294_967_296) >>> 0;
    const third = (this.random.next() * 4_294_967_296) >>> 0;
    // Version 4, variant 10 (RFC 9562, §5.4).
    const version = HEX[0x4000 | (first & 0xfff)]!;
    const variant = HEX[0x8000 | (second & 0x3fff)]!;
    return `${this.hex8()}-${HEX[first >>> 16]!}-${version}-${variant}-${HEX[second >>> 16]!}${HEX[third >>> 16]!}${HEX[third & 0xffff]!}`;
  }

  /** One of the items; the first ones far more often than the last. */
  skewed<T>(items: readonly T[]): T {
    return items[Math.floor(items.length * this.random.next() ** SKEW)] as T;
  }
}

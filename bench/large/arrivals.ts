import type { Project } from '../../src/demo/traffic/log-event.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { NOW_US } from '../workload/clock.ts';
import { type LargeProjects, TINY_ROWS } from './projects.ts';

const SECOND_US = 1_000_000;
const HOUR_US = 3_600 * SECOND_US;

/** With the latest events, less than the seven days that queries look back. */
const SPAN_US = 5 * 24 * HOUR_US;

/** One event in so many arrives late, by up to so much. */
const LATE_EVERY = 100;
const LATE_US_MAX = 26 * HOUR_US;

/** A burst is one project that sends so many events in a row, within so much time. */
const BURST_EVERY = 40_000;
const BURST_EVENTS = 800;
const BURST_US = 8 * SECOND_US;

/** What the next event is of: its project, and its time in microseconds. */
export type Arrival = { readonly project: Project; readonly timestampUs: number };

/**
 * The events of one kind in the order in which they arrive, over five days up to NOW: projects by their share, late
 * events, bursts, and in between the rows of the tiny projects, far apart.
 */
export class Arrivals {
  readonly #projects: LargeProjects;
  readonly #random: Random;
  readonly #eventCount: number;
  /** Each event whose index is a multiple of this is of a tiny project, as long as one lacks a row. */
  readonly #tinyEvery: number;
  #index = 0;
  #burst: { readonly project: Project; readonly startIndex: number } | undefined;

  constructor(seed: number, of: { readonly projects: LargeProjects; readonly eventCount: number }) {
    this.#random = new Random(seed);
    this.#projects = of.projects;
    this.#eventCount = of.eventCount;
    this.#tinyEvery = Math.floor(of.eventCount / (TINY_ROWS * of.projects.tiny.length + 1));
  }

  next(): Arrival {
    const index = this.#index++;
    const tiny = this.#tinyProject(index);
    const burst = this.#burstAt(index);
    const chance = this.#random.next();
    if (tiny === undefined && burst !== undefined) {
      const part = (index - burst.startIndex + chance) / BURST_EVENTS;
      const timestampUs = this.#timeOf(burst.startIndex) + Math.floor(part * BURST_US);
      return { project: burst.project, timestampUs: Math.min(timestampUs, NOW_US - 1) };
    }
    const isLate = this.#random.below(LATE_EVERY) === 0;
    const lateUs = isLate ? Math.floor(this.#random.next() * LATE_US_MAX) : 0;
    return {
      project: tiny ?? this.#projects.draw(this.#random),
      timestampUs: this.#timeOf(index + chance) - lateUs,
    };
  }

  #tinyProject(index: number): Project | undefined {
    const { tiny } = this.#projects;
    const row = index / this.#tinyEvery;
    if (!Number.isInteger(row) || row >= TINY_ROWS * tiny.length) return undefined;
    return tiny[row % tiny.length];
  }

  #burstAt(index: number): { readonly project: Project; readonly startIndex: number } | undefined {
    if (this.#burst !== undefined && index >= this.#burst.startIndex + BURST_EVENTS) {
      this.#burst = undefined;
    }
    if (this.#burst === undefined && this.#random.below(BURST_EVERY) === 0) {
      this.#burst = { project: this.#projects.draw(this.#random), startIndex: index };
    }
    return this.#burst;
  }

  #timeOf(index: number): number {
    return Math.floor(NOW_US - SPAN_US * (1 - index / this.#eventCount));
  }
}

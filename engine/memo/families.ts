import type { SegmentContent } from '../column/segment.ts';
import {
  FAMILIES_MAX,
  FAMILY_CALLS_MIN,
  PREPARED_OVERLAP_MIN,
  PREPARED_VAIN_MAX,
} from '../limits.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { type Fragment, fragmentKey } from './fragment.ts';

/** Fragments that differ in the project alone, and what was made of them ahead. */
export type Family = {
  /** Of the project that was asked for first. */
  readonly fragment: Fragment;
  readonly projectKey: string;
  calls: number;
  /** Of the last call. */
  window: TimeWindow;
  /** Segments of which the states of all projects were made. */
  readonly done: WeakSet<SegmentContent>;
  /** Segments in a row of which no state was worth to be kept. */
  vainCount: number;
};

/**
 * The families in use, learned from calls: their states of all large projects are made ahead, so that the
 * first call for a project finds them. The ones called longest ago are forgotten.
 */
export class Families {
  /** In the order of their last calls. */
  readonly #families = new Map<string, Family>();
  readonly #keys = new WeakMap<Fragment, string>();

  /** Takes note of a call; nothing where the fragment has no project, or one out of reach. */
  note(fragment: Fragment, window: TimeWindow): void {
    const { projectKey, reach } = fragment.scan;
    if (reach?.length === 0) return;
    const key = projectKey === undefined ? undefined : this.#keyOf(fragment, projectKey);
    if (projectKey === undefined || key === undefined) return;
    const family = this.#families.get(key) ?? {
      ...{ fragment, projectKey, calls: 0, window, vainCount: 0 },
      done: new WeakSet<SegmentContent>(),
    };
    family.calls += 1;
    family.window = window;
    this.#families.delete(key);
    this.#families.set(key, family);
    if (this.#families.size <= FAMILIES_MAX) return;
    for (const oldest of this.#families.keys()) {
      this.#families.delete(oldest);
      break;
    }
  }

  /** Those that are worth the work, the one called last first. */
  inUse(): readonly Family[] {
    const isWorth = ({ calls, vainCount }: Family) =>
      calls >= FAMILY_CALLS_MIN && vainCount < PREPARED_VAIN_MAX;
    return [...this.#families.values()].filter(isWorth).reverse();
  }

  #keyOf(fragment: Fragment, projectKey: string): string | undefined {
    const known = this.#keys.get(fragment);
    if (known !== undefined) return known;
    const key = fragmentKey(fragment.breaker, projectKey);
    if (key !== undefined) this.#keys.set(fragment, key);
    return key;
  }
}

/** Whether calls such as the last need so much of a segment that all of it is worth being looked at. */
export function isWanted(
  { window }: Family,
  { timestampUsMin, timestampUsMax }: SegmentContent,
): boolean {
  const from = Math.max(timestampUsMin, window.startUs);
  const to = Math.min(timestampUsMax, window.endUs);
  return to >= from && to - from >= PREPARED_OVERLAP_MIN * (timestampUsMax - timestampUsMin);
}

import type { SegmentContent } from '../column/segment.ts';
import {
  FAMILIES_MAX,
  FAMILY_CALLS_MIN,
  FAMILY_PROJECTS_MAX,
  PREPARED_LOOKS_MIN,
  PREPARED_OVERLAP_MIN,
  PREPARED_VAIN_MAX,
  PREPARED_WHOLE_OVERLAP_MIN,
} from '../limits.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { scansOf } from '../plan/physical-plan.ts';
import type { Fragment } from './fragment.ts';
import { type FamilyCall, withProject } from './prepare-states.ts';

/** Fragments that differ in the project alone, and what was made of them ahead. */
export type Family = {
  /** Of the project that was asked for first. */
  readonly fragment: Fragment;
  readonly call: FamilyCall;
  /** What the last calls had in the place of the project, each once. */
  readonly projects: string[];
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
  readonly #calls = new WeakMap<Fragment, FamilyCall | 'none'>();

  /** Takes note of a call; nothing where no project was put in. */
  note(fragment: Fragment, window: TimeWindow): void {
    const call = this.#callOf(fragment);
    if (call === undefined) return;
    const family = this.#families.get(call.familyKey) ?? {
      ...{ fragment, call, projects: [], calls: 0, window, vainCount: 0 },
      done: new WeakSet<SegmentContent>(),
    };
    family.calls += 1;
    family.window = window;
    noteProject(family.projects, call.project);
    this.#families.delete(call.familyKey);
    this.#families.set(call.familyKey, family);
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

  #callOf(fragment: Fragment): FamilyCall | undefined {
    let call = this.#calls.get(fragment);
    if (call === undefined) {
      call = familyCallOf(fragment) ?? 'none';
      this.#calls.set(fragment, call);
    }
    return call === 'none' ? undefined : call;
  }
}

function noteProject(projects: string[], project: string): void {
  if (projects[0] === project) return;
  const before = projects.indexOf(project);
  if (before >= 0) projects.splice(before, 1);
  projects.unshift(project);
  if (projects.length > FAMILY_PROJECTS_MAX) projects.pop();
}

/** In the place of the project; no project is called so. */
const ANY_PROJECT = '\0project';

/**
 * What is the project in a call: that of its scan, where a text or the reach of the call says it, else its only
 * text, which may be one that is searched for. `undefined`: none, or the plan itself says it.
 */
function familyCallOf({ breaker, scan, texts, planKey }: Fragment): FamilyCall | undefined {
  if (texts === undefined || scansOf(breaker)[0]?.projectKey !== undefined) return undefined;
  const [only, ...others] = texts.values.values();
  const project = scan.projectKey ?? (others.length === 0 ? only : undefined);
  if (project === undefined) return undefined;
  const { reach } = scan;
  const isOwn = reach?.length === 1 && reach[0] === project;
  if (reach !== undefined && !isOwn) return undefined;
  const ofAny = withProject(texts, { from: project, to: ANY_PROJECT });
  return { project, texts, isOwn, familyKey: `${planKey} ${ofAny.key} ${isOwn}` };
}

/** Whether calls such as the last need so much of a segment that all of it is worth being looked at. */
export function isWanted(
  { window, calls, fragment }: Family,
  { timestampUsMin, timestampUsMax }: SegmentContent,
): boolean {
  const from = Math.max(timestampUsMin, window.startUs);
  const to = Math.min(timestampUsMax, window.endUs);
  if (to < from) return false;
  const duration = timestampUsMax - timestampUsMin;
  const overlap = duration === 0 ? 1 : (to - from) / duration;
  const isOfParts = fragment.timeKey !== undefined;
  const overlapMin = isOfParts ? PREPARED_OVERLAP_MIN : PREPARED_WHOLE_OVERLAP_MIN;
  return overlap >= overlapMin && calls * overlap >= PREPARED_LOOKS_MIN;
}

import type { Refusals, UnreadableTimestamps } from '../../ingest/admission.ts';
import { BODY_EVENTS_MAX, REFUSALS_LISTED_MAX } from '../../ingest/limits.ts';
import type { Alterations, EventsWithoutProject, StoredLogs } from '../store/log-intake.ts';

/**
 * What became of the events of a post that is stored in parts, together. Events are numbered from zero in the order of the
 * post. Lists end after as many events as one body may have: a post in parts may have any number.
 */
export class PartReports implements Alterations {
  readonly repaired: number[] = [];
  unreadableTimestamps: UnreadableTimestamps | undefined;
  readonly #refused: number[] = [];
  readonly #reasons: string[] = [];
  #withoutProject: EventsWithoutProject | undefined;
  #eventCount = 0;

  add(stored: StoredLogs): void {
    const { events, reasons, repaired, unreadableTimestamps, withoutProject } = stored;
    const first = this.#eventCount;
    this.#eventCount += stored.storedEvents + events.length;
    // Reasons are those of the first refused events, so a part adds some only if all earlier ones have theirs.
    if (this.#reasons.length === this.#refused.length) {
      this.#reasons.push(...reasons.slice(0, REFUSALS_LISTED_MAX - this.#reasons.length));
    }
    addNumbers(this.#refused, events, first);
    addNumbers(this.repaired, repaired, first);
    if (unreadableTimestamps !== undefined) {
      const known = this.unreadableTimestamps ?? { ...unreadableTimestamps, count: 0 };
      this.unreadableTimestamps = { ...known, count: known.count + unreadableTimestamps.count };
    }
    if (withoutProject !== undefined) {
      const count = (this.#withoutProject?.count ?? 0) + withoutProject.count;
      this.#withoutProject = { ...withoutProject, count };
    }
  }

  get refusals(): Refusals {
    return { events: this.#refused, reasons: this.#reasons };
  }

  get withoutProject(): readonly EventsWithoutProject[] {
    return this.#withoutProject === undefined ? [] : [this.#withoutProject];
  }
}

function addNumbers(all: number[], more: readonly number[], first: number): void {
  for (const event of more) if (all.length < BODY_EVENTS_MAX) all.push(event + first);
}

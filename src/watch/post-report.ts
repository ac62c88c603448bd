import type { Source } from '../../ingest/source.ts';
import { REPORTED_TEXT_LENGTH_MAX } from '../limits.ts';
import type { StoredEvent, StoredLogs } from '../store/log-intake.ts';

/** The answer to a post. */
export type PostAnswer = {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly status: number;
  /** `ok`, or the code of the error. */
  readonly code: string;
  /** The message of the error; absent on success. */
  readonly message?: string | undefined;
  /** The address of the connection. */
  readonly from?: string | undefined;
};

/** A stored event, and where it is. */
export type FoundEvent = StoredEvent & {
  readonly source: string;
  /** When it was stored, in milliseconds since the epoch. */
  readonly storedMs: number;
};

/** Events that need a sender's attention, and an example of why. */
type Flaw = { readonly count: number; readonly example: string };

/** Who posts where: a token, or nobody that weir knows, at the path of a receiver. */
export type PostSender = {
  /** Absent for posts whose token was missing or wrong. */
  readonly token?: { readonly id: string; readonly name: string } | undefined;
  /** The path of the receiver, as routes write it: `/:index/_bulk`. */
  readonly receiver: string;
};

/**
 * The posts of one sender to one receiver since the service started: how many there were, how the last one was
 * answered, and what a person must know to find the events.
 */
export class PostReport {
  readonly sender: PostSender;
  posts = 0;
  refusedPosts = 0;
  storedEvents = 0;
  last: PostAnswer | undefined;
  lastRefusal: PostAnswer | undefined;
  lastEvent: FoundEvent | undefined;
  readonly #flaws = new Map<FlawKind, Flaw>();

  constructor(sender: PostSender) {
    this.sender = sender;
  }

  /** Events that were refused or changed, or that no query of a project finds, by kind. */
  get flaws(): ReadonlyMap<FlawKind, Flaw> {
    return this.#flaws;
  }

  addAnswer(answer: PostAnswer): void {
    this.posts += 1;
    this.last = answer;
    if (answer.status < 400) return;
    this.refusedPosts += 1;
    this.lastRefusal = answer;
  }

  /** `stored`: what the store said of the events of one post for one source. */
  addStored(source: Source, stored: StoredLogs, nowMs: number): void {
    const { storedEvents, lastEvent, events, reasons } = stored;
    this.storedEvents += storedEvents;
    if (lastEvent !== undefined) {
      const { id, project, timestampUs } = lastEvent;
      this.lastEvent = {
        source: source.name,
        project: project?.slice(0, REPORTED_TEXT_LENGTH_MAX),
        id: id.slice(0, REPORTED_TEXT_LENGTH_MAX),
        timestampUs,
        storedMs: nowMs,
      };
    }
    this.#addFlaw('refused', events.length, reasons[0]);
    this.#addFlaw('without_project', stored.withoutProject?.count ?? 0, source.name);
    const { unreadableTimestamps, repaired } = stored;
    const { count = 0, firstText } = unreadableTimestamps ?? {};
    this.#addFlaw('unreadable_timestamp', count, firstText);
    this.#addFlaw('repaired', repaired.length, source.name);
  }

  #addFlaw(kind: FlawKind, more: number, example = ''): void {
    if (more === 0) return;
    this.#flaws.set(kind, { count: (this.#flaws.get(kind)?.count ?? 0) + more, example });
  }
}

/**
 * `refused`: not stored; the example is a reason. `without_project`: stored, and no query of a project finds them; the
 * example is a source. `unreadable_timestamp`: stored with the time of their arrival; the example is a text.
 * `repaired`: stored with U+FFFD for bytes that are not UTF-8; the example is a source.
 */
export const FLAW_KINDS = [
  'refused',
  'without_project',
  'unreadable_timestamp',
  'repaired',
] as const;

export type FlawKind = (typeof FLAW_KINDS)[number];

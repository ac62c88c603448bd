import type { AdmissionOptions, Refusals, UnreadableTimestamps } from '../../ingest/admission.ts';
import type { PostContents, PostedBody } from '../../ingest/post-decoding.ts';
import type { Source } from '../../ingest/source.ts';

/** When a body came, whose events it may hold, and which of them are to be stored. */
export type Receipt = Pick<AdmissionOptions, 'nowUs' | 'projects'> & {
  /** The addresses of events that are for the source, by their indexes; all of them unless given. */
  readonly addresses?: readonly number[];
  /** Called with what was stored: events, and inflated bytes of their body. */
  readonly onStored?: (stored: { readonly events: number; readonly bytes: number }) => void;
};

/** The events of a body that were stored otherwise than they were sent, counted from zero as posted. */
export type Alterations = {
  /** Those stored with U+FFFD for bytes that were not UTF-8. */
  readonly repaired: readonly number[];
  readonly unreadableTimestamps?: UnreadableTimestamps | undefined;
};

/** Events of one source that belong to no project by its rule. */
export type EventsWithoutProject = { readonly source: Source; readonly count: number };

/** The events of a body that were not stored, or not as they were sent, or that queries of a project will not find. */
export type StoredLogs = Refusals &
  Alterations & {
    /** There where there are any. */
    readonly withoutProject?: EventsWithoutProject | undefined;
  };

/** A body that was read, whose events are to be stored once, or not at all. */
export interface DecodedPost {
  readonly contents: PostContents;
  /**
   * Stores what can be stored; when this resolves it is durable and in the answer of every query
   * that begins later. Resolves to what could not be taken, or not as it was. One call after another, each for other
   * addresses.
   *
   * @throws ServiceError when nothing of these events was stored.
   */
  store(source: Source, receipt: Receipt): Promise<StoredLogs>;
  /** Releases the memory of the body. To be called once, when nothing more is to be stored. */
  end(): void;
}

/** Events that queries see, and the bytes they take in memory. */
type SourceSize = { readonly events: number; readonly bytes: number };

/** What the service asks of whoever takes logs in. */
export interface LogIntake {
  /** By UUID when the text is one, else by name. */
  findSource(idOrName: string): Source | undefined;
  listSources(): readonly Source[];
  /** How much each source holds, by its name. */
  sizes(): ReadonlyMap<string, SourceSize>;
  /**
   * Whether a post would be taken now, for this source where it is known: worth asking before its body is read.
   *
   * @throws ServiceError when none would.
   */
  check(source: Source | undefined): void;
  /** Milliseconds that what is stored takes to become durable, of late: the time of a group in the log. */
  durableMs(): number;
  /**
   * Reads a body. A large one is decoded in another thread; `isGone` says whether its sender has left, and what has not
   * begun of the decoding is dropped then.
   *
   * @throws ServiceError when the body is not of its format. Nothing is stored yet.
   */
  decode(posted: PostedBody, isGone?: () => boolean): Promise<DecodedPost>;
}

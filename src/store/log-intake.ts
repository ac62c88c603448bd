import type { AdmissionOptions, Refusals, UnreadableTimestamps } from '../../ingest/admission.ts';
import type { PostContents, PostedBody } from '../../ingest/post-decoding.ts';
import type { Source } from '../../ingest/source.ts';

/** When a body arrived, the projects whose events it may contain, and which events to store. */
export type Receipt = Pick<AdmissionOptions, 'nowUs' | 'projects'> & {
  /** The addresses of the events to store, by their indexes; all by default. */
  readonly addresses?: readonly number[];
  /** Called with the numbers of stored events and of decompressed bytes of their body. */
  readonly onStored?: (stored: { readonly events: number; readonly bytes: number }) => void;
};

/** Events that were stored with changes, counted from zero in the order of the body. */
export type Alterations = {
  /** Events stored with U+FFFD for bytes that were not UTF-8. */
  readonly repaired: readonly number[];
  readonly unreadableTimestamps?: UnreadableTimestamps | undefined;
};

/** How many events of one source belong to no project by its rule. */
export type EventsWithoutProject = { readonly source: Source; readonly count: number };

/** By what a query finds an event. */
export type StoredEvent = {
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly timestampUs: number;
  /** Absent if the event belongs to no project, or to several. */
  readonly project?: string | undefined;
};

/** What was stored, the events that were refused or changed, and those that queries of a project will not find. */
export type StoredLogs = Refusals &
  Alterations & {
    readonly storedEvents: number;
    /** The last of the stored events. */
    readonly lastEvent?: StoredEvent | undefined;
    /** Present if there are any. */
    readonly withoutProject?: EventsWithoutProject | undefined;
  };

/** A decoded body. Each of its events is stored once or not at all. */
export interface DecodedPost {
  readonly contents: PostContents;
  /**
   * Stores what can be stored. When it resolves, the events are durable, and every later query sees
   * them, if they are kept here; elsewhere they are visible soon. Resolves to what was refused or changed. Call it again only after it resolves, and with
   * other addresses.
   *
   * @throws ServiceError when none of these events was stored.
   */
  store(source: Source, receipt: Receipt): Promise<StoredLogs>;
  /** Releases the memory of the body. Call it once, after the last `store`. */
  end(): void;
}

/** The visible events of a source, and their bytes in memory. */
type SourceSize = { readonly events: number; readonly bytes: number };

/** What the service needs to accept logs. */
export interface LogIntake {
  /** Finds by UUID if the text is one, else by name. */
  findSource(idOrName: string): Source | undefined;
  listSources(): readonly Source[];
  /** The size of each source whose events are kept here, by name. */
  sizes(): ReadonlyMap<string, SourceSize>;
  /**
   * Checks whether a post would be accepted now, for this source if it is known, so that a body is
   * not read in vain.
   *
   * @throws ServiceError when it would not.
   */
  check(source: Source | undefined): void;
  /** Recent time, in milliseconds, until a stored event is durable: that of a group in the log. */
  durableMs(): number;
  /**
   * Decodes a body; a large one in another thread. `isGone` says whether its sender has
   * disconnected, after which no further part is decoded.
   *
   * @throws ServiceError when the body is malformed. Nothing has been stored.
   */
  decode(posted: PostedBody, isGone?: () => boolean): Promise<DecodedPost>;
}

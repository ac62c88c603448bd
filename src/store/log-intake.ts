import type { AdmissionOptions, Refusals, UnreadableTimestamps } from '../../ingest/admission.ts';
import type { BodyForm, PostAddress } from '../../ingest/post-body.ts';
import type { Source } from '../../ingest/source.ts';
import type { Translated, WireBody, WireFormat } from '../../ingest/wire/wire-format.ts';

/** When a body came, and whose events it may hold. */
type Receipt = Pick<AdmissionOptions, 'nowUs' | 'projects'>;

/** What came of the events of a body, counted from zero as posted. */
export type StoredLogs = Refusals & {
  /** Those stored with U+FFFD for bytes that were not UTF-8, ascending. */
  readonly repaired: readonly number[];
  readonly unreadableTimestamps?: UnreadableTimestamps | undefined;
};

/** A body whose events are decoded, to be stored once, or not at all. */
interface DecodedLogs {
  readonly address: PostAddress;
  /**
   * Stores what can be stored; when this resolves it is durable and in the answer of every query
   * that begins later. Resolves to what could not be taken, or not as it was.
   *
   * @throws ServiceError when nothing was stored.
   */
  store(source: Source, receipt: Receipt): Promise<StoredLogs>;
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
   * `isRepaired`: bytes that were not UTF-8 are U+FFFD already, and the events that hold one are counted.
   *
   * @throws ServiceError when the body is not of its form. Nothing is stored yet.
   */
  decode(body: readonly Uint8Array[], form: BodyForm, isRepaired?: boolean): Promise<DecodedLogs>;
  /**
   * Writes the events of another format as bodies for `decode`.
   *
   * @throws ServiceError when the body is not of that format.
   */
  translate<Notes>(
    format: WireFormat<Notes>,
    body: Omit<WireBody, 'memory' | 'newId'>,
  ): Promise<Translated<Notes>>;
}

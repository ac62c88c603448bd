import type { EngineStats, PreparedQuery } from '../../engine/index.ts';
import type { RecoveryProgress } from '../../ingest/log/log-recovery.ts';
import type { LogStats } from '../../ingest/log/write-ahead-log.ts';
import type { SourceStats } from '../../ingest/log-store.ts';
import type { MemoryStats } from '../../ingest/memory-budget.ts';
import type { Source } from '../../ingest/source.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import type { IngestCount } from './ingest-counts.ts';
import type { LogIntake } from './log-intake.ts';
import type { PublishedEvents } from './published-events.ts';

/** What a backend holds, and its counters. */
export type BackendStats = {
  readonly engine: EngineStats;
  readonly sources: readonly SourceStats[];
  /** Counters by source name, for sources that have had a post since the start. */
  readonly ingest: ReadonlyMap<string, IngestCount>;
  /** Bytes of arrays that are reused from one decoded body to the next. */
  readonly pooledBytes: number;
  readonly memory: MemoryStats;
  /** The log on disk; `undefined` until it has been read. */
  readonly log?: LogStats | undefined;
  /** Present while nothing is deleted by age. */
  readonly heldBackClock?: HeldBackClock | undefined;
  /** Present if events are kept in ClickHouse. */
  readonly shipping?: ShippingStats | undefined;
};

/** How far events are on their way from the log to ClickHouse. */
export type ShippingStats = {
  /** Events that ClickHouse may not have, and about their bytes. */
  readonly events: number;
  readonly bytes: number;
  /** Age of the oldest one, in microseconds; 0 if there is none. */
  readonly ageUs: number;
  /** Batches that were acknowledged, and their events. */
  readonly batchCount: number;
  readonly rowCount: number;
  /** Number of attempts that failed. */
  readonly failureCount: number;
  /** Whether the last attempt to send or to query failed. */
  readonly isFailing: boolean;
};

/** A clock that is too far ahead to be used for retention. */
export type HeldBackClock = {
  /** How far it is ahead of the last trusted time. */
  readonly aheadUs: number;
  /** How long the service must continue to run until the clock is trusted. */
  readonly remainingUs: number;
};

/**
 * Kinds of damage: a place in the log; one of the two envelopes of a segment file, which loses
 * nothing; a segment, whose rows are lost; a column of a segment, whose values are lost.
 */
export const DAMAGE_KINDS = ['log', 'envelope', 'segment', 'column'] as const;

export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** Stored data that could not be read. All other data is served. */
export type Damage = {
  readonly kind: DamageKind;
  /**
   * How many places were found; 0 if they were reported before and only the quarantined files are
   * new.
   */
  readonly places: number;
  readonly postsLost?: number;
  readonly segmentsLost?: number;
  /** Columns of segments whose values are lost while the rest of the segment is intact. */
  readonly columnsLost?: number;
  /** Paths of quarantined files, as far as they are listed. */
  readonly quarantined?: readonly string[];
};

/** Observes the recovery and the damage that is found during it or later. */
export interface RecoveryObserver {
  progress(progress: RecoveryProgress): void;
  /** May be called several times; the numbers add up. */
  damage(damage: Damage): void;
}

/** The memory of the process, in bytes. */
export type TakenMemory = {
  readonly resident: number;
  /** The part of it that requests and kept answers hold. */
  readonly requests: number;
};

/** Adds sources while the service runs. */
export interface SourceStore {
  /**
   * Whether events are stored under a name without a source, as after its removal from the
   * settings. Call it after `recover`. Rejects with a QueryError if that cannot be found out.
   */
  holdsEventsOf(name: string): boolean | Promise<boolean>;
  /**
   * Adds a source for posts, queries and followers. Its name must be new, without stored events.
   */
  add(source: Source): void;
}

/** The saved queries that are in force. */
export interface SavedQueries {
  /** Counts up with each change. */
  readonly version: number;
  list(): readonly { readonly query: PreparedQuery }[];
}

/** The engine and the event store, as the HTTP side uses them. */
export interface Backend {
  readonly engine: QueryEngine;
  readonly intake: LogIntake;
  readonly published: PublishedEvents;
  readonly sources: SourceStore;
  /** Makes the fields that saved queries read fast to find, from now on and as the queries change. */
  followDefinitions?(saved: SavedQueries): void;
  /** Reads what is stored. Calls are accepted only after it. */
  recover(nowUs: number, observer: RecoveryObserver): Promise<void>;
  /**
   * Seals and expires segments. Call it about once a second. Without `memory`, logs use only their
   * own share of the memory.
   */
  tick(nowUs: number, memory?: TakenMemory): void;
  stats(): BackendStats;
  /** Writes everything to disk and ends all threads. May be called before `recover`. */
  close(nowUs: number): Promise<void>;
}

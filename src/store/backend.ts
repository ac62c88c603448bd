import type { EngineStats } from '../../engine/engine.ts';
import type { RecoveryProgress } from '../../ingest/log/log-recovery.ts';
import type { LogStats } from '../../ingest/log/write-ahead-log.ts';
import type { SourceStats } from '../../ingest/log-store.ts';
import type { MemoryStats } from '../../ingest/memory-budget.ts';
import type { Source } from '../../ingest/source.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import type { IngestCount } from './ingest-counts.ts';
import type { LogIntake } from './log-intake.ts';
import type { PublishedEvents } from './published-events.ts';

/** What a backend holds and has done. */
export type BackendStats = {
  readonly engine: EngineStats;
  readonly sources: readonly SourceStats[];
  /** By the name of the source; those that have had a post since the start. */
  readonly ingest: ReadonlyMap<string, IngestCount>;
  /** Bytes of arrays that bodies were decoded in, kept for the next ones. */
  readonly pooledBytes: number;
  readonly memory: MemoryStats;
  /** The log on disk; `undefined` before it has been read. */
  readonly log?: LogStats | undefined;
  /** There while nothing is deleted by age. */
  readonly heldBackClock?: HeldBackClock | undefined;
};

/** A clock that is too far ahead for retention to delete by. */
export type HeldBackClock = {
  /** How far it is ahead of the last trusted time. */
  readonly aheadUs: number;
  /** How long the service must run on until the clock is trusted. */
  readonly remainingUs: number;
};

/**
 * What is damaged: a place in the log; one of the two envelopes of a segment file, which costs
 * nothing; a segment, whose rows are lost; a column of one, whose values are.
 */
export const DAMAGE_KINDS = ['log', 'envelope', 'segment', 'column'] as const;

export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** What was stored and could not be read; all else is there. */
export type Damage = {
  readonly kind: DamageKind;
  /** How many places were found; 0: they were told before, and what was set aside has not been. */
  readonly places: number;
  readonly postsLost?: number;
  readonly segmentsLost?: number;
  /** Columns of segments whose values are lost, and nothing else of them. */
  readonly columnsLost?: number;
  /** Paths of what was set aside, as far as they are listed. */
  readonly quarantined?: readonly string[];
};

/** Who hears how the reading of what is stored goes, and of damage that is found later. */
export interface RecoveryObserver {
  progress(progress: RecoveryProgress): void;
  /** May be called several times: it adds up. */
  damage(damage: Damage): void;
}

/** What the process takes of memory, in bytes. */
export type TakenMemory = {
  readonly resident: number;
  /** Of it, what requests and kept answers hold. */
  readonly requests: number;
};

/** Where sources are added while the service runs. */
export interface SourceStore {
  /**
   * Whether events are stored under a name that no source has, as after a source was taken out of the settings. To be
   * called after `recover`.
   */
  holdsEventsOf(name: string): boolean;
  /** From now on posts, texts and followers find the source. Its name is new, and no events are stored under it. */
  add(source: Source): void;
}

/** The engine and the store of logs behind the service's doors. */
export interface Backend {
  readonly engine: QueryEngine;
  readonly intake: LogIntake;
  readonly published: PublishedEvents;
  readonly sources: SourceStore;
  /** Reads what is stored; calls are taken only after it. */
  recover(nowUs: number, observer: RecoveryObserver): Promise<void>;
  /** To be called about once a second: seals, expires. Without `memory` logs have their share of the memory alone. */
  tick(nowUs: number, memory?: TakenMemory): void;
  stats(): BackendStats;
  /** Leaves nothing unwritten, and no thread. May be called before `recover` has been. */
  close(nowUs: number): Promise<void>;
}

import type { EventBatch, Kind } from '../workload/workload.ts';
import type { AnswerRow, Question } from './question.ts';

/** An engine that is measured. One call at a time, in the order they stand here. */
export interface Peer {
  readonly name: string;

  /** Whether its p95 and p99 are values of the data at the very rank, or near it. */
  readonly quantiles: 'exact' | 'approximate';

  /** Of the engine, for the report. @throws Error when it cannot be used on this machine. */
  version(): Promise<string>;

  /** Opens what `load` left in a folder of its own, which is there, or begins with nothing. */
  open(folder: string): Promise<void>;

  /** Takes in all events of a kind, in the order of their times, as fast as the engine can. */
  load(kind: Kind, batches: Iterable<EventBatch>): Promise<void>;

  /** Called once behind all loads: indexes, statistics, merges, and whatever else makes calls fast. */
  finishLoading(): Promise<void>;

  /** How many events it holds of each kind that was loaded. */
  counts(): Promise<ReadonlyMap<Kind, number>>;

  /**
   * Answers with rows as an HTTP answer could be written from; this is what is timed. `undefined`
   * when the engine cannot be asked such a thing. Nothing may be remembered from call to call but
   * prepared statements and pages of files.
   */
  ask(question: Question): Promise<readonly AnswerRow[] | undefined>;

  /** Answers a text in its own SQL, over its own tables, with nothing bound. Some engines are asked so. */
  askSql?(sql: string): Promise<readonly AnswerRow[]>;

  /**
   * For engines that take events in durably: a table of its own for the kind, in a folder of its own.
   * `post` resolves when the events of a text would outlive a loss of power, and queries see them.
   */
  openIntake?(folder: string, kind: Kind): Promise<PeerIntake>;

  close(): Promise<void>;
}

/** Where events are taken in, each text with a sync of its own. Calls may be under way at once. */
export interface PeerIntake {
  /** NDJSON, a line break behind each event. */
  post(text: string): Promise<void>;
  count(): Promise<number>;
  close(): Promise<void>;
}

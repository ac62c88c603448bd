import type { ParameterDeclaration, PreparedQuery } from '../../engine/index.ts';
import type { InstanceKey } from '../instance-key.ts';

/** Events of a source after a number. */
export type SourcePage = {
  readonly source: string;
  readonly after: number;
  /** If given, only events with this timestamp or a later one; microseconds since the epoch. */
  readonly sinceUs: number | undefined;
};

/** The interface of the event store for followers. */
export interface PublishedEvents {
  /**
   * Begins to look for new events, and resolves to the function that ends it. Until then `lastNumber` and `pageEnd` may be
   * called, and they know every event that was visible before. Rejects with a QueryError if the store is away.
   */
  watch(): Promise<() => void>;
  /**
   * The secret of all services that use the store, from which ids of events are made; `undefined` if it has one service,
   * and before the first `watch` has resolved.
   */
  readonly sharedKey?: InstanceKey | undefined;
  /** The number of the last visible event of a source; later events have higher numbers. */
  lastNumber(source: string): number;
  /** Whether a number of the source has been given, as far as `lastNumber` knows. */
  knows(source: string, number: number): boolean;
  /**
   * The number up to which a page after a number is read, at most `lastNumber`: some events, if there are any. Rejects
   * with a QueryError.
   */
  pageEnd(page: SourcePage, signal: AbortSignal): Promise<number>;
  /** The most events of a page; FOLLOWED_PAGE_ROWS if left out. */
  readonly pageRows?: number | undefined;
  /** Binds a query that may use `_arrival`, the arrival number of an event, which is its number minus one. */
  prepare(text: string, parameters: readonly ParameterDeclaration[]): PreparedQuery;
  /** Registers the one listener that is called when events of a source were published. It replaces an earlier one. */
  whenPublished(listener: (source: string) => void): void;
}

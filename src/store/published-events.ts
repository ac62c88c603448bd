import type { ParameterDeclaration } from '../../engine/plan/logical-plan.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';

/** The interface of the event store for followers. */
export interface PublishedEvents {
  /** The number of the last visible event of a source; later events have higher numbers. */
  lastNumber(source: string): number;
  /** Binds a query that may use `_arrival`, the arrival number of an event, which is its number minus one. */
  prepare(text: string, parameters: readonly ParameterDeclaration[]): PreparedQuery;
  /** Registers the one listener that is called when events of a source were published. It replaces an earlier one. */
  whenPublished(listener: (source: string) => void): void;
}

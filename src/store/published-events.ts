import type { ParameterDeclaration } from '../../engine/plan/logical-plan.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';

/** What following a source asks of whoever stores its events. */
export interface PublishedEvents {
  /** How many events a source has had: all that queries see have this number or a lower one. */
  lastNumber(source: string): number;
  /** Binds a text that may name the arrival of events, `_arrival`, which is one less than their number. */
  prepare(text: string, parameters: readonly ParameterDeclaration[]): PreparedQuery;
  /** Calls `listener`, and no other any more, whenever events of a source have been published. */
  whenPublished(listener: (source: string) => void): void;
}

import type { PreparedQuery } from '../../engine/engine.ts';
import type { ParameterDeclaration } from '../../engine/plan/logical-plan.ts';

/** What following a source asks of whoever stores its events. */
export interface PublishedEvents {
  /** How many events a source has had: all that queries see have this id or a lower one. */
  lastId(source: string): number;
  /** Binds a text that may name the arrival of events, `_arrival`, which is one less than their id. */
  prepare(text: string, parameters: readonly ParameterDeclaration[]): PreparedQuery;
  /** Calls `listener`, and no other any more, whenever events of a source have been published. */
  whenPublished(listener: (source: string) => void): void;
}

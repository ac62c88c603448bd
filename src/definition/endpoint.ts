import type { Views } from '../../engine/plan/logical-plan.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import type { Definition, ParameterDefinition } from './definition.ts';
import type { ParameterSchema } from './parameters.ts';
import type { Origin } from './saved-definition.ts';

/** A saved query, ready to be called. One that was changed, or selects from one that was, is another object. */
export type Endpoint = {
  readonly definition: Definition;
  readonly origin: Origin;
  /** Its file, as it was written. */
  readonly fileText: string;
  /** Whether the file has lines for one profile alone. */
  readonly namesProfile: boolean;
  readonly query: PreparedQuery;
  /** The tables that callers' own SQL may name: of its text, then of each definition that extends it. */
  readonly callerTables: readonly PreparedQuery['commonTables'][];
  /** Parameters of the definition, and behind them those of the ones it selects from. */
  readonly declared: readonly ParameterDefinition[];
  readonly parameters: ParameterSchema;
  /** The definitions that its text and the tables above select from, at any depth, as they were when it was bound. */
  readonly views: Views;
};

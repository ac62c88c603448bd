import type { PreparedQuery, Views } from '../../engine/index.ts';
import type { Definition, ParameterDefinition } from './definition.ts';
import type { ParameterSchema } from './parameters.ts';
import type { Origin } from './saved-definition.ts';

/**
 * A saved query that can be called. It is immutable: a changed definition, or one whose view
 * changed, is another object.
 */
export type Endpoint = {
  readonly definition: Definition;
  readonly origin: Origin;
  /** The text of its file. */
  readonly fileText: string;
  /** Whether the file has lines for one profile only. */
  readonly namesProfile: boolean;
  readonly query: PreparedQuery;
  /**
   * The tables that callers' own SQL may name: those of its text, then those of each definition
   * that extends it.
   */
  readonly callerTables: readonly PreparedQuery['commonTables'][];
  /** The definition's parameters, then those of the definitions it selects from. */
  readonly declared: readonly ParameterDefinition[];
  readonly parameters: ParameterSchema;
  /**
   * The definitions that its text and the tables above select from, at any depth, at the time of
   * binding.
   */
  readonly views: Views;
};

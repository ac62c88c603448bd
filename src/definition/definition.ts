import type { SqlValue } from '../../engine/columns.ts';

export const PARAMETER_TYPES = ['string', 'int64', 'float64', 'bool', 'timestamp'] as const;

export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** A declared parameter of a saved query. */
export type ParameterDefinition = {
  readonly name: string;
  readonly type: ParameterType;
  /** Whether it must be given and not be empty. */
  readonly required: boolean;
  /** The default as text that the type parses; without one the default is NULL. */
  readonly default: string | undefined;
  /** The allowed texts; `undefined` allows all. */
  readonly values: readonly string[] | undefined;
  /** Names of other parameters to fall back to, in order, if this one is missing or empty. */
  readonly from: readonly string[];
};

/** A saved query: the contents of a definition file. */
export type Definition = {
  /** A UUID in lower case. */
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly parameters: readonly ParameterDefinition[];
  readonly rowsMax: number;
  /** Seconds for which an answer may be kept; `undefined` if disabled. */
  readonly cacheS: number | undefined;
  /** Seconds after which a kept answer in use is renewed; `undefined` if it is not. */
  readonly warmS: number | undefined;
  readonly isSandboxed: boolean;
  /**
   * The name of the definition that this one extends: its callers' SQL may name the tables of this
   * one's WITH.
   */
  readonly extended: string | undefined;
  /** Counts the changes of the definition, from 1. */
  readonly version: number;
  /** The statement, without the header and the empty lines after it. */
  readonly text: string;
};

/** All names of a definition, its main name first. */
export function listNames({
  name,
  aliases,
}: Pick<Definition, 'name' | 'aliases'>): readonly string[] {
  return [name, ...aliases];
}

/** Values of all declared parameters of one call, in order of declaration: the canonical form. */
export type ParameterValues = ReadonlyMap<string, SqlValue>;

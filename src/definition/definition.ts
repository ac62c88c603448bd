import type { SqlValue } from '../../engine/column/value.ts';

export const PARAMETER_TYPES = ['string', 'int64', 'float64', 'bool', 'timestamp'] as const;

export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** One parameter of a saved query, as its definition declares it. */
export type ParameterDefinition = {
  readonly name: string;
  readonly type: ParameterType;
  /** Must be given, and not be empty. */
  readonly required: boolean;
  /** The value where none is given, as text and read by the type; without one it is NULL. */
  readonly default: string | undefined;
  /** The texts that are allowed; `undefined` allows all. */
  readonly values: readonly string[] | undefined;
  /** Other parameter names to fall back to, in order, where this one is missing or empty. */
  readonly from: readonly string[];
};

/** A saved query: what a definition file says. */
export type Definition = {
  /** A UUID in lower case. */
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly parameters: readonly ParameterDefinition[];
  readonly rowsMax: number;
  /** Seconds an answer may be kept; `undefined`: disabled. */
  readonly cacheS: number | undefined;
  /** Seconds after which a kept answer in use is made anew; `undefined`: it is not. */
  readonly warmS: number | undefined;
  readonly isSandboxed: boolean;
  /** A name of the definition whose callers' own SQL may name the tables of this one's WITH, too. */
  readonly extended: string | undefined;
  /** Tells one state of the definition from the next; whoever changes it counts up. From 1. */
  readonly version: number;
  /** The statement, without the header and the empty lines below it. */
  readonly text: string;
};

/** The names under which a definition is called, its own first. */
export function listNames({
  name,
  aliases,
}: Pick<Definition, 'name' | 'aliases'>): readonly string[] {
  return [name, ...aliases];
}

/** Values of all declared parameters of one call, in order of declaration: its canonical form. */
export type ParameterValues = ReadonlyMap<string, SqlValue>;

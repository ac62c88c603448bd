import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import type { OrderDirection } from '../function/comparison.ts';
import type { FunctionDoc, ParameterType } from '../function/scalar-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';
import type { SpillSpace } from './spilled-pairs.ts';

/** An aggregate function of GoogleSQL and the state it keeps for many groups at once. */
export type AggregateFunction = {
  /** Lower case. */
  readonly name: string;
  readonly doc: FunctionDoc;
  readonly overloads: readonly AggregateOverload[];
  /** What may stand beside the arguments; DISTINCT alone when absent. HAVING may stand in each call. */
  readonly modifiers?: readonly AggregateModifier[];
  /**
   * Why it may have no answer; absent: for a wrong constant or too much in a group. `by value`: `update` fails before it
   * adds any, or `finalize`.
   */
  readonly fails?: 'never' | 'by value';
  /** The answer is the least or the greatest of the values. */
  readonly extreme?: Extreme;
  /** The answer is a list of so many elements for these constants; it may have those of `CallModifiers.elements` alone. */
  readonly elementCount?: (constants: readonly SqlValue[]) => number;
};

/** What MIN and MAX answer, and which rows of a group HAVING takes. */
export type Extreme = 'max' | 'min';

/** `DISTINCT`, `IGNORE NULLS` and `RESPECT NULLS`, `ORDER BY`, `LIMIT`. */
export type AggregateModifier = 'distinct' | 'nulls' | 'order' | 'limit';

/** The modifiers of one call, DISTINCT apart, which needs no function's help. */
export type CallModifiers = {
  /** As the text has it; what holds without is up to the function. */
  readonly nulls?: 'ignore' | 'respect' | undefined;
  /** Directions of the keys that rows are taken by: their vectors follow those of the arguments. */
  readonly order: readonly OrderDirection[];
  readonly limit?: number | undefined;
  /** Offsets of elements of a list, ascending: it has these alone. */
  readonly elements?: readonly number[] | undefined;
};

export const NO_MODIFIERS: CallModifiers = { order: [] };

export type AggregateOverload = {
  /** Arguments evaluated per row. */
  readonly parameters: readonly ParameterType[];
  /** Arguments that must be constants of the query, after the others. */
  readonly constants?: readonly SqlType[];
  readonly result: SqlType | ((types: readonly SqlType[]) => SqlType);
  /** A fresh state. Checks `constants` and throws a QueryError when one is out of its range. */
  readonly create: (
    types: readonly SqlType[],
    constants: readonly SqlValue[],
    modifiers: CallModifiers,
  ) => AggregateState;
};

/**
 * Partial results of one aggregate for the groups [0, groupCount) of one aggregation. The laws:
 * splitting rows over several states and combining them, in any order, gives the same answer as one
 * state, to the bit (quantiles over too many distinct values: within their stated error).
 */
export interface AggregateState {
  /** Whether `finalize` fails for no group, so that it need not be asked of those that nobody wants. */
  readonly isCertain?: boolean;
  /** Entries that it holds so far, where these may be far more than groups. */
  readonly entryCount?: number;
  /**
   * Adds `count` rows; row `i` goes to group `groups[i]`. All groups are below `groupCount`, which
   * never falls from call to call. `vectors`, the arguments and then the keys of the order, may be kept by nobody; a record
   * or list that is kept of them is copied first (`detachedValue`).
   */
  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void;
  /**
   * As `update`, for rows that come in runs of one group; false where there is no quicker way for these
   * vectors, and then nothing was added.
   */
  updateRuns?(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean;
  /**
   * As `update` with `count` values of one group that are not NULL, where it makes no difference what they are.
   */
  addPresent?(group: number, count: number, groupCount: number): void;
  /**
   * Adds another state's partial result; its group `i` is our group `groups[i]`, which several of its groups may be.
   * `partial` is what `partial()` of a state of the same overload gave, perhaps in another thread.
   */
  combine(partial: unknown, groups: Int32Array, groupCount: number): void;
  /**
   * What `combine` takes: plain values and typed arrays, fit for `postMessage`. Arrays are copied by `slice`, and values that may
   * be records or lists made portable (`toPortable`). Ends the state's use.
   */
  partial(groupCount: number): unknown;
  /** The answer of one group, perhaps of one that no row came to. In a window, rows may come after it. */
  finalize(group: number): SqlValue;
  /**
   * The same of each of some groups, where all are of one form that takes less time than one by one; `undefined`
   * where they are not. `pause` is called every few groups where each takes some time.
   */
  finalizeAll?(groups: Int32Array, pause: () => void): Vector | undefined;
  /**
   * Lets the state write values to disk if it does not fit into memory. To be called before the first rows; the state then
   * gives no `partial`.
   */
  spillTo?(space: SpillSpace): void;
  /** Frees the kept rows of a group, if there are any. The group is not used again. */
  clear?(group: number): void;
}

import type { SqlValue } from '../column/value.ts';
import type { Int64 } from './number/int64.ts';
import type { TextMatcher } from './regex/text-matcher.ts';

/**
 * What the optimiser and the evaluator may know of the calls of one overload; nothing where a fact is absent. No code outside
 * `engine/function` looks at the name of a function that is written as a call. That a NULL makes the result NULL is
 * `nulls` of the overload.
 */
export type FunctionFacts = {
  /** Why a call may fail; absent: for the values of some rows. */
  readonly fails?: Failure | ((constants: Constants) => Failure);
  /** For an overload of a TIMESTAMP first: the steps by which the result rises with it, never falling. */
  readonly timeStep?: (constants: Constants) => TimeStep | undefined;
  /** For an overload of a TIMESTAMP first: the microseconds that it adds to it. */
  readonly addedUs?: (constants: Constants) => number | undefined;
  /** For an overload of the clock last that makes a list of times: the buckets that these are the starts of. */
  readonly buckets?: (constants: Constants) => TimeBuckets | undefined;
  /** The second argument is a regular expression: `tested`, where the result is whether the first has a match. */
  readonly regex?: 'tested' | 'used';
  /** What a text as the second argument wants of a STRING as the first; throws a QueryError for a wrong pattern. */
  readonly textTest?: ((text: string) => TextTest) | undefined;
  /** The result is above 0 where the second argument, a text, is somewhere in the first. */
  readonly isPosition?: true;
};

/** `by size`: for no value but a text or list longer than an event brings by chance. `by value`: for some. */
export type Failure = 'never' | 'by size' | 'by value';

/** The arguments of a call, as many as it has: `undefined` for what is no constant. */
export type Constants = readonly (SqlValue | undefined)[];

export type TimeStep = {
  /** The first time at which the result is at least `value`; throws a QueryError where there is none within the years. */
  readonly firstUs: (value: number) => Int64;
  /** The length of the steps, where all are as long, begin at multiples of it, and the result is the begin of one. */
  readonly widthUs?: number | undefined;
};

/** All parts of one length, from the one in which some units before the clock lie, to that of the clock. */
export type TimeBuckets = {
  readonly start: { readonly count: number; readonly part: string };
  readonly part: string;
  readonly widthUs: number;
  readonly count: number;
};

/**
 * What is true of a string that a test holds for: it is the text, or has it at its start, its end or anywhere. Of `general`
 * only the matcher tells.
 */
export type TextTest = {
  readonly kind: 'equals' | 'prefix' | 'suffix' | 'contains' | 'general';
  /** Empty for `general`. */
  readonly text: string;
  /**
   * Where that is the whole test: the texts that the string has, in this order, with anything between them; the first at
   * its start and the last at its end. A single one is the string. None has a lone surrogate.
   */
  readonly pieces?: readonly string[];
  /** The test for strings where they lie; `undefined`: there is none. */
  readonly matcher: () => TextMatcher | undefined;
};

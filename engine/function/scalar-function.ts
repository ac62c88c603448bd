import { BYTES, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import type { Int64 } from './number/int64.ts';
import type { TextMatcher } from './regex/text-matcher.ts';
import type { Measure, PartFinder } from './text/text-units.ts';

/**
 * A scalar function or operator of GoogleSQL: what it is called, what it takes, and what it
 * computes. The registry (`registry.ts`) holds them all; the binder picks an overload, the
 * evaluator runs it.
 */
export type ScalarFunction = {
  /** Lower case; operators by their sign: `+`, `=`, `||`, `not`, `is_null`. */
  readonly name: string;
  readonly doc: FunctionDoc;
  readonly overloads: readonly ScalarOverload[];
  /** Whether arguments become texts, as CAST writes them, unless one is an array or BYTES. */
  readonly joinsTexts?: true;
  /** Whether a field among two arguments is compared with the other as `=` compares them. */
  readonly comparesFields?: true;
  /** Whether the last parameter is the clock of the run, which a text does not write. */
  readonly readsClock?: true;
  /** Whether it is one of weir's own, before which a text may write the names of a project and a data set. */
  readonly isOwn?: true;
};

export type ScalarOverload = {
  readonly parameters: readonly ParameterType[];
  /** Type of any number of further arguments. */
  readonly variadic?: ParameterType | undefined;
  /** How many of `parameters`, from the end, may be left out. */
  readonly optionalCount?: number;
  /** The names that a `part` parameter takes, upper case; absent when there is none. */
  readonly parts?: readonly string[];
  /** Result type, given the argument types after coercion. */
  readonly result: SqlType | ((types: readonly SqlType[]) => SqlType);
  /**
   * `propagate`: a NULL argument makes a NULL result, and `evaluate` never sees one. `handle`:
   * `evaluate` sees NULLs and decides.
   */
  readonly nulls: 'propagate' | 'handle';
  readonly facts?: FunctionFacts | undefined;
  /** One row. Throws a QueryError for a value without an answer. Must not keep its arguments. */
  readonly evaluate: (...values: SqlValue[]) => SqlValue;
  /**
   * For a function that must know of which types its arguments are, since equal values of two types
   * are answered differently (a TIMESTAMP is a number, too): what stands in the place of `evaluate`
   * for arguments of these types. `evaluate` then takes values for what their kinds tell.
   */
  readonly evaluateTyped?:
    | ((types: readonly SqlType[]) => (...values: SqlValue[]) => SqlValue)
    | undefined;
  /**
   * For a function that makes arrays: how many elements the result will have, so that whoever has
   * little time need not find out by making it. Throws as `evaluate` does.
   */
  readonly elementCount?: (...values: SqlValue[]) => number;
  /**
   * For a function of a STRING that gives an INT64, and NULL for a NULL: the same of the string as its bytes, given the
   * other arguments, which are constants and no NULLs; `undefined` where these are such that there is no such way.
   */
  readonly measure?: ((others: readonly SqlValue[]) => Measure | undefined) | undefined;
  /**
   * For a function of a STRING that gives a part of it or NULL, and NULL for a NULL: where the part is, given the other
   * arguments, which are constants and no NULLs; `undefined` where these are such that there is no such way.
   */
  readonly part?: ((others: readonly SqlValue[]) => PartFinder | undefined) | undefined;
  /**
   * The same for a whole chunk, for forms of vectors where that is faster; `undefined` when the
   * vectors are not of such a form, and `evaluate` is used. Must agree with `evaluate` on every
   * row, errors included.
   */
  readonly kernel?: ((vectors: readonly Vector[], count: number) => Vector | undefined) | undefined;
  /**
   * The same where the form of the vectors alone tells the result, no row being looked at, so that it is
   * asked before all else; `undefined` where it does not.
   */
  readonly inPlace?: ((vectors: readonly Vector[]) => Vector | undefined) | undefined;
};

/**
 * What a parameter takes. A type: that type, or what GoogleSQL coerces to it (a literal string to
 * TIMESTAMP, INT64 to FLOAT64, DYNAMIC by use). `any`: everything as it is. `same`: like `any`, but
 * all `same` arguments are brought to one common supertype. `number`: INT64, FLOAT64 or NUMBER, brought to
 * a common one with the other `number` arguments; DYNAMIC is read as NUMBER, or as FLOAT64 beside one. `groupable`: as
 * `same`, without JSON. `orderable`: as `same`, without JSON, records and lists. `element`: as `any`, without ARRAY, for
 * no array holds another;
 * a bare NULL is an INT64. `list`: an ARRAY of anything, or DYNAMIC. `array`: ARRAYs, brought to one
 * common type, one of them at least no DYNAMIC. `part`: a bare word or string such as DAY, checked by the
 * function, passed to it as an upper-case STRING literal (`WEEK(MONDAY)` with its argument).
 * A new word is also read by `plan/binder/overload.ts` and `plan/call-facts.ts`.
 */
export type ParameterType =
  | SqlType
  | 'any'
  | 'element'
  | 'same'
  | 'number'
  | 'groupable'
  | 'orderable'
  | 'list'
  | 'array'
  | 'part';

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

/**
 * What docs/sql-functions.md says of a function: a sentence on what it returns, an expression, and the value of that,
 * both as SQL writes them. For an aggregate or a window function the expression has a FROM; the value of a
 * window function is the array of those of all rows. A test compares the page with the entries, and runs each
 * expression.
 */
export type FunctionDoc = readonly [sentence: string, expression: string, value: string];

/** For an alias of the function `name`, which has the doc given. */
export function sameAs(name: string, alias: string, doc: FunctionDoc): FunctionDoc {
  const [, expression, value] = doc;
  const [own, other] = [name.toUpperCase(), alias.toUpperCase()];
  return [`Same as \`${own}\`.`, expression.replace(`${own}(`, `${other}(`), value];
}

export type Evaluate = ScalarOverload['evaluate'];
export type Kernel = NonNullable<ScalarOverload['kernel']>;
export type InPlace = NonNullable<ScalarOverload['inPlace']>;

/**
 * An `evaluate` written for the values that its overload takes. The binder lets only calls through
 * whose arguments have the types of the parameters, so what arrives are those values.
 */
export function typed<Values extends readonly (SqlValue | undefined)[], Result extends SqlValue>(
  evaluate: (...values: Values) => Result,
): (...values: SqlValue[]) => Result {
  return evaluate as unknown as (...values: SqlValue[]) => Result;
}

export function scalarFunction(
  name: string,
  doc: FunctionDoc,
  ...overloads: readonly ScalarOverload[]
): ScalarFunction {
  return { name, doc, overloads };
}

/** One function under two names. */
export function withAlias(
  [name, alias]: readonly [string, string],
  doc: FunctionDoc,
  ...overloads: readonly ScalarOverload[]
): readonly [ScalarFunction, ScalarFunction] {
  return [
    scalarFunction(name, doc, ...overloads),
    scalarFunction(alias, sameAs(name, alias, doc), ...overloads),
  ];
}

/** An overload with facts. */
export function withFacts(facts: FunctionFacts, overload: ScalarOverload): ScalarOverload {
  return { ...overload, facts };
}

/**
 * An overload for STRING, and the same for BYTES. Bytes are a string of one character each, so what
 * counts and compares code points counts and compares bytes there.
 */
export function textAndBytes(ofText: ScalarOverload): readonly ScalarOverload[] {
  return [ofText, ofBytes(ofText)];
}

/** The same with BYTES wherever there is STRING. */
export function ofBytes(ofText: ScalarOverload): ScalarOverload {
  const { parameters, variadic, result } = ofText;
  return {
    ...ofText,
    measure: undefined,
    part: undefined,
    parameters: parameters.map(bytesForText),
    variadic: variadic && bytesForText(variadic),
    result: typeof result === 'function' ? result : typeOfBytes(result),
  };
}

function bytesForText(parameter: ParameterType): ParameterType {
  return typeof parameter === 'object' ? typeOfBytes(parameter) : parameter;
}

function typeOfBytes(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { kind: 'ARRAY', element: typeOfBytes(type.element) };
  return type.kind === 'STRING' ? BYTES : type;
}

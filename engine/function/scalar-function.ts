import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import type { FunctionDoc } from './function-doc.ts';
import type { FunctionFacts } from './function-facts.ts';
import type { Measure, PartFinder } from './text/text-measures.ts';

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

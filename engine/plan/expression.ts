import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Span } from '../query-error.ts';
import type { LogicalPlan } from './logical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';

/** Names one column of one plan; unique within it, never reused by a rewrite for other values. */
export type ColumnId = number;

export type Column = { readonly id: ColumnId; readonly name: string; readonly type: SqlType };

/**
 * A bound expression: every name resolved, every coercion written out, every node typed. A plain
 * value (it crosses threads), free of parameters once folded, but for the late ones of plans that calls share.
 */
export type Expression =
  | { readonly op: 'literal'; readonly type: SqlType; readonly value: SqlValue }
  /** A parameter of the call; `now` is the run's clock, read by CURRENT_TIMESTAMP. */
  | {
      readonly op: 'parameter';
      readonly type: SqlType;
      readonly name: string;
      /** Said once the call's values are: a late text that is a regular expression with operators. */
      readonly isPattern?: true;
    }
  | { readonly op: 'now'; readonly type: SqlType }
  | { readonly op: 'column'; readonly type: SqlType; readonly id: ColumnId }
  /** A scalar function or operator, by its name in the registry (`engine/function`). */
  | {
      readonly op: 'call';
      readonly type: SqlType;
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly span?: Span | undefined;
    }
  /** `input` is DYNAMIC: the field of a record, by the rules of `Nested.field`. */
  | {
      readonly op: 'dynamic-field';
      readonly type: SqlType;
      readonly input: Expression;
      readonly name: string;
    }
  /** `input` is a STRUCT: field by position. */
  | {
      readonly op: 'struct-field';
      readonly type: SqlType;
      readonly input: Expression;
      readonly index: number;
    }
  /** A STRUCT from its fields; a table alias used as a value is one. */
  | { readonly op: 'struct'; readonly type: SqlType; readonly fields: readonly Expression[] }
  | { readonly op: 'array'; readonly type: SqlType; readonly elements: readonly Expression[] }
  /**
   * A DYNAMIC value read by use: values of other kinds become NULL. To FLOAT64 a number stays
   * exact (an integer beyond 2^53 stays a bigint); to INT64 a number with a fraction is NULL.
   */
  | { readonly op: 'read-as'; readonly type: SqlType; readonly input: Expression }
  | {
      readonly op: 'cast';
      readonly type: SqlType;
      readonly input: Expression;
      readonly safe: boolean;
      readonly span?: Span | undefined;
    }
  /** Both CASE forms and IF. Branches after the first that holds are not evaluated for a row. */
  | {
      readonly op: 'case';
      readonly type: SqlType;
      readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
      readonly otherwise: Expression;
    }
  /** COALESCE and IFNULL: arguments after the first non-NULL are not evaluated for a row. */
  | { readonly op: 'coalesce'; readonly type: SqlType; readonly arguments: readonly Expression[] }
  /** `input` is the answer of a deferred call: its value, or the error raised here. */
  | {
      readonly op: 'deferred-value';
      readonly type: SqlType;
      readonly input: Expression;
      readonly span?: Span | undefined;
    }
  | Subquery
  | Apply;

/**
 * What the rows of a subquery come to, as one value. `scalar`: the only row's, NULL without a row, an
 * error with several. `array`: those of all rows, in their order. `exists`: whether there is a row.
 * `in`: whether the input equals one; NULL when it equals none, but may equal a NULL. `any`: the same
 * for rows that say so themselves, by a BOOL.
 */
type SubqueryForm = 'scalar' | 'array' | 'exists' | 'in' | 'any';

/** What a subquery reads of the row it is computed for: inside it is the column. */
export type Capture = { readonly column: Column; readonly expression: Expression };

type SubqueryOf<Op, Plan> = {
  readonly op: Op;
  readonly type: SqlType;
  readonly form: SubqueryForm;
  /** Of `in` alone: what is looked for. */
  readonly input?: Expression | undefined;
  /** None: the subquery is the same for all rows. */
  readonly captures: readonly Capture[];
  readonly plan: Plan;
  /** The column of `plan` that counts; absent when `exists`, which counts rows. */
  readonly value?: Column;
  /**
   * The column of `plan` that tells which row outside a row is of, as the plan's `outer` leaves number
   * them. Absent without captures, and in a bound plan, which reads captures as if they were given.
   */
  readonly ordinal?: Column;
  /** Whether the optimiser has been through `plan`. */
  readonly isOptimized?: boolean;
  readonly span?: Span | undefined;
};

/** A query as a value. What it reads of the query around it is in its captures alone. */
export type Subquery = SubqueryOf<'subquery', LogicalPlan>;

/** A subquery of a physical plan. It is computed for all rows of a chunk at once. */
export type Apply = SubqueryOf<'apply', PhysicalPlan>;

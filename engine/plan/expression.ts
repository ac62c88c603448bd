import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Span } from '../query-error.ts';

/** Names one column of one plan; unique within it, never reused by a rewrite for other values. */
export type ColumnId = number;

export type Column = { readonly id: ColumnId; readonly name: string; readonly type: SqlType };

/**
 * A bound expression: every name resolved, every coercion written out, every node typed. A plain
 * value (it crosses threads), free of parameters once folded.
 */
export type Expression =
  | { readonly op: 'literal'; readonly type: SqlType; readonly value: SqlValue }
  /** A parameter of the call; `now` is the run's clock, read by CURRENT_TIMESTAMP. */
  | { readonly op: 'parameter'; readonly type: SqlType; readonly name: string }
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
  | { readonly op: 'coalesce'; readonly type: SqlType; readonly arguments: readonly Expression[] };

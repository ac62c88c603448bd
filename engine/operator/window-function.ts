import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import type { FunctionDoc } from '../function/function-doc.ts';
import type { ParameterType } from '../function/scalar-function.ts';
import type { FrameBounds } from './window-frame.ts';
import type { WindowRows } from './window-rows.ts';

/** A function of GoogleSQL that is only ever called with OVER; aggregates are called so, too. */
export type WindowFunction = {
  /** Lower case. */
  readonly name: string;
  readonly doc: FunctionDoc;
  readonly overloads: readonly WindowOverload[];
  /** How many arguments are evaluated per row; those after them are constants of the query. */
  readonly perRowCount: number;
  /** Whether the window must have an ORDER BY, may have one, or cannot. */
  readonly order: 'required' | 'optional' | 'forbidden';
  /** Whether the window may have a frame. */
  readonly isFramed: boolean;
  /** Whether NULLs are left out unless the text says otherwise; absent: it cannot say. */
  readonly ignoresNulls?: boolean;
  /**
   * Checks the constants, and throws a QueryError when one is out of its range. A kernel without arguments per row is
   * never called as a deferred one.
   */
  readonly prepare: (constants: readonly SqlValue[]) => WindowKernel;
};

type WindowOverload = {
  readonly parameters: readonly ParameterType[];
  /** How many of the last parameters may be left out. */
  readonly optionalCount?: number;
  readonly result: SqlType | ((types: readonly SqlType[]) => SqlType);
};

/** Computes the values of all rows, as they came; of a deferred call `DeferredAnswer`s, which may be errors. */
export type WindowKernel = (rows: WindowRows, input: WindowInput) => Vector;

export type WindowInput = {
  /** The arguments evaluated per row, for the rows as they came. Of a deferred call they are `DeferredAnswer`s. */
  readonly vectors: readonly Vector[];
  /** An error counts for the rows whose value is made of the failing one, and for no other. */
  readonly isDeferred: boolean;
  readonly ignoresNulls: boolean;
  /** The frames of all positions, for a function that has some. */
  readonly frames: () => FrameBounds;
};

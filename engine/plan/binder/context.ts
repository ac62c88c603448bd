import type { SqlType } from '../../column/type.ts';
import type { Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import type { Aggregates } from './aggregates.ts';
import type { Binding } from './binding.ts';
import type { CommonTables } from './common-tables.ts';
import type { NameScope } from './scope.ts';
import type { Windows } from './windows.ts';

/** Where an expression stands: what its names mean and whether aggregates may appear. */
export type Place = {
  /** For messages: `WHERE`, `the select list`. */
  readonly text: string;
  readonly scope: NameScope;
  /** Collects the aggregates of the SELECT; absent where none may stand. */
  readonly aggregates?: Aggregates | undefined;
  /** What names mean inside an aggregate's arguments, if not what they mean outside. */
  readonly argumentScope?: NameScope | undefined;
  /** Collects the calls over windows of the SELECT; absent where none may stand. */
  readonly windows?: Windows;
};

/** Binds the expressions of one place. The parts of the binder see one another through it. */
export interface ExpressionContext {
  readonly binding: Binding;
  readonly place: Place;
  /** The CTEs that a subquery here may name. */
  readonly tables: CommonTables;
  bind(syntax: Syntax): Expression;
  /** Binds and brings to the type; refuses with `what` as the subject: `WHERE takes a BOOL`. */
  bindAs(syntax: Syntax, type: SqlType, what: string): Expression;
  /** The same binder for another place. */
  in(place: Place): ExpressionContext;
}

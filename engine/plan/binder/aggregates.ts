import type { SqlType } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { Column, ColumnId, Expression } from '../expression.ts';
import { columnReference, readsAny } from '../expression-walk.ts';
import type { AggregateCall } from '../logical-plan.ts';
import type { Binding } from './binding.ts';

export type BoundAggregate = {
  readonly column: Column;
  readonly call: AggregateCall;
  /** Where the text names it first. */
  readonly span: Span;
};

/** The aggregates of one SELECT, each computed once however often the text names it. */
export class Aggregates {
  readonly #binding: Binding;
  readonly #byKey = new Map<string, BoundAggregate>();
  readonly #ids = new Set<ColumnId>();

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** The column that will hold the aggregate's result. */
  add(call: AggregateCall, type: SqlType, span: Span): Expression {
    const key = this.#binding.identities.ofCall(call);
    const known = this.#byKey.get(key);
    if (known !== undefined) return { ...columnReference(known.column) };
    const column = this.#binding.newColumn(call.name, type);
    this.#byKey.set(key, { column, call, span });
    this.#ids.add(column.id);
    return this.#binding.at(columnReference(column), span, call.name.toUpperCase());
  }

  list(): readonly BoundAggregate[] {
    return [...this.#byKey.values()];
  }

  has(id: ColumnId): boolean {
    return this.#ids.has(id);
  }

  /** Whether an expression reads the result of an aggregate. */
  areIn(expression: Expression): boolean {
    return readsAny(expression, this.#ids);
  }
}

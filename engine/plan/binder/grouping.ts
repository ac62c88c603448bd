import type { Column, Expression } from '../expression.ts';
import { childrenOf, columnReference, withChildren } from '../expression-walk.ts';
import type { Aggregates } from './aggregates.ts';
import type { Binding, Origin } from './binding.ts';
import { refuse } from './refusal.ts';
import type { Windows } from './windows.ts';

export type GroupKey = { readonly column: Column; readonly expression: Expression };

/**
 * What an expression bound over FROM means above the operator that keeps only some values: the keys
 * and aggregates of a GROUP BY, or the values of a SELECT DISTINCT.
 */
export class KeptValues {
  readonly #binding: Binding;
  readonly #keys: ReadonlyMap<number, Column>;
  readonly #aggregates: Aggregates | undefined;
  readonly #windows: Windows | undefined;
  readonly #refusal: (path: string) => string;

  constructor(options: {
    readonly binding: Binding;
    readonly keys: readonly GroupKey[];
    readonly aggregates?: Aggregates;
    /** Computed above the operator, so that what they give needs no keeping. */
    readonly windows?: Windows;
    /** The sentence for a column that is not kept. */
    readonly refusal: (path: string) => string;
  }) {
    const { identities } = options.binding;
    this.#binding = options.binding;
    this.#keys = new Map(options.keys.map((key) => [identities.of(key.expression), key.column]));
    this.#aggregates = options.aggregates;
    this.#windows = options.windows;
    this.#refusal = options.refusal;
  }

  /** The same value, read from the kept columns; refuses a column that is not among them. */
  above(expression: Expression): Expression {
    return this.#above(expression, undefined);
  }

  /** `path` is where the path stands that the expression is the inner part of, if it is one. */
  #above(expression: Expression, path: Origin | undefined): Expression {
    if (isGiven(expression) || this.#isOuter(expression)) return expression;
    const origin = path ?? this.#binding.originOf(expression);
    const key = this.#keys.get(this.#binding.identities.of(expression));
    if (key !== undefined) return this.#at(columnReference(key), origin);
    if (expression.op === 'column') {
      if (this.#aggregates?.has(expression.id) === true) return expression;
      if (this.#windows?.has(expression.id) === true) return expression;
      refuse(this.#refusal(origin?.text ?? 'a column'), origin?.span);
    }
    const children = childrenOf(expression);
    if (children.length === 0) return expression;
    const kept = children.map((child) => {
      const isWritten = this.#binding.originOf(child) !== undefined;
      return this.#above(child, isPath(expression) || !isWritten ? origin : undefined);
    });
    return this.#at(withChildren(expression, kept), origin);
  }

  /** The row outside of a subquery is one and the same for all its groups. */
  #isOuter(expression: Expression): boolean {
    return expression.op === 'column' && this.#binding.isOuter(expression.id);
  }

  #at(expression: Expression, origin: Origin | undefined): Expression {
    if (origin === undefined) return expression;
    return this.#binding.at(expression, origin.span, origin.text);
  }
}

/** Needs no group to have a value. */
function isGiven(expression: Expression): boolean {
  return expression.op === 'literal' || expression.op === 'parameter' || expression.op === 'now';
}

function isPath(expression: Expression): boolean {
  return expression.op === 'dynamic-field' || expression.op === 'struct-field';
}

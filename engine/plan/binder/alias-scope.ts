import type { Name } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import type { Binding } from './binding.ts';
import type { FromScope, NameScope, RangeVariable } from './scope.ts';
import { findAlias, type SelectColumn } from './select-list.ts';

/** Names in HAVING and ORDER BY: those of the select list win over those of FROM. */
export class AliasScope implements NameScope {
  readonly #columns: readonly SelectColumn[];
  readonly #from: FromScope;

  constructor(columns: readonly SelectColumn[], from: FromScope) {
    this.#columns = columns;
    this.#from = from;
  }

  value(name: Name, binding: Binding): Expression {
    return this.find(name, binding) ?? this.#from.value(name, binding);
  }

  find(name: Name, binding: Binding): Expression | undefined {
    const identityOf = (expression: Expression) => binding.identities.of(expression);
    const alias = findAlias(this.#columns, name, identityOf);
    if (alias === undefined) return this.#from.find(name, binding);
    binding.spendCopy(alias.expression, name.span);
    return alias.expression;
  }

  findVariable(name: string): RangeVariable | undefined {
    return this.#from.findVariable(name);
  }

  names(): readonly string[] {
    const named = this.#columns.filter((column) => !column.isAnonymous);
    return [...named.map((column) => column.name), ...this.#from.names()];
  }
}

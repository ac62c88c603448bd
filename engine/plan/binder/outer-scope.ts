import type { Name } from '../../sql/ast.ts';
import type { Capture, Column, ColumnId, Expression } from '../expression.ts';
import { childrenOf, columnReference, columnsOf, withChildren } from '../expression-walk.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import { expressionsOf, inputsOf, mapExpressions, rewritePlan } from '../optimize/plan-walk.ts';
import type { Binding, Origin } from './binding.ts';
import type { NameScope, RangeVariable, ScopeColumn } from './scope.ts';

/**
 * The names of the query around a subquery, as the subquery sees them: whatever it reads of a row
 * outside is a capture, inside a column that stands for the value.
 */
export class OuterScope {
  readonly #scope: NameScope;
  readonly #binding: Binding;
  /** By the identity of what is captured. */
  readonly #captures = new Map<number, Capture>();
  readonly #byColumn = new Map<ColumnId, Capture>();
  /** Variables outside, with what they are inside. */
  readonly #variables = new Map<RangeVariable, RangeVariable>();

  constructor(scope: NameScope, binding: Binding) {
    this.#scope = scope;
    this.#binding = binding;
  }

  find(name: Name): Expression | undefined {
    const found = this.#scope.find(name, this.#binding);
    return found && this.#inside(found, name.text, { span: name.span, text: name.text });
  }

  /** Its columns are captured when they are named, so that the others are not. */
  findVariable(name: string): RangeVariable | undefined {
    const variable = this.#scope.findVariable(name);
    if (variable === undefined) return undefined;
    const known = this.#variables.get(variable) ?? this.#variableInside(variable, name);
    this.#variables.set(variable, known);
    return known;
  }

  #variableInside(variable: RangeVariable, name: string): RangeVariable {
    const columns = (list: readonly ScopeColumn[]) =>
      list.map((column) => ({
        ...column,
        expression: this.#inside(column.expression, column.name),
      }));
    const { dynamic } = variable;
    return {
      ...variable,
      columns: columns(variable.columns),
      star: columns(variable.star),
      value: this.#inside(variable.value, name),
      dynamic: dynamic && { ...dynamic, record: this.#inside(dynamic.record, name) },
    };
  }

  names(): readonly string[] {
    return this.#scope.names();
  }

  /**
   * The plan of the subquery and its captures: a path that begins with one is a capture of its own,
   * so that just the field is read outside, and may be grouped by there. What is not read is left out.
   */
  close(plan: LogicalPlan): { readonly plan: LogicalPlan; readonly captures: readonly Capture[] } {
    const closed = rewritePlan(plan, (node) => mapExpressions(node, (each) => this.#paths(each)));
    const read = new Set<ColumnId>();
    collectReads(closed, read);
    const captures = [...this.#byColumn.values()].filter(({ column }) => read.has(column.id));
    return { plan: closed, captures };
  }

  /** What is a constant outside is the same constant inside; a row is taken apart. */
  #inside(expression: Expression, name: string, origin?: Origin): Expression {
    if (expression.op === 'struct') {
      const fields = expression.fields.map((field) => this.#inside(field, name, origin));
      return { ...expression, fields };
    }
    if (columnsOf(expression).size === 0) return expression;
    return columnReference(this.#capture(expression, name, origin));
  }

  #capture(expression: Expression, name: string, origin: Origin | undefined): Column {
    const identity = this.#binding.identities.of(expression);
    const known = this.#captures.get(identity);
    if (known !== undefined) return known.column;
    const column = this.#binding.newOuterColumn(name, expression.type);
    const copy = { ...expression };
    if (origin !== undefined) this.#binding.at(copy, origin.span, origin.text);
    const capture = { column, expression: copy };
    this.#captures.set(identity, capture);
    this.#byColumn.set(column.id, capture);
    return column;
  }

  #paths(expression: Expression): Expression {
    if (expression.op === 'column') this.#place(expression);
    const outside = this.#outsidePath(expression);
    if (outside !== undefined) {
      const origin = this.#binding.originOf(expression);
      return columnReference(this.#capture(outside, origin?.text ?? '', origin));
    }
    const children = childrenOf(expression);
    const inside = children.map((child) => this.#paths(child));
    const isSame = inside.every((child, index) => child === children[index]);
    return isSame ? expression : withChildren(expression, inside);
  }

  /** What was captured before it was known how the text names it. */
  #place(column: Expression & { readonly op: 'column' }): void {
    const captured = this.#byColumn.get(column.id)?.expression;
    const origin = this.#binding.originOf(column);
    if (captured === undefined || origin === undefined) return;
    if (this.#binding.originOf(captured) !== undefined) return;
    this.#binding.at(captured, origin.span, origin.text);
  }

  /** A path inside that begins with a capture, as it is outside. */
  #outsidePath(expression: Expression): Expression | undefined {
    if (expression.op !== 'dynamic-field' && expression.op !== 'struct-field') return undefined;
    const { input } = expression;
    const outside =
      input.op === 'column' ? this.#byColumn.get(input.id)?.expression : this.#outsidePath(input);
    return outside && { ...expression, input: outside };
  }
}

function collectReads(plan: LogicalPlan, into: Set<ColumnId>): void {
  for (const expression of expressionsOf(plan)) {
    for (const id of columnsOf(expression)) into.add(id);
  }
  for (const input of inputsOf(plan)) collectReads(input, into);
}

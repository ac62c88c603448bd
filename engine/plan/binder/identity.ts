import { assert, must, unreachable } from '../../assert.ts';
import { type SqlType, typeName } from '../../column/type.ts';
import { isInterval, type SqlValue } from '../../column/value.ts';
import { formatInterval } from '../../function/time/interval-text.ts';
import type { Expression } from '../expression.ts';
import { childrenOf } from '../expression-walk.ts';
import type { AggregateCall, LogicalPlan, SortKey } from '../logical-plan.ts';

/**
 * Numbers that are equal exactly when two bound expressions compute the same: how GROUP BY knows
 * its keys again in the select list. Spans do not count, and letter case of field names neither.
 * Each node is looked at once, so the whole costs linear time.
 */
export class ExpressionIdentities {
  readonly #byNode = new WeakMap<Expression, number>();
  readonly #byShape = new Map<string, number>();
  readonly #types = new WeakMap<SqlType, number>();
  readonly #typesByName = new Map<string, number>();
  readonly #plans = new WeakMap<LogicalPlan, number>();
  readonly #plansByShape = new Map<string, number>();
  #planCount = 0;

  of(expression: Expression): number {
    const known = this.#byNode.get(expression);
    if (known !== undefined) return known;
    const shape = this.#shape(expression);
    if (!this.#byShape.has(shape)) this.#byShape.set(shape, this.#byShape.size);
    const identity = must(this.#byShape.get(shape));
    this.#byNode.set(expression, identity);
    return identity;
  }

  /** Equal exactly when two lists compute the same, one by one. */
  ofAll(expressions: readonly Expression[]): string {
    return expressions.map((expression) => this.of(expression)).join(' ');
  }

  /** Equal exactly when two orders are the same. */
  ofOrder(keys: readonly SortKey[]): string {
    return keys
      .map((key) => `${this.of(key.expression)} ${key.descending} ${key.nullsFirst}`)
      .join(' ');
  }

  /** Equal exactly when two calls of aggregates compute the same of the same rows. */
  ofCall(call: AggregateCall): string {
    const { name, distinct, nulls = '', orderBy = [], having, limit } = call;
    return [
      `${name} ${distinct} ${nulls}`,
      this.ofAll(call.arguments),
      this.ofAll(call.constants),
      this.ofOrder(orderBy),
      having === undefined ? '' : `${having.extreme} ${this.of(having.expression)}`,
      limit === undefined ? '' : this.of(limit),
    ].join(' / ');
  }

  /** Makes a plan the same as all others of this shape: of equal captures they compute the same. */
  shareShape(plan: LogicalPlan, shape: string): void {
    const number = this.#plansByShape.get(shape) ?? this.#plan(plan);
    this.#plansByShape.set(shape, number);
    this.#plans.set(plan, number);
  }

  /** One node, its inputs given by their identities. */
  #shape(node: Expression): string {
    const all = (inputs: readonly Expression[]) => this.ofAll(inputs);
    const type = this.#type(node.type);
    switch (node.op) {
      case 'literal':
        return `literal ${type} ${literalText(node.value)}`;
      case 'parameter':
        return `parameter ${node.name}`;
      case 'now':
        return 'now';
      case 'column':
        return `column ${node.id}`;
      case 'call':
        return `call ${node.name} ${type} ${all(node.arguments)}`;
      case 'dynamic-field':
        return `field ${this.of(node.input)} ${node.name.toLowerCase()}`;
      case 'struct-field':
        return `position ${this.of(node.input)} ${node.index}`;
      case 'struct':
        return `struct ${type} ${all(node.fields)}`;
      case 'array':
        return `array ${type} ${all(node.elements)}`;
      case 'read-as':
        return `read ${type} ${this.of(node.input)}`;
      case 'cast':
        return `${node.safe ? 'safe ' : ''}cast ${type} ${this.of(node.input)}`;
      case 'case': {
        const branches = node.branches.flatMap((branch) => [branch.when, branch.then]);
        return `case ${type} ${all([...branches, node.otherwise])}`;
      }
      case 'coalesce':
        return `coalesce ${type} ${all(node.arguments)}`;
      case 'deferred-value':
        return `deferred ${this.of(node.input)}`;
      case 'subquery':
        return `subquery ${node.form} ${this.#plan(node.plan)} ${all(childrenOf(node))}`;
      case 'apply':
        return assert(false, 'a bound query is logical') as never;
      default:
        return unreachable(node);
    }
  }

  /** A plan is the same as itself only, and as those that share a shape with it. */
  #plan(plan: LogicalPlan): number {
    const known = this.#plans.get(plan) ?? this.#planCount++;
    this.#plans.set(plan, known);
    return known;
  }

  /** Rows have types of many fields, so each is written out only once. */
  #type(type: SqlType): number {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const name = typeName(type);
    const number = this.#typesByName.get(name) ?? this.#typesByName.size;
    this.#typesByName.set(name, number);
    this.#types.set(type, number);
    return number;
  }
}

function literalText(value: SqlValue): string {
  if (isInterval(value)) return `interval ${formatInterval(value)}`;
  if (Object.is(value, -0)) return 'number -0';
  return `${typeof value} ${String(value)}`;
}

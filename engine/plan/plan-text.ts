import { unreachable } from '../assert.ts';
import { type SqlType, typeName } from '../column/type.ts';
import { isNested, type SqlValue } from '../column/value.ts';
import { formatDatetime } from '../function/timestamp-text.ts';
import type { Column, ColumnId, Expression } from './expression.ts';
import type { AggregateCall, LogicalPlan, SortKey, TimeWindow } from './logical-plan.ts';
import { inputsOf, outputOf } from './optimize/plan-walk.ts';

/**
 * A logical plan to be read by people: one operator to a line, its inputs indented below it, and
 * columns written `name#id`.
 */
export function planText(plan: LogicalPlan): string {
  const lines: string[] = [];
  const names = new Map<ColumnId, string>();
  collectNames(plan, names);
  writePlan(plan, { text: new ExpressionText(names), indent: '', lines });
  return lines.join('\n');
}

/** An expression alone; columns are written `#id`. */
export function expressionText(expression: Expression): string {
  return new ExpressionText(new Map()).of(expression);
}

/** A column passed on under its own id has the name it was given first. */
function collectNames(plan: LogicalPlan, names: Map<ColumnId, string>): void {
  for (const input of inputsOf(plan)) collectNames(input, names);
  for (const column of outputOf(plan)) {
    if (!names.has(column.id)) names.set(column.id, column.name);
  }
}

type Page = { readonly text: ExpressionText; readonly indent: string; readonly lines: string[] };

function writePlan(plan: LogicalPlan, page: Page): void {
  page.lines.push(`${page.indent}${operatorText(plan, page.text)}`);
  const inner = { ...page, indent: `${page.indent}  ` };
  for (const input of inputsOf(plan)) writePlan(input, inner);
}

function operatorText(plan: LogicalPlan, text: ExpressionText): string {
  switch (plan.op) {
    case 'scan': {
      const columns = plan.columns.map(({ column }) => text.column(column));
      const project = plan.projectKey === undefined ? '' : ` project ${quoted(plan.projectKey)}`;
      return `scan \`${plan.source}\`${windowText(plan.window)}${project}: ${columns.join(', ')}`;
    }
    case 'one-row':
      return 'one-row';
    case 'rows':
      return `rows ${plan.rows.length}: ${plan.columns.map((each) => text.column(each)).join(', ')}`;
    case 'filter':
      return `filter ${text.of(plan.predicate)}`;
    case 'project':
      return `project ${plan.columns.map((each) => text.definition(each)).join(', ')}`;
    case 'unnest': {
      const offset = plan.offset === undefined ? '' : ` with offset ${text.column(plan.offset)}`;
      const on = plan.on === undefined ? '' : ` on ${text.of(plan.on)}`;
      const outer = plan.outer ? 'outer ' : '';
      return `${outer}unnest ${text.of(plan.array)} as ${text.column(plan.element)}${offset}${on}`;
    }
    case 'join':
      return `${plan.kind} join${plan.on === undefined ? '' : ` on ${text.of(plan.on)}`}`;
    case 'aggregate':
      return aggregateText(plan, text);
    case 'sort':
      return `sort ${plan.keys.map((key) => sortKeyText(key, text)).join(', ')}`;
    case 'limit': {
      const count = plan.count === undefined ? '' : ` ${text.of(plan.count)}`;
      const offset = plan.offset === undefined ? '' : ` offset ${text.of(plan.offset)}`;
      return `limit${count}${offset}`;
    }
    default:
      return unreachable(plan);
  }
}

function windowText({ startUs, endUs }: TimeWindow): string {
  if (startUs === -Infinity && endUs === Infinity) return '';
  const start = startUs === -Infinity ? '' : formatDatetime(startUs);
  const end = endUs === Infinity ? '' : formatDatetime(endUs);
  return ` [${start}, ${end})`;
}

function aggregateText(
  plan: LogicalPlan & { readonly op: 'aggregate' },
  text: ExpressionText,
): string {
  const keys = plan.keys.map((key) => text.definition(key));
  const calls = plan.aggregates.map(
    ({ column, call }) => `${text.column(column)} := ${callText(call, text)}`,
  );
  return `aggregate${keys.length === 0 ? '' : ` by ${keys.join(', ')}`}${
    calls.length === 0 ? '' : ` compute ${calls.join(', ')}`
  }`;
}

function callText(call: AggregateCall, text: ExpressionText): string {
  const inputs = [...call.arguments, ...call.constants].map((each) => text.of(each));
  const all = inputs.length === 0 ? '*' : inputs.join(', ');
  return `${call.name}(${call.distinct ? 'distinct ' : ''}${all})`;
}

/** NULLs are told only where they do not stand as they do by default. */
function sortKeyText(key: SortKey, text: ExpressionText): string {
  const direction = key.descending ? ' desc' : '';
  const isDefault = key.nullsFirst !== key.descending;
  const nulls = isDefault ? '' : ` nulls ${key.nullsFirst ? 'first' : 'last'}`;
  return `${text.of(key.expression)}${direction}${nulls}`;
}

/** Operators that stand between their arguments. */
const INFIXES: ReadonlySet<string> = new Set([
  ...['+', '-', '*', '/', '||'],
  ...['=', '!=', '<', '<=', '>', '>='],
  ...['and', 'or', 'like'],
]);

class ExpressionText {
  readonly #names: ReadonlyMap<ColumnId, string>;

  constructor(names: ReadonlyMap<ColumnId, string>) {
    this.#names = names;
  }

  column(column: Column): string {
    return `${column.name}#${column.id}`;
  }

  /** `name#3 := expression`; a column passed on under its own id and name is written once. */
  definition(item: { readonly column: Column; readonly expression: Expression }): string {
    const { column, expression } = item;
    const text = this.of(expression);
    return text === this.column(column) ? text : `${this.column(column)} := ${text}`;
  }

  of(node: Expression): string {
    switch (node.op) {
      case 'literal':
        return literalText(node.value, node.type);
      case 'parameter':
        return `@${node.name}`;
      case 'now':
        return 'now';
      case 'column':
        return `${this.#names.get(node.id) ?? ''}#${node.id}`;
      case 'call':
        return INFIXES.has(node.name)
          ? `(${node.arguments.map((each) => this.of(each)).join(` ${node.name} `)})`
          : `${node.name}(${this.#list(node.arguments)})`;
      case 'dynamic-field':
        return `${this.of(node.input)}.${node.name}`;
      case 'struct-field':
        return `${this.of(node.input)}.${fieldName(node.input.type, node.index)}`;
      case 'struct':
        return `struct(${this.#list(node.fields)})`;
      case 'array':
        return `[${this.#list(node.elements)}]`;
      case 'read-as':
        return `read(${this.of(node.input)} as ${typeName(node.type)})`;
      case 'cast':
        return `${node.safe ? 'safe_' : ''}cast(${this.of(node.input)} as ${typeName(node.type)})`;
      case 'case':
        return this.#case(node);
      case 'coalesce':
        return `coalesce(${this.#list(node.arguments)})`;
      default:
        return unreachable(node);
    }
  }

  #list(expressions: readonly Expression[]): string {
    return expressions.map((expression) => this.of(expression)).join(', ');
  }

  #case(node: Expression & { readonly op: 'case' }): string {
    const branches = node.branches.map(
      ({ when, then }) => ` when ${this.of(when)} then ${this.of(then)}`,
    );
    return `case${branches.join('')} else ${this.of(node.otherwise)} end`;
  }
}

function fieldName(type: SqlType, index: number): string {
  const field = type.kind === 'STRUCT' ? type.fields[index] : undefined;
  return field?.name ?? String(index);
}

function literalText(value: SqlValue, type: SqlType): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'object') {
    if (isNested(value)) return 'nested';
    const inner: SqlType = type.kind === 'ARRAY' ? type.element : { kind: 'DYNAMIC' };
    return `[${value.map((element) => literalText(element, inner)).join(', ')}]`;
  }
  const isTime = type.kind === 'TIMESTAMP' || type.kind === 'DATETIME';
  if (!isTime || typeof value === 'boolean') return String(value);
  return `${type.kind.toLowerCase()} ${quoted(formatDatetime(value))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

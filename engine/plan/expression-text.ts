import { findAggregateFunction } from '../aggregate/registry.ts';
import { unreachable } from '../assert.ts';
import type { NeededText } from '../column/segment.ts';
import { type SqlType, typeName } from '../column/type.ts';
import { isInterval, isNested, type SqlValue } from '../column/value.ts';
import { formatInterval } from '../function/time/interval.ts';
import { formatDate, formatDatetime, formatTimeOfDay } from '../function/time/timestamp-text.ts';
import type { Apply, Column, ColumnId, Expression, Subquery } from './expression.ts';
import type {
  AggregateCall,
  FrameBound,
  SortKey,
  TimeWindow,
  WindowColumn,
} from './logical-plan.ts';

/** Operators that stand between their arguments. */
const INFIXES: ReadonlySet<string> = new Set([
  ...['+', '-', '*', '/', '||'],
  ...['=', '!=', '<', '<=', '>', '>='],
  ...['and', 'or', 'like'],
]);

/** How a column is written; `own` is its name where it is made, and absent where it is read. */
export type ColumnNaming = (id: ColumnId, own?: string) => string;

/** Writes the expressions of a plan for people to read. */
export class ExpressionText {
  readonly #nameOf: ColumnNaming;

  constructor(nameOf: ColumnNaming) {
    this.#nameOf = nameOf;
  }

  /** A column where it is made; one passed on under another name has that name there. */
  column({ id, name }: Column): string {
    return this.#nameOf(id, name);
  }

  /** `name := expression`; a column passed on under its own id and name is written once. */
  definition(item: { readonly column: Column; readonly expression: Expression }): string {
    const { column, expression } = item;
    const text = this.of(expression);
    return text === this.column(column) ? text : `${this.column(column)} := ${text}`;
  }

  aggregate(item: { readonly column: Column; readonly call: AggregateCall }): string {
    const { name, distinct, arguments: inputs, constants, elements, isDeferred } = item.call;
    const all = [...inputs, ...constants];
    const ofRows = all.length === 0 && findAggregateFunction(name) !== undefined;
    const read = elements === undefined ? '' : `, [${elements.join(', ')}]`;
    const list = ofRows ? '*' : this.#list(all) + read;
    const modifiers = this.#modifiers(item.call);
    const called = `${isDeferred ? 'deferred ' : ''}${name}`;
    return `${this.column(item.column)} := ${called}(${distinct ? 'distinct ' : ''}${list}${modifiers})`;
  }

  #modifiers({ nulls, having, orderBy, limit }: AggregateCall): string {
    const texts = [
      nulls === undefined ? '' : ` ${nulls} nulls`,
      having === undefined ? '' : ` having ${having.extreme} ${this.of(having.expression)}`,
      orderBy === undefined || orderBy.length === 0
        ? ''
        : ` order by ${orderBy.map((key) => this.sortKey(key)).join(', ')}`,
      limit === undefined ? '' : ` limit ${this.of(limit)}`,
    ];
    return texts.join('');
  }

  windowCall({ column, call }: WindowColumn): string {
    const { frame, ignoresNulls } = call;
    const nulls = ignoresNulls ? ' ignore nulls' : '';
    const over =
      frame === undefined
        ? ''
        : ` ${frame.unit} from ${this.#bound(frame.start)} to ${this.#bound(frame.end)}`;
    return `${this.aggregate({ column, call: call.function })}${nulls}${over}`;
  }

  #bound(bound: FrameBound): string {
    const words = bound.kind.replace('-', ' ');
    return 'amount' in bound ? `${this.of(bound.amount)} ${words}` : words;
  }

  /** NULLs are told only where they do not stand as they do by default. */
  sortKey(key: SortKey): string {
    const direction = key.descending ? ' desc' : '';
    const isDefault = key.nullsFirst !== key.descending;
    const nulls = isDefault ? '' : ` nulls ${key.nullsFirst ? 'first' : 'last'}`;
    return `${this.of(key.expression)}${direction}${nulls}`;
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
        return this.#nameOf(node.id);
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
      case 'deferred-value':
        return `raise(${this.of(node.input)})`;
      case 'coalesce':
        return `coalesce(${this.#list(node.arguments)})`;
      case 'subquery':
      case 'apply':
        return this.#subquery(node);
      default:
        return unreachable(node);
    }
  }

  /** Its plan is told below the operator it stands in. */
  #subquery({ form, input, captures }: Subquery | Apply): string {
    const looked = input === undefined ? [] : [this.of(input)];
    const reads = captures.map(({ expression }) => this.of(expression));
    const of = reads.length === 0 ? 'subquery' : `subquery of ${reads.join(', ')}`;
    return `${form}(${[...looked, of].join(', ')})`;
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

/** A value as its type writes it. */
export function literalText(value: SqlValue, type: SqlType): string {
  if (value === null) return 'null';
  if (type.kind === 'JSON') return `json ${quoted(String(value))}`;
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'object') {
    if (isNested(value)) return 'nested';
    if (isInterval(value)) return `interval ${quoted(formatInterval(value))}`;
    const inner: SqlType = type.kind === 'ARRAY' ? type.element : { kind: 'DYNAMIC' };
    return `[${value.map((element) => literalText(element, inner)).join(', ')}]`;
  }
  const text = typeof value === 'boolean' ? undefined : timeText(value, type);
  return text === undefined ? String(value) : `${type.kind.toLowerCase()} ${quoted(text)}`;
}

/** `undefined` for a number that is no time. */
function timeText(value: number | bigint, { kind }: SqlType): string | undefined {
  switch (kind) {
    case 'TIMESTAMP':
    case 'DATETIME':
      return formatDatetime(value);
    case 'DATE':
      return formatDate(Number(value));
    case 'TIME':
      return formatTimeOfDay(Number(value));
    default:
      return undefined;
  }
}

/** A text between quotes, on one line. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

/** ` [start, end)`, an open end left out; nothing when both are. */
export function windowText({ startUs, endUs }: TimeWindow): string {
  if (startUs === -Infinity && endUs === Infinity) return '';
  const start = startUs === -Infinity ? '' : formatDatetime(startUs);
  const end = endUs === Infinity ? '' : formatDatetime(endUs);
  return ` [${start}, ${end})`;
}

/** `'text' in path`, each; `'text' or 'other' in path`. */
export function neededTexts(texts: readonly NeededText[]): string {
  return texts
    .map(
      ({ path, text, or = [] }) => `${[text, ...or].map(quoted).join(' or ')} in ${path.join('.')}`,
    )
    .join(', ');
}

import { findOnce } from '../../column/caches.ts';
import { arrayOf, DYNAMIC, type SqlType, STRING, TIMESTAMP } from '../../column/type.ts';
import { hint } from '../../nearest-name.ts';
import { refuse, type Span } from '../../query-error.ts';
import type { Name } from '../../sql/ast.ts';
import {
  type Capture,
  type Column,
  type ColumnId,
  childrenOf,
  columnReference,
  columnsOf,
  type Expression,
  withChildren,
} from '../expression.ts';
import {
  collectReads,
  type LogicalPlan,
  mapExpressions,
  rewritePlan,
  type ScanColumn,
} from '../logical-plan.ts';
import type { Binding, Origin } from './binding.ts';

/** A name in FROM that stands for a column; what it means over the columns of the plan. */
export type ScopeColumn = { readonly name: string; readonly expression: Expression };

/** One item of FROM: a table, CTE or subquery, or the elements of an array. */
export type RangeVariable = {
  /** As written; absent when it has no name. */
  readonly name: string | undefined;
  /** The last word of a dotted source name, which names it too if nothing else bears it. */
  readonly shortName?: string | undefined;
  /** Columns reachable without the alias. */
  readonly columns: readonly ScopeColumn[];
  /** Its columns: what `t.*` gives, and what `t.column` names. */
  readonly star: readonly ScopeColumn[];
  /** What `*` gives of it, if not all of its columns: those merged by USING are left out. */
  readonly bareStar?: readonly ScopeColumn[];
  /** Whether it stands for columns merged by USING, which go before all else of their name. */
  readonly isMerged?: boolean;
  /** The alias used as a value: the row as a STRUCT, or the element. */
  readonly value: Expression;
  /**
   * The record whose fields are reachable without the alias: an unnested element, or the root of
   * a source's events with their undeclared top-level keys.
   */
  readonly dynamic?: { readonly of: 'element' | 'root'; readonly record: Expression } | undefined;
  /** As of a relation. */
  readonly leavesKeysOut?: boolean | undefined;
};

/** What a bare word or the first word of a path stands for. */
export interface NameScope {
  /** The value of a bare word; refuses one that means nothing, or more than one thing. */
  value(name: Name, binding: Binding): Expression;
  /** The same; `undefined` for a word that means nothing. */
  find(name: Name, binding: Binding): Expression | undefined;
  /** The item of FROM that a path such as `t.id` starts with. */
  findVariable(name: string): RangeVariable | undefined;
  /** What could have been meant. */
  names(): readonly string[];
}

/** The names of one FROM clause, in its order, and in a subquery those of the query around it. */
export class FromScope implements NameScope {
  readonly variables: readonly RangeVariable[];
  readonly #outer: OuterScope | undefined;
  /** Columns merged by USING, once they were asked for: one list, so that it is indexed once. */
  #merged: readonly ScopeColumn[] | undefined;

  constructor(variables: readonly RangeVariable[], outer?: OuterScope) {
    this.variables = variables;
    this.#outer = outer;
  }

  findVariable(name: string): RangeVariable | undefined {
    const named = this.variables.find((variable) => sameName(variable.name, name));
    if (named !== undefined) return named;
    const short = this.variables.filter((variable) => sameName(variable.shortName, name));
    return short.length === 1 ? short[0] : this.#outer?.findVariable(name);
  }

  value(name: Name, binding: Binding): Expression {
    const found = this.find(name, binding);
    if (found !== undefined) return found;
    const isLeftOut = this.variables.some((each) => each.leavesKeysOut === true);
    const help = unknownHint(name, this.names(), isLeftOut);
    return refuse(`there is no column ${name.text} here${help}`, name.span);
  }

  /**
   * In this order: a column merged by USING, an item of FROM, a column, an item of FROM outside, a
   * field of the records in reach or a column outside. Of several of these the first that has a value
   * counts: fields of unnested elements in FROM's order, of events, then what the name means outside.
   */
  find(name: Name, binding: Binding): Expression | undefined {
    this.#merged ??= this.variables
      .filter((each) => each.isMerged)
      .flatMap(({ columns }) => columns);
    const [mergedColumn] = itemsNamed(this.#merged, name.text);
    if (mergedColumn !== undefined) return mergedColumn.expression;
    const variable = this.variables.find((each) => sameName(each.name, name.text));
    if (variable !== undefined) return variable.value;
    const columns = this.variables.flatMap((each) => itemsNamed(each.columns, name.text));
    if (columns.length > 1) {
      refuse(`column ${name.text} is ambiguous: ${this.#ownersText(name.text)}`, name.span);
    }
    const [column] = columns;
    if (column !== undefined) return column.expression;
    const short = this.findVariable(name.text);
    if (short !== undefined) return short.value;
    const outside = this.#outer?.find(name);
    // An event never holds a time or a row, so it cannot be the event that is meant.
    const fields = outside === undefined || isInEvents(outside) ? this.#dynamicFields(name) : [];
    const meanings = outside === undefined ? fields : [...fields, outside];
    if (meanings.length <= 1) return meanings[0];
    binding.spend(meanings.length, name.span);
    return { op: 'coalesce', type: DYNAMIC, arguments: meanings };
  }

  names(): readonly string[] {
    const own = this.variables.flatMap((variable) => [
      ...variable.columns.map((column) => column.name),
      ...(variable.name === undefined ? [] : [variable.name]),
    ]);
    return this.#outer === undefined ? own : [...own, ...this.#outer.names()];
  }

  #dynamicFields(name: Name): readonly Expression[] {
    const records = this.variables.flatMap((variable) => variable.dynamic ?? []);
    const ordered = [
      ...records.filter((record) => record.of === 'element'),
      ...records.filter((record) => record.of === 'root'),
    ];
    return ordered.map(({ record }) => dynamicField(record, name.text));
  }

  #ownersText(columnName: string): string {
    const owners = this.variables.filter(
      (variable) => itemsNamed(variable.columns, columnName).length > 0,
    );
    const names = owners.map((owner) => owner.name ?? 'a table without a name');
    return owners.length > 1
      ? `${names.join(' and ')} have one each`
      : `${names[0]} has more than one`;
  }
}

/** The name that is meant, or what to write where a star may have left out what is asked for. */
function unknownHint(
  { text }: Name,
  names: readonly string[],
  isLeftOut: boolean | undefined,
): string {
  const nearest = hint(text, names);
  if (nearest !== '' || isLeftOut !== true) return nearest;
  return `; * has the columns of a source, without top-level keys of events: instead of it, write *, ${text}`;
}

/** Whether a field of an event could hold such a value. */
function isInEvents({ type }: Expression): boolean {
  return ['DYNAMIC', 'STRING', 'INT64', 'FLOAT64', 'NUMBER', 'BOOL'].includes(type.kind);
}

/** A field of a range variable by a path such as `t.id`. */
export function fieldOfVariable(variable: RangeVariable, field: Name): Expression | undefined {
  if (variable.value.op !== 'struct') return undefined;
  const named = itemsNamed(variable.star, field.text);
  if (named.length > 1) {
    refuse(`column ${field.text} of ${variable.name} is ambiguous`, field.span);
  }
  const [column] = named;
  if (column !== undefined) return column.expression;
  if (variable.dynamic !== undefined) return dynamicField(variable.dynamic.record, field.text);
  const names = variable.star.map((column) => column.name);
  const help = unknownHint(field, names, variable.leavesKeysOut);
  return refuse(`${variable.name} has no column ${field.text}${help}`, field.span);
}

export function sameName(left: string | undefined, right: string): boolean {
  return left !== undefined && left.toLowerCase() === right.toLowerCase();
}

export function dynamicField(record: Expression, name: string): Expression {
  return { op: 'dynamic-field', type: DYNAMIC, input: record, name };
}

/** Columns merged by USING. */
export function mergedVariable(columns: readonly ScopeColumn[]): RangeVariable {
  return { name: undefined, columns, star: columns, value: rowOf(columns), isMerged: true };
}

/** An item of FROM some columns of which are reached by its name only. `names` are in lower case. */
export function withoutColumns(variable: RangeVariable, names: ReadonlySet<string>): RangeVariable {
  const isOther = (column: ScopeColumn) => !names.has(column.name.toLowerCase());
  return {
    ...variable,
    columns: variable.columns.filter(isOther),
    bareStar: (variable.bareStar ?? variable.star).filter(isOther),
  };
}

/** A CTE or subquery as an item of FROM. */
export function relationVariable(
  name: string | undefined,
  columns: readonly Column[],
): RangeVariable {
  const scopeColumns = columns.map((column) => ({
    name: column.name,
    expression: columnReference(column),
  }));
  return { name, columns: scopeColumns, star: scopeColumns, value: rowOf(scopeColumns) };
}

/** A source as an item of FROM: the columns its scan gives, and what the text sees of them. */
export function sourceVariable(
  name: string,
  binding: Binding,
): { readonly variable: RangeVariable; readonly scanColumns: readonly ScanColumn[] } {
  const scanColumns: readonly ScanColumn[] = [
    { field: 'id', column: binding.newColumn('id', STRING) },
    { field: 'timestamp', column: binding.newColumn('timestamp', TIMESTAMP) },
    { field: 'event_message', column: binding.newColumn('event_message', STRING) },
    { field: 'project', column: binding.newColumn('project', STRING) },
    { field: 'root', column: binding.newColumn('root', DYNAMIC) },
    { field: 'arrival', column: binding.newColumn('arrival', { kind: 'INT64' }) },
  ];
  const root = columnReference(scanColumns[4]!.column);
  const declared = scanColumns.slice(0, 4).map(({ column }) => ({
    name: column.name,
    expression: columnReference(column),
  }));
  const metadata: Expression = {
    op: 'dynamic-field',
    type: arrayOf(DYNAMIC),
    input: root,
    name: 'metadata',
  };
  const columns = [...declared, { name: 'metadata', expression: metadata }];
  const arrival = { name: '_arrival', expression: columnReference(scanColumns[5]!.column) };
  const variable: RangeVariable = {
    name,
    shortName: name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : undefined,
    columns: binding.hasArrivals ? [...columns, arrival] : columns,
    star: columns,
    value: rowOf(columns),
    dynamic: { of: 'root', record: root },
  };
  return { variable, scanColumns };
}

/** The elements of an unnested array as an item of FROM. */
export function elementVariable(name: string | undefined, element: Column): RangeVariable {
  const value = columnReference(element);
  const own = [{ name: element.name, expression: value }];
  if (element.type.kind === 'DYNAMIC') {
    return { name, columns: [], star: own, value, dynamic: { of: 'element', record: value } };
  }
  if (element.type.kind === 'STRUCT') {
    const fields = element.type.fields.map((field, index) => ({
      name: field.name ?? '',
      expression: structField(value, field.type, index),
    }));
    return { name, columns: fields, star: fields, value };
  }
  return { name, columns: own, star: own, value };
}

export function structField(input: Expression, type: SqlType, index: number): Expression {
  if (input.op === 'struct') return input.fields[index]!;
  return { op: 'struct-field', type, input, index };
}

function rowOf(columns: readonly ScopeColumn[]): Expression {
  return {
    op: 'struct',
    type: {
      kind: 'STRUCT',
      fields: columns.map(({ name, expression }) => ({ name, type: expression.type })),
    },
    fields: columns.map((column) => column.expression),
  };
}

/** Two items of FROM with one name would make every path through it ambiguous. */
export function checkDistinctNames(
  left: readonly RangeVariable[],
  added: readonly RangeVariable[],
  span: Span,
): void {
  const names = new Set(left.flatMap((variable) => variable.name?.toLowerCase() ?? []));
  for (const { name } of added) {
    if (name !== undefined && names.has(name.toLowerCase())) {
      refuse(`FROM names ${name} twice; give one of them another alias`, span);
    }
  }
}

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

type Named = { readonly name?: string | undefined };

/** Where in the list things bear the name, in any case. A list of many is gone through only once. */
export function indicesNamed(list: readonly Named[], name: string): readonly number[] {
  return indexOf(list).get(name.toLowerCase()) ?? [];
}

/** The things themselves. */
export function itemsNamed<T extends Named>(list: readonly T[], name: string): readonly T[] {
  return indicesNamed(list, name).map((index) => list[index]!);
}

/** Lists are never changed once made. */
const indexOf = findOnce((list: readonly Named[]): ReadonlyMap<string, readonly number[]> => {
  const indices = new Map<string, number[]>();
  for (const [index, { name }] of list.entries()) {
    if (name === undefined) continue;
    const key = name.toLowerCase();
    const known = indices.get(key);
    if (known === undefined) indices.set(key, [index]);
    else known.push(index);
  }
  return indices;
});

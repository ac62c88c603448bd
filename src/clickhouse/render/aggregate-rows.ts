import type { SqlType } from '../../../engine/columns.ts';
import type { Aggregate, AggregateCall } from '../../../engine/index.ts';
import {
  aggregateSql,
  countRows,
  kindsOf,
  type Reduce,
  takesFirsts,
  withConditions,
} from './aggregate-sql.ts';
import { deferredSql } from './deferred-sql.ts';
import type { ColumnSql } from './expression-sql.ts';
import { quantilesLength } from './quantiles-sql.ts';
import { refuse } from './refusal.ts';
import {
  ComputedColumns,
  madeOf,
  named,
  nameOf,
  overText,
  type Plans,
  type RelationSql,
  SqlColumns,
  select,
  selectOf,
} from './relation-sql.ts';
import { passedOn, SelectSql } from './select-sql.ts';
import { groupKeyOf, type OrderKey, sortKeysOf } from './sort-sql.ts';
import { asColumn } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';

export type RenderContext = { readonly parts: StatementParts; readonly plans: Plans };

/**
 * The SELECTs of an aggregation, one above the other: arguments and keys; what needs to be known of the other rows of
 * the group, such as a row's position; the functions of ClickHouse over groups; and the answers, made of these.
 */
export function aggregateRows(
  { keys, aggregates }: Pick<Aggregate, 'keys' | 'aggregates'>,
  below: RelationSql,
  { parts, plans }: RenderContext,
): RelationSql {
  const stages: Stages = {
    computed: new ComputedColumns(below, parts, plans),
    prepared: new SqlColumns(parts),
    reduced: new SqlColumns(parts),
  };
  const grouped = keys.map(({ column, expression }) => ({
    name: nameOf(column),
    key: groupKeyOf(stages.computed.addValues(expression), column.type),
  }));
  const partition = grouped.map(({ key }) => key);
  const columns = named([...keys, ...aggregates].map(({ column }) => column));
  const answers = aggregates.map(({ column, call }) => {
    const own = { call, type: column.type, partition, below, parts, plans };
    const { sql, answer } = groupAnswer(own, stages);
    if (answer !== undefined) columns.set(column.id, { sql: nameOf(column), answer });
    const elementCount = call.isDeferred ? undefined : quantilesLength(call);
    if (elementCount !== undefined) columns.set(column.id, { sql: nameOf(column), elementCount });
    return { name: nameOf(column), sql: asColumn(sql, column.type) };
  });
  const computed = select(stages.computed.items, below);
  const prepared = stages.prepared.beside(computed.sql);
  const rows = selectOf({ sql: prepared, select: computed });
  const names = grouped.map(({ name }) => name);
  // Of a group whose answers nobody reads there is one row, too.
  if (keys.length === 0) stages.reduced.add('count()');
  const reduced = [
    ...grouped.map(({ name, key }) => ({ name, sql: key })),
    ...stages.reduced.items,
  ];
  const groups = rows.groups(reduced, names);
  const made = SelectSql.over(groups, true).selecting([...names.map(passedOn), ...answers]);
  return {
    ...(answers.length === 0 ? { sql: groups } : madeOf(made)),
    columns,
    order: [],
  };
}

type Stages = {
  readonly computed: ComputedColumns;
  readonly prepared: SqlColumns;
  readonly reduced: SqlColumns;
};

type GroupCall = {
  readonly call: AggregateCall;
  readonly type: SqlType;
  /** The keys of the groups. */
  readonly partition: readonly string[];
  readonly below: RelationSql;
  readonly parts: StatementParts;
  readonly plans: Plans;
};

/** What the column of a call holds, and what reads it if it is deferred. */
function groupAnswer(of: GroupCall, stages: Stages): Pick<ColumnSql, 'sql' | 'answer'> {
  const { call, partition, parts } = of;
  const { computed, prepared, reduced } = stages;
  const sorted = (call.orderBy ?? []).flatMap((key) => computed.orderKeys(key));
  const order = [...sorted, ...of.below.order];
  const position =
    call.orderBy === undefined || order.length === 0
      ? undefined
      : prepared.add(`row_number()${overText({ partition, order })}`);
  if (call.isDeferred) {
    if (sorted.length > 0) return refuse('an order of rows in a branch', undefined);
    const { row, answer } = deferredSql({
      ...of,
      position,
      addColumn: (name) => computed.add(name),
    });
    return { sql: reduced.add(`groupArray(${row})`), answer };
  }
  if (isCountOfRows(of)) return { sql: countRows(reducing(reduced, {})) };
  const inputs = call.arguments.map((argument) => computed.addValues(argument));
  const firsts = { call, partition, order: position === undefined ? [] : order };
  const isFirst = takesFirsts(call) ? prepared.add(firstOfValue(inputs[0]!, firsts)) : undefined;
  const isBest = call.having === undefined ? undefined : prepared.add(bestOfGroup(of, computed));
  const sql = aggregateSql({
    call,
    type: of.type,
    arguments: inputs,
    types: call.arguments.map((argument) => argument.type),
    position,
    isFirst,
    reduce: reducing(reduced, { condition: isBest }),
    parts,
  });
  return { sql };
}

/** COUNT of a column without NULLs, which need not be read. */
function isCountOfRows({ call, below }: GroupCall): boolean {
  const {
    name,
    arguments: [value],
    distinct,
    having,
  } = call;
  const column = value?.op === 'column' ? below.columns.get(value.id) : undefined;
  return name === 'count' && !distinct && having === undefined && column?.isKnown === true;
}

/** Functions of ClickHouse as columns; `over` is the window of each. */
export function reducing(
  columns: SqlColumns,
  { over = '', condition }: { readonly over?: string; readonly condition?: string | undefined },
): Reduce {
  return (name, inputs, own) => {
    const conditions = [condition, own].filter((each) => each !== undefined);
    if (conditions.length === 0) return columns.add(`${name}(${inputs.join(', ')})${over}`);
    const all = [...inputs, conditions.join(' AND ')].join(', ');
    return columns.add(`${withConditions(name)}(${all})${over}`);
  };
}

/** 1 for the first row of each value among those of a group; equal rows are told apart by the order, if they need be. */
export function firstOfValue(
  value: string,
  {
    call,
    partition,
    order,
  }: Pick<GroupCall, 'call' | 'partition'> & { readonly order: readonly OrderKey[] },
): string {
  if (call.having !== undefined) {
    return refuse(`${call.name.toUpperCase()} with DISTINCT and HAVING`, undefined);
  }
  const key = groupKeyOf(value, call.arguments[0]!.type);
  return `toUInt8(row_number()${overText({ partition: [...partition, key], order })} = 1)`;
}

/**
 * 1 for the rows of a group where the expression of HAVING MAX or MIN is greatest or least. NULL never is, and beside a
 * NaN nothing is. Of DYNAMIC values numbers count if there are any, else texts, else booleans.
 */
function bestOfGroup({ call, partition }: GroupCall, computed: ComputedColumns): string {
  const { extreme, expression } = call.having!;
  const { type } = expression;
  const value = computed.addValues(expression);
  const descending = extreme === 'max';
  const keys = sortKeysOf(value, type).map((sql) => ({ sql, descending, nullsFirst: false }));
  if (type.kind === 'DYNAMIC') {
    const { isNumber, isText, isTruth } = kindsOf(value);
    const rank = `multiIf(${isNumber}, 3, ${isText}, 2, ${isTruth}, 1, 0)`;
    const order = [{ sql: rank, descending: true, nullsFirst: false }, ...keys.slice(1)];
    return `toUInt8(rank()${overText({ partition, order })} = 1 AND ${rank} > 0)`;
  }
  const isKnown = `isNotNull(${keys[0]!.sql})`;
  const best = `rank()${overText({ partition, order: keys })} = 1 AND ${isKnown}`;
  const number =
    type.kind === 'NUMBER' ? `${value}.2` : type.kind === 'FLOAT64' ? value : undefined;
  if (number === undefined) return `toUInt8(${best})`;
  const nanCount = `countIf(ifNull(isNaN(${number}), 0))${overText({ partition, order: [] })}`;
  return `toUInt8(${best} AND ${nanCount} = 0)`;
}

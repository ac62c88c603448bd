import { must, unreachable } from '../../engine/assert.ts';
import { aggregateOf } from './aggregate-interpreter.ts';
import { Failure, OutOfRange } from './failure.ts';
import { OPERATIONS } from './operation.ts';
import {
  type Aggregate,
  type Expression,
  type From,
  isGrouped,
  type Join,
  type OrderKey,
  type Query,
  type SetKind,
  type Sorting,
  type Subquery,
  type Table,
  type Value,
} from './query.ts';
import { compareBy, equal, groupText, isIn } from './value-order.ts';
import { type Partition, windowValue } from './window-interpreter.ts';

export type Row = ReadonlyMap<string, Value>;

/**
 * The rows of a query by plain loops over plain values: what the words of GoogleSQL say, one after
 * the other, and nothing clever. Shares no code with the engine. Throws a Failure where the query
 * fails, and an OutOfRange where it may.
 */
export function answerOf(query: Query, logs: readonly Row[]): readonly Row[] {
  return runQuery(query, { logs, common: new Map(), work: { left: WORK_MAX } }, new Map());
}

type Tables = {
  readonly logs: readonly Row[];
  readonly common: ReadonlyMap<string, readonly Row[]>;
  /** How many rows may yet be looked at, in all queries within the query. */
  readonly work: { left: number };
};

/** What the names of a query stand for in one row: a table's alias for its row, or a value. */
type Names = ReadonlyMap<string, Row | Value>;

/** `outer`: the row of the query around this one, which a subquery may read. */
function runQuery(query: Query, around: Tables, outer: Names): readonly Row[] {
  const common = new Map(around.common);
  const tables = { ...around, common };
  for (const { name, query: inner } of query.with) common.set(name, runQuery(inner, tables, outer));

  let rows = runBlock(query, tables, outer);
  for (const other of query.set?.queries ?? []) {
    rows = combined(rows, query.set!.kind, runQuery(other, tables, outer), query);
  }
  if (query.orderBy.length > 0) rows = rows.toSorted((a, b) => compareRows(a, b, query.orderBy));
  if (query.limit === undefined) return rows;
  const start = query.offset ?? 0;
  return rows.slice(start, start + query.limit);
}

/** What stands between SELECT and a set operation or ORDER BY. */
function runBlock(query: Query, tables: Tables, outer: Names): readonly Row[] {
  const { where, having, qualify, distinct } = query;
  let sources = runFrom(query.from, tables, outer);
  if (where !== undefined) {
    sources = sources.filter((names) => evaluate(where, { names, tables }) === true);
  }
  let rows: readonly Row[];
  if (isGrouped(query)) {
    rows = groupsOf(query, sources, tables).flatMap((group) => {
      // What is no aggregate is made of group keys, and so the same in every row of the group.
      const first = group[0] ?? outer;
      const row = rowOf(query, { names: first, group, tables });
      if (having === undefined) return [row];
      return evaluate(having, { names: new Map([...first, ...row]), group, tables }) === true
        ? [row]
        : [];
    });
  } else {
    const context = { all: sources, tables };
    if (qualify !== undefined) {
      sources = sources.filter((names) => evaluate(qualify, { ...context, names }) === true);
    }
    rows = sources.map((names) => rowOf(query, { ...context, names }));
  }
  return distinct ? distinctRows(rows) : rows;
}

/** Columns meet by their places; the names are those of the left. */
function combined(
  left: readonly Row[],
  kind: SetKind,
  others: readonly Row[],
  { items }: Query,
): readonly Row[] {
  const right = others.map((row) => {
    const values = [...row.values()];
    return new Map(items.map(({ name }, index) => [name, values[index]!]));
  });
  if (kind === ' UNION ALL') return [...left, ...right];
  if (kind === ' UNION DISTINCT') return distinctRows([...left, ...right]);
  const texts = new Set(right.map(rowText));
  const isKept = kind === ' INTERSECT DISTINCT';
  return distinctRows(left).filter((row) => texts.has(rowText(row)) === isKept);
}

function rowOf(query: Query, context: Context): Row {
  return new Map(query.items.map(({ name, expression }) => [name, evaluate(expression, context)]));
}

function distinctRows(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [rowText(row), row])).values()];
}

function rowText(row: Row): string {
  return [...row.values()].map(groupText).join();
}

function compareRows(left: Row, right: Row, keys: readonly OrderKey[]): number {
  for (const key of keys) {
    const order = compareBy(left.get(key.name)!, right.get(key.name)!, key);
    if (order !== 0) return order;
  }
  return 0;
}

function runFrom({ first, joins }: From, tables: Tables, outer: Names): readonly Names[] {
  let rows = besides(first, tables, outer)(outer);
  const aliases = [first.alias];
  const merged = new Set<string>();
  for (const join of joins) {
    const columnOf = (names: Names, column: string): Value => {
      if (merged.has(column)) return names.get(column) as Value;
      const tables = aliases.map((alias) => names.get(alias));
      const owner = tables.find((table) => table instanceof Map && table.has(column));
      return (owner as Row | undefined)?.get(column) ?? null;
    };
    rows = runJoin(rows, join, { tables, outer, columnOf });
    aliases.push(join.table.alias);
    for (const column of join.using ?? []) merged.add(column);
  }
  return rows;
}

type JoinContext = {
  readonly tables: Tables;
  readonly outer: Names;
  /** The column of that name that the tables before the join have. */
  readonly columnOf: (names: Names, column: string) => Value;
};

function runJoin(
  lefts: readonly Names[],
  { kind, table, on, using = [] }: Join,
  { tables, outer, columnOf }: JoinContext,
): readonly Names[] {
  const rightOf = besides(table, tables, outer);
  const own = (names: Names, column: string) =>
    (names.get(table.alias) as Row | undefined)?.get(column) ?? null;
  const holds = (names: Names) =>
    (on === undefined || evaluate(on, { names, tables }) === true) &&
    using.every((column) => equalValues(columnOf(names, column), own(names, column)));
  const isLeftKept = kind === ' LEFT JOIN' || kind === ' FULL JOIN';
  const matched = new Set<number>();
  const rows = lefts.flatMap((left) => {
    const matches = rightOf(left).filter((names, index) => {
      if (!holds(names)) return false;
      matched.add(index);
      return true;
    });
    spend(tables, 1 + matches.length);
    return isLeftKept && matches.length === 0 ? [left] : matches;
  });
  if (kind === ' RIGHT JOIN' || kind === ' FULL JOIN') {
    rows.push(...rightOf(outer).filter((_, index) => !matched.has(index)));
  }
  if (using.length === 0) return rows;
  return rows.map((names) => {
    const columns = using.map((column): readonly [string, Value] => {
      const [left, right] = [columnOf(names, column), own(names, column)];
      return [column, kind === ' RIGHT JOIN' ? right : (left ?? right)];
    });
    return new Map([...names, ...columns]);
  });
}

/** NULL equals nothing. */
function equalValues(left: Value, right: Value): boolean {
  return left !== null && right !== null && equal(left, right);
}

/** Beyond these rows a query takes longer than its answer is worth. */
const WORK_MAX = 8_000;

function spend({ work }: Tables, count: number): void {
  work.left -= count;
  if (work.left < 0) throw new OutOfRange(`more than ${WORK_MAX} rows`);
}

/** For one row of the tables before it: that row beside each row of the table. */
function besides(table: Table, tables: Tables, outer: Names): (left: Names) => readonly Names[] {
  if (table.op === 'unnest') {
    return (left) => {
      const list = evaluate(table.list, { names: left, tables }) as readonly Value[] | null;
      spend(tables, list?.length ?? 0);
      return (list ?? []).map((element, index) => {
        const names = new Map(left).set(table.alias, element);
        return table.offset === undefined ? names : names.set(table.offset, BigInt(index));
      });
    };
  }
  const rows = rowsOf(table, tables, outer);
  return (left) => {
    spend(tables, rows.length);
    return rows.map((row) => new Map(left).set(table.alias, row));
  };
}

function rowsOf(
  table: Exclude<Table, { op: 'unnest' }>,
  tables: Tables,
  outer: Names,
): readonly Row[] {
  switch (table.op) {
    case 'logs':
      return tables.logs;
    case 'common':
      return must(tables.common.get(table.name), table.name);
    case 'subquery':
      return runQuery(table.query, tables, outer);
    default:
      return unreachable(table);
  }
}

type Group = readonly Names[];

function groupsOf(query: Query, sources: readonly Names[], tables: Tables): readonly Group[] {
  if (query.groupBy.length === 0) return [sources];
  const keys = query.groupBy.map(
    (key) => must(query.items.find((item) => item.name === key.name)).expression,
  );
  const groups = new Map<string, Names[]>();
  for (const names of sources) {
    const text = keys.map((key) => groupText(evaluate(key, { names, tables }))).join();
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [names]);
    else group.push(names);
  }
  return [...groups.values()];
}

type Context = {
  readonly names: Names;
  readonly tables: Tables;
  readonly group?: Group;
  /** All rows among which windows are looked for. */
  readonly all?: readonly Names[];
};

function evaluate(expression: Expression, context: Context): Value {
  switch (expression.op) {
    case 'literal':
      return expression.value;
    case 'column': {
      const { table, name } = expression;
      if (table === undefined) return (context.names.get(name) ?? null) as Value;
      return ((context.names.get(table) ?? null) as Row | null)?.get(name) ?? null;
    }
    case 'field': {
      const record = evaluate(expression.record, context) as Row | null;
      const value = record?.get(expression.name) ?? null;
      return expression.type === 'FLOAT64' && typeof value === 'bigint' ? Number(value) : value;
    }
    case 'list':
      return expression.elements.map((element) => evaluate(element, context));
    case 'struct':
      return new Map(
        expression.fields.map((field) => [field.name, evaluate(field.expression, context)]),
      );
    case 'call': {
      const operation = must(OPERATIONS.get(expression.operation), expression.operation);
      const inputs = expression.arguments.map((input) => () => evaluate(input, context));
      const value = operation.evaluate(...inputs);
      return operation.canFail ? value : checkedRange(value);
    }
    case 'subquery':
      return subqueryValue(expression, context);
    case 'aggregate':
      return aggregateValue(expression, context.group!, context.tables);
    case 'window':
      return windowValue(expression, partitionsOf(context));
    default:
      return unreachable(expression);
  }
}

/** Some years of microseconds, and far from where an INT64 or TIMESTAMP ends. */
const RANGE_MAX = 2n ** 52n;

function checkedRange(value: Value): Value {
  const isOutside = typeof value === 'bigint' && (value > RANGE_MAX || value < -RANGE_MAX);
  if (isOutside) throw new OutOfRange(`${value} is out of the range looked at`);
  return value;
}

function subqueryValue({ kind, value, query }: Subquery, context: Context): Value {
  const rows = runQuery(query, context.tables, context.names);
  const values = rows.map((row) => [...row.values()][0]!);
  switch (kind) {
    case 'value':
      if (rows.length > 1) throw new Failure('more than one row');
      return values[0] ?? null;
    case 'EXISTS':
      return rows.length > 0;
    case 'ARRAY':
      return values;
    case 'IN':
    case 'NOT IN': {
      if (rows.length === 0) return kind === 'NOT IN';
      const found = isIn(evaluate(must(value), context), values);
      return found === null ? null : found === (kind === 'IN');
    }
    default:
      return unreachable(kind);
  }
}

function aggregateValue(call: Aggregate, group: Group, tables: Tables): Value {
  const { argument, orderBy } = call;
  if (argument === undefined) return BigInt(group.length);
  const rows = orderBy === undefined ? group : sortedBy(group, orderBy, tables);
  return aggregateOf(
    call,
    rows.map((names) => evaluate(argument, { names, tables })),
  );
}

function sortedBy(
  rows: readonly Names[],
  keys: readonly Sorting[],
  tables: Tables,
): readonly Names[] {
  const keyed = rows.map((names) => ({
    names,
    values: keys.map(({ expression }) => evaluate(expression, { names, tables })),
  }));
  keyed.sort((left, right) => {
    for (const [index, key] of keys.entries()) {
      const order = compareBy(left.values[index]!, right.values[index]!, key);
      if (order !== 0) return order;
    }
    return 0;
  });
  return keyed.map(({ names }) => names);
}

/** What a window may ask about the rows; compared each with each, so there may not be many. */
function partitionsOf({ names, all = [], tables }: Context): Partition<Names> {
  spend(tables, all.length);
  return {
    row: names,
    rows: all,
    evaluate: (expression, row) => evaluate(expression, { names: row, tables }),
    sorted: (rows, keys) => sortedBy(rows, keys, tables),
    aggregate: (call, rows) => aggregateValue(call, rows, tables),
  };
}

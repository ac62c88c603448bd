import { must, unreachable } from '../../engine/assert.ts';
import { Failure, OutOfRange } from './failure.ts';
import { OPERATIONS } from './operation.ts';
import {
  type Expression,
  type From,
  isGrouped,
  type OrderKey,
  type Query,
  type Table,
  type Value,
} from './query.ts';
import { compare, groupText } from './value-order.ts';

export type Row = ReadonlyMap<string, Value>;

/**
 * The rows of a query by plain loops over plain values: what the words of GoogleSQL say, one after
 * the other, and nothing clever. Shares no code with the engine. Throws a Failure where the query
 * fails, and an OutOfRange where it may.
 */
export function answerOf(query: Query, logs: readonly Row[]): readonly Row[] {
  return runQuery(query, { logs, common: new Map() });
}

type Tables = {
  readonly logs: readonly Row[];
  readonly common: ReadonlyMap<string, readonly Row[]>;
};

/** What the names of a query stand for in one row: a table's alias for its row, or a value. */
type Names = ReadonlyMap<string, Row | Value>;

function runQuery(query: Query, outer: Tables): readonly Row[] {
  const common = new Map(outer.common);
  const tables = { logs: outer.logs, common };
  for (const { name, query: inner } of query.with) common.set(name, runQuery(inner, tables));

  let sources = runFrom(query.from, tables);
  const { where, having } = query;
  if (where !== undefined) sources = sources.filter((names) => evaluate(where, { names }) === true);
  const groups = isGrouped(query) ? groupsOf(query, sources) : undefined;
  let rows: readonly Row[] =
    groups === undefined
      ? sources.map((names) => rowOf(query, { names }))
      : groups.flatMap((group) => {
          const row = rowOfGroup(query, group);
          const context = { names: new Map([...(group[0] ?? []), ...row]), group };
          return having === undefined || evaluate(having, context) === true ? [row] : [];
        });
  if (query.distinct) rows = distinctRows(rows);
  if (query.orderBy.length > 0) rows = rows.toSorted((a, b) => compareRows(a, b, query.orderBy));
  if (query.limit === undefined) return rows;
  const start = query.offset ?? 0;
  return rows.slice(start, start + query.limit);
}

function rowOf(query: Query, context: Context): Row {
  return new Map(query.items.map(({ name, expression }) => [name, evaluate(expression, context)]));
}

function distinctRows(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [[...row.values()].map(groupText).join(), row])).values()];
}

function compareRows(left: Row, right: Row, keys: readonly OrderKey[]): number {
  for (const { name, direction, nulls } of keys) {
    const [one, other] = [left.get(name)!, right.get(name)!];
    const isDescending = direction === ' DESC';
    // NULL is the least value, unless the text says where NULLs go.
    const isFirst = nulls === '' ? !isDescending : nulls === ' NULLS FIRST';
    if (one === null || other === null) {
      if (one !== other) return (one === null) === isFirst ? -1 : 1;
    } else {
      const order = compare(one, other);
      if (order !== 0) return isDescending ? -order : order;
    }
  }
  return 0;
}

function runFrom({ first, joins }: From, tables: Tables): readonly Names[] {
  let rows: readonly Names[] = besides(first, tables)(new Map());
  for (const { kind, table, on } of joins) {
    const rightOf = besides(table, tables);
    rows = rows.flatMap((left) => {
      const matches = rightOf(left).filter(
        (names) => on === undefined || evaluate(on, { names }) === true,
      );
      return kind === ' LEFT JOIN' && matches.length === 0 ? [left] : matches;
    });
    if (rows.length > ROWS_MAX) throw new OutOfRange(`more than ${ROWS_MAX} rows`);
  }
  return rows;
}

/** Beyond these a query takes longer than its answer is worth. */
const ROWS_MAX = 5_000;

/** For one row of the tables before it: that row beside each row of the table. */
function besides(table: Table, tables: Tables): (left: Names) => readonly Names[] {
  if (table.op === 'unnest') {
    return (left) => {
      const list = evaluate(table.list, { names: left }) as readonly Value[] | null;
      return (list ?? []).map((element, index) => {
        const names = new Map(left).set(table.alias, element);
        return table.offset === undefined ? names : names.set(table.offset, BigInt(index));
      });
    };
  }
  const rows = rowsOf(table, tables);
  return (left) => rows.map((row) => new Map(left).set(table.alias, row));
}

function rowsOf(table: Exclude<Table, { op: 'unnest' }>, tables: Tables): readonly Row[] {
  switch (table.op) {
    case 'logs':
      return tables.logs;
    case 'common':
      return must(tables.common.get(table.name), table.name);
    case 'subquery':
      return runQuery(table.query, tables);
    default:
      return unreachable(table);
  }
}

type Group = readonly Names[];

function groupsOf(query: Query, sources: readonly Names[]): readonly Group[] {
  if (query.groupBy.length === 0) return [sources];
  const keys = query.groupBy.map(
    (key) => must(query.items.find((item) => item.name === key.name)).expression,
  );
  const groups = new Map<string, Names[]>();
  for (const names of sources) {
    const text = keys.map((key) => groupText(evaluate(key, { names }))).join();
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [names]);
    else group.push(names);
  }
  return [...groups.values()];
}

/** What is no aggregate is made of group keys, and so the same in every row of the group. */
function rowOfGroup(query: Query, group: Group): Row {
  return rowOf(query, { names: group[0] ?? new Map(), group });
}

type Context = { readonly names: Names; readonly group?: Group | undefined };

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
    case 'call': {
      const operation = must(OPERATIONS.get(expression.operation), expression.operation);
      const inputs = expression.arguments.map((input) => () => evaluate(input, context));
      const value = operation.evaluate(...inputs);
      return operation.canFail ? value : checkedRange(value);
    }
    case 'aggregate':
      return aggregate(expression, context.group!);
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

function aggregate(call: Extract<Expression, { op: 'aggregate' }>, group: Group): Value {
  const { argument } = call;
  if (argument === undefined) return BigInt(group.length);
  let values = group
    .map((names) => evaluate(argument, { names }))
    .filter((value) => value !== null);
  if (call.isDistinct) {
    values = [...new Map(values.map((value) => [groupText(value), value])).values()];
  }
  switch (call.name) {
    case 'COUNT':
      return BigInt(values.length);
    case 'COUNTIF':
      return BigInt(values.filter((value) => value === true).length);
    case 'SUM':
      return values.length === 0 ? null : checkedSum(sumOf(values));
    case 'AVG':
      return values.length === 0 ? null : Number(sumOf(values)) / values.length;
    case 'MIN':
      return extreme(values, -1);
    case 'MAX':
      return extreme(values, 1);
    case 'ANY_VALUE':
      return group.length === 0 ? null : evaluate(argument, { names: group[0]! });
    default:
      return unreachable(call.name);
  }
}

function sumOf(values: readonly Value[]): bigint | number {
  if (typeof values[0] === 'bigint') {
    return (values as readonly bigint[]).reduce((sum, value) => sum + value, 0n);
  }
  return (values as readonly number[]).reduce((sum, value) => sum + value, 0);
}

function checkedSum(sum: bigint | number): bigint | number {
  if (typeof sum === 'bigint' && BigInt.asIntN(64, sum) !== sum) throw new Failure('overflow');
  return sum;
}

function extreme(values: readonly Value[], sign: 1 | -1): Value {
  let best: Value = null;
  for (const value of values) {
    if (Number.isNaN(value)) return value;
    if (best === null || compare(value, best) * sign > 0) best = value;
  }
  return best;
}

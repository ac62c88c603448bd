import { must, unreachable } from '../../../engine/assert.ts';
import { type SqlType, typeName } from '../../../engine/column/type.ts';
import type { Column, ColumnId, Expression } from '../../../engine/plan/expression.ts';
import { columnsOf, conjunctsOf } from '../../../engine/plan/expression-walk.ts';
import type { LogicalPlan, ScanField, SortKey } from '../../../engine/plan/logical-plan.ts';
import { outputIds } from '../../../engine/plan/optimize/plan-walk.ts';
import { EVENTS_TABLE } from '../schema.ts';
import { aggregateSql } from './aggregate-sql.ts';
import { dynamicElements } from './dynamic-sql.ts';
import { type ColumnSql, type Columns, ExpressionSql } from './expression-sql.ts';
import { refuse } from './refusal.ts';
import { groupKeyOf, type OrderKey, orderText, sortKeysOf } from './sort-sql.ts';
import { asColumn, integer, isScalar, literal, nullOf } from './sql-type.ts';
import { canRaise, type StatementParts } from './statement-parts.ts';
import { windowSql } from './window-sql.ts';

type Of<Op extends LogicalPlan['op']> = Extract<LogicalPlan, { readonly op: Op }>;

/**
 * A SELECT that gives the rows of a plan. Its columns are called by their ids; `order` names further columns of it, by
 * which the rows have to be sorted where their order counts. What is not sorted by them is in any order.
 */
export type RelationSql = {
  readonly sql: string;
  readonly columns: Columns;
  readonly order: readonly OrderKey[];
};

/** The arrival of an event, as one value: it sorts as weir took the events in. */
const ARRIVAL = 'tuple(gateway, sequence, event)';
/** What stands for NULL: it sorts before all others, as the default of the type. */
const NO_ARRIVAL = "CAST(tuple('', 0, 0), 'Tuple(LowCardinality(String), UInt64, UInt32)')";

/** What DateTime64 of microseconds holds: from 1900-01-01, before 2300-01-01. */
const TIMESTAMP_US_MIN = -2_208_988_800_000_000;
const TIMESTAMP_US_END = 10_413_792_000_000_000;

/** Constant rows that a statement may hold: more are better sent as a table of their own. */
const ROWS_MAX = 1_000;

/** Renders the operators of a plan, each as a SELECT over those of its inputs. */
export class PlanSql {
  readonly #parts: StatementParts;
  #orderCount = 0;

  constructor(parts: StatementParts) {
    this.#parts = parts;
  }

  of(plan: LogicalPlan): RelationSql {
    switch (plan.op) {
      case 'scan':
        return this.#scan(plan);
      case 'one-row':
        return { sql: 'SELECT 1 AS one', columns: new Map(), order: [] };
      case 'rows':
        return this.#rows(plan);
      case 'filter':
        return this.#filter(plan);
      case 'project':
        return this.#project(plan);
      case 'unnest':
        return this.#unnest(plan);
      case 'join':
        return this.#join(plan);
      case 'union':
        return this.#union(plan);
      case 'aggregate':
        return this.#aggregate(plan);
      case 'sort':
        return this.#sort(plan);
      case 'limit':
        return this.#limit(plan);
      case 'window':
        return this.#window(plan);
      case 'outer':
        return refuse('a subquery that reads columns of the query around it', undefined);
      default:
        return unreachable(plan);
    }
  }

  #scan({ source, columns, window, projectKey }: Of<'scan'>): RelationSql {
    const conditions = [`source = ${this.#parts.text(source)}`];
    if (projectKey !== undefined) {
      conditions.push(`(project = ${this.#parts.text(projectKey)} OR is_mixed)`);
    }
    if (window.startUs >= TIMESTAMP_US_END || window.endUs <= TIMESTAMP_US_MIN)
      conditions.push('0');
    else {
      if (window.startUs > TIMESTAMP_US_MIN)
        conditions.push(`timestamp >= ${time(window.startUs)}`);
      if (window.endUs < TIMESTAMP_US_END) conditions.push(`timestamp < ${time(window.endUs)}`);
    }
    const items = columns.map(({ column, field }) => {
      const sql = field === 'root' ? this.#body() : SCANNED[field];
      return `${sql} AS ${nameOf(column)}`;
    });
    const list = items.length === 0 ? '1 AS one' : items.join(', ');
    return {
      sql: `SELECT ${list} FROM ${EVENTS_TABLE} WHERE ${conditions.join(' AND ')}`,
      columns: new Map(
        columns.map(({ column, field }) => [
          column.id,
          field === 'arrival' ? { sql: nameOf(column), isArrival: true } : { sql: nameOf(column) },
        ]),
      ),
      order: [],
    };
  }

  /** ClickHouse finds no field at all in what it cannot parse. */
  #body(): string {
    const raised = this.#parts.raise('NOT is_readable', {
      code: 'query_failed',
      message:
        'ClickHouse cannot read an event that holds a number beyond 64 bits or half a surrogate pair',
      span: undefined,
    });
    return `if(${raised} = 0, toNullable(body), NULL)`;
  }

  #rows({ columns, rows }: Of<'rows'>): RelationSql {
    if (rows.length > ROWS_MAX) return refuse(`a list of ${rows.length} constant rows`, undefined);
    const order = this.#newOrder();
    const selects = rows.map((row, position) => {
      const items = columns.map((column, index) => {
        const value = literal(row[index] ?? null, column.type, { parts: this.#parts });
        return `${asColumn(value, column.type)} AS ${nameOf(column)}`;
      });
      return `SELECT ${[...items, `${position} AS ${order}`].join(', ')}`;
    });
    if (selects.length === 0) {
      const items = columns.map((column) => `${nullOf(column.type)} AS ${nameOf(column)}`);
      selects.push(`SELECT ${[...items, `0 AS ${order}`].join(', ')} WHERE 0`);
    }
    return {
      sql: selects.join(' UNION ALL '),
      columns: named(columns),
      order: [ascending(order)],
    };
  }

  #filter({ input, predicate }: Of<'filter'>): RelationSql {
    const below = this.of(input);
    const condition = this.#over(below).of(predicate);
    // Conditions that may raise an error stay in their order: taken apart, ClickHouse may test them in another.
    const whole = canRaise(condition) ? `if(${condition}, 1, 0)` : condition;
    return { ...below, sql: `SELECT * FROM (${below.sql}) WHERE ${whole}` };
  }

  #project({ input, columns }: Of<'project'>): RelationSql {
    const below = this.of(input);
    const expressions = this.#over(below);
    const result = new Map<ColumnId, ColumnSql>();
    const items: string[] = [];
    for (const { column, expression } of columns) {
      const name = nameOf(column);
      const passed = expression.op === 'column' ? below.columns.get(expression.id) : undefined;
      const sql = passed?.sql ?? asColumn(expressions.of(expression), column.type);
      items.push(sql === name ? name : `${sql} AS ${name}`);
      result.set(column.id, passed?.isArrival ? { sql: name, isArrival: true } : { sql: name });
    }
    return { sql: select(items, below), columns: result, order: below.order };
  }

  #unnest(plan: Of<'unnest'>): RelationSql {
    const { input, array, element, offset, outer, on } = plan;
    const below = this.of(input);
    const parts = this.#parts;
    const list = parts.variable();
    const position = this.#newOrder();
    const elements = this.#elements(array, below);
    const kept = on === undefined ? undefined : this.#keptElements(elements, plan, below);
    const inner = `SELECT *, ${kept ?? elements} AS ${list} FROM (${below.sql})`;
    const item = parts.variable();
    const values = kept === undefined ? list : `arrayMap(${item} -> ${item}.1, ${list})`;
    const joined = [`${values} AS ${nameOf(element)}`, `arrayEnumerate(${list}) AS ${position}`];
    const columns: Column[] = [element];
    if (offset !== undefined) {
      const offsets =
        kept === undefined ? offsetsOf(list, item) : `arrayMap(${item} -> ${item}.2, ${list})`;
      joined.push(`${offsets} AS ${nameOf(offset)}`);
      columns.push(offset);
    }
    const items = [...columns.map(nameOf), position];
    const passed = Array.from(below.columns.values(), ({ sql }) => sql);
    const kind = outer ? 'LEFT ARRAY JOIN' : 'ARRAY JOIN';
    return {
      sql: `${select([...passed, ...items], { ...below, sql: inner })} ${kind} ${joined.join(', ')}`,
      columns: new Map([...below.columns, ...named(columns)]),
      order: [...below.order, ascending(position)],
    };
  }

  /** Pairs of each element for which the condition holds, and its offset. */
  #keptElements(
    elements: string,
    { element, offset, on }: Of<'unnest'>,
    below: RelationSql,
  ): string {
    const parts = this.#parts;
    return parts.once(elements, (list) => {
      const [pair, index] = [parts.variable(), parts.variable()];
      const own: [ColumnId, ColumnSql][] = [[element.id, { sql: `${pair}.1` }]];
      if (offset !== undefined) own.push([offset.id, { sql: `${pair}.2` }]);
      const columns = new Map([...below.columns, ...own]);
      const condition = new ExpressionSql(columns, parts, this).of(must(on));
      return `arrayFilter(${pair} -> ifNull(${condition}, 0), arrayZip(${list}, ${offsetsOf(list, index)}))`;
    });
  }

  /** The elements of an array as an Array of ClickHouse. */
  #elements(array: Expression, below: RelationSql): string {
    const parts = this.#parts;
    const expressions = this.#over(below);
    if (array.op === 'dynamic-field' && array.type.kind === 'ARRAY') {
      const field = expressions.of({ ...array, type: { kind: 'DYNAMIC' } });
      return dynamicElements(field, parts);
    }
    const value = expressions.of(array);
    if (array.type.kind === 'DYNAMIC') return dynamicElements(value, parts);
    return parts.once(value, (list) => `${list}[1]`);
  }

  #join({ kind, left, right, on }: Of<'join'>): RelationSql {
    const [one, other] = [this.of(left), this.of(right)];
    const columns = new Map([...one.columns, ...other.columns]);
    const order = [...one.order, ...other.order];
    const items = [
      ...Array.from(columns.values(), ({ sql }) => sql),
      ...order.map(({ sql }) => sql),
    ];
    const list = items.length === 0 ? '1 AS one' : items.join(', ');
    const sides = (word: string) =>
      `SELECT ${list} FROM (${one.sql}) AS l ${word} (${other.sql}) AS r`;
    if (on === undefined) return { sql: sides('CROSS JOIN'), columns, order };
    const { equalities, rest } = splitCondition(on, outputIds(left), outputIds(right));
    const keys = equalities.map((pair) => this.#equality(pair, one, other));
    const conditions = rest.map((term) => new ExpressionSql(columns, this.#parts, this).of(term));
    if (kind === 'inner' || kind === 'cross') {
      const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
      const join =
        keys.length === 0 ? sides('CROSS JOIN') : `${sides('INNER JOIN')} ON ${keys.join(' AND ')}`;
      return { sql: `${join}${where}`, columns, order };
    }
    if (keys.length === 0 || conditions.length > 0) {
      return refuse('an outer join on a condition other than equalities of both sides', undefined);
    }
    const word = kind === 'left' ? 'LEFT JOIN' : 'FULL JOIN';
    return { sql: `${sides(word)} ON ${keys.join(' AND ')}`, columns, order };
  }

  /** The two sides of an equality in forms that ClickHouse compares, NULL for NULL. */
  #equality({ left, right }: Equality, one: RelationSql, other: RelationSql): string {
    for (const { type } of [left, right]) {
      if (!isScalar(type) || type.kind === 'JSON') {
        return refuse(`a join on values of type ${typeName(type)}`, undefined);
      }
    }
    return `${this.#over(one).of(left)} = ${this.#over(other).of(right)}`;
  }

  #union({ inputs, columns }: Of<'union'>): RelationSql {
    const [input, position] = [this.#newOrder(), this.#newOrder()];
    const belows = inputs.map((each) => this.of(each));
    const arrivals = columns.map(({ from }) =>
      belows.some((below, index) => below.columns.get(from[index]!)?.isArrival === true),
    );
    const selects = belows.map((below, index) => {
      const items = columns.map(({ column, from }, at) => {
        const source = must(
          below.columns.get(from[index]!),
          'a column that is read is given below',
        );
        const sql = arrivals[at] && source.isArrival !== true ? NO_ARRIVAL : source.sql;
        return `${sql} AS ${nameOf(column)}`;
      });
      // Keys of several inputs may be of several types: the rows of each are numbered.
      const by = below.order.map(orderText).join(', ');
      const number = by === '' ? 'toUInt64(0)' : `row_number() OVER (ORDER BY ${by})`;
      const order = [`${index} AS ${input}`, `${number} AS ${position}`];
      return `SELECT ${[...items, ...order].join(', ')} FROM (${below.sql})`;
    });
    return {
      sql: selects.join(' UNION ALL '),
      columns: new Map(
        columns.map(({ column }, at) => [
          column.id,
          arrivals[at] ? { sql: nameOf(column), isArrival: true } : { sql: nameOf(column) },
        ]),
      ),
      order: [ascending(input), ascending(position)],
    };
  }

  #aggregate({ input, keys, aggregates }: Of<'aggregate'>): RelationSql {
    const below = this.of(input);
    const parts = this.#parts;
    // Arguments and keys are columns of a SELECT of their own, since they are named several times.
    const computedBefore = new ComputedColumns(below, parts, this);
    const columnOf = (expression: Expression) => computedBefore.add(expression);
    const grouped = keys.map(({ column, expression }) => {
      const name = columnOf(expression);
      return `${groupKeyOf(name, column.type)} AS ${nameOf(column)}`;
    });
    const positions: string[] = [];
    const computed = aggregates.map(({ column, call }) => {
      const inputs = call.arguments.map(columnOf);
      const order = (call.orderBy ?? []).flatMap((key) => computedBefore.orderKeys(key));
      const by = [...order, ...below.order].map(orderText).join(', ');
      const position = call.orderBy === undefined || by === '' ? undefined : parts.variable();
      if (position !== undefined)
        positions.push(`row_number() OVER (ORDER BY ${by}) AS ${position}`);
      const sql = aggregateSql({ call, type: column.type, arguments: inputs, position, parts });
      return `${asColumn(sql, column.type)} AS ${nameOf(column)}`;
    });
    const list = select(computedBefore.items, below);
    const rows = positions.length === 0 ? list : `SELECT *, ${positions.join(', ')} FROM (${list})`;
    const by = keys.map(({ column }) => nameOf(column)).join(', ');
    const group = keys.length === 0 ? '' : ` GROUP BY ${by}`;
    const sql = `SELECT ${[...grouped, ...computed].join(', ')} FROM (${rows})${group}`;
    const columns = named([...keys, ...aggregates].map(({ column }) => column));
    // Where nothing else is asked for, groups go by their keys.
    return this.#ordered(
      { sql, columns, order: [] },
      keys.map(({ column }) => ({
        value: nameOf(column),
        type: column.type,
        descending: false,
        nullsFirst: true,
      })),
    );
  }

  /** The rows with a column for each call, in the order that they have. */
  #window({ input, partitionBy, orderBy, ties, calls }: Of<'window'>): RelationSql {
    const below = this.of(input);
    const parts = this.#parts;
    const computedBefore = new ComputedColumns(below, parts, this);
    const columnOf = (expression: Expression) => computedBefore.add(expression);
    const keys = (of: readonly SortKey[]) => of.flatMap((key) => computedBefore.orderKeys(key));
    const partition = partitionBy.map((key) => groupKeyOf(columnOf(key), key.type));
    const order = keys(orderBy);
    const tied = [...keys(ties ?? []), ...below.order];
    const computed = calls.map(({ column, call }) => {
      const inputs = call.function.arguments.map(columnOf);
      const sql = windowSql({
        call,
        type: column.type,
        inputs,
        partition,
        order,
        ties: tied,
        parts,
      });
      return `${asColumn(sql, column.type)} AS ${nameOf(column)}`;
    });
    const passed = Array.from(below.columns.values(), ({ sql }) => sql);
    const inner = { sql: select([...passed, ...computedBefore.items], below), order: below.order };
    return {
      sql: select([...passed, ...computed], inner),
      columns: new Map([...below.columns, ...named(calls.map(({ column }) => column))]),
      order: below.order,
    };
  }

  #sort({ input, keys }: Of<'sort'>): RelationSql {
    const below = this.of(input);
    const parts = this.#parts;
    const items: string[] = [];
    const sorted = keys.map((key) => {
      const { expression } = key;
      const passed = expression.op === 'column' ? below.columns.get(expression.id) : undefined;
      if (passed !== undefined)
        return { ...key, value: passed.sql, isArrival: passed.isArrival, type: expression.type };
      const value = parts.variable();
      items.push(`${asColumn(this.#over(below).of(expression), expression.type)} AS ${value}`);
      return { ...key, value, type: expression.type };
    });
    const sql =
      items.length === 0 ? below.sql : `SELECT *, ${items.join(', ')} FROM (${below.sql})`;
    return this.#ordered({ ...below, sql }, sorted);
  }

  /** The rows in the order of some columns, and where these are equal in the order that they have. */
  #ordered(below: RelationSql, keys: readonly SortedColumn[]): RelationSql {
    const items: string[] = [];
    const order = keys.flatMap(({ value, type, isArrival, descending, nullsFirst }) => {
      const parts = isArrival ? [value] : sortKeysOf(value, type);
      return parts.map((part) => {
        const sql = this.#newOrder();
        items.push(`${part} AS ${sql}`);
        return { sql, descending, nullsFirst };
      });
    });
    if (items.length === 0) return below;
    return {
      columns: below.columns,
      sql: `SELECT *, ${items.join(', ')} FROM (${below.sql})`,
      order: [...order, ...below.order],
    };
  }

  #limit({ input, count, offset, per }: Of<'limit'>): RelationSql {
    const below = this.of(input);
    if (per !== undefined) return refuse('a limit for each row of the query around it', undefined);
    const by = below.order.length === 0 ? '' : ` ORDER BY ${below.order.map(orderText).join(', ')}`;
    const rows = count === undefined ? '' : ` LIMIT ${rowCount(count)}`;
    const skipped = offset === undefined ? '' : ` OFFSET ${rowCount(offset)}`;
    return { ...below, sql: `SELECT * FROM (${below.sql})${by}${rows}${skipped}` };
  }

  #over({ columns }: RelationSql): ExpressionSql {
    return new ExpressionSql(columns, this.#parts, this);
  }

  #newOrder(): string {
    return `o${this.#orderCount++}`;
  }
}

/** Columns that a SELECT over a relation computes, each under a name of its own. */
class ComputedColumns {
  readonly items: string[] = [];
  readonly #below: RelationSql;
  readonly #parts: StatementParts;
  readonly #expressions: ExpressionSql;

  constructor(below: RelationSql, parts: StatementParts, plans: PlanSql) {
    this.#below = below;
    this.#parts = parts;
    this.#expressions = new ExpressionSql(below.columns, parts, plans);
  }

  /** Adds the values of an expression, and gives the name. */
  add(expression: Expression): string {
    return this.#addSql(asColumn(this.#expressions.of(expression), expression.type));
  }

  /** Adds what ClickHouse sorts by for a key of the plan. */
  orderKeys({ expression, descending, nullsFirst }: SortKey): readonly OrderKey[] {
    const passed = expression.op === 'column' ? this.#below.columns.get(expression.id) : undefined;
    const keys = passed?.isArrival
      ? [this.#addSql(passed.sql)]
      : sortKeysOf(this.add(expression), expression.type);
    return keys.map((sql) => ({ sql, descending, nullsFirst }));
  }

  #addSql(sql: string): string {
    const name = this.#parts.variable();
    this.items.push(`${sql} AS ${name}`);
    return name;
  }
}

type SortedColumn = {
  readonly value: string;
  readonly type: SqlType;
  readonly isArrival?: true | undefined;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
};

const SCANNED: Readonly<Record<Exclude<ScanField, 'root'>, string>> = {
  id: 'toNullable(id)',
  timestamp: 'toNullable(toUnixTimestamp64Micro(timestamp))',
  event_message: 'event_message',
  project: 'named_project',
  arrival: ARRIVAL,
};

/** The offsets of the elements of an Array. */
function offsetsOf(list: string, index: string): string {
  return `arrayMap(${index} -> toNullable(toInt64(${index} - 1)), arrayEnumerate(${list}))`;
}

function time(us: number): string {
  return `fromUnixTimestamp64Micro(${integer(us)}, 'UTC')`;
}

function nameOf({ id }: Pick<Column, 'id'>): string {
  return `c${id}`;
}

function named(columns: readonly Column[]): Map<ColumnId, ColumnSql> {
  return new Map(columns.map((column) => [column.id, { sql: nameOf(column) }]));
}

function ascending(sql: string): OrderKey {
  return { sql, descending: false, nullsFirst: true };
}

/** Some columns of a relation, and those that it is ordered by. */
function select(items: readonly string[], below: Pick<RelationSql, 'sql' | 'order'>): string {
  const all = [...new Set([...items, ...below.order.map(({ sql }) => sql)])];
  return `SELECT ${all.length === 0 ? '1 AS one' : all.join(', ')} FROM (${below.sql})`;
}

function rowCount(count: Expression): string {
  const value = count.op === 'literal' ? count.value : undefined;
  const isCount = (typeof value === 'number' || typeof value === 'bigint') && value >= 0;
  return isCount ? String(BigInt(value)) : refuse('this number of rows', undefined);
}

type Equality = { readonly left: Expression; readonly right: Expression };

/** The terms of a condition that are equalities of an expression over either side, and all others. */
function splitCondition(
  on: Expression,
  leftIds: ReadonlySet<ColumnId>,
  rightIds: ReadonlySet<ColumnId>,
): { readonly equalities: readonly Equality[]; readonly rest: readonly Expression[] } {
  const equalities: Equality[] = [];
  const rest: Expression[] = [];
  for (const term of conjunctsOf(on)) {
    const pair = equalityOf(term, leftIds, rightIds);
    if (pair === undefined) rest.push(term);
    else equalities.push(pair);
  }
  return { equalities, rest };
}

function equalityOf(
  term: Expression,
  leftIds: ReadonlySet<ColumnId>,
  rightIds: ReadonlySet<ColumnId>,
): Equality | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [first, second] = term.arguments as [Expression, Expression];
  const isOver = (expression: Expression, ids: ReadonlySet<ColumnId>) => {
    const columns = columnsOf(expression);
    return columns.size > 0 && [...columns].every((id) => ids.has(id));
  };
  if (isOver(first, leftIds) && isOver(second, rightIds)) return { left: first, right: second };
  if (isOver(first, rightIds) && isOver(second, leftIds)) return { left: second, right: first };
  return undefined;
}

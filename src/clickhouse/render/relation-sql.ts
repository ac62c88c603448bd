import type { Column, ColumnId, Expression, LogicalPlan, SortKey } from '../../../engine/index.ts';
import { type ColumnSql, type Columns, ExpressionSql } from './expression-sql.ts';
import { type Item, passedOn, SelectSql } from './select-sql.ts';
import { type OrderKey, orderText, sortKeysOf } from './sort-sql.ts';
import { asColumn } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';
import type { SubqueryAnswer } from './subquery-answer.ts';

/**
 * A SELECT that gives the rows of a plan. Its columns are called by their ids; `order` names further columns of it, by
 * which the rows have to be sorted where their order counts. What is not sorted by them is in any order.
 */
export type RelationSql = {
  readonly sql: string;
  /** What `sql` is made of, if it is known. */
  readonly select?: SelectSql | undefined;
  readonly columns: Columns;
  readonly order: readonly OrderKey[];
  /** What subqueries come to in each row, over further columns of the SELECT. */
  readonly answers?: readonly SubqueryAnswer[];
};

/** The rows that a subquery is computed for: those of a named SELECT, each with other captures. */
export type OuterRows = {
  readonly name: string;
  /** The column that numbers them. */
  readonly ordinal: string;
  /** The columns that hold captures, by the ids of these. */
  readonly captures: ReadonlyMap<ColumnId, string>;
};

/** Renders plans, those of subqueries among them. */
export interface Plans {
  of(plan: LogicalPlan): RelationSql;
  /** Renders the plan of a subquery, whose `outer` leaves give these rows. */
  within(outer: OuterRows): Plans;
}

/** Columns of a SELECT, each under a name of its own. */
export class SqlColumns {
  readonly items: Item[] = [];
  readonly #parts: StatementParts;
  readonly #names = new Map<string, string>();

  constructor(parts: StatementParts) {
    this.#parts = parts;
  }

  /** Adds a column, and gives its name: of equal ones there is one. */
  add(sql: string): string {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    const name = this.#parts.variable();
    this.#names.set(sql, name);
    this.items.push({ name, sql });
    return name;
  }

  /** The rows of a SELECT with these columns beside its own. */
  beside(sql: string): string {
    const list = this.items.map(({ name, sql: value }) => `${value} AS ${name}`);
    return list.length === 0 ? sql : `SELECT *, ${list.join(', ')} FROM (${sql})`;
  }
}

/** Columns that a SELECT over a relation computes. */
export class ComputedColumns extends SqlColumns {
  readonly #below: RelationSql;
  readonly #expressions: ExpressionSql;

  constructor(below: RelationSql, parts: StatementParts, plans: Plans) {
    super(parts);
    this.#below = below;
    this.#expressions = new ExpressionSql(below, parts, plans);
  }

  /** Adds the values of an expression, and gives the name. */
  addValues(expression: Expression): string {
    const sql = this.#expressions.of(expression);
    return this.add(expression.op === 'column' ? sql : asColumn(sql, expression.type));
  }

  /** Adds what ClickHouse sorts by for a key of the plan. */
  orderKeys({ expression, descending, nullsFirst }: SortKey): readonly OrderKey[] {
    const passed = expression.op === 'column' ? this.#below.columns.get(expression.id) : undefined;
    const keys = passed?.isArrival
      ? [this.add(passed.sql)]
      : sortKeysOf(this.addValues(expression), expression.type);
    return keys.map((sql) => ({ sql, descending, nullsFirst }));
  }
}

export function nameOf({ id }: Pick<Column, 'id'>): string {
  return `c${id}`;
}

export function named(columns: readonly Column[]): Map<ColumnId, ColumnSql> {
  return new Map(columns.map((column) => [column.id, { sql: nameOf(column) }]));
}

export function ascending(sql: string): OrderKey {
  return { sql, descending: false, nullsFirst: true };
}

/** Some columns of a relation, and those that it is ordered by. */
export function select(
  items: readonly Item[],
  below: Pick<RelationSql, 'sql' | 'select' | 'order'>,
): SelectSql {
  return selectOf(below).selecting(withOrder(items, below));
}

/** Items, and the columns that a relation is ordered by, each once. */
export function withOrder(
  items: readonly Item[],
  { order }: Pick<RelationSql, 'order'>,
): readonly Item[] {
  const all = [...items, ...order.map(({ sql }) => passedOn(sql))];
  return [...new Map(all.map((item) => [item.name, item])).values()];
}

export function selectOf({ sql, select: known }: Pick<RelationSql, 'sql' | 'select'>): SelectSql {
  return known?.sql === sql ? known : SelectSql.over(sql);
}

/** The text of a SELECT, and what it is made of. */
export function madeOf(known: SelectSql): Pick<RelationSql, 'sql' | 'select'> {
  return { sql: known.sql, select: known };
}

/** What follows a function over a window. */
export function overText({
  partition,
  order,
  frame = '',
}: {
  readonly partition: readonly string[];
  readonly order: readonly OrderKey[];
  readonly frame?: string;
}): string {
  const by = partition.length === 0 ? '' : `PARTITION BY ${partition.join(', ')}`;
  const sorted = order.length === 0 ? '' : `ORDER BY ${order.map(orderText).join(', ')}`;
  return ` OVER (${[by, sorted, frame].filter((text) => text !== '').join(' ')})`;
}

/** The frame of all rows of a partition. */
export const WHOLE_PARTITION = 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING';

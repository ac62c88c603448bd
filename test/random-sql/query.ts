/**
 * A query as a tree of plain values: what the random generator makes, the shrinker takes apart,
 * `render` writes as GoogleSQL and `interpreter.ts` runs. Names in a tree are unique,
 * so a part may be taken out or moved without another name being caught by accident.
 */
export type Query = {
  readonly op: 'query';
  readonly with: readonly CommonTable[];
  readonly distinct: boolean;
  readonly items: readonly Item[];
  readonly from: From;
  readonly where?: Expression | undefined;
  readonly groupBy: readonly GroupKey[];
  /** Names columns of the output, and holds aggregates of its own. */
  readonly having?: Expression | undefined;
  readonly orderBy: readonly OrderKey[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
};

export type CommonTable = { readonly name: string; readonly query: Query };

export type Item = { readonly name: string; readonly expression: Expression };

/** Groups by the item of that name, written in one of the three ways. */
export type GroupKey = {
  readonly name: string;
  readonly form: 'alias' | 'ordinal' | 'expression';
};

/** Orders by the item of that name, written in one of the three ways. */
export type OrderKey = {
  readonly name: string;
  readonly form: 'alias' | 'ordinal' | 'expression';
  readonly direction: '' | ' ASC' | ' DESC';
  readonly nulls: '' | ' NULLS FIRST' | ' NULLS LAST';
};

export type From = { readonly op: 'from'; readonly first: Table; readonly joins: readonly Join[] };

export type Join = {
  readonly kind: ',' | ' CROSS JOIN' | ' INNER JOIN' | ' LEFT JOIN';
  readonly table: Table;
  /** With INNER and LEFT; an unnest may do without. */
  readonly on?: Expression | undefined;
};

export type Table =
  | { readonly op: 'logs'; readonly alias: string }
  | { readonly op: 'common'; readonly name: string; readonly alias: string }
  | { readonly op: 'subquery'; readonly query: Query; readonly alias: string }
  | {
      readonly op: 'unnest';
      readonly list: Expression;
      readonly alias: string;
      readonly offset?: string | undefined;
    };

export const SCALARS = ['BOOL', 'INT64', 'FLOAT64', 'STRING', 'TIMESTAMP'] as const;
export type Scalar = (typeof SCALARS)[number];
export type Type =
  | Scalar
  | 'INT64[]'
  | 'FLOAT64[]'
  | 'STRING[]'
  | 'TIMESTAMP[]'
  | 'RECORD'
  | 'RECORD[]';

/**
 * One value of a row: BOOL a boolean, INT64 and TIMESTAMP (microseconds) a bigint, FLOAT64 a number,
 * STRING a string, a list an array, a record a Map.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly Value[]
  | ReadonlyMap<string, Value>;

export type Expression =
  | { readonly op: 'literal'; readonly type: Scalar; readonly value: Value }
  /** A column of the table with that alias; without one an unnested element or an output column. */
  | {
      readonly op: 'column';
      readonly type: Type;
      readonly table?: string | undefined;
      readonly name: string;
      /** Written without its table. */
      readonly isBare: boolean;
    }
  | {
      readonly op: 'field';
      readonly type: Type;
      readonly record: Expression;
      readonly name: string;
    }
  | { readonly op: 'list'; readonly type: Type; readonly elements: readonly Expression[] }
  /** A scalar function or operator, by its key in `OPERATIONS`. */
  | {
      readonly op: 'call';
      readonly type: Type;
      readonly operation: string;
      readonly arguments: readonly Expression[];
    }
  | {
      readonly op: 'aggregate';
      readonly type: Scalar;
      readonly name: AggregateName;
      readonly isDistinct: boolean;
      /** Absent for COUNT(*) only. */
      readonly argument?: Expression | undefined;
    };

export type AggregateName = 'COUNT' | 'COUNTIF' | 'SUM' | 'AVG' | 'MIN' | 'MAX' | 'ANY_VALUE';

/** Whether every two rows of the answer that differ have their places by the query's own order. */
export function isOrdered(query: Query): boolean {
  const keys = new Set(query.orderBy.map((key) => key.name));
  return query.items.every((item) => keys.has(item.name));
}

/** Whether it has one row for each group; without keys, one row in all. */
export function isGrouped({ items, groupBy }: Pick<Query, 'items' | 'groupBy'>): boolean {
  return groupBy.length > 0 || items.some((item) => hasAggregate(item.expression));
}

export function hasAggregate(expression: Expression): boolean {
  if (expression.op === 'aggregate') return true;
  return expression.op === 'call' && expression.arguments.some(hasAggregate);
}

/** A column, or a field of one. */
export function isPath(expression: Expression): boolean {
  return expression.op === 'field' ? isPath(expression.record) : expression.op === 'column';
}

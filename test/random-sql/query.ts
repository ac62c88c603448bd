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
  /** Chooses rows by functions over windows. */
  readonly qualify?: Expression | undefined;
  /** Queries whose rows are put beside its own; order and limit are then those of all the rows. */
  readonly set?: SetOperation | undefined;
  readonly orderBy: readonly OrderKey[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
};

export type SetOperation = { readonly kind: SetKind; readonly queries: readonly Query[] };

export const SET_KINDS = [
  ' UNION ALL',
  ' UNION DISTINCT',
  ' EXCEPT DISTINCT',
  ' INTERSECT DISTINCT',
] as const;
export type SetKind = (typeof SET_KINDS)[number];

export type CommonTable = { readonly name: string; readonly query: Query };

export type Item = { readonly name: string; readonly expression: Expression };

/** Groups by the item of that name, written in one of the three ways. */
export type GroupKey = {
  readonly name: string;
  readonly form: 'alias' | 'ordinal' | 'expression';
};

/** Which of two values comes first. */
export type Direction = {
  readonly direction: '' | ' ASC' | ' DESC';
  readonly nulls: '' | ' NULLS FIRST' | ' NULLS LAST';
};

/** Orders by the item of that name, written in one of the three ways. */
export type OrderKey = Direction & {
  readonly name: string;
  readonly form: 'alias' | 'ordinal' | 'expression';
};

/** Orders the values of an aggregate, or the rows of a window. */
export type Sorting = Direction & { readonly expression: Expression };

export type From = { readonly op: 'from'; readonly first: Table; readonly joins: readonly Join[] };

export type Join = {
  readonly kind: ',' | ' CROSS JOIN' | ' INNER JOIN' | ' LEFT JOIN' | ' RIGHT JOIN' | ' FULL JOIN';
  readonly table: Table;
  /** Not with a comma and CROSS; an unnest beside INNER and LEFT may do without. */
  readonly on?: Expression;
  /** In place of `on`: columns that both sides have, and that are one column from there on. */
  readonly using?: readonly string[];
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

export const SCALARS = ['BOOL', 'INT64', 'FLOAT64', 'STRING', 'TIMESTAMP', 'DATE'] as const;
export type Scalar = (typeof SCALARS)[number];
export type Type =
  | Scalar
  | 'INT64[]'
  | 'FLOAT64[]'
  | 'STRING[]'
  | 'TIMESTAMP[]'
  | 'DATE[]'
  | 'RECORD'
  | 'RECORD[]'
  | 'STRUCT';

/**
 * One value of a row: BOOL a boolean, INT64, TIMESTAMP (microseconds) and DATE (days since 1970) a
 * bigint, FLOAT64 a number, STRING a string, a list an array, a record and a STRUCT a Map.
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
      readonly table?: string;
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
  /** In the outermost select list only. */
  | { readonly op: 'struct'; readonly type: 'STRUCT'; readonly fields: readonly Item[] }
  /** A scalar function or operator, by its key in `OPERATIONS`. */
  | {
      readonly op: 'call';
      readonly type: Type;
      readonly operation: string;
      readonly arguments: readonly Expression[];
    }
  | Subquery
  | Aggregate
  | Window;

/** A query as a value: its one value, whether it has rows, whether a value is in it, its list. */
export type Subquery = {
  readonly op: 'subquery';
  readonly type: Type;
  readonly kind: 'value' | 'EXISTS' | 'IN' | 'NOT IN' | 'ARRAY';
  /** What is looked for; with IN and NOT IN. */
  readonly value?: Expression;
  readonly query: Query;
};

export type Aggregate = {
  readonly op: 'aggregate';
  readonly type: Type;
  readonly name: AggregateName;
  readonly isDistinct: boolean;
  /** Absent for COUNT(*) only. */
  readonly argument?: Expression | undefined;
  /** Between the texts of STRING_AGG. */
  readonly separator?: string | undefined;
  /** Of ARRAY_AGG: leaves NULLs out. */
  readonly ignoresNulls?: boolean;
  readonly orderBy?: readonly Sorting[];
  readonly limit?: number | undefined;
};

const AGGREGATES = [
  'COUNT',
  'COUNTIF',
  'SUM',
  'AVG',
  'MIN',
  'MAX',
  'ANY_VALUE',
  'LOGICAL_AND',
  'LOGICAL_OR',
  'BIT_AND',
  'BIT_OR',
  'BIT_XOR',
  'ARRAY_AGG',
  'STRING_AGG',
  'VAR_POP',
  'VAR_SAMP',
  'STDDEV_POP',
  'STDDEV_SAMP',
] as const;
export type AggregateName = (typeof AGGREGATES)[number];

/** A function over the rows of its own row's partition, or of a frame of it. */
export type Window = {
  readonly op: 'window';
  readonly type: Type;
  /** An aggregate, or a function that knows places: RANK and the like. */
  readonly call: Aggregate | WindowCall;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly Sorting[];
  readonly frame?: Frame | undefined;
};

export type WindowCall = {
  readonly op: 'window-call';
  readonly name: WindowName;
  readonly argument?: Expression;
  /** The buckets of NTILE, the distance of LAG and LEAD, the place of NTH_VALUE. */
  readonly count?: number | undefined;
  readonly ignoresNulls?: boolean;
};

export type WindowName =
  | 'ROW_NUMBER'
  | 'RANK'
  | 'DENSE_RANK'
  | 'PERCENT_RANK'
  | 'CUME_DIST'
  | 'NTILE'
  | 'LAG'
  | 'LEAD'
  | 'FIRST_VALUE'
  | 'LAST_VALUE'
  | 'NTH_VALUE';

/** Ends by their distance from the row, before it negative; an infinite one is unbounded. */
export type Frame = {
  readonly unit: 'ROWS' | 'RANGE';
  readonly start: number;
  readonly end: number;
};

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
  if (expression.op === 'subquery') {
    return expression.value !== undefined && hasAggregate(expression.value);
  }
  return partsOf(expression).some(hasAggregate);
}

/** Not of the queries within it. */
export function hasWindow(expression: Expression): boolean {
  if (expression.op === 'window') return true;
  return partsOf(expression).some(hasWindow);
}

export function hasSubquery(expression: Expression): boolean {
  if (expression.op === 'subquery') return true;
  return partsOf(expression).some(hasSubquery);
}

/** The arguments of a call, or the fields of a STRUCT. */
function partsOf(expression: Expression): readonly Expression[] {
  if (expression.op === 'call') return expression.arguments;
  return expression.op === 'struct' ? expression.fields.map((field) => field.expression) : [];
}

export function isScalar(type: Type): type is Scalar {
  return (SCALARS as readonly Type[]).includes(type);
}

/** A column, or a field of one. */
export function isPath(expression: Expression): boolean {
  return expression.op === 'field' ? isPath(expression.record) : expression.op === 'column';
}

/** Whether it may have another value in another row; of the queries within it nothing is known. */
export function readsColumn(expression: Expression): boolean {
  switch (expression.op) {
    case 'column':
    case 'field':
    case 'aggregate':
    case 'window':
      return true;
    case 'call':
    case 'struct':
      return partsOf(expression).some(readsColumn);
    case 'list':
      return expression.elements.some(readsColumn);
    case 'subquery':
      return expression.value !== undefined && readsColumn(expression.value);
    default:
      return false;
  }
}

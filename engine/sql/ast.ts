import { unreachable } from '../assert.ts';
import type { Span } from '../query-error.ts';

/** The syntax tree of one query. Every node carries its span; names are as written, unquoted. */
export type Query = {
  readonly span: Span;
  readonly with: readonly CommonTable[];
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  readonly limit?: Expression | undefined;
  readonly offset?: Expression | undefined;
};

export type CommonTable = { readonly span: Span; readonly name: Name; readonly query: Query };

export type Name = { readonly span: Span; readonly text: string };

/** A parenthesised query is a body too, so that `(SELECT …) LIMIT 1` has a place. */
export type QueryBody =
  | Select
  | SetOperation
  | { readonly kind: 'query'; readonly span: Span; readonly query: Query };

/** `a UNION ALL b UNION ALL c`: one kind of operation for all inputs; others need parentheses. */
export type SetOperation = {
  readonly kind: 'set-operation';
  readonly span: Span;
  readonly operator: 'union' | 'except' | 'intersect';
  /** `ALL`, which GoogleSQL has for UNION only; else DISTINCT. */
  readonly all: boolean;
  /** Two or more, in the order of the text. */
  readonly inputs: readonly QueryBody[];
};

export type Select = {
  readonly kind: 'select';
  readonly span: Span;
  readonly distinct: boolean;
  /** `SELECT AS STRUCT`: each row is one value, its columns the fields. */
  readonly asStruct?: boolean;
  readonly items: readonly SelectItem[];
  readonly from?: TableExpression | undefined;
  readonly where?: Expression | undefined;
  /** `'all'` is `GROUP BY ALL`: every item of the list without an aggregate. */
  readonly groupBy: readonly Expression[] | 'all';
  readonly having?: Expression | undefined;
  readonly qualify?: Expression | undefined;
  /** `WINDOW name AS (…)`. */
  readonly windows?: readonly NamedWindow[] | undefined;
};

export type NamedWindow = { readonly name: Name; readonly window: Window };

/** What stands behind OVER: `name`, or `([name] [PARTITION BY …] [ORDER BY …] [frame])`. */
export type Window = {
  readonly span: Span;
  /** A window of the WINDOW clause that this one is, or begins with. */
  readonly base?: Name | undefined;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly frame?: WindowFrame | undefined;
};

export type WindowFrame = {
  readonly span: Span;
  readonly unit: 'rows' | 'range';
  readonly start: FrameBound;
  /** Absent in the text: the current row. */
  readonly end: FrameBound;
};

export type FrameBound =
  | { readonly kind: 'unbounded-preceding' | 'current-row' | 'unbounded-following' }
  | { readonly kind: 'preceding' | 'following'; readonly amount: Expression };

export type SelectItem =
  | {
      readonly kind: 'expression';
      readonly span: Span;
      readonly expression: Expression;
      readonly alias?: Name | undefined;
    }
  /** `*`, or `t.*` and `m.request.*` with a qualifier; `EXCEPT (a, b)`, `REPLACE (x AS a)`. */
  | {
      readonly kind: 'star';
      readonly span: Span;
      readonly qualifier?: Expression | undefined;
      readonly except?: readonly Name[] | undefined;
      readonly replace?:
        | readonly { readonly expression: Expression; readonly name: Name }[]
        | undefined;
    };

export type OrderItem = {
  readonly span: Span;
  readonly expression: Expression;
  readonly descending: boolean;
  /** GoogleSQL: NULLs are smallest; ASC puts them first, DESC last. */
  readonly nulls?: 'first' | 'last' | undefined;
};

export type TableExpression =
  /** A path: a source, a CTE, or a correlated array (`FROM t, t.metadata`). */
  | {
      readonly kind: 'table';
      readonly span: Span;
      readonly path: readonly Name[];
      readonly alias?: Name | undefined;
      /** As of UNNEST: the path must be an array. */
      readonly withOffset?: Name | undefined;
    }
  | {
      readonly kind: 'subquery';
      readonly span: Span;
      readonly query: Query;
      readonly alias?: Name | undefined;
    }
  | {
      readonly kind: 'unnest';
      readonly span: Span;
      readonly array: Expression;
      readonly alias?: Name | undefined;
      /** `WITH OFFSET [AS name]`; a bare one is named `offset`. */
      readonly withOffset?: Name | undefined;
    }
  | {
      readonly kind: 'join';
      readonly span: Span;
      readonly join: 'comma' | 'cross' | 'inner' | 'left' | 'right' | 'full';
      readonly left: TableExpression;
      readonly right: TableExpression;
      readonly on?: Expression;
      /** `USING (a, b)`; never beside `on`. */
      readonly using?: readonly Name[];
    };

export type BinaryOperator =
  | '*'
  | '/'
  | '||'
  | '+'
  | '-'
  | '<<'
  | '>>'
  | '&'
  | '^'
  | '|'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'and'
  | 'or';

export type Expression =
  | { readonly kind: 'null'; readonly span: Span }
  | { readonly kind: 'boolean'; readonly span: Span; readonly value: boolean }
  /** Decimal or hexadecimal; beyond 64 bits is the parser's error. */
  | { readonly kind: 'integer'; readonly span: Span; readonly value: bigint }
  | { readonly kind: 'float'; readonly span: Span; readonly value: number }
  /** Escapes resolved; single, double, triple quoted and raw forms alike. */
  | { readonly kind: 'string'; readonly span: Span; readonly value: string }
  /** `b'…'`, `rb'…'`: one character per byte, each below 256. */
  | { readonly kind: 'bytes'; readonly span: Span; readonly value: string }
  /** `TIMESTAMP '…'`, `JSON '…'`: the word in upper case, and the text. */
  | {
      readonly kind: 'typed-literal';
      readonly span: Span;
      readonly type: 'TIMESTAMP' | 'DATETIME' | 'DATE' | 'TIME' | 'JSON';
      readonly text: string;
    }
  /** `INTERVAL 5 MINUTE`, `INTERVAL '1-2' YEAR TO MONTH`. */
  | {
      readonly kind: 'interval';
      readonly span: Span;
      readonly amount: Expression;
      readonly part: Name;
      readonly lastPart?: Name | undefined;
    }
  | { readonly kind: 'parameter'; readonly span: Span; readonly name: string }
  | { readonly kind: 'name'; readonly span: Span; readonly name: Name }
  | {
      readonly kind: 'field';
      readonly span: Span;
      readonly input: Expression;
      readonly field: Name;
    }
  /** `x[0]` with mode 'plain', `x[OFFSET(0)]`, `x[SAFE_OFFSET(0)]`, `x[ORDINAL(1)]`, `x[SAFE_ORDINAL(1)]`. */
  | {
      readonly kind: 'subscript';
      readonly span: Span;
      readonly input: Expression;
      readonly mode: 'plain' | 'offset' | 'safe_offset' | 'ordinal' | 'safe_ordinal';
      readonly index: Expression;
    }
  | {
      readonly kind: 'unary';
      readonly span: Span;
      readonly operator: '-' | '+' | '~' | 'not';
      readonly input: Expression;
    }
  | {
      readonly kind: 'binary';
      readonly span: Span;
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'is';
      readonly span: Span;
      readonly input: Expression;
      /** `unknown` is NULL of a BOOL. */
      readonly test: 'null' | 'true' | 'false' | 'unknown';
      readonly negated: boolean;
    }
  /** `a IS [NOT] DISTINCT FROM b`. */
  | {
      readonly kind: 'distinct-from';
      readonly span: Span;
      readonly left: Expression;
      readonly right: Expression;
      readonly negated: boolean;
    }
  | {
      readonly kind: 'between';
      readonly span: Span;
      readonly input: Expression;
      readonly low: Expression;
      readonly high: Expression;
      readonly negated: boolean;
    }
  | {
      readonly kind: 'in';
      readonly span: Span;
      readonly input: Expression;
      readonly list: readonly Expression[];
      /** `IN UNNEST(array)`: then `list` is empty. */
      readonly array?: Expression;
      /** `IN (SELECT …)`: then `list` is empty. */
      readonly query?: Query | undefined;
      readonly negated: boolean;
    }
  | {
      readonly kind: 'like';
      readonly span: Span;
      readonly input: Expression;
      readonly pattern: Expression;
      readonly negated: boolean;
    }
  /** `a LIKE ANY (b, c)`, or SOME, and `a LIKE ALL (b, c)`; one pattern or more. */
  | {
      readonly kind: 'like-list';
      readonly span: Span;
      readonly input: Expression;
      readonly patterns: readonly Expression[];
      readonly all: boolean;
      readonly negated: boolean;
    }
  /** `(SELECT …)` as a value, `ARRAY(SELECT …)`, `EXISTS(SELECT …)`. */
  | {
      readonly kind: 'subquery';
      readonly span: Span;
      readonly form: 'scalar' | 'array' | 'exists';
      readonly query: Query;
    }
  /** `CASE [operand] WHEN … THEN … ELSE … END`. `IF` is an ordinary call. */
  | {
      readonly kind: 'case';
      readonly span: Span;
      readonly operand?: Expression | undefined;
      readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
      readonly otherwise?: Expression | undefined;
    }
  | {
      readonly kind: 'cast';
      readonly span: Span;
      readonly input: Expression;
      readonly type: TypeName;
      readonly safe: boolean;
      /** `CAST(… AS STRING FORMAT 'YYYY' AT TIME ZONE 'UTC')`. */
      readonly format?: Expression | undefined;
      readonly timeZone?: Expression | undefined;
    }
  /** `EXTRACT(part FROM input [AT TIME ZONE zone])`; the part may be `WEEK(MONDAY)`. */
  | {
      readonly kind: 'extract';
      readonly span: Span;
      readonly part: Name;
      readonly input: Expression;
      readonly timeZone?: Expression | undefined;
    }
  /** `[a, b]`, `ARRAY[a, b]` and `ARRAY<INT64>[a, b]`. */
  | {
      readonly kind: 'array';
      readonly span: Span;
      readonly elements: readonly Expression[];
      readonly type?: TypeName | undefined;
    }
  /**
   * `STRUCT(1 AS a, t.b)`, whose second field is named b; `STRUCT<a INT64>(1)`; and a row `(1, 2)`,
   * whose fields have no names.
   */
  | {
      readonly kind: 'struct';
      readonly span: Span;
      readonly fields: readonly {
        readonly expression: Expression;
        readonly name?: Name | undefined;
      }[];
      readonly type?: TypeName | undefined;
    }
  /** A function call. A bare word where a date part may stand is an ordinary `name` argument. */
  | {
      readonly kind: 'call';
      readonly span: Span;
      /** As written; dotted names are joined by dots. */
      readonly name: Name;
      readonly arguments: readonly Expression[];
      /** `COUNT(*)`: then `arguments` is empty. */
      readonly star: boolean;
      readonly distinct: boolean;
      /** `IGNORE NULLS` and `RESPECT NULLS`, inside the parentheses or before OVER. */
      readonly nulls?: 'ignore' | 'respect' | undefined;
      /** `ARRAY_AGG(x ORDER BY y LIMIT 3)`. */
      readonly orderBy?: readonly OrderItem[] | undefined;
      readonly limit?: Expression | undefined;
      /** `ANY_VALUE(x HAVING MAX y)`. */
      readonly having?: HavingExtreme | undefined;
      readonly over?: Window | undefined;
    };

/** Of the rows of a group only those count that have the greatest, or least, value. */
export type HavingExtreme = { readonly extreme: 'max' | 'min'; readonly expression: Expression };

/** A type as written, such as `ARRAY<STRUCT<a INT64, b STRING>>`. */
export type TypeName = {
  readonly span: Span;
  /**
   * Upper case; `INT`, `BIGINT`, `BOOLEAN` and such are resolved to `INT64`, `BOOL` …; behind `::`
   * also `TEXT` and other names of PostgreSQL.
   */
  readonly kind: string;
  /** Of `ARRAY<…>`. */
  readonly element?: TypeName;
  /** Of `STRUCT<…>`. */
  readonly fields?: readonly { readonly name?: Name | undefined; readonly type: TypeName }[];
};

/**
 * A copy of the tree in which everything stands at `span`: as if its whole text were there. With the
 * `name` of a view, whose text it is, each place also tells where it was in that.
 */
export function placedAt(query: Query, span: Span, name?: string): Query {
  const placeOf = (was: Span): Span =>
    name === undefined ? span : { ...span, view: { name, line: was.line, column: was.column } };
  // A tree is made of plain objects and lists, and no deeper than its parser lets it be.
  return placed(query, placeOf) as Query;
}

function placed(node: unknown, placeOf: (was: Span) => Span): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((each) => placed(each, placeOf));
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(node)) {
    copy[key] = key === 'span' ? placeOf(child as Span) : placed(child, placeOf);
  }
  return copy;
}

/**
 * The first `*` or `t.*` among the columns a query gives: in its own select list, or in those its set
 * operation is of. What subqueries and CTEs select is seen by the query alone, and COUNT(*) is none.
 */
export function findOutputStar(query: Query): Span | undefined {
  return findBodyStar(query.body);
}

function findBodyStar(body: QueryBody): Span | undefined {
  switch (body.kind) {
    case 'select':
      return body.items.find((item) => item.kind === 'star')?.span;
    case 'query':
      return findOutputStar(body.query);
    case 'set-operation':
      for (const input of body.inputs) {
        const star = findBodyStar(input);
        if (star !== undefined) return star;
      }
      return undefined;
    default:
      return unreachable(body);
  }
}

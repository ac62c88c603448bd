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
  | { readonly kind: 'query'; readonly span: Span; readonly query: Query };

export type Select = {
  readonly kind: 'select';
  readonly span: Span;
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly from?: TableExpression | undefined;
  readonly where?: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly having?: Expression | undefined;
};

export type SelectItem =
  | {
      readonly kind: 'expression';
      readonly span: Span;
      readonly expression: Expression;
      readonly alias?: Name | undefined;
    }
  /** `*`, or `t.*` and `m.request.*` with a qualifier. */
  | { readonly kind: 'star'; readonly span: Span; readonly qualifier?: Expression | undefined };

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
      readonly join: 'comma' | 'cross' | 'inner' | 'left';
      readonly left: TableExpression;
      readonly right: TableExpression;
      readonly on?: Expression | undefined;
    };

export type BinaryOperator =
  | '*'
  | '/'
  | '||'
  | '+'
  | '-'
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
  /** `TIMESTAMP '…'`, `DATETIME '…'`: the word in upper case, and the text. */
  | {
      readonly kind: 'typed-literal';
      readonly span: Span;
      readonly type: 'TIMESTAMP' | 'DATETIME';
      readonly text: string;
    }
  /** `INTERVAL 5 MINUTE`; only functions that take one know what to do with it. */
  | {
      readonly kind: 'interval';
      readonly span: Span;
      readonly amount: Expression;
      readonly part: Name;
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
      readonly operator: '-' | '+' | 'not';
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
      readonly test: 'null' | 'true' | 'false';
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
      readonly array?: Expression | undefined;
      readonly negated: boolean;
    }
  | {
      readonly kind: 'like';
      readonly span: Span;
      readonly input: Expression;
      readonly pattern: Expression;
      readonly negated: boolean;
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
    }
  /** `EXTRACT(part FROM input [AT TIME ZONE zone])`. */
  | {
      readonly kind: 'extract';
      readonly span: Span;
      readonly part: Name;
      readonly input: Expression;
      readonly timeZone?: Expression | undefined;
    }
  /** `[a, b]` and `ARRAY[a, b]`. */
  | { readonly kind: 'array'; readonly span: Span; readonly elements: readonly Expression[] }
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
    };

/** A type in a CAST. */
export type TypeName = {
  readonly span: Span;
  /** Upper case; `INT`, `BIGINT`, `BOOLEAN` and such are resolved to `INT64`, `BOOL` … */
  readonly kind: string;
};

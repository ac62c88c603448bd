import type { Span } from '../query-error.ts';

export type TokenKind =
  | 'word'
  | 'quoted'
  | 'string'
  | 'bytes'
  | 'integer'
  | 'float'
  | 'parameter'
  | 'symbol'
  | 'end';

/** One word, literal or sign of a text. */
export type Token = {
  readonly kind: TokenKind;
  /**
   * A word, number or symbol as written; the value of a string, of bytes or of a name in backticks,
   * with its escapes resolved; the name of a parameter without `@`; empty at the end.
   */
  readonly text: string;
  /**
   * The word in upper case where it may act as a keyword. Empty for every other token, and for a
   * word after a dot, which is always the name of a field.
   */
  readonly keyword: string;
  readonly span: Span;
};

/** Whether the token is a word that GoogleSQL keeps for itself: a name only in backticks. */
export function isReserved(token: Token): boolean {
  return RESERVED_WORDS.has(token.keyword);
}

/** Whether the token may name a column, table, function or alias. */
export function isName(token: Token): boolean {
  return token.kind === 'quoted' || (token.kind === 'word' && !isReserved(token));
}

const RESERVED_WORDS: ReadonlySet<string> = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE
  CROSS CUBE CURRENT DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS
  EXTRACT FALSE FETCH FOLLOWING FOR FROM FULL GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER
  INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOOKUP MERGE NATURAL NEW NO NOT NULL
  NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO QUALIFY RANGE RECURSIVE RESPECT RIGHT
  ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE UNBOUNDED UNION UNNEST USING
  WHEN WHERE WINDOW WITH WITHIN`.split(/\s+/),
);

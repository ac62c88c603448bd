import type { Token } from './token.ts';

/**
 * The refusal for a token that nothing asked for, if GoogleSQL begins a construct with it that the
 * parser has no form for, or PostgreSQL one that GoogleSQL writes otherwise; `undefined` if the token is simply out of place. To add a construct to
 * the language, take its line from here.
 */
export function findRefusal(token: Token): string | undefined {
  return CLAUSES.get(token.keyword) ?? findSymbolRefusal(token);
}

/** The same for signs alone: they mean one thing wherever they stand. */
export function findSymbolRefusal(token: Token): string | undefined {
  return token.kind === 'symbol' ? SYMBOLS.get(token.text) : undefined;
}

/** The same where an expression should begin. */
export function findOperandRefusal(token: Token): string | undefined {
  return OPERANDS.get(token.keyword) ?? findSymbolRefusal(token);
}

/** The same where the text begins: for a statement that is no query. */
export function findStatementRefusal(token: Token): string | undefined {
  if (!STATEMENTS.has(token.keyword)) return undefined;
  return `only a query is taken: SELECT, or WITH before it; got ${token.keyword}`;
}

/** The message for a construct of GoogleSQL that the parser has no form for. */
export function refusal(construct: string, advice = ''): string {
  return `${construct} is not supported${advice === '' ? '' : `: ${advice}`}`;
}

const CLAUSES: ReadonlyMap<string, string> = new Map([
  ['NATURAL', refusal('NATURAL JOIN')],
  ['LATERAL', refusal('LATERAL')],
  ['TABLESAMPLE', refusal('TABLESAMPLE')],
  ['PIVOT', refusal('PIVOT')],
  ['UNPIVOT', refusal('UNPIVOT')],
  ['MATCH_RECOGNIZE', refusal('MATCH_RECOGNIZE')],
  ['FOR', refusal('FOR SYSTEM_TIME')],
  ['COLLATE', refusal('COLLATE')],
  ['ILIKE', refusal('ILIKE', 'write LOWER(…) LIKE …')],
  ['FILTER', refusal('FILTER', 'write COUNTIF(…), or IF(…) inside the aggregate')],
]);

const STATEMENTS: ReadonlySet<string> = new Set([
  ...['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'TRUNCATE', 'LOAD', 'EXPORT', 'COPY'],
  ...['CREATE', 'ALTER', 'DROP', 'UNDROP', 'GRANT', 'REVOKE', 'RENAME'],
  ...['SHOW', 'DESCRIBE', 'DESC', 'EXPLAIN', 'USE', 'CALL', 'EXECUTE', 'ASSERT'],
  ...['BEGIN', 'COMMIT', 'ROLLBACK', 'START', 'DECLARE', 'SET'],
]);

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['%', refusal('the operator "%"', 'write MOD(…, …)')],
  ['=>', refusal('a named argument ("=>")')],
  ['->', refusal('a lambda ("->")')],
  ['|>', refusal('the pipe operator "|>"')],
  ['?', refusal('a parameter without a name ("?")')],
  ['@@', refusal('a system variable ("@@")')],
  ['@{', refusal('a hint ("@{")')],
]);

const OPERANDS: ReadonlyMap<string, string> = new Map([
  ['WITH', refusal('WITH inside an expression')],
  ['NEW', refusal('NEW')],
]);

import { must } from '../assert.ts';
import { SQL_DEPTH_MAX } from '../limits.ts';
import { firstLine, QueryError, type Span } from '../query-error.ts';
import type { Name } from './ast.ts';
import { isName, isReserved, Lexer, type Token } from './lexer.ts';

/**
 * A place in the tokens of one text, from which every part of the parser reads.
 *
 * What was looked for at the current token and not found is remembered, so that an error can list
 * all that would have been understood there.
 */
export class TokenCursor {
  readonly #text: string;
  readonly #lexer: Lexer;
  readonly #tokensMax: number;
  /** All tokens read so far; parsers look at most a few ahead of `#index`. */
  readonly #tokens: Token[] = [];
  #index = 0;
  #depth = 0;
  #wanted: string[] = [];
  #wantedIndex = 0;

  constructor(text: string, tokensMax: number) {
    this.#text = text;
    this.#lexer = new Lexer(text);
    this.#tokensMax = tokensMax;
  }

  get token(): Token {
    return this.peek(0);
  }

  /** The token `ahead` of the current one; the end token beyond the end. */
  peek(ahead: number): Token {
    while (this.#tokens.length <= this.#index + ahead) this.#read();
    return must(this.#tokens[this.#index + ahead], 'the token has been read');
  }

  #read(): void {
    const token = this.#lexer.next();
    if (this.#tokens.length >= this.#tokensMax && token.kind !== 'end') {
      const message = `the query has more than ${this.#tokensMax} words, numbers and symbols (SQL_TOKENS_WITHIN_MAX)`;
      throw new QueryError('query_limit', message, token.span);
    }
    this.#tokens.push(token);
  }

  advance(): Token {
    const token = this.token;
    this.#index++;
    return token;
  }

  isWord(keyword: string, ahead = 0): boolean {
    return this.peek(ahead).keyword === keyword;
  }

  isSymbol(symbol: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'symbol' && token.text === symbol;
  }

  /** Steps over the keywords if the first is here; then the others must follow. */
  acceptWords(first: string, ...others: readonly string[]): boolean {
    if (!this.isWord(first)) {
      this.want([first, ...others].join(' '));
      return false;
    }
    this.#index++;
    for (const keyword of others) this.mustWord(keyword);
    return true;
  }

  acceptSymbol(symbol: string): boolean {
    if (this.isSymbol(symbol)) {
      this.#index++;
      return true;
    }
    this.want(`"${symbol}"`);
    return false;
  }

  mustWord(keyword: string): Token {
    if (this.isWord(keyword)) return this.advance();
    this.want(keyword);
    throw this.unexpected();
  }

  mustSymbol(symbol: string): Token {
    if (this.isSymbol(symbol)) return this.advance();
    this.want(`"${symbol}"`);
    throw this.unexpected();
  }

  /** Steps over one `>`, the first of a `>>` or `>=` too: they close types within types. */
  mustClosingAngle(): void {
    const { kind, text, span } = this.token;
    if (kind !== 'symbol' || !text.startsWith('>') || text === '>') {
      this.mustSymbol('>');
      return;
    }
    const { start, line, column } = span;
    this.#tokens.splice(
      this.#index,
      1,
      { kind, text: '>', keyword: '', span: { ...span, end: start + 1 } },
      {
        kind,
        text: text.slice(1),
        keyword: '',
        span: { start: start + 1, end: span.end, line, column: column + 1 },
      },
    );
    this.#index++;
  }

  mustEnd(): void {
    if (this.token.kind === 'end') return;
    this.want('the end of the query');
    throw this.unexpected();
  }

  /** A name where one has to stand: a word that is not reserved, or anything in backticks. */
  mustName(what = 'a name'): Name {
    const token = this.token;
    if (isName(token)) return this.#takeName();
    throw this.error(`expected ${what}; got ${this.describe(token)}${adviceOn(token)}`);
  }

  /** The name after a dot, where no word is reserved. */
  mustFieldName(): Name {
    const { kind } = this.token;
    if (kind === 'word' || kind === 'quoted') return this.#takeName();
    const got = `${this.describe(this.token)}${adviceOn(this.token)}`;
    throw this.error(`expected a name after "."; got ${got}`);
  }

  #takeName(): Name {
    const { span, text } = this.advance();
    return { span, text };
  }

  /** Notes something that would have been understood at the current token. */
  want(phrase: string): void {
    if (this.#wantedIndex !== this.#index) {
      this.#wanted = [];
      this.#wantedIndex = this.#index;
    }
    if (!this.#wanted.includes(phrase)) this.#wanted.push(phrase);
  }

  /** The error for a token that nothing asked for; names what was. */
  unexpected(): QueryError {
    const refused = findRefusal(this.token);
    if (refused !== undefined) return this.error(refused);
    const wanted = this.#wantedIndex === this.#index ? this.#wanted : [];
    const last = wanted.at(-1) ?? 'the end of the query';
    const list = wanted.length < 2 ? last : `${wanted.slice(0, -1).join(', ')} or ${last}`;
    return this.error(`expected ${list}; got ${this.describe(this.token)}`);
  }

  /** The error for a construct that GoogleSQL has and this parser has not. */
  unsupported(construct: string, span = this.token.span): QueryError {
    return this.error(refusal(construct), span);
  }

  error(message: string, span = this.token.span): QueryError {
    return new QueryError('invalid_sql', message, span);
  }

  /** The token as an error shows it: its first line, and not all of a long one. */
  describe(token: Token): string {
    if (token.kind === 'end') return 'the end of the query';
    const { start, end } = token.span;
    const shown = firstLine(this.#text.slice(start, Math.min(end, start + TOKEN_SHOWN_MAX)));
    return `"${shown}${start + shown.length < end ? '…' : ''}"`;
  }

  /** The span from `start` to the end of the last token stepped over. */
  spanFrom(start: Span): Span {
    const end = this.#tokens[this.#index - 1]?.span.end ?? start.end;
    return { start: start.start, end, line: start.line, column: start.column };
  }

  /** Called before every descent that the text alone could make endless; `leave` after it. */
  enter(): void {
    this.#depth++;
    if (this.#depth <= SQL_DEPTH_MAX) return;
    const message = `the query is nested deeper than ${SQL_DEPTH_MAX} levels (SQL_DEPTH_MAX)`;
    throw new QueryError('query_limit', message, this.token.span);
  }

  leave(): void {
    this.#depth--;
  }
}

/** What to do about a token where a name has to stand. PostgreSQL has names in double quotes. */
function adviceOn(token: Token): string {
  if (token.kind === 'string') return ', a text: names are written in backticks';
  return isReserved(token) ? ', a reserved word: write it in backticks' : '';
}

/** Characters of the text that an error repeats: enough to find the place. */
const TOKEN_SHOWN_MAX = 40;

/**
 * The refusal for a token that nothing asked for, if GoogleSQL begins a construct with it that the
 * parser has no form for, or PostgreSQL one that GoogleSQL writes otherwise; `undefined` if the token is simply out of place. To add a construct to
 * the language, take its line from here.
 */
function findRefusal(token: Token): string | undefined {
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
function refusal(construct: string, advice = ''): string {
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

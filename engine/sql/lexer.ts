import { must } from '../assert.ts';
import { QueryError, type Span } from '../query-error.ts';

type TokenKind =
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

/**
 * Cuts a text into tokens, one call at a time, so that the first error of a text is the one
 * reported. Each character is looked at a bounded number of times.
 *
 * Invariant: `#index` is the offset after the last token, and `#line` the line of its start.
 */
export class Lexer {
  readonly #text: string;
  readonly #lineStarts: readonly number[];
  #line = 0;
  #index = 0;
  #previous: Token | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#lineStarts = findLineStarts(text);
  }

  /** The next token; after the last one, the `end` token for ever. */
  next(): Token {
    this.#skipBlanks();
    const token = this.#read();
    this.#index = token.span.end;
    this.#previous = token;
    return token;
  }

  #read(): Token {
    const text = this.#text;
    const start = this.#index;
    if (start >= text.length) return this.#token('end', '', start);
    const code = text.charCodeAt(start);
    if (isWordPart(code) && this.#isAfterDot()) {
      const word = matchAt(WORD_AFTER_DOT, text, start);
      return this.#token('word', word, start + word.length);
    }
    if (isDigit(code) || (code === DOT && this.#startsFraction(start))) return this.#readNumber();
    if (isWordPart(code)) return this.#readWord();
    if (code === SINGLE_QUOTE || code === DOUBLE_QUOTE) return this.#readString(start, false);
    if (code === BACKTICK) {
      const quoted = readQuotedName(text, start, this.#errorAt);
      return this.#token('quoted', quoted.value, quoted.end);
    }
    if (code === AT) return this.#readParameter();
    return this.#readSymbol();
  }

  #readWord(): Token {
    const text = this.#text;
    const start = this.#index;
    const word = matchAt(WORD, text, start);
    const end = start + word.length;
    const follower = text.charCodeAt(end);
    if (follower === SINGLE_QUOTE || follower === DOUBLE_QUOTE) {
      const prefix = word.toLowerCase();
      if (prefix === 'r') return this.#readString(end, true);
      if (prefix === 'b') return this.#readBytes(end, false);
      if (prefix === 'rb' || prefix === 'br') return this.#readBytes(end, true);
    }
    return {
      kind: 'word',
      text: word,
      keyword: word.toUpperCase(),
      span: this.#span(start, end),
    };
  }

  /** `open` is the offset of the opening quote; a raw string's token begins at its `r`. */
  #readString(open: number, raw: boolean): Token {
    const quoted = readString(this.#text, open, raw, this.#errorAt);
    return this.#token('string', quoted.value, quoted.end);
  }

  #readBytes(open: number, raw: boolean): Token {
    const quoted = readBytes(this.#text, open, raw, this.#errorAt);
    return this.#token('bytes', quoted.value, quoted.end);
  }

  #readNumber(): Token {
    const text = this.#text;
    const start = this.#index;
    const hexadecimal = matchAt(HEXADECIMAL, text, start);
    const number = hexadecimal === '' ? matchAt(DECIMAL, text, start) : hexadecimal;
    const end = start + number.length;
    if (isWordPart(text.charCodeAt(end))) {
      const written = number + matchAt(WORD_AFTER_DOT, text, end);
      const message = `${quote(written)} is neither a number nor a name`;
      throw this.#errorAt(message, start, start + written.length);
    }
    const isInteger = hexadecimal !== '' || !/[.eE]/.test(number);
    return this.#token(isInteger ? 'integer' : 'float', number, end);
  }

  #readParameter(): Token {
    const start = this.#index;
    const name = matchAt(WORD, this.#text, start + 1);
    if (name !== '') return this.#token('parameter', name, start + 1 + name.length);
    const symbol = matchAt(SYMBOL, this.#text, start);
    if (symbol !== '') return this.#token('symbol', symbol, start + symbol.length);
    throw this.#errorAt('expected the name of a parameter after "@"', start, start + 1);
  }

  #readSymbol(): Token {
    const start = this.#index;
    const symbol = matchAt(SYMBOL, this.#text, start);
    if (symbol !== '') return this.#token('symbol', symbol, start + symbol.length);
    const character = String.fromCodePoint(this.#text.codePointAt(start) ?? 0);
    const message = `the character ${quote(character)} has no meaning outside quotes`;
    throw this.#errorAt(message, start, start + character.length);
  }

  #skipBlanks(): void {
    const text = this.#text;
    let at = this.#index;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (isBlank(code)) {
        at++;
      } else if (code === HASH || (code === DASH && text.charCodeAt(at + 1) === DASH)) {
        while (at < text.length && !isLineBreak(text.charCodeAt(at))) at++;
      } else if (code === SLASH && text.charCodeAt(at + 1) === STAR) {
        const close = text.indexOf('*/', at + 2);
        if (close < 0) throw this.#errorAt('this comment has no closing */', at, text.length);
        at = close + 2;
      } else {
        break;
      }
    }
    this.#index = at;
  }

  #isAfterDot(): boolean {
    return this.#previous?.kind === 'symbol' && this.#previous.text === '.';
  }

  /** Whether the dot at `start` begins a number: not where it can be the dot of a path. */
  #startsFraction(start: number): boolean {
    if (!isDigit(this.#text.charCodeAt(start + 1))) return false;
    const previous = this.#previous;
    if (previous === undefined) return true;
    if (previous.kind === 'symbol') return previous.text !== ')' && previous.text !== ']';
    return previous.kind !== 'parameter' && !isName(previous);
  }

  /** A token from the current offset to `end`. */
  #token(kind: TokenKind, text: string, end: number): Token {
    return { kind, text, keyword: '', span: this.#span(this.#index, end) };
  }

  #span(start: number, end: number): Span {
    const lineStarts = this.#lineStarts;
    while ((lineStarts[this.#line + 1] ?? Number.POSITIVE_INFINITY) <= start) this.#line++;
    const lineStart = must(lineStarts[this.#line], 'the line has a start');
    return { start, end, line: this.#line + 1, column: start - lineStart + 1 };
  }

  /** Only ever called for a place at or after the last token, as `#span` needs. */
  readonly #errorAt = (message: string, start: number, end: number): QueryError =>
    new QueryError('invalid_sql', message, this.#span(start, end));
}

const DOT = 0x2e;
const AT = 0x40;
const HASH = 0x23;
const DASH = 0x2d;
const SLASH = 0x2f;
const STAR = 0x2a;
const SINGLE_QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const BACKTICK = 0x60;

const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
/** After a dot a name may begin with a digit, and may be one: `logs.2`. */
const WORD_AFTER_DOT = /[A-Za-z0-9_]+/y;
const HEXADECIMAL = /0[xX][0-9A-Fa-f]+/y;
const DECIMAL = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
/** Longer symbols first; some are known only so that they can be refused by name. */
const SYMBOL = /<=|>=|<>|!=|<<|>>|\|\||\|>|::|=>|->|@@|@\{|[()[\],.;*/+\-=<>|&^~?%]/y;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function quote(text: string): string {
  return `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`;
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isPairStart = code === 0x0d && text.charCodeAt(at + 1) === 0x0a;
    if (isLineBreak(code) && !isPairStart) starts.push(at + 1);
  }
  return starts;
}

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

function isBlank(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return /\s/.test(String.fromCharCode(code));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isWordPart(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x5f || isDigit(code);
}

/** Makes the error for a stretch of the text, offsets half open. */
type ErrorAt = (message: string, start: number, end: number) => QueryError;

/** What stood between the quotes, escapes resolved, and the offset after the closing quote. */
type Quoted = { readonly value: string; readonly end: number };

/**
 * Reads a string whose opening quote stands at `open`: single or double quotes, or three of
 * either, which may span lines. In a raw string a backslash stands for itself.
 *
 * A doubled quote inside a one-line string stands for one quote. GoogleSQL refuses such text; other
 * dialects and the clients that speak them escape quotes in this way.
 */
export function readString(text: string, open: number, raw: boolean, error: ErrorAt): Quoted {
  const quote = text.charAt(open);
  const triple = text.startsWith(quote.repeat(3), open);
  const fence = triple ? quote.repeat(3) : quote;
  const doubling = !triple && !raw;
  return readQuoted({ text, open, fence, raw, doubling, what: 'string', escapes: ESCAPES, error });
}

/**
 * Reads bytes whose opening quote stands at `open`; what differs from a string is that escapes name
 * bytes, and that characters stand for the bytes of their UTF-8. The value has one character per byte.
 */
function readBytes(text: string, open: number, raw: boolean, error: ErrorAt): Quoted {
  const quote = text.charAt(open);
  const fence = text.startsWith(quote.repeat(3), open) ? quote.repeat(3) : quote;
  const escapes = BYTE_ESCAPES;
  const input = { text, open, fence, raw, doubling: false, what: 'literal', escapes, error };
  return readQuoted(input);
}

/** Reads a name whose opening backtick stands at `open`; it has the escapes of a string. */
export function readQuotedName(text: string, open: number, error: ErrorAt): Quoted {
  const rules = { raw: false, doubling: false, what: 'name', escapes: ESCAPES };
  const quoted = readQuoted({ text, open, fence: '`', ...rules, error });
  if (quoted.value === '') throw error('a name in backticks may not be empty', open, quoted.end);
  return quoted;
}

type QuotedInput = {
  readonly text: string;
  readonly open: number;
  /** The closing quotes, the same as the opening ones; three of them may enclose line breaks. */
  readonly fence: string;
  readonly raw: boolean;
  readonly doubling: boolean;
  readonly what: string;
  readonly escapes: Escapes;
  readonly error: ErrorAt;
};

function readQuoted(input: QuotedInput): Quoted {
  const { text, open, fence, raw, doubling, what, escapes, error } = input;
  const multiline = fence.length === 3;
  const quote = fence.charCodeAt(0);
  let value = '';
  let copied = open + fence.length;
  let at = copied;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH && raw) {
      // The character after it cannot close the string, yet a line break still ends the line.
      at += !multiline && isLineBreak(text.charCodeAt(at + 1)) ? 1 : 2;
    } else if (code === BACKSLASH) {
      const escaped = readEscape(text, at, escapes, error);
      value += escapes.plain(text.slice(copied, at)) + escaped.value;
      at = escaped.end;
      copied = at;
    } else if (code === quote && (!multiline || text.startsWith(fence, at))) {
      if (!doubling || text.charCodeAt(at + 1) !== quote) {
        return { value: value + escapes.plain(text.slice(copied, at)), end: at + fence.length };
      }
      value += text.slice(copied, at + 1);
      at += 2;
      copied = at;
    } else if (!multiline && isLineBreak(code)) {
      const advice = what !== 'name' ? '; one in three quotes may' : '';
      throw error(`this ${what} may not contain a line break${advice}`, open, at);
    } else {
      at++;
    }
  }
  throw error(`this ${what} has no closing ${fence}`, open, text.length);
}

const BACKSLASH = 0x5c;

function readEscape(text: string, at: number, escapes: Escapes, error: ErrorAt): Quoted {
  const letter = text.charAt(at + 1);
  const plain = PLAIN_ESCAPES.get(letter);
  if (plain !== undefined) return { value: plain, end: at + 2 };
  const numeric = escapes.numeric.get(letter);
  if (numeric === undefined) {
    const advice = 'write \\\\ for a backslash, or r before the opening quote';
    throw error(`unknown escape "\\${letter}": ${advice}`, at, Math.min(at + 2, text.length));
  }
  const { lead, digits, pattern, radix, codePointMax } = numeric;
  const start = at + 1 + lead;
  const end = Math.min(start + digits, text.length);
  const written = text.slice(start, end);
  const kind = radix === 8 ? 'octal' : 'hexadecimal';
  if (written.length < digits || !pattern.test(written)) {
    const form = text.slice(at, start);
    throw error(`the escape ${form} needs ${digits} ${kind} digits`, at, end);
  }
  const codePoint = Number.parseInt(written, radix);
  if (codePoint > codePointMax || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
    throw error(`the escape ${text.slice(at, end)} names no character`, at, end);
  }
  return { value: String.fromCodePoint(codePoint), end };
}

const PLAIN_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['?', '?'],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
]);

type NumericEscape = {
  /** Letters between the backslash and the digits. */
  readonly lead: number;
  readonly digits: number;
  readonly pattern: RegExp;
  readonly radix: 8 | 16;
  readonly codePointMax: number;
};

const HEX = /^[0-9A-Fa-f]+$/;
const HEX_BYTE: NumericEscape = {
  lead: 1,
  digits: 2,
  pattern: HEX,
  radix: 16,
  codePointMax: 0xff,
};
const OCTAL_BYTE: NumericEscape = {
  lead: 0,
  digits: 3,
  pattern: /^[0-7]+$/,
  radix: 8,
  codePointMax: 0xff,
};

const BYTE_NUMBERS: readonly (readonly [string, NumericEscape])[] = [
  ['x', HEX_BYTE],
  ['X', HEX_BYTE],
  ...[...'01234567'].map((digit): [string, NumericEscape] => [digit, OCTAL_BYTE]),
];

const CHARACTER_NUMBERS: readonly (readonly [string, NumericEscape])[] = [
  ['u', { lead: 1, digits: 4, pattern: HEX, radix: 16, codePointMax: 0xffff }],
  ['U', { lead: 1, digits: 8, pattern: HEX, radix: 16, codePointMax: 0x10ffff }],
];

/** What may stand behind a backslash, and what is made of the text between escapes. */
type Escapes = {
  readonly numeric: ReadonlyMap<string, NumericEscape>;
  readonly plain: (text: string) => string;
};

const ESCAPES: Escapes = {
  numeric: new Map([...BYTE_NUMBERS, ...CHARACTER_NUMBERS]),
  plain: (text) => text,
};

const BYTE_ESCAPES: Escapes = {
  numeric: new Map(BYTE_NUMBERS),
  plain: (text) => Buffer.from(text, 'utf8').toString('latin1'),
};

/**
 * The value of an integer token, negated when a minus stands before it: the sign belongs to the
 * literal, or the smallest INT64 could not be written. Beyond 64 bits is an error at `span`.
 */
export function integerValue(token: Token, sign: '' | '-', span: Span): bigint {
  const significant = token.text.replace(/^(?:0[xX])?0*/, '');
  const isHexadecimal = /^0[xX]/.test(token.text);
  // Both forms of 2^63 have at most 19 digits; more are not worth reading.
  if (significant.length <= DIGITS_MAX) {
    const magnitude = BigInt(
      `${isHexadecimal ? '0x' : ''}${significant === '' ? '0' : significant}`,
    );
    const value = sign === '-' ? -magnitude : magnitude;
    if (BigInt.asIntN(64, value) === value) return value;
  }
  const written = sign + token.text;
  const shown = written.length > 40 ? `${written.slice(0, 40)}…` : written;
  throw new QueryError('invalid_sql', `the integer ${shown} does not fit into INT64`, span);
}

const DIGITS_MAX = 19;

/** The value of a float token; a magnitude beyond FLOAT64 is an error. */
export function floatValue(token: Token): number {
  const value = Number(token.text);
  if (Number.isFinite(value)) return value;
  const shown = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
  throw new QueryError('invalid_sql', `the number ${shown} does not fit into FLOAT64`, token.span);
}

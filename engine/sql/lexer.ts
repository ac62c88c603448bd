import { must } from '../assert.ts';
import { QueryError, type Span } from '../query-error.ts';
import { readBytes, readQuotedName, readString } from './quoted-literal.ts';
import { isName, type Token, type TokenKind } from './token.ts';

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

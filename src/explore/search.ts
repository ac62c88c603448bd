import { caret } from '../../engine/columns.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import type { FieldPath } from './field-path.ts';

/** How a field is compared with a value. */
type FieldOperator = ':' | '=' | '<' | '<=' | '>' | '>=';

/** What a field is compared with. A number is a bare word that is written as one. */
export type SearchValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'regex'; readonly pattern: string }
  /** `*`: anything but null. */
  | { readonly kind: 'any' };

/** A condition of a search, and its place in the text: offsets, half open. */
export type SearchTerm = {
  readonly isNegated: boolean;
  readonly start: number;
  readonly end: number;
} & (
  | { readonly kind: 'message'; readonly value: Exclude<SearchValue, { kind: 'number' | 'any' }> }
  | {
      readonly kind: 'field';
      readonly path: FieldPath;
      readonly operator: FieldOperator;
      readonly value: SearchValue;
    }
);

/** The most characters of a search: it is parsed and planned on the main thread. */
export const SEARCH_LENGTH_MAX = 4_096;

/** The most conditions of a search: each becomes an expression of the query. */
export const SEARCH_TERMS_MAX = 100;

/**
 * Parses what people type into a search box. All conditions must hold together.
 *
 * | typed | means |
 * |---|---|
 * | `word`, `"two words"` | the message contains it, in upper or lower case |
 * | `/pattern/` | the message matches a regular expression (RE2) |
 * | `field:value`, `field:"two words"` | the field has this text, number or truth value |
 * | `field:/pattern/`, `field:*` | the field matches, or is there and not null |
 * | `field>500`, `<`, `>=`, `<=`, `=` | the field is a number so compared; a quoted value is compared as a text |
 * | `-` before any of these | it does not hold |
 *
 * A field is a path of keys between dots, or its end; odd keys stand in backticks. `*.key` is any field that ends so, if
 * there is one. In quotes and backticks, a backslash makes the
 * next character ordinary. A `/` begins a pattern only if the next `/` ends a word, so that a path such as `/rest/v1` is a
 * word.
 *
 * @throws ServiceError `invalid_parameter` with the place in the text.
 */
export function parseSearch(text: string): readonly SearchTerm[] {
  if (text.length > SEARCH_LENGTH_MAX) {
    const message = `search may have at most ${SEARCH_LENGTH_MAX} characters; got ${text.length}`;
    throw new ServiceError('invalid_parameter', message, { parameter: 'search' });
  }
  const reader = new SearchReader(text);
  const terms: SearchTerm[] = [];
  for (let term = reader.next(); term !== undefined; term = reader.next()) {
    terms.push(term);
    if (terms.length > SEARCH_TERMS_MAX) {
      throw searchError(text, `at most ${SEARCH_TERMS_MAX} conditions are allowed`, term);
    }
  }
  return terms;
}

/**
 * Parses the path of a field, alone.
 *
 * @throws ServiceError for anything else.
 */
export function parseFieldPath(name: string, text: string): FieldPath {
  const path = text.length > SEARCH_LENGTH_MAX ? undefined : new SearchReader(text).readPathAlone();
  if (path !== undefined) return path;
  const message = `${name} must be the path of a field, such as metadata.response.status_code; got ${echo(text)}`;
  throw new ServiceError('invalid_parameter', message, { parameter: name });
}

/** That a part of a search cannot be meant so. */
export function searchError(
  text: string,
  reason: string,
  { start, end }: { readonly start: number; readonly end: number },
): ServiceError {
  const before = text.slice(0, start).split('\n');
  const line = before.length;
  const column = before.at(-1)!.length + 1;
  return new ServiceError(
    'invalid_parameter',
    `search, ${line > 1 ? `line ${line}, ` : ''}character ${column}: ${reason}`,
    { parameter: 'search', line, column, caret: caret(text, { start, end, line, column }) },
  );
}

const SPACE = /\s/;
const OPERATOR = /^(?::|<=|>=|<|>|=)/;
/** Characters of a key without backticks. */
const KEY = /^[\p{L}\p{N}_@$][\p{L}\p{N}_@$-]*/u;
const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Reads one condition after another. */
class SearchReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next condition; `undefined` at the end. */
  next(): SearchTerm | undefined {
    while (this.#at < this.#text.length && SPACE.test(this.#text[this.#at]!)) this.#at += 1;
    const start = this.#at;
    if (start === this.#text.length) return undefined;
    const isNegated = this.#text[start] === '-' && !this.#isSpaceAt(start + 1);
    if (isNegated) this.#at += 1;
    const field = this.#readField();
    if (field === undefined) {
      const value = this.#readMessage();
      return { kind: 'message', value, isNegated, start, end: this.#at };
    }
    const { path, operator } = field;
    const value = this.#readValue(operator);
    return { kind: 'field', path, operator, value, isNegated, start, end: this.#at };
  }

  /** The whole text as a path; `undefined` if it is none. */
  readPathAlone(): FieldPath | undefined {
    const path = this.#readPath();
    return this.#at === this.#text.length ? path : undefined;
  }

  /** A path and an operator; nothing is read unless both are there. */
  #readField(): { readonly path: FieldPath; readonly operator: FieldOperator } | undefined {
    const start = this.#at;
    const isEnd = this.#text.startsWith('*.', start);
    if (isEnd) this.#at += 2;
    const path = this.#readPath();
    const operator = OPERATOR.exec(this.#text.slice(this.#at, this.#at + 2))?.[0];
    if (path === undefined || operator === undefined) {
      this.#at = start;
      return undefined;
    }
    this.#at += operator.length;
    const from = isEnd ? ['*', ...path] : path;
    return { path: from, operator: operator as FieldOperator };
  }

  /** Keys between dots; `undefined` if one is missing. */
  #readPath(): FieldPath | undefined {
    const path: string[] = [];
    do {
      const key = this.#readKey();
      if (key === undefined) return undefined;
      path.push(key);
    } while (this.#skip('.'));
    return path;
  }

  #readKey(): string | undefined {
    if (this.#text[this.#at] === '`') {
      const key = this.#readQuoted('`');
      if (key === '') throw this.#errorFrom(this.#at - 2, 'the name of a field may not be empty');
      return key;
    }
    const key = KEY.exec(this.#text.slice(this.#at))?.[0];
    this.#at += key?.length ?? 0;
    return key;
  }

  #readMessage(): Exclude<SearchValue, { kind: 'number' | 'any' }> {
    const start = this.#at;
    if (this.#text[start] === '"') {
      const text = this.#readQuoted('"');
      if (text === '') throw this.#errorFrom(start, 'a phrase may not be empty');
      this.#mustEndWord(start);
      return { kind: 'text', text };
    }
    return this.#readPattern() ?? { kind: 'text', text: this.#readWord() };
  }

  #readValue(operator: FieldOperator): SearchValue {
    const start = this.#at;
    if (this.#text[start] === '"') {
      const text = this.#readQuoted('"');
      this.#mustEndWord(start);
      return { kind: 'text', text };
    }
    const pattern = operator === ':' ? this.#readPattern() : undefined;
    if (pattern !== undefined) return pattern;
    const text = this.#readWord();
    if (text === '') {
      const reason = `a value must follow "${operator}"; write ${operator}"" for an empty text`;
      throw this.#errorFrom(start - operator.length, reason);
    }
    if (operator === ':') return text === '*' ? { kind: 'any' } : { kind: 'text', text };
    if (NUMBER.test(text)) return { kind: 'number', text };
    if (operator === '=') return { kind: 'text', text };
    const reason = `a number must follow "${operator}"; got ${echo(text)}. Put it in quotes to compare texts`;
    throw this.#errorFrom(start, reason);
  }

  /** `/pattern/`, if the next slash ends a word. */
  #readPattern(): { readonly kind: 'regex'; readonly pattern: string } | undefined {
    const start = this.#at;
    if (this.#text[start] !== '/') return undefined;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '/') {
      end += this.#text[end] === '\\' ? 2 : 1;
    }
    if (end >= this.#text.length || end === start + 1 || !this.#isSpaceAt(end + 1))
      return undefined;
    this.#at = end + 1;
    return { kind: 'regex', pattern: this.#text.slice(start + 1, end).replaceAll('\\/', '/') };
  }

  #readWord(): string {
    const start = this.#at;
    while (!this.#isSpaceAt(this.#at)) this.#at += 1;
    return this.#text.slice(start, this.#at);
  }

  #readQuoted(quote: '"' | '`'): string {
    const start = this.#at;
    let value = '';
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const character = this.#text[at]!;
      if (character === quote) {
        this.#at = at + 1;
        return value;
      }
      if (character === '\\' && at + 1 < this.#text.length) at += 1;
      value += this.#text[at];
    }
    this.#at = this.#text.length;
    throw this.#errorFrom(start, `a closing ${quote} is missing`);
  }

  #mustEndWord(start: number): void {
    if (this.#isSpaceAt(this.#at)) return;
    this.#readWord();
    throw this.#errorFrom(start, 'a space must follow the closing quote');
  }

  #skip(character: string): boolean {
    const isThere = this.#text[this.#at] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  /** Whether a word ends before this offset. */
  #isSpaceAt(at: number): boolean {
    return at >= this.#text.length || SPACE.test(this.#text[at]!);
  }

  #errorFrom(start: number, reason: string): ServiceError {
    return searchError(this.#text, reason, { start, end: Math.max(this.#at, start + 1) });
  }
}

import type { QueryError } from '../query-error.ts';

/** Makes the error for a stretch of the text, offsets half open. */
export type ErrorAt = (message: string, start: number, end: number) => QueryError;

/** What stood between the quotes, escapes resolved, and the offset after the closing quote. */
export type Quoted = { readonly value: string; readonly end: number };

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
export function readBytes(text: string, open: number, raw: boolean, error: ErrorAt): Quoted {
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

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

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

import { ByteNeedle } from '../../column/text-signature.ts';
import type { SqlValue } from '../../column/value.ts';
import { encodeWtf8, LONE_SURROGATE } from '../../column/wtf8.ts';
import { MADE_TEXT_LENGTH_MAX, SEARCHED_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { spendSteps } from '../work-meter.ts';

/**
 * The characters of a STRING are its code points: a surrogate pair is one. Those of BYTES are its
 * bytes.
 */
export function charactersOf(text: string): string[] {
  return [...text];
}

/** A part of a text keeps all of it in memory: one of a longer text is a text of its own. */
const SLICED_LENGTH_MAX = 1_024;

/** The characters [start, end) of a text, as far as it has them; `start` is at least 0. */
export function charactersBetween(text: string, start: number, end: number): string {
  if (text.length <= SLICED_LENGTH_MAX && !HIGH_SURROGATE.test(text)) return text.slice(start, end);
  return charactersOf(text).slice(start, end).join('');
}

/** Code points, not UTF-16 units: a surrogate pair counts once. */
export function characterCount(text: string): number {
  if (!HIGH_SURROGATE.test(text)) return text.length;
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    if (isLowSurrogate(text, index) && isHighSurrogate(text, index - 1)) count--;
  }
  return count;
}

/** Without the flag `u` each unit is looked at alone; V8 keeps Latin-1 in bytes, and knows at once that none of them is one. */
const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** The index of the UTF-16 unit at which character `position`, counted from 0, begins; the length beyond. */
export function unitOfCharacter(text: string, position: number): number {
  let unit = 0;
  for (let count = 0; count < position && unit < text.length; count++) {
    unit += isHighSurrogate(text, unit) && isLowSurrogate(text, unit + 1) ? 2 : 1;
  }
  return unit;
}

/** Whether the unit at `index` is the first half of a pair. */
export function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

/** What a function gives of a text, a number, by its bytes `bytes[start, end)` in WTF-8, which may be known to be ASCII. */
export type Measure = (bytes: Uint8Array, start: number, end: number, isAscii: boolean) => number;

/** Finds the part of a text that a function gives, by bytes in WTF-8. */
export interface PartFinder {
  /** Whether the text `bytes[from, to)` has one; `undefined`: only the text itself can tell. */
  find(bytes: Uint8Array, from: number, to: number): boolean | undefined;
  /** Where that is which was found last; -1 where it is NULL. */
  readonly start: number;
  readonly end: number;
}

/** Code points, of which each has one byte that continues no other. */
export function countCharacters(
  bytes: Uint8Array,
  start: number,
  end: number,
  isAscii: boolean,
): number {
  if (isAscii) return end - start;
  let count = 0;
  for (let at = start; at < end; at++) count += Number((bytes[at]! & 0xc0) !== 0x80);
  return count;
}

export function countBytes(_bytes: Uint8Array, start: number, end: number): number {
  return end - start;
}

/** What looks for a text that is not empty among bytes; `undefined` where it is not looked for so. */
export function needleOf(wanted: SqlValue): ByteNeedle | undefined {
  if (typeof wanted !== 'string' || wanted === '') return undefined;
  // Half a surrogate pair has no UTF-8 to look for.
  if (wanted.length > SEARCHED_TEXT_LENGTH_MAX || LONE_SURROGATE.test(wanted)) return undefined;
  return new ByteNeedle(new Uint8Array(encodeWtf8(wanted)));
}

/** STRPOS of a text; `undefined` where its bytes are not looked for. */
export function positionMeasure(wanted: SqlValue): Measure | undefined {
  const needle = needleOf(wanted);
  if (needle === undefined) return undefined;
  return (bytes, start, end, isAscii) => {
    const at = needle.find(bytes, start, end);
    return at < 0 ? 0 : countCharacters(bytes, start, at, isAscii) + 1;
  };
}

/**
 * Throws when a function would make a text of `length` characters that is too large, unless what it
 * was given is as large already: `givenLength`.
 */
export function checkTextSize(name: string, length: number, givenLength = 0): void {
  if (length <= MADE_TEXT_LENGTH_MAX || length <= givenLength) return;
  throw new QueryError(
    'query_limit',
    `${name} makes texts of at most ${MADE_TEXT_LENGTH_MAX} characters; got ${length}`,
  );
}

/**
 * Texts up to this length are looked for by V8, which compares each character of a text with at most all of these. It
 * takes the time of the product for long ones (`b` before a thousand `a`, in a million `a`), of which callers choose both.
 */
const SHORT_LENGTH_MAX = 64;

/** Where `wanted` stands in `text`, at `from` or behind it; -1 where it does not. Takes time linear in both. */
export function indexOfText(text: string, wanted: string, from = 0): number {
  if (wanted.length <= SHORT_LENGTH_MAX) return text.indexOf(wanted, from);
  for (const at of placesOf(text, wanted, from)) return at;
  return -1;
}

export function holdsText(text: string, wanted: string): boolean {
  return indexOfText(text, wanted) >= 0;
}

/** What stands between the places of `wanted`, which do not overlap: `text.split(wanted)`. */
export function splitText(text: string, wanted: string): readonly string[] {
  if (wanted.length <= SHORT_LENGTH_MAX) return text.split(wanted);
  const pieces: string[] = [];
  let end = 0;
  for (const at of placesOf(text, wanted)) {
    if (at < end) continue;
    pieces.push(text.slice(end, at));
    end = at + wanted.length;
  }
  return [...pieces, text.slice(end)];
}

/**
 * All places of a text that is not empty, in order; they may overlap (Knuth, Morris and Pratt, "Fast Pattern Matching
 * in Strings", SIAM Journal on Computing 6, 1977).
 */
export function* placesOf(text: string, wanted: string, from = 0): Generator<number> {
  spendSteps(wanted.length);
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (wanted.charCodeAt(matched) === unit) matched++;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = borders[matched - 1]!;
  }
}

/** Of each beginning of the text: how long the longest shorter one is that it also ends with. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (text.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}

/** A STRING as the BYTES of its UTF-8. */
export function bytesOfText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** BYTES as a buffer of as many bytes. */
export function bufferOfBytes(bytes: string): Buffer {
  return Buffer.from(bytes, 'latin1');
}

export function bytesOfBuffer(buffer: Uint8Array): string {
  return Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length).toString('latin1');
}

/** How the JSON of an answer shows BYTES, as BigQuery does. */
export function base64OfBytes(bytes: string): string {
  return bufferOfBytes(bytes).toString('base64');
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** BYTES as the STRING they are the UTF-8 of; throws when they are none. */
export function textOfBytes(bytes: string): string {
  try {
    return strictUtf8.decode(bufferOfBytes(bytes));
  } catch {
    const shown = bytes.slice(0, 32);
    const hex = bufferOfBytes(shown).toString('hex') + (shown === bytes ? '' : '…');
    throw new QueryError('query_failed', `BYTES are not UTF-8 and no STRING; got the bytes ${hex}`);
  }
}

/** Characters of UTF-8 (RFC 3629, section 4), or a single byte that begins none. */
const UTF8_PIECE =
  /[^\x80-\xff]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/** The same, each byte that is part of no character replaced by U+FFFD. */
export function lenientTextOfBytes(bytes: string): string {
  return bytes.replace(UTF8_PIECE, (piece) => {
    if (piece.length === 1) return piece <= '\x7f' ? piece : '\ufffd';
    return piece[0]! <= '\x7f' ? piece : bufferOfBytes(piece).toString('utf8');
  });
}

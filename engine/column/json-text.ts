import type { JsonWriter } from './json-writer.ts';
import { isSurrogateAt, threeByteUnit } from './wtf8.ts';

/**
 * Steps through JSON that is known to be valid, as bytes (WTF-8 within strings). Nothing here
 * recurses, so no depth of nesting is too deep.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
export const LIST_START = 0x5b;
const LIST_END = 0x5d;
export const MAP_START = 0x7b;
const MAP_END = 0x7d;
const SURROGATE_FIRST_BYTE = 0xed;

export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** The first byte after the string whose opening quote is at `start`. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The first byte after the value that begins at `start`. */
export function endOfValue(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first === LIST_START || first === MAP_START) return endOfContainer(bytes, start);
  let at = start;
  while (at < end && bytes[at]! > 0x20) {
    const byte = bytes[at];
    if (byte === COMMA || byte === LIST_END || byte === MAP_END) break;
    at++;
  }
  return at;
}

function endOfContainer(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      continue;
    }
    if (byte === LIST_START || byte === MAP_START) depth++;
    if (byte === LIST_END || byte === MAP_END) depth--;
    at++;
    if (depth === 0) return at;
  }
}

const IN_LIST = 0;
const IN_MAP = 1;
const IN_WRAPPED_MAP = 2;

/**
 * Copies the JSON value `bytes[start, end)`; each map that is a field's value becomes a list of one.
 * `isFieldValue`: whether the value itself is one.
 */
export function writeJsonText(
  out: JsonWriter,
  bytes: Uint8Array,
  start: number,
  end: number,
  isFieldValue: boolean,
): void {
  const containers: number[] = [];
  let copied = start;
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === LIST_START) {
      containers.push(IN_LIST);
      at++;
    } else if (byte === MAP_START) {
      const parent = containers.at(-1);
      const isWrapped = parent === undefined ? isFieldValue : parent !== IN_LIST;
      containers.push(isWrapped ? IN_WRAPPED_MAP : IN_MAP);
      if (isWrapped) {
        writeText(out, bytes, copied, at);
        out.raw('[');
        copied = at;
      }
      at++;
    } else if (byte === LIST_END || byte === MAP_END) {
      at++;
      if (containers.pop() === IN_WRAPPED_MAP) {
        writeText(out, bytes, copied, at);
        out.raw(']');
        copied = at;
      }
    } else {
      at++;
    }
  }
  writeText(out, bytes, copied, end);
}

/** Copies a piece of JSON; a lone surrogate in it becomes its escape, so that UTF-8 comes out. */
function writeText(out: JsonWriter, bytes: Uint8Array, start: number, end: number): void {
  let copied = start;
  for (let at = start; at < end; at++) {
    if (bytes[at] !== SURROGATE_FIRST_BYTE || !isSurrogateAt(bytes, at, end)) continue;
    out.rawBytes(bytes, copied, at);
    out.raw(`\\u${threeByteUnit(bytes, at).toString(16)}`);
    copied = at + 3;
  }
  out.rawBytes(bytes, copied, end);
}

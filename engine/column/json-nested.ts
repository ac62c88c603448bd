import type { JsonWriter } from './json-buffer.ts';
import {
  endOfString,
  endOfValue,
  LIST_START,
  MAP_START,
  skipSpace,
  writeJsonText,
} from './json-template.ts';
import { isElement, type SqlType } from './type.ts';
import type { Nested, SqlValue } from './value.ts';
import { decodeWtf8 } from './wtf8.ts';

const INTEGER_EXACT_MAX = 2 ** 53;

const COMMA = 0x2c;

/** A list or map kept as JSON text. Invariant: `bytes[start, end)` is one valid list or map. */
export class JsonNested implements Nested {
  readonly isList: boolean;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = skipSpace(bytes, start);
    this.#end = end;
    this.isList = bytes[this.#start] === LIST_START;
  }

  field(name: string): SqlValue {
    if (this.isList) {
      const record = this.#onlyRecord();
      return record === undefined ? null : record.field(name);
    }
    const lowerName = name.toLowerCase();
    let exact = -1;
    let similarKey: string | undefined;
    let similar = -1;
    for (const [key, at] of this.#members()) {
      if (key === name) {
        exact = at;
      } else if (similarKey === undefined ? key.toLowerCase() === lowerName : key === similarKey) {
        similarKey = key;
        similar = at;
      }
    }
    const found = exact >= 0 ? exact : similar;
    return found < 0 ? null : this.#value(found);
  }

  elements(): readonly SqlValue[] {
    if (!this.isList) return [this];
    return Array.from(this.#elementStarts(), (at) => this.#value(at));
  }

  writeJson(out: JsonWriter): void {
    writeJsonText(out, this.#bytes, this.#start, this.#end, false);
  }

  #onlyRecord(): JsonNested | undefined {
    let only = -1;
    for (const at of this.#elementStarts()) {
      if (only >= 0 || this.#bytes[at] !== MAP_START) return undefined;
      only = at;
    }
    return only < 0 ? undefined : (this.#value(only) as JsonNested);
  }

  /** Key and start of the value of each member, in order, duplicates included. */
  *#members(): Generator<[key: string, at: number]> {
    let at = skipSpace(this.#bytes, this.#start + 1);
    while (this.#bytes[at] === 0x22) {
      const keyEnd = endOfString(this.#bytes, at);
      const key = readString(this.#bytes, at, keyEnd);
      const colon = skipSpace(this.#bytes, keyEnd);
      const start = skipSpace(this.#bytes, colon + 1);
      yield [key, start];
      at = this.#afterValue(start);
    }
  }

  *#elementStarts(): Generator<number> {
    let at = skipSpace(this.#bytes, this.#start + 1);
    while (at < this.#end && this.#bytes[at] !== 0x5d) {
      yield at;
      at = this.#afterValue(at);
    }
  }

  /** The start of what follows the value at `start` and the comma after it. */
  #afterValue(start: number): number {
    const after = skipSpace(this.#bytes, endOfValue(this.#bytes, start, this.#end));
    return this.#bytes[after] === COMMA ? skipSpace(this.#bytes, after + 1) : after;
  }

  #value(at: number): SqlValue {
    return readJson(this.#bytes, at, endOfValue(this.#bytes, at, this.#end));
  }
}

/** The valid JSON value `bytes[start, end)`, without space around it. */
function readJson(bytes: Uint8Array, start: number, end: number): SqlValue {
  switch (bytes[start]) {
    case 0x22:
      return readString(bytes, start, end);
    case LIST_START:
    case MAP_START:
      return new JsonNested(bytes, start, end);
    case 0x74:
      return true;
    case 0x66:
      return false;
    case 0x6e:
      return null;
    default:
      return readNumber(decodeWtf8(bytes, start, end));
  }
}

/** A JSON number as SQL reads it; NULL when no double holds it (`1e999`). */
function readNumber(text: string): number | bigint | null {
  return /[.eE]/.test(text) ? readDouble(text) : readInteger(text);
}

/** Decimal digits, maybe with a minus: exact, in 64 bits or not, but NULL when no double is near. */
export function readInteger(digits: string): number | bigint | null {
  const near = Number(digits);
  if (Math.abs(near) < INTEGER_EXACT_MAX) return near;
  return Number.isFinite(near) ? BigInt(digits) : null;
}

function readDouble(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** The string between the quotes at `start` and before `end`. */
function readString(bytes: Uint8Array, start: number, end: number): string {
  const hasEscape = bytes.subarray(start, end).includes(0x5c);
  if (!hasEscape) return decodeWtf8(bytes, start + 1, end - 1);
  return JSON.parse(decodeWtf8(bytes, start, end)) as string;
}

/**
 * The record or list as JSON text, each map that is a field's value as a one-element list, as in
 * answers; the record itself as an object.
 */
export function nestedText(nested: Nested): string {
  const out = new JsonText();
  nested.writeJson(out);
  return out.text();
}

/** The same as an answer shows a value of the type: a record that was not taken out of a list as a list of one. */
export function shownText(nested: Nested, type: SqlType): string {
  const text = nestedText(nested);
  return nested.isList || isElement(type) ? text : `[${text}]`;
}

/** Gathers JSON as a string, for functions that compute with it. */
class JsonText implements JsonWriter {
  readonly #pieces: string[] = [];
  #size = 0;

  raw(text: string): void {
    this.#pieces.push(text);
    this.#size += text.length;
  }

  rawBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#pieces.push(decodeWtf8(bytes, start, end));
    this.#size += end - start;
  }

  string(text: string): void {
    const quoted = JSON.stringify(text);
    this.#pieces.push(quoted);
    this.#size += Buffer.byteLength(quoted);
  }

  stringBytes(bytes: Uint8Array, start: number, end: number): void {
    this.string(decodeWtf8(bytes, start, end));
  }

  get size(): number {
    return this.#size;
  }

  text(): string {
    return this.#pieces.join('');
  }
}

import type { JsonWriter } from '../../column/json-writer.ts';
import { isElement, type SqlType } from '../../column/type.ts';
import type { Nested } from '../../column/value.ts';

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
    this.#pieces.push(decodeText(bytes, start, end));
    this.#size += end - start;
  }

  string(text: string): void {
    const quoted = JSON.stringify(text);
    this.#pieces.push(quoted);
    this.#size += Buffer.byteLength(quoted);
  }

  stringBytes(bytes: Uint8Array, start: number, end: number): void {
    this.string(decodeText(bytes, start, end));
  }

  get size(): number {
    return this.#size;
  }

  text(): string {
    return this.#pieces.join('');
  }
}

/** UTF-8 as text, where a lone surrogate may stand as its three bytes. */
function decodeText(bytes: Uint8Array, start: number, end: number): string {
  const slice = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  let text = '';
  let done = 0;
  for (let at = slice.indexOf(0xed); at >= 0; at = slice.indexOf(0xed, at + 1)) {
    const second = slice[at + 1] as number;
    if (second < 0xa0) continue;
    // 1110.1101 10xx.xxxx 10xx.xxxx with the first x set: U+D800 to U+DFFF.
    const surrogate = 0xd000 | ((second & 0x3f) << 6) | ((slice[at + 2] as number) & 0x3f);
    text += slice.toString('utf8', done, at) + String.fromCharCode(surrogate);
    done = at + 3;
  }
  return done === 0 ? slice.toString('utf8') : text + slice.toString('utf8', done);
}

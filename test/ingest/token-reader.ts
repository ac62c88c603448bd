import { referenceLength, referenceOffset } from '../../engine/column/batch.ts';
import * as token from '../../engine/column/token.ts';
import { decodeWtf8 } from '../../engine/column/wtf8.ts';

/** What tokens and slots say, read slowly. A record is its entries, so that no key is special. */
export type Read = null | boolean | number | string | Record_ | readonly Read[];
type Record_ = { readonly entries: readonly (readonly [string, Read])[] };

export type TokenSource = {
  readonly bytes: Uint8Array;
  readonly keys: Float64Array;
  readonly tokens: Int32Array;
  readonly slots: Float64Array;
};

/** The string behind a reference; `null` for none. */
export function stringAt(bytes: Uint8Array, reference: number): string | null {
  if (reference < 0) return null;
  const start = referenceOffset(reference);
  return decodeWtf8(bytes, start, start + referenceLength(reference));
}

/** The root record at `at`, and that its header counts what follows. */
export function readRoot(source: TokenSource, at: number, slot: number): Read {
  const reader = new TokenReader(source, at, slot);
  return reader.value();
}

class TokenReader {
  readonly #source: TokenSource;
  #at: number;
  #slot: number;

  constructor(source: TokenSource, at: number, slot: number) {
    this.#source = source;
    this.#at = at;
    this.#slot = slot;
  }

  value(): Read {
    const kind = this.#source.tokens[this.#at++]! & token.KIND_MASK;
    switch (kind) {
      case token.NULL_KIND:
        return null;
      case token.FALSE_KIND:
        return false;
      case token.TRUE_KIND:
        return true;
      case token.EMPTY_LIST:
        return [];
      case token.INTEGER:
      case token.FLOAT:
        return this.#source.slots[this.#slot++]!;
      case token.BIG_INTEGER:
      case token.HUGE_NUMBER:
        return Number(this.#string());
      case token.TEXT:
        return this.#string();
      case token.JSON_TEXT:
        return readJson(JSON.parse(this.#string()));
      case token.RECORD:
        return { entries: this.#node((key) => [this.#key(key), this.value()] as const) };
      case token.RECORD_LIST:
        return this.#node((key) => {
          if (key !== 0) throw new Error(`an element has key ${key}`);
          return this.value();
        });
      default:
        throw new Error(`unknown kind ${kind}`);
    }
  }

  #node<T>(read: (key: number) => T): T[] {
    const { tokens } = this.#source;
    const end = this.#at + 2 + tokens[this.#at]!;
    const slotEnd = this.#slot + tokens[this.#at + 1]!;
    this.#at += 2;
    const items: T[] = [];
    while (this.#at < end) items.push(read(tokens[this.#at]! >>> token.KIND_BITS));
    if (this.#at !== end || this.#slot !== slotEnd) throw new Error('a header counts wrongly');
    return items;
  }

  #key(key: number): string {
    return stringAt(this.#source.bytes, this.#source.keys[key]!)!;
  }

  #string(): string {
    return stringAt(this.#source.bytes, this.#source.slots[this.#slot++]!)!;
  }
}

/** The same form for what `JSON.parse` gives. */
export function readJson(value: unknown): Read {
  if (Array.isArray(value)) return value.map(readJson);
  if (typeof value !== 'object' || value === null) return value as Read;
  return { entries: Object.entries(value).map(([key, item]) => [key, readJson(item)] as const) };
}

/** With the entries of records by key: JavaScript objects move keys that look like integers. */
export function sorted(value: Read): Read {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const { entries } = value as Record_;
  const inOrder = entries.map(([key, item]) => [key, sorted(item)] as const);
  return { entries: inOrder.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)) };
}

/** As plain objects, for tests that have nothing to say about order. */
export function plain(value: Read): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries((value as Record_).entries.map(([key, item]) => [key, plain(item)]));
}

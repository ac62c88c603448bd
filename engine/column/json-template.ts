import { TEMPLATE_BYTES_MAX } from '../limits.ts';
import { SizedCache } from './caches.ts';
import { JsonBuffer, type JsonWriter, numberText } from './json-buffer.ts';
import type { Skeletons, WrittenSlots } from './skeleton.ts';
import {
  EMPTY_LIST,
  endOfNode,
  FALSE_KIND,
  FLOAT,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  KIND_HAS_SLOT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  NULL_KIND,
  RECORD,
  RECORD_LIST,
  TEXT,
  TRUE_KIND,
} from './token.ts';
import { isSurrogateAt, threeByteUnit, type ViewedBytes, viewed } from './wtf8.ts';

/**
 * The JSON of one record or list, but for its slots: text before the first slot, between the slots,
 * and after the last. All rows of a skeleton share it. What every row of the segment has in a slot is
 * text too.
 */
export type JsonTemplate = {
  readonly text: ViewedBytes;
  /** Where the text before each slot ends, and last the text after them all. */
  readonly textEnds: Uint32Array;
  /** Kind of each slot. */
  readonly kinds: Uint8Array;
  /** Which of the slots of the record or list it is, ascending: not all are left. */
  readonly slots: Uint32Array;
};

/** The templates of this thread. Most shapes come back in each segment: one copy stays in the cache. */
const sharedTemplates = new SizedCache<string, JsonTemplate>(TEMPLATE_BYTES_MAX);

/**
 * The template of the record or list at `node`, which is itself no field's value; `place`: of its
 * first slot.
 */
export function compileTemplate(
  segment: { readonly skeletons: Skeletons; readonly store: WrittenSlots },
  node: number,
  place: number,
): JsonTemplate {
  const template = newTemplate(segment, node, place);
  const { text, kinds, slots } = template;
  const key = `${Buffer.from(text.bytes).toString('latin1')}\0${kinds.join()}\0${slots.join()}`;
  const shared = sharedTemplates.find(key);
  if (shared !== undefined) return shared;
  sharedTemplates.set(key, template, key.length + templateSize(template));
  return template;
}

/** Bytes of a template, about. */
export function templateSize({ text, kinds }: JsonTemplate): number {
  return text.bytes.length + 9 * kinds.length;
}

/** Writes one row by its template, the first of whose slots is at `place`. */
export function writeTemplate(
  template: JsonTemplate,
  store: WrittenSlots,
  row: number,
  place: number,
  out: JsonWriter,
): void {
  const { text, textEnds, kinds, slots } = template;
  let textStart = 0;
  for (let slot = 0; slot < kinds.length; slot++) {
    const textEnd = textEnds[slot]!;
    out.rawBytes(text.bytes, textStart, textEnd);
    textStart = textEnd;
    writeSlot(store, kinds[slot]!, row, place + slots[slot]!, out);
  }
  out.rawBytes(text.bytes, textStart, textEnds[kinds.length]!);
}

/** Writes one row without a template: what `compileTemplate` and `writeTemplate` give. */
export function writeNode(
  { skeletons, store }: { readonly skeletons: Skeletons; readonly store: WrittenSlots },
  { row, node, place }: { readonly row: number; readonly node: number; readonly place: number },
  out: JsonBuffer,
): void {
  new NodeWriter(skeletons, out, (kind, slot) => {
    writeSlot(store, kind, row, place + slot, out);
  }).value(node);
}

/** Writes one slot. */
export function writeSlot(
  store: WrittenSlots,
  kind: number,
  row: number,
  place: number,
  out: JsonWriter,
): void {
  if (kind === TEXT) {
    store.writeText(row, place, out);
  } else if (kind === INTEGER || kind === FLOAT) {
    out.raw(numberText(store.number(row, place)));
  } else {
    const { bytes, start, end } = store.verbatim(row, place);
    if (kind === JSON_TEXT) writeJsonText(out, bytes, start, end, true);
    else out.rawBytes(bytes, start, end);
  }
}

function newTemplate(
  { skeletons, store }: { readonly skeletons: Skeletons; readonly store: WrittenSlots },
  node: number,
  place: number,
): JsonTemplate {
  const out = new JsonBuffer();
  const textEnds: number[] = [];
  const kinds: number[] = [];
  const slots: number[] = [];
  new NodeWriter(skeletons, out, (kind, slot) => {
    if (store.writeConstant?.(place + slot, kind, out) === true) return;
    textEnds.push(out.size);
    kinds.push(kind);
    slots.push(slot);
  }).value(node);
  textEnds.push(out.size);
  // As many bytes more as a copy by words may read.
  out.raw('   ');
  return {
    text: viewed(out.take()),
    textEnds: Uint32Array.from(textEnds),
    kinds: Uint8Array.from(kinds),
    slots: Uint32Array.from(slots),
  };
}

/** Writes the JSON of a node, but for its slots. */
class NodeWriter {
  readonly #skeletons: Skeletons;
  readonly #out: JsonBuffer;
  readonly #writeSlot: (kind: number, slot: number) => void;
  #slotCount = 0;

  /** `writeSlot`: of a kind, and the number of the slot among those of the node. */
  constructor(
    skeletons: Skeletons,
    out: JsonBuffer,
    writeSlot: (kind: number, slot: number) => void,
  ) {
    this.#skeletons = skeletons;
    this.#out = out;
    this.#writeSlot = writeSlot;
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  value(node: number): void {
    const { tokens } = this.#skeletons.arrays;
    const kind = tokens[node]! & KIND_MASK;
    if (kind === RECORD) this.#record(node);
    else if (kind === RECORD_LIST) this.#list(node);
    else if (KIND_HAS_SLOT[kind]) this.#writeSlot(kind, this.#slotCount++);
    else this.#out.raw(literal(kind));
  }

  #list(node: number): void {
    const { tokens } = this.#skeletons.arrays;
    const end = endOfNode(tokens, node);
    let before = '[';
    for (let at = node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      this.#out.raw(before);
      this.#record(at);
      before = ',';
    }
    this.#out.raw(']');
  }

  #record(node: number): void {
    const { tokens, keys } = this.#skeletons.arrays;
    const end = endOfNode(tokens, node);
    this.#out.raw('{');
    let before = '';
    for (let at = node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
      const key = tokens[at]! >>> KIND_BITS;
      const isRecord = (tokens[at]! & KIND_MASK) === RECORD;
      this.#out.raw(before);
      this.#out.stringBytes(keys.bytes, keys.offsets[key]!, keys.offsets[key + 1]!);
      this.#out.raw(isRecord ? ':[' : ':');
      this.value(at);
      if (isRecord) this.#out.raw(']');
      before = ',';
    }
    this.#out.raw('}');
  }
}

function literal(kind: number): string {
  switch (kind) {
    case NULL_KIND:
      return 'null';
    case FALSE_KIND:
      return 'false';
    case TRUE_KIND:
      return 'true';
    case EMPTY_LIST:
      return '[]';
    default:
      throw new Error(`assertion failed: kind ${kind} has no slot`);
  }
}

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

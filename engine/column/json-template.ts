import { TEMPLATE_BYTES_MAX } from '../limits.ts';
import { JsonBuffer, numberText } from './json-buffer.ts';
import { writeJsonText } from './json-text.ts';
import type { JsonWriter } from './json-writer.ts';
// biome-ignore lint/suspicious/noImportCycles: a skeleton compiles templates that walk through it.
import { endOfNode, type Skeletons } from './skeleton.ts';
import type { WrittenSlots } from './slot-store.ts';
import {
  EMPTY_LIST,
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
import { type ViewedBytes, viewed } from './viewed-bytes.ts';

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
const sharedTemplates = new Map<string, JsonTemplate>();
let sharedBytes = 0;

/**
 * The template of the record or list at `node`, which is itself no field's value; `place`: of its
 * first slot.
 */
export function compileTemplate(
  segment: { readonly skeletons: Skeletons; readonly store: WrittenSlots },
  node: number,
  place: number,
): JsonTemplate {
  const compiler = new TemplateCompiler(segment.skeletons, segment.store, place);
  compiler.value(node);
  const template = compiler.template();
  const { text, kinds, slots } = template;
  const key = `${Buffer.from(text.bytes).toString('latin1')}\0${kinds.join()}\0${slots.join()}`;
  const shared = sharedTemplates.get(key);
  if (shared !== undefined) return shared;
  if (sharedBytes > TEMPLATE_BYTES_MAX) {
    sharedTemplates.clear();
    sharedBytes = 0;
  }
  sharedTemplates.set(key, template);
  sharedBytes += key.length + templateSize(template);
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

class TemplateCompiler {
  readonly #out = new JsonBuffer();
  readonly #textEnds: number[] = [];
  readonly #kinds: number[] = [];
  readonly #slots: number[] = [];
  readonly #skeletons: Skeletons;
  readonly #store: WrittenSlots;
  readonly #place: number;
  #slotCount = 0;

  /** `place`: of the first slot. */
  constructor(skeletons: Skeletons, store: WrittenSlots, place: number) {
    this.#skeletons = skeletons;
    this.#store = store;
    this.#place = place;
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  value(node: number): void {
    const { tokens } = this.#skeletons.arrays;
    const kind = tokens[node]! & KIND_MASK;
    if (kind === RECORD) this.#record(node);
    else if (kind === RECORD_LIST) this.#list(node);
    else if (KIND_HAS_SLOT[kind]) this.#slot(kind);
    else this.#out.raw(literal(kind));
  }

  template(): JsonTemplate {
    this.#textEnds.push(this.#out.size);
    // As many bytes more as a copy by words may read.
    this.#out.raw('   ');
    return {
      text: viewed(this.#out.take()),
      textEnds: Uint32Array.from(this.#textEnds),
      kinds: Uint8Array.from(this.#kinds),
      slots: Uint32Array.from(this.#slots),
    };
  }

  #slot(kind: number): void {
    const slot = this.#slotCount++;
    if (this.#store.writeConstant?.(this.#place + slot, kind, this.#out) === true) return;
    this.#textEnds.push(this.#out.size);
    this.#kinds.push(kind);
    this.#slots.push(slot);
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

import { JsonBuffer, numberText } from './json-buffer.ts';
import { writeJsonText } from './json-text.ts';
import type { JsonWriter } from './json-writer.ts';
import { endOfNode, type Skeletons } from './skeleton.ts';
import type { SlotStore } from './slot-store.ts';
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

/**
 * The JSON of one record or list, but for its slots: text before the first slot, between the slots,
 * and after the last. All rows of a skeleton share it.
 */
export type JsonTemplate = {
  readonly bytes: Uint8Array;
  /** Where the text before each slot ends, and last the text after them all. */
  readonly textEnds: Uint32Array;
  /** Kind of each slot. */
  readonly kinds: Uint8Array;
  /** Place of the first slot. */
  readonly place: number;
};

/** The template of the record or list at `node`, which is itself no field's value. */
export function compileTemplate(skeletons: Skeletons, node: number): JsonTemplate {
  const compiler = new TemplateCompiler(skeletons);
  compiler.value(node);
  return compiler.template(skeletons.place(node));
}

/** Writes one row by its template. */
export function writeTemplate(
  template: JsonTemplate,
  store: SlotStore,
  row: number,
  out: JsonWriter,
): void {
  const { bytes, textEnds, kinds } = template;
  let textStart = 0;
  for (let slot = 0; slot < kinds.length; slot++) {
    const textEnd = textEnds[slot]!;
    out.rawBytes(bytes, textStart, textEnd);
    textStart = textEnd;
    writeSlot(store, kinds[slot]!, row, template.place + slot, out);
  }
  out.rawBytes(bytes, textStart, bytes.length);
}

function writeSlot(
  store: SlotStore,
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
  readonly #skeletons: Skeletons;

  constructor(skeletons: Skeletons) {
    this.#skeletons = skeletons;
  }

  /** Recursion is bounded by RECORD_DEPTH_MAX: deeper records are no tokens. */
  value(node: number): void {
    const { tokens } = this.#skeletons.arrays;
    const kind = tokens[node]! & KIND_MASK;
    if (kind === RECORD) this.#record(node);
    else if (kind === RECORD_LIST) this.#list(node);
    else if (KIND_HAS_SLOT[kind]) {
      this.#textEnds.push(this.#out.size);
      this.#kinds.push(kind);
    } else this.#out.raw(literal(kind));
  }

  template(place: number): JsonTemplate {
    this.#textEnds.push(this.#out.size);
    return {
      bytes: this.#out.take(),
      textEnds: Uint32Array.from(this.#textEnds),
      kinds: Uint8Array.from(this.#kinds),
      place,
    };
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

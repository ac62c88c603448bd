import {
  KIND_BITS,
  must,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  stringReference,
  TEXT,
} from '../engine/columns.ts';
import type { BodyText } from './body-text.ts';
import { fieldKey, fieldKind, fieldSlotCount, fieldTokenCount } from './duplicate-key.ts';
import type { KeyTable } from './key-table.ts';
import { METADATA_KEY } from './known-key.ts';

type Records = { readonly tokens: Int32Array; readonly slots: Float64Array };

/** Tokens of a chain of records down to a text, and of a list of one record around it. */
const chainTokens = (length: number): number => (length - 1) * NODE_HEADER_SIZE + 1;
const LIST_TOKENS = 2 * NODE_HEADER_SIZE;

/** Room that stamping needs beside that of the original events: any record may be an element of metadata. */
export function stampRoom(
  path: readonly string[],
  { tokenCount, eventCount }: { readonly tokenCount: number; readonly eventCount: number },
): { readonly tokens: number; readonly slots: number } {
  const elements = Math.ceil(tokenCount / NODE_HEADER_SIZE) + eventCount;
  return {
    tokens: elements * chainTokens(path.length - 1) + eventCount * LIST_TOKENS,
    slots: elements,
  };
}

/**
 * Writes one project into every element of an event's metadata, at the path of the source's rule, replacing any project
 * that the event names. An event without metadata gets one element, which holds the project only.
 */
export class ProjectStamp {
  /** The end of the arrays that events are copied to. */
  tokenCount = 0;
  slotCount = 0;
  readonly #from: Records;
  readonly #to: Records;
  /** Keys of the path below `metadata`. */
  readonly #path: readonly number[];
  readonly #project: number;

  /** Must be created before any object that reads keys by number, because it may add keys. `path` begins with `metadata`. */
  constructor(
    {
      text,
      keys,
      from,
      to,
    }: {
      readonly text: BodyText;
      readonly keys: KeyTable;
      readonly from: Records;
      readonly to: Records;
    },
    path: readonly string[],
    project: string,
  ) {
    this.#from = from;
    this.#to = to;
    this.#path = path.slice(1).map((name) => keys.internName(name));
    this.#project = appendText(text, project);
  }

  /**
   * Copies the metadata at `at`, a record or a list of records, as a list. Returns false if a value on the path is not
   * a map; the event must be refused then.
   */
  copyMetadata(at: number, slot: number): boolean {
    const { tokens } = this.#from;
    const list = this.#begin((METADATA_KEY << KIND_BITS) | RECORD_LIST);
    const isList = fieldKind(tokens, at) === RECORD_LIST;
    const end = at + fieldTokenCount(tokens, at);
    let element = isList ? at + NODE_HEADER_SIZE : at;
    let elementSlot = slot;
    let isWhole = true;
    while (element < end) {
      isWhole = this.#copyRecord(RECORD, { at: element, slot: elementSlot, depth: 0 }) && isWhole;
      elementSlot += fieldSlotCount(tokens, element);
      element += fieldTokenCount(tokens, element);
    }
    this.#end(list);
    return isWhole;
  }

  makeMetadata(): void {
    const list = this.#begin((METADATA_KEY << KIND_BITS) | RECORD_LIST);
    const element = this.#begin(RECORD);
    this.#writeChain(0);
    this.#end(element);
    this.#end(list);
  }

  #copyRecord(
    token: number,
    { at, slot, depth }: { readonly at: number; readonly slot: number; readonly depth: number },
  ): boolean {
    const { tokens } = this.#from;
    const record = this.#begin(token);
    const end = at + fieldTokenCount(tokens, at);
    let fieldSlot = slot;
    let isWritten = false;
    let isWhole = true;
    for (let field = at + NODE_HEADER_SIZE; field < end; field += fieldTokenCount(tokens, field)) {
      const isOnPath = fieldKey(tokens, field) === this.#path[depth];
      if (!isOnPath) this.#copyNode(field, fieldSlot);
      else if (depth === this.#path.length - 1) this.#writeChain(depth);
      else if (fieldKind(tokens, field) !== RECORD) isWhole = false;
      else {
        const below = { at: field, slot: fieldSlot, depth: depth + 1 };
        isWhole = this.#copyRecord(tokens[field]!, below) && isWhole;
      }
      isWritten ||= isOnPath;
      fieldSlot += fieldSlotCount(tokens, field);
    }
    if (!isWritten) this.#writeChain(depth);
    this.#end(record);
    return isWhole;
  }

  /** Writes the rest of the path as nested records, with the project in the innermost one. */
  #writeChain(depth: number): void {
    const key = must(this.#path[depth], 'the rest of the path has a name') << KIND_BITS;
    if (depth === this.#path.length - 1) {
      this.#to.tokens[this.tokenCount++] = key | TEXT;
      this.#to.slots[this.slotCount++] = this.#project;
      return;
    }
    const record = this.#begin(key | RECORD);
    this.#writeChain(depth + 1);
    this.#end(record);
  }

  #copyNode(at: number, slot: number): void {
    const { tokens, slots } = this.#from;
    const tokenEnd = at + fieldTokenCount(tokens, at);
    const slotEnd = slot + fieldSlotCount(tokens, at);
    this.#to.tokens.set(tokens.subarray(at, tokenEnd), this.tokenCount);
    this.#to.slots.set(slots.subarray(slot, slotEnd), this.slotCount);
    this.tokenCount += tokenEnd - at;
    this.slotCount += slotEnd - slot;
  }

  /** Begins a node. Its header is written when it ends. */
  #begin(token: number): { readonly at: number; readonly slot: number } {
    const begun = { at: this.tokenCount, slot: this.slotCount };
    this.#to.tokens[begun.at] = token;
    this.tokenCount += NODE_HEADER_SIZE;
    return begun;
  }

  #end({ at, slot }: { readonly at: number; readonly slot: number }): void {
    this.#to.tokens[at + 1] = this.tokenCount - at - NODE_HEADER_SIZE;
    this.#to.tokens[at + 2] = this.slotCount - slot;
  }
}

/** Appends a string to the body's text. */
export function appendText(text: BodyText, added: string): number {
  const bytes = Buffer.from(added);
  const start = text.reserve(bytes.length);
  text.bytes.set(bytes, start);
  return stringReference(start, bytes.length);
}

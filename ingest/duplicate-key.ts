import {
  KIND_BITS,
  KIND_HAS_SLOT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
} from '../engine/columns.ts';

/** The position of one field of a record: half-open ranges of its tokens and slots. */
type Field = { tokenStart: number; tokenEnd: number; slotStart: number; slotEnd: number };

/**
 * Keeps the last of all fields with one key, at the position of the first. `tokens` and `slots` are the fields of one
 * record; the result is written to their beginnings. Time is linear in their length.
 */
export function dropDuplicates(
  tokens: Int32Array,
  slots: Float64Array,
): { tokenCount: number; slotCount: number } {
  const fields = new Map<number, Field>();
  let slot = 0;
  for (let at = 0; at < tokens.length; ) {
    const tokenCount = fieldTokenCount(tokens, at);
    const slotCount = fieldSlotCount(tokens, at);
    // A Map keeps a key at the position of its first insertion.
    fields.set(fieldKey(tokens, at), {
      tokenStart: at,
      tokenEnd: at + tokenCount,
      slotStart: slot,
      slotEnd: slot + slotCount,
    });
    at += tokenCount;
    slot += slotCount;
  }
  const tokensBefore = tokens.slice();
  const slotsBefore = slots.slice();
  let tokenCount = 0;
  let slotCount = 0;
  for (const field of fields.values()) {
    tokens.set(tokensBefore.subarray(field.tokenStart, field.tokenEnd), tokenCount);
    slots.set(slotsBefore.subarray(field.slotStart, field.slotEnd), slotCount);
    tokenCount += field.tokenEnd - field.tokenStart;
    slotCount += field.slotEnd - field.slotStart;
  }
  return { tokenCount, slotCount };
}

/** The key number of the field at `at`. */
export function fieldKey(tokens: Int32Array, at: number): number {
  return tokens[at]! >>> KIND_BITS;
}

/** The kind of the field or element at `at`. */
export function fieldKind(tokens: Int32Array, at: number): number {
  return tokens[at]! & KIND_MASK;
}

/** Number of tokens of the field or element at `at`, including its own. */
export function fieldTokenCount(tokens: Int32Array, at: number): number {
  const kind = fieldKind(tokens, at);
  return kind === RECORD || kind === RECORD_LIST ? NODE_HEADER_SIZE + tokens[at + 1]! : 1;
}

/** Number of slots of the field or element at `at`. */
export function fieldSlotCount(tokens: Int32Array, at: number): number {
  const kind = fieldKind(tokens, at);
  if (kind === RECORD || kind === RECORD_LIST) return tokens[at + 2]!;
  return KIND_HAS_SLOT[kind] ? 1 : 0;
}

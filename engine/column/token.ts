/**
 * The shape of one record as a run of tokens, its values apart from it in slots.
 *
 * An event's root record (its `metadata` and further top-level keys) is written in pre-order, one
 * 32-bit integer a token, `key << 4 | kind`; records and lists of records are followed by two more
 * integers so that a reader can step over them:
 *
 * ```
 *  scalar          RECORD or RECORD_LIST
 * ┌────────────┐  ┌────────────┬────────────────────┬───────────────────┬───────────────┐
 * │ key  │kind │  │ key  │kind │ integers that      │ slots of the      │ the fields,   │
 * │ 28b  │ 4b  │  │ 28b  │ 4b  │ follow in subtree  │ whole subtree     │ or RECORDs    │
 * └────────────┘  └────────────┴────────────────────┴───────────────────┴───────────────┘
 * ```
 *
 * `key` is an index into the keys of the batch or segment; elements of a RECORD_LIST and the root
 * have key 0 (which is also an ordinary key: only a position says which). Values stand in slots in
 * the same order; kinds that are their own value (NULL, TRUE, an empty list …) take no slot. Two
 * records of one *skeleton* (equal tokens) differ only in their slots, so a segment keeps each
 * distinct skeleton once. The number of its skeleton tells which fields an event has, of which kinds,
 * how long its lists are and in which order its keys came: what others store as presence bitmaps, type
 * tags and repetition levels.
 *
 * `metadata` is always a RECORD_LIST, or absent: a map becomes a list of one.
 */
export const KIND_BITS = 4;
export const KIND_MASK = 15;

export const NULL_KIND = 0;
export const FALSE_KIND = 1;
export const TRUE_KIND = 2;
export const EMPTY_LIST = 3;
/** Slot: an integer within ±(2^53 − 1). */
export const INTEGER = 4;
/** Slot: a string, the decimal digits of an integer beyond that, within 64 bits or not. */
export const BIG_INTEGER = 5;
/** Slot: a float, also an integral one beyond what the text of an integer gave (`1e3`). */
export const FLOAT = 6;
/** Slot: a string. */
export const TEXT = 7;
/**
 * Slot: a string that is JSON: a list other than of records (or of records only, but with more
 * levels than `RECORD_DEPTH_MAX`), or a record below that depth. Always a list or a map.
 */
export const JSON_TEXT = 8;
/** A map; also the empty one. */
export const RECORD = 9;
/** A list of one or more maps. */
export const RECORD_LIST = 10;
/** Slot: a string, the text of a number no double holds (`1e999`). SQL reads it as NULL. */
export const HUGE_NUMBER = 11;

/** Whether values of the kind take a slot; indexed by kind. */
export const KIND_HAS_SLOT: readonly boolean[] = [
  false,
  false,
  false,
  false,
  true,
  true,
  true,
  true,
  true,
  false,
  false,
  true,
];

/** Whether the slot is a string (else a number); indexed by kind. */
export const KIND_IS_STRING: readonly boolean[] = [
  false,
  false,
  false,
  false,
  false,
  true,
  false,
  true,
  true,
  false,
  false,
  true,
];

/** Integers before the first field or element of a RECORD or RECORD_LIST. */
export const NODE_HEADER_SIZE = 3;

/** Booleans and numbers: SQL reads them as texts where it wants texts (`READINGS`); indexed by kind. */
export const KIND_HAS_TEXT: readonly boolean[] = KIND_IS_STRING.map((_, kind) =>
  [FALSE_KIND, TRUE_KIND, INTEGER, BIG_INTEGER, FLOAT].includes(kind),
);

/** The position after a token and all that is below it. */
export function endOfNode(tokens: Int32Array, node: number): number {
  const kind = tokens[node]! & KIND_MASK;
  return kind === RECORD || kind === RECORD_LIST
    ? node + NODE_HEADER_SIZE + tokens[node + 1]!
    : node + 1;
}

/** Slots of a token and of all that is below it. */
export function slotCount(tokens: Int32Array, node: number): number {
  const kind = tokens[node]! & KIND_MASK;
  if (kind === RECORD || kind === RECORD_LIST) return tokens[node + 2]!;
  return KIND_HAS_SLOT[kind] ? 1 : 0;
}

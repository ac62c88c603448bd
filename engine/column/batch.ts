/**
 * The events of one POST with every decision made: decoded, admitted, stamped with id, time and
 * project key. It refers to nothing outside itself, so that it can be written to a log as it is and
 * appended to an open segment any time later with the same result.
 *
 * A *string reference* is one double, `offset * STRING_LENGTH_MAX + length`, into `bytes` (UTF-8;
 * a lone surrogate as its three bytes). Arrays are parallel, `rowCount` entries each, unless noted;
 * they may be longer than that.
 */
export type Batch = {
  readonly rowCount: number;
  readonly bytes: Uint8Array;
  /** Field names, as string references; tokens index into these. */
  readonly keys: Float64Array;
  readonly keyCount: number;
  /** Tokens of the root records, end to end (`token.ts`). */
  readonly tokens: Int32Array;
  /** Where the tokens of row `i` begin; `rowCount + 1` entries. */
  readonly tokenStarts: Uint32Array;
  /** Slots of the root records, end to end: numbers, or string references. */
  readonly slots: Float64Array;
  /** Where the slots of row `i` begin; `rowCount + 1` entries. */
  readonly slotStarts: Uint32Array;
  /** String references. */
  readonly ids: Float64Array;
  /** Microseconds since the epoch. */
  readonly timestampsUs: Float64Array;
  /** String references, or NO_STRING. */
  readonly messages: Float64Array;
  /** The declared column `project`: string references, or NO_STRING. */
  readonly projects: Float64Array;
  /** The project key by the source's rule: string references, NO_STRING, or MIXED_PROJECTS. */
  readonly projectKeys: Float64Array;
};

/** One more than the longest string of a batch. Where a body is decoded, an event of as many bytes is refused. */
export const STRING_LENGTH_MAX = 2 ** 24;

export const NO_STRING = -1;

/** The event's metadata elements name different projects. */
export const MIXED_PROJECTS = -2;

export function stringReference(offset: number, length: number): number {
  return offset * STRING_LENGTH_MAX + length;
}

export function referenceOffset(reference: number): number {
  return Math.floor(reference / STRING_LENGTH_MAX);
}

export function referenceLength(reference: number): number {
  // `%` of numbers beyond 32 bits is a call into the C library.
  return reference - referenceOffset(reference) * STRING_LENGTH_MAX;
}

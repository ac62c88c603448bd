import { assert } from '../engine/assert.ts';
import { STRING_LENGTH_MAX } from '../engine/column/batch.ts';

/** Every bound of taking logs in, each with what it guards. */

/** Bytes of a body after inflation: the interface promises senders this much. */
export const BODY_BYTES_MAX = 12_000_000;

/** Events of one body: each costs some 150 bytes of columns, however small its text is. */
export const BODY_EVENTS_MAX = 500_000;

/** Refused events that are named one by one; the rest is counted, so that the answer stays short. */
export const REFUSALS_LISTED_MAX = 100;

/** Bytes decoded before other work of the thread may run: about a millisecond. */
export const DECODE_SLICE_BYTES = 256 * 1024;

/** Tokens admitted before other work of the thread may run: some milliseconds. */
export const ADMIT_SLICE_TOKENS = 131_072;

/** Events appended before other work of the thread may run … */
export const APPEND_SLICE_ROWS = 2_000;

/** … or bytes of them, as wide events cost by size: a few milliseconds either way. */
export const APPEND_SLICE_BYTES = 1024 * 1024;

/** How far ahead of our clock a sender's may be: beyond, an event would stay "newest" for long. */
export const AHEAD_US_MAX = 3_600_000_000;

/** An open segment with rows is sealed at this age, so that a quiet source is compact, too. */
export const SEAL_AGE_US = 300_000_000;

/** Frozen segments waiting to be sealed, per source: beyond, sealing is behind and senders must wait. */
export const FROZEN_SEGMENTS_MAX = 4;

/** Bytes of batches waiting to be appended: the memory that a burst of senders may hold. */
export const QUEUE_BYTES_MAX = 128 * 1024 * 1024;

/** Characters of a source's name. */
export const SOURCE_NAME_LENGTH_MAX = 128;

assert(BODY_BYTES_MAX < STRING_LENGTH_MAX, 'a string reference can name a whole body');
assert(QUEUE_BYTES_MAX > 4 * BODY_BYTES_MAX, 'a single body never fills the queue');

/**
 * States that a segment has of those that it was made of, at most: to combine one takes the main thread some tenths of a
 * millisecond, and the calls in use have some dozens.
 */
export const INHERITED_STATES_MAX = 256;

/**
 * Rows of a segment from which their partial state is remembered: to look at fewer takes less than the
 * 50 µs after which a state of its own has paid for itself.
 */
export const REMEMBERED_ROWS_MIN = 4096;

/**
 * Whole sealed segments from which a run over few rows has one state of all of them: to look at a segment with
 * rows takes some 3 to 7 µs, however few they are, and to take in the state about as long.
 */
export const SMALL_STATE_SEGMENTS_MIN = 2;

/** Bytes of such a state at most: as many as 4,096 rows, `INLINE_ROWS_MAX`, give when nearly all are a group. */
export const SMALL_STATE_BYTES_MAX = 256 * 1024;

/**
 * Bytes of a partial state for each row that it stands for, at most, to be remembered: an entry of 6 bytes is
 * taken in in some 3 ns, a row looked at in 4 at best, and in twenty times that where groups are small.
 */
export const REMEMBERED_BYTES_PER_ROW_MAX = 4;

/**
 * Fragments known by calls whose states are made ahead, for all projects: each is one more look at each row of
 * the segments in use.
 */
export const FAMILIES_MAX = 32;

/** Calls, for any project, from which one counts as in use: a text that was sent once does not come again. */
export const FAMILY_CALLS_MIN = 2;

/** Projects, or patterns, of its last calls by which it is known that it is one that they differ in: some come again and again. */
export const FAMILY_ASKED_MAX = 8;

/**
 * How often calls must have asked for as much time as a segment holds before all of it is looked at for their sake: what
 * is made ahead costs no more than a few times what they have cost.
 */
export const PREPARED_LOOKS_MIN = 1 / 4;

/** The share of a segment's time that a call must ask for: of less there is little to be gained, whoever calls how often. */
export const PREPARED_OVERLAP_MIN = 1 / 64;

/** … where no part of the state can be used, so that a call must ask for all of the segment one day. */
export const PREPARED_WHOLE_OVERLAP_MIN = 1 / 8;

/** Segments in a row without a state worth keeping after which no more are made for a fragment. */
export const PREPARED_VAIN_MAX = 3;

/**
 * Prefixes of strings of a segment, such as the hosts of URLs, from which states of each are not made: twice as many as
 * there are projects on a large host. Beyond them, they tell little from much.
 */
export const PREFIXES_MAX = 4096;

/** … of all segments together that are known for a fragment: to try a pattern on each takes some 60 ns, a millisecond. */
export const PREFIXES_KNOWN_MAX = 16_384;

/**
 * Prefixes whose strings a pattern may match, at most, for it to be answered from their states: to combine these takes
 * some microseconds each, in each segment.
 */
export const PREFIXES_TOLD_MAX = 64;

/**
 * Rows of a segment from which small states of it are packed ahead, too, where projects are searched for in all rows: to
 * make two thousand takes a few tenths of a second, and what is smaller is soon merged.
 */
export const PACKED_SEGMENT_ROWS_MIN = 524_288;

/** Small states packed of one segment and one fragment: of a host with some thousand projects. */
export const PACKED_STATES_MAX = 4096;

/** Bytes of them together, at most: 1/64 of `REMEMBERED_BYTES_MAX`, so that those of many segments leave room. */
export const PACKED_STATES_BYTES_MAX = 1024 * 1024;

/** Bytes that may be remembered from which small states are packed: those of the segments of a week leave as much again. */
export const PACKED_MEMORY_MIN = 16 * PACKED_STATES_BYTES_MAX;

/** Bytes of a state from which it is no small one: it takes as long to take out of the pack as to make it again. */
export const PACKED_STATE_BYTES_MAX = 4096;

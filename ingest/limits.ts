import { assert } from '../engine/assert.ts';
import { STRING_LENGTH_MAX } from '../engine/column/batch.ts';

/** Every bound of taking logs in, each with what it guards. */

/** Bytes of a body after inflation: the interface promises senders this much. */
export const BODY_BYTES_MAX = 12_000_000;

/** Events of one body: each costs some 150 bytes of columns, however small its text is. */
export const BODY_EVENTS_MAX = 500_000;

/**
 * Keys and maps of one event, fifty times as many as Elasticsearch takes of a whole index: each new key costs the main
 * thread a microsecond and more, and an event is decoded and appended in one step.
 */
export const EVENT_FIELDS_MAX = 50_000;

/**
 * Actions of one bulk: each has an item in the answer, some 100 to 300 bytes. A body of as many documents with the
 * shortest actions has 100 bytes for each.
 */
export const BULK_ACTIONS_MAX = 100_000;

/** Characters of an action's name that is none of Elasticsearch's, in the item that refuses it. */
export const ACTION_ECHO_LENGTH_MAX = 32;

/** Characters of a source's name. */
export const SOURCE_NAME_LENGTH_MAX = 128;

/** Characters of an id that a bulk gives a document, as Elasticsearch has it in bytes: the answer repeats each. */
export const BULK_ID_LENGTH_MAX = 512;

/** Characters of an index's name that are looked at and repeated: more than a source's name has. */
export const BULK_INDEX_LENGTH_MAX = 2 * SOURCE_NAME_LENGTH_MAX;

/**
 * Bytes of all events of a body once they are written as ours. Some formats say once what holds for many
 * events (a resource, a stream's labels), and each event has it then: a body could grow by its square.
 */
export const TRANSLATED_BYTES_MAX = 4 * BODY_BYTES_MAX;

/** Levels of attributes within attributes that are read: each is a call within a call. */
export const ATTRIBUTE_DEPTH_MAX = 32;

/**
 * Bytes of a host in a URL that is put together: a name of DNS has 253 at most, a port 6 with its colon. A
 * longer text is none, and would make a small event large.
 */
export const HOST_LENGTH_MAX = 259;

/** Refused events that are named one by one; the rest is counted, so that the answer stays short. */
export const REFUSALS_LISTED_MAX = 100;

/** Characters of a project that the sentence about a refused event repeats. */
export const PROJECT_ECHO_LENGTH_MAX = 64;

/** Characters of a timestamp that the warning about it repeats: a header stays short. */
export const TIMESTAMP_ECHO_LENGTH_MAX = 40;

/** Bytes decoded before other work of the thread may run: about a millisecond. */
export const DECODE_SLICE_BYTES = 256 * 1024;

/** … and what each part of a body that is read, or refused, costs apart from its bytes, in bytes: some microseconds. */
export const DECODE_PART_BYTES = 256;

/**
 * Bytes from which a body is decoded in a thread of its own: one event may be all of a body, and is translated, decoded and
 * admitted in one step. The worst event below this size holds the main thread for some 50 ms; one of the longest body held
 * it for more than half a second. Usual batches are smaller: 500 full edge events have 1.6 MB, of which a fourth less was
 * taken in a second by way of the thread.
 */
export const DECODED_APART_BYTES_MIN = 2 * 1024 * 1024;

/** Items, and characters, of a part of a list that the decoding thread sends: the main thread reads a part in one step. */
export const LIST_PART_ITEMS = 1_000;
export const LIST_PART_CHARACTERS = 256 * 1024;

/** Tokens admitted before other work of the thread may run: some two milliseconds. */
export const ADMIT_SLICE_TOKENS = 32_768;

/** Events appended before other work of the thread may run … */
export const APPEND_SLICE_ROWS = 500;

/** … or bytes of them, as wide events cost by size: two to three milliseconds either way. */
export const APPEND_SLICE_BYTES = 512 * 1024;

/**
 * Milliseconds of one turn of the event loop that such slices may go by in: with the last of them, and garbage collected
 * meanwhile, a turn holds the thread for less than ten.
 */
export const LOOP_TURN_MS_MAX = 3;

/** How far ahead of our clock a sender's may be: beyond, an event would stay "newest" for long. */
export const AHEAD_US_MAX = 3_600_000_000;

/** An open segment with rows is sealed at this age, so that a quiet source is compact, too. */
export const SEAL_AGE_US = 300_000_000;

/** Frozen segments waiting to be sealed, per source: beyond, sealing is behind and senders must wait. */
export const FROZEN_SEGMENTS_MAX = 4;

/** … and from so many on sealing is urgent: it takes more of the threads, before senders must wait. */
export const FROZEN_SEGMENTS_URGENT = 3;

/** Bytes of batches waiting to be appended: the memory that a burst of senders may hold. */
export const QUEUE_BYTES_MAX = 128 * 1024 * 1024;

/** Bytes of arrays that bodies were decoded in and that are kept for the next ones … */
export const POOLED_BYTES_MAX = 32 * 1024 * 1024;
/** … none of them larger: large bodies are rare, and would take all of it. */
export const POOLED_BUFFER_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes written and synced together: more posts to a sync, until writing takes longer than syncing. */
export const LOG_GROUP_BYTES_MAX = 1024 * 1024;

/** A log file is followed by a new one at this size: the log is let go of by whole files. */
export const LOG_FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of a log file read at a time; a record that is longer is read in one piece. */
export const LOG_READ_BYTES = 4 * 1024 * 1024;

/** Bytes of a record that its header may tell: the longest body becomes a tenth of it. */
export const LOG_RECORD_BYTES_MAX = 1024 * 1024 * 1024;

/** Failed sealings that reading the log at a start puts up with while it waits for one to succeed. */
export const REPLAY_SEAL_FAILURES_MAX = 10;

/** Places of damage that are named one by one; the rest is counted. */
export const DAMAGES_LISTED_MAX = 100;

/**
 * Below these free bytes no more logs are taken in: what was taken in still has to be sealed, and
 * tokens to be written. Posts go on coming for a second after the last look.
 */
export const DISK_FREE_BYTES_LOW = 256 * 1024 * 1024;

/** … until there are these again: without a distance it would go on and off with every file. */
export const DISK_FREE_BYTES_ENOUGH = 320 * 1024 * 1024;

/** How often the owner of a lock shows that it lives. */
export const LOCK_BEAT_MS = 1_000;

/** How long a lock is watched whose owner cannot be looked for, before it is taken for dead. */
export const LOCK_WATCH_MS = 5_000;

/** How often it is looked at meanwhile. */
export const LOCK_LOOK_MS = 200;

assert(
  LOCK_WATCH_MS > 4 * LOCK_BEAT_MS,
  'an owner that is busy for a moment is not taken for dead',
);
assert(DISK_FREE_BYTES_ENOUGH > DISK_FREE_BYTES_LOW, 'posts resume above the mark they stop at');
assert(LOG_FILE_BYTES_MAX > 4 * LOG_GROUP_BYTES_MAX, 'a log file holds several groups');
/**
 * How far a clock may leap and still be trusted by retention: a machine is off for a night. A leap this long deletes
 * logs that much too early.
 */
export const CLOCK_AHEAD_US_MAX = 86_400_000_000;

/** How long a clock further away must run on before it is trusted: someone has seen it by then. */
export const CLOCK_HELD_US_MIN = 86_400_000_000;

/**
 * Time between two writes of the retention clock's state: as much of its wait is lost in a crash. Much longer,
 * and a service that crashes often never comes to the end of it.
 */
export const CLOCK_WRITE_MS = 60_000;

/** Bytes of sealed segments merged into one: a merge holds them and the result in memory. */
export const MERGE_BYTES_MAX = 256 * 1024 * 1024;

/** Rows of them: a merge takes some 60 bytes besides for each. */
export const MERGE_ROWS_MAX = 2_097_152;

/**
 * Segments of about one size merged at a time. A query over days looks at each of their segments, so few are worth writing
 * each row once more: of sixteen at a time there are 14 in the mean of a day of one segment in 5 minutes, of eight 9. A
 * query over the last hour looks at what is as old in the same segment, too: of four at a time, references of an hour
 * took two to four times as long. Such a day is written four to five times.
 */
export const MERGE_SEGMENTS_MIN = 8;

/**
 * Rows that come after those of their day were divided by project are divided with all others once they are more than one
 * in so many. Until then a project may be in two segments; of fewer, a day would be written anew for a few late rows.
 */
export const DIVIDED_LATE_PART = 8;

/** Ticks between two tries to merge what could not be: a merge takes seconds of a thread. */
export const MERGE_RETRY_TICKS_MAX = 600;

/** Time without rows from which a day's segments count as complete: few events come later, or a source is silent. */
export const PARTITION_QUIET_US = 2 * 3_600_000_000;

/**
 * Bytes of log from which the open segments that hold it up are sealed before they are old. A start
 * reads this much and what came until those were stored.
 */
export const LOG_BYTES_MAX = 512 * 1024 * 1024;

/** Segment files opened at a time when the service starts: each is a few short reads. */
export const SEGMENTS_OPENED_MAX = 32;

/** Looks at a folder of segments that changes meanwhile: a service changes it some times a minute. */
export const SEGMENT_LISTINGS_MAX = 20;

/** Times that a verification looks for files that took the place of others it could not read any more. */
export const VERIFICATION_ROUNDS_MAX = 5;

/** Damages that an inspection lists one by one; the rest is counted, as a log can have millions. */
export const FOLDER_DAMAGES_LISTED_MAX = 10_000;

/** The part of the memory that stored segments have, whatever else there is, where nothing else is said: queries must run. */
export const BLOCKS_SHARE_MIN = 1 / 8;

/**
 * The part of their memory that is left free when some of it had to be: looking for what may leave,
 * and copying what stays, is then worth it.
 */
export const EVICTION_SHARE = 1 / 16;

/**
 * Bytes of dropped segments that threads may go on holding while rows come in: collecting garbage
 * holds each of them up for some milliseconds, and senders with them. A full open segment is some 100 MB.
 */
export const GARBAGE_BYTES_MAX = 256 * 1024 * 1024;
/** … and while none do. */
export const GARBAGE_BYTES_QUIET = 32 * 1024 * 1024;

/** … and no more than this part of what they may take. */
export const GARBAGE_SHARE_MAX = 1 / 16;

/**
 * The part of the memory that events may take of which no file holds the rows yet, where nothing else is said. Beyond,
 * senders must wait: nothing of it can leave memory before it is written.
 */
export const BACKLOG_SHARE_MAX = 1 / 4;

/** The part of those bytes from which sealing is urgent: what is left is there while a segment is sealed. */
export const BACKLOG_SHARE_URGENT = 3 / 4;

/**
 * … and the part of it that open segments may: the largest is sealed then. Being sealed, it is there
 * twice, beside the next one; and a new one takes twice what it holds when it has just grown.
 */
export const OPEN_SHARE_MAX = 1 / 4;

/** … and the part that the segments of a merge may, and no more than the rest leaves free. */
export const MERGE_SHARE_MAX = 1 / 2;

/** Ticks to a step of the clock that tells what was used of late: the grain of what leaves first. */
export const USE_CLOCK_TICKS = 60;

/** Bytes copied from one buffer to another, or added to a checksum, before other work of the thread may run: some milliseconds. */
export const COPY_SLICE_BYTES = 4 * 1024 * 1024;

assert(BODY_BYTES_MAX < STRING_LENGTH_MAX, 'a string reference can name a whole body');
assert(QUEUE_BYTES_MAX > 2 * TRANSLATED_BYTES_MAX, 'a single body never fills the queue');
assert(3 * OPEN_SHARE_MAX < 1, 'rows can come while others are sealed');

/**
 * Bytes of a segment file that are synced together. The log shares the disk, and senders wait for its
 * syncs: behind 1 MiB for some milliseconds at most, behind a whole segment for a hundred.
 */
export const SYNC_BYTES_MAX = 1024 * 1024;

import { assert, QUERY_NICE, STRING_LENGTH_MAX } from '../engine/columns.ts';

/** All limits of ingestion, each with its reason. */

/** Bytes of a body after decompression; documented for senders. */
export const BODY_BYTES_MAX = 12_000_000;

/** Events of one body: each takes some 150 bytes of columns, however short its text. */
export const BODY_EVENTS_MAX = 500_000;

/**
 * Keys and maps of one event; Elasticsearch allows a fiftieth of it for a whole index. Each new key costs the main
 * thread about as much as a short event, and an event is decoded and appended in one step.
 */
export const EVENT_FIELDS_MAX = 50_000;

/**
 * Actions of one bulk: each has an item of 100 to 300 bytes in the answer. A body with this many of the shortest
 * actions has 100 bytes for each document.
 */
export const BULK_ACTIONS_MAX = 100_000;

/** Characters of an unknown action's name that its item in the answer repeats. */
export const ACTION_ECHO_LENGTH_MAX = 32;

/** Characters of a source's name. */
export const SOURCE_NAME_LENGTH_MAX = 128;

/** Characters of a document's id in a bulk; Elasticsearch has the same limit in bytes. The answer repeats each id. */
export const BULK_ID_LENGTH_MAX = 512;

/** Characters of an index's name that are read and repeated: more than a source's name may have. */
export const BULK_INDEX_LENGTH_MAX = 2 * SOURCE_NAME_LENGTH_MAX;

/** Tags of a Datadog log that are split: the text of all is kept, and a text of commas would become millions of keys. */
export const DATADOG_TAGS_MAX = 1_000;

/**
 * Bytes of all events of a body after translation to JSON. Some formats state once what applies to many events (a
 * resource, a stream's labels), and each translated event repeats it, so the size could grow quadratically.
 */
export const TRANSLATED_BYTES_MAX = 4 * BODY_BYTES_MAX;

/** Depth of nested attributes: each level is a recursive call. */
export const ATTRIBUTE_DEPTH_MAX = 32;

/**
 * Bytes of a host in a composed URL: a DNS name has at most 253, a port with its colon 6. A longer text is no host, and
 * would enlarge a small event.
 */
export const HOST_LENGTH_MAX = 259;

/** Refused events that are listed one by one; the others are counted, so that the answer stays short. */
export const REFUSALS_LISTED_MAX = 100;

/** Characters of a project that a refusal repeats. */
export const PROJECT_ECHO_LENGTH_MAX = 64;

/** Characters of a timestamp that a warning repeats, so that the header stays short. */
export const TIMESTAMP_ECHO_LENGTH_MAX = 40;

/** Bytes to decode before yielding to the event loop. */
export const DECODE_SLICE_BYTES = 256 * 1024;

/** The fixed cost of each part of a body that is read or refused, in bytes of DECODE_SLICE_BYTES. */
export const DECODE_PART_BYTES = 256;

/**
 * Bytes from which a body is decoded in the decoding thread. One event may be a whole body, and is translated, decoded
 * and admitted in one step, which would block the main thread. Usual batches are smaller (500 full edge events have 1.6
 * MB): the transfer from the thread would cost them a quarter of their throughput.
 */
export const DECODED_APART_BYTES_MIN = 2 * 1024 * 1024;

/**
 * The nice value of the decoding thread, counted from that of the main thread: that of threads of queries. Beside posts of
 * 60,000 keys and 20,000 casts, the p99 of small posts was 273 ms without this, and 121 with it.
 */
export const DECODING_NICE = QUERY_NICE;

/** Items and characters of one part of a list that the decoding thread sends. The main thread parses a part in one step. */
export const LIST_PART_ITEMS = 1_000;
export const LIST_PART_CHARACTERS = 256 * 1024;

/** Tokens to admit before yielding to the event loop. */
export const ADMIT_SLICE_TOKENS = 32_768;

/** Events to append before yielding to the event loop. */
export const APPEND_SLICE_ROWS = 500;

/** Bytes of events to append before yielding to the event loop: wide events cost by size. */
export const APPEND_SLICE_BYTES = 512 * 1024;

/**
 * Milliseconds of one turn of the event loop in which slices may run. With the last slice and a garbage collection, a
 * turn stays below 10 ms.
 */
export const LOOP_TURN_MS_MAX = 3;

/** How far a timestamp may be ahead of the server's clock. An event further ahead would stay the newest for long. */
export const AHEAD_US_MAX = 3_600_000_000;

/** Age at which an open segment with rows is sealed, so that a quiet source is stored compactly, too. */
export const SEAL_AGE_US = 300_000_000;

/** Frozen segments of one source that may wait to be sealed. Above it, sealing is behind and posts are refused. */
export const FROZEN_SEGMENTS_MAX = 4;

/** Frozen segments of one source from which sealing is urgent: it gets more threads, before posts are refused. */
export const FROZEN_SEGMENTS_URGENT = 3;

/** Bytes of batches in the append queue: the memory for a burst of posts. */
export const QUEUE_BYTES_MAX = 128 * 1024 * 1024;

/** Bytes of free decoding buffers that are kept for later bodies. */
export const POOLED_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of the largest buffer that is kept. Larger ones are rarely needed, and would fill the pool. */
export const POOLED_BUFFER_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Bytes that are written and synced together. A larger group has more posts per sync, until writing takes longer than
 * syncing.
 */
export const LOG_GROUP_BYTES_MAX = 1024 * 1024;

/** Bytes from which a new log file is begun. The log is trimmed by whole files. */
export const LOG_FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of a log file that are read at a time; a longer record is read in one piece. */
export const LOG_READ_BYTES = 4 * 1024 * 1024;

/** Bytes that a record's header may claim; a record of the longest body has a tenth of it. */
export const LOG_RECORD_BYTES_MAX = 1024 * 1024 * 1024;

/** Failed sealings during replay before the start fails. */
export const REPLAY_SEAL_FAILURES_MAX = 10;

/** Damaged places that are listed one by one; the others are counted. */
export const DAMAGES_LISTED_MAX = 100;

/**
 * Free bytes of the disk below which no more logs are accepted. Sealing and tokens still need room, and posts continue
 * until the next check, a second later.
 */
export const DISK_FREE_BYTES_LOW = 256 * 1024 * 1024;

/** Free bytes from which logs are accepted again. A distance between the two limits avoids switching with every file. */
export const DISK_FREE_BYTES_ENOUGH = 320 * 1024 * 1024;

/** Period of a lock owner's heartbeat. */
export const LOCK_BEAT_MS = 1_000;

/** How long a lock is watched before its owner is taken for dead, if the system cannot say whether it is alive. */
export const LOCK_WATCH_MS = 5_000;

/** Period at which a watched lock is read. */
export const LOCK_LOOK_MS = 200;

assert(
  LOCK_WATCH_MS > 4 * LOCK_BEAT_MS,
  'an owner that is busy for a moment is not taken for dead',
);
assert(DISK_FREE_BYTES_ENOUGH > DISK_FREE_BYTES_LOW, 'posts resume above the mark they stop at');
assert(LOG_FILE_BYTES_MAX > 4 * LOG_GROUP_BYTES_MAX, 'a log file holds several groups');
/**
 * How far a clock may leap and still be trusted by retention, such as after a night without power. A leap of this
 * length deletes logs that much too early.
 */
export const CLOCK_AHEAD_US_MAX = 86_400_000_000;

/** How long a clock that leapt further must run before it is trusted, so that an operator can notice it. */
export const CLOCK_HELD_US_MIN = 86_400_000_000;

/**
 * Period of writing the retention clock's state. A crash loses as much of its wait; with a much longer period, a
 * service that crashes often would never end the wait.
 */
export const CLOCK_WRITE_MS = 60_000;

/** Bytes of sealed segments that one merge takes: it holds them and the result in memory. */
export const MERGE_BYTES_MAX = 256 * 1024 * 1024;

/** Rows of one merge: each takes some 60 bytes besides. */
export const MERGE_ROWS_MAX = 2_097_152;

/**
 * Runs of similar size that are merged at a time. A query over days reads a segment of each run, so merging is worth
 * writing each row again. For a day with a segment every 5 minutes, the mean number of segments is 14 with sixteen at a
 * time and 9 with eight. With four at a time, a query over the last hour must search segments with many older rows. Such a
 * day is written four to five times.
 */
export const MERGE_RUNS_MIN = 8;

/**
 * How many times as many runs are merged at a time where their rows are divided. Each part reads some blocks of each column of
 * each run, however few of its rows it takes: a row of 65 runs takes 67 to 90 µs, of 16 it took 46. So merges that fell behind
 * would fall behind ever faster.
 */
export const DIVIDED_RUNS_FACTOR = 2;

/**
 * The divisor of a day's rows: rows that come after a day was divided by project are divided with the others once they
 * exceed this part. Until then, a project may be in two segments. A smaller part would rewrite a day for a few late
 * rows.
 */
export const DIVIDED_LATE_PART = 8;

/** Ticks between two attempts of a merge that failed: a merge takes seconds of a thread. */
export const MERGE_RETRY_TICKS_MAX = 600;

/** Time without new rows after which a day's segments count as complete: few events come later, or the source is silent. */
export const PARTITION_QUIET_US = 2 * 3_600_000_000;

/**
 * Bytes of the log from which the oldest open segments are sealed early. A start replays this much, and what came until
 * those were stored.
 */
export const LOG_BYTES_MAX = 512 * 1024 * 1024;

/** Segment files opened concurrently at a start; each needs a few short reads. */
export const SEGMENTS_OPENED_MAX = 32;

/** Attempts to list a folder of segments that changes meanwhile. A service changes it several times a minute. */
export const SEGMENT_LISTINGS_MAX = 20;

/** Rounds of a verification that look for the files that replaced unreadable ones. */
export const VERIFICATION_ROUNDS_MAX = 5;

/** Damages that an inspection lists one by one; the others are counted, because a log may have millions. */
export const FOLDER_DAMAGES_LISTED_MAX = 10_000;

/** Least share of the memory for stored segments, by default: queries need some to run. */
export const BLOCKS_SHARE_MIN = 1 / 8;

/**
 * Share of their memory that an eviction leaves free, so that its fixed cost, of choosing blocks and copying the rest,
 * pays off.
 */
export const EVICTION_SHARE = 1 / 16;

/**
 * Bytes of dropped segments that threads may hold while rows come in. Collecting garbage blocks each thread, and posts
 * with it. A full open segment has some 100 MB.
 */
export const GARBAGE_BYTES_MAX = 256 * 1024 * 1024;
/** Bytes of dropped segments that threads may hold while no rows come in. */
export const GARBAGE_BYTES_QUIET = 32 * 1024 * 1024;

/** Largest share of the memory of sealed segments that garbage may take. */
export const GARBAGE_SHARE_MAX = 1 / 8;

/**
 * Default share of the memory for events that no file holds yet. Above it, posts are refused: these rows cannot leave
 * memory before they are written.
 */
export const BACKLOG_SHARE_MAX = 1 / 4;

/**
 * Share of the backlog that open segments may take; above it, the largest is sealed. While it is sealed it exists
 * twice, beside its successor, and a segment that has just grown has twice the capacity that it uses.
 */
export const OPEN_SHARE_MAX = 1 / 4;

/** Share of the backlog that the segments of a merge may take. */
export const MERGE_SHARE_MAX = 1 / 2;

/**
 * Share of the backlog that one step of a merge takes where its rows can be divided by project. Sealing waits for a step
 * where it has no other thread, and blocks that queries need leave memory for it. Three steps in place of one take a
 * tenth more time, six a quarter.
 */
export const MERGE_STEP_SHARE = 1 / 8;

/** Least bytes of a step: each step reads again what the rows of all projects have in common. */
export const MERGE_STEP_BYTES_MIN = 16 * 1024 * 1024;

/**
 * Share of the memory of sealed segments that a merge may take where the backlog leaves less: queries visit each segment that
 * is not merged, and a lasting load may keep the backlog full for hours. A merge has its input and its result in memory, which
 * is up to twice this share; the rest is for the blocks that queries need. What does not fit is merged in several parts.
 */
export const MERGE_SEGMENTS_SHARE = 1 / 4;

/**
 * Share of the backlog from which sealing is urgent. The rest is what a merge takes: under a lasting load sealing keeps the
 * backlog at about this share, and merges would take memory from the blocks that queries need.
 */
export const BACKLOG_SHARE_URGENT = 1 - MERGE_SHARE_MAX;

/** Ticks of one step of the clock that records uses of blocks: the resolution of the eviction order. */
export const USE_CLOCK_TICKS = 60;

/** Bytes to copy or to checksum before yielding to the event loop. */
export const COPY_SLICE_BYTES = 4 * 1024 * 1024;

assert(BODY_BYTES_MAX < STRING_LENGTH_MAX, 'a string reference can name a whole body');
assert(QUEUE_BYTES_MAX > 2 * TRANSLATED_BYTES_MAX, 'a single body never fills the queue');
assert(3 * OPEN_SHARE_MAX < 1, 'rows can come while others are sealed');

/**
 * Bytes of a segment file that are synced together. The log is on the same disk, and posts wait for its syncs, each of
 * which waits for a sync under way.
 */
export const SYNC_BYTES_MAX = 1024 * 1024;

import {
  ANSWER_BYTES_MAX,
  assert,
  QUERIES_WAITING_MAX,
  QUERY_TIME_MS_MAX,
  STOP_MS_MAX,
} from '../engine/columns.ts';
import { BODY_BYTES_MAX, LOG_GROUP_BYTES_MAX } from '../ingest/limits.ts';

/** The limits that callers of the service can meet, each with its reason. */

/** Bytes of a body as received. Compressed bodies are hardly ever longer than their contents. */
export const BODY_WIRE_BYTES_MAX = BODY_BYTES_MAX + 65_536;

/**
 * Bytes of all posts that are being received or processed. One tenant may use half. A flood is
 * refused before it fills memory.
 */
export const BODIES_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Limits the bytes of held posts to what is processed in this time at the recent rate, so that
 * senders wait for a bounded time.
 */
export const BODIES_WAIT_MS_MAX = 2_000;

/** Bytes of held posts that are always allowed, however slow processing is, so that the longest body fits. */
export const BODIES_BYTES_MIN = 32 * 1024 * 1024;

/** Bytes of the bodies of all calls. They are short, and posts leave them room. */
export const CALL_BODIES_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes of the bodies of all calls with little memory: a tenant may send two of the longest. */
export const CALL_BODIES_BYTES_MIN = 5 * 1024 * 1024;

/**
 * Bytes of all decompression state: two of brotli's longest windows, or a hundred of gzip. More
 * would gain little, because few threads decompress. Waiting bodies are held compressed.
 */
export const INFLATERS_BYTES_MAX = 36 * 1024 * 1024;

/**
 * Milliseconds of one turn of the event loop in which work on posts and callers' SQL texts may begin; the rest waits
 * for the next turn. A small request waits for no more than this.
 */
export const WORK_TURN_MS_MAX = 2;

/**
 * Bytes of a body that is stored in parts from which a part is stored: half of a group of the log. Looking for the end of
 * a part takes some milliseconds of the main thread.
 */
export const PART_BYTES = LOG_GROUP_BYTES_MAX / 2;

/**
 * Bytes of small bodies that are processed at once: two groups of the log, so that the disk never
 * waits. Later bodies wait in a queue in which tenants take turns, instead of behind one tenant's
 * group in the log.
 */
export const SMALL_BODIES_BYTES_MAX = 2 * LOG_GROUP_BYTES_MAX;

/**
 * Bytes of small bodies of tenants that post at the same time, for each millisecond that a group of
 * the log takes: a quarter of what the main thread decodes in that time. More would delay the next
 * sender in the log.
 */
export const SHARED_BODIES_BYTES_PER_MS = 12 * 1024;

/**
 * Minimum for small bodies of tenants that post at the same time, in bytes: two bodies, so that one
 * is always ready to decode. More would delay the posts of others.
 */
export const SHARED_BODIES_BYTES_MIN = 80 * 1024;

/**
 * A tenant counts as flooding if at least this many of its bodies wait, and fewer of another
 * tenant's that posts at the same time.
 */
export const FLOOD_WAITING_MIN = 4;

/**
 * Bytes per millisecond that are decoded for a flooding tenant: a quarter of the main thread's
 * time.
 */
export const FLOOD_BYTES_PER_MS = 12 * 1024;

/** A tenant is alone if no other has posted for this long. */
export const RECENT_TENANTS_MS = 2_000;

/** Bytes from which a body is large. Few are processed at a time, because decoded they take up to ten times their size. */
export const LARGE_BODY_BYTES_MIN = 256 * 1024;

/** Bytes of large bodies that are processed at once; the others wait undecoded. */
export const LARGE_BODIES_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of a call's JSON body: parameters, possibly with a long SQL text. */
export const CALL_BODY_BYTES_MAX = 1_000_000;

/** Nesting depth of such a body. A map of parameters has depth 1; ignored members may be a few levels deeper. */
export const JSON_DEPTH_MAX = 32;

/**
 * Characters of a caller's SQL text: the length of the longest URL. Parsing and binding it blocks the main thread for
 * all callers.
 */
export const CALLER_SQL_LENGTH_MAX = 65_536;

/**
 * Bytes of a post that take the main thread about as long as binding or planning one character of
 * SQL.
 */
export const CALLER_SQL_CHARACTER_BYTES = 100;

/**
 * Bytes of a post that take the main thread about WORK_TURN_MS_MAX. After that much work, a long
 * text waits for another turn.
 */
export const CALLER_SQL_TURN_BYTES = 200 * 1024;

/**
 * SQL texts and posts of one token that wait for the main thread. Each text stays in memory until
 * its turn.
 */
export const CALLER_SQL_WAITING_MAX = 256;

/**
 * Bytes of the cache of callers' bound queries, in serialised form; as objects they take about four
 * times as much. A page's query takes about 10 KB.
 */
export const CALLER_QUERIES_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes that each cached query takes besides its serialised form. */
export const CALLER_QUERY_BYTES = 512;

/**
 * A post that would be refused temporarily waits for this time and is tried once more. The time is
 * shorter than any sender's time-out, and long enough that senders which retry at once leave the
 * main thread most of its time.
 */
export const REFUSAL_WAIT_MS = 4_000;

/** Posts that wait like this at once. Up to 64 KiB of each may have arrived with its headers. */
export const REFUSALS_WAITING_MAX = 1_000;

/**
 * Bytes up to which a refused body is read and its connection kept, which costs less than a new
 * connection. For a longer body, the answer announces that the connection closes, so that the
 * sender can stop.
 */
export const SHORT_BODY_BYTES_MAX = 256 * 1024;

/** Bytes of a refused body that are read and discarded before the connection is closed. */
export const DISCARD_BYTES_MAX = 2 * BODY_WIRE_BYTES_MAX;

/**
 * Growth of a thread's heap, in percent, before V8 collects all garbage. By default V8 lets a heap of 20 MB grow by a
 * third, which a steady stream of posts fills several times a second.
 */
export const HEAP_GROWING_PERCENT = 200;

/** Bytes of one request's headers, its URL among them. */
export const HEADERS_BYTES_MAX = 16 * 1024;

/**
 * Bytes of headers where readers send SQL in the URL: Studio's longest query, percent-encoded, and
 * room for cookies.
 */
export const HEADERS_WITH_SQL_BYTES_MAX = 64 * 1024;

/**
 * Characters of `filter_path`. Each item of a bulk's answer is compared with all of its paths; those of known senders
 * have a hundred characters.
 */
export const FILTER_PATH_LENGTH_MAX = 256;

/** Ranges of an `Accept` header that are read: browsers send ten at most, and some answers search them several times. */
export const ACCEPT_RANGES_MAX = 32;

/** Time for headers to arrive: they are one packet or a few. Limits how long a slow caller holds a connection. */
export const HEADERS_MS_MAX = 10_000;

/**
 * Time for a body to arrive, plus a second for each BODY_BYTES_PER_S_MIN received. It cuts off
 * senders that trickle bytes, but not those that send much data over a slow line.
 */
export const BODY_MS_MAX = 30_000;

/** The slowest line that is supported: some 130 kbit/s. */
export const BODY_BYTES_PER_S_MIN = 16 * 1024;

/** Time for a whole request, at any rate. 12 MB arrive in this time at 40 kB/s. */
export const REQUEST_MS_MAX = 300_000;

/**
 * Bytes of all answers that are being sent: four of the longest, of which one tenant may have two. Slow readers, and
 * many readers of long answers, hold their answers in memory.
 */
export const ANSWERS_BYTES_MAX = 4 * ANSWER_BYTES_MAX;

/**
 * Time over which the rate of a waiting answer is averaged. An answer below ANSWER_BYTES_PER_S_MIN is
 * given up, because it holds up to 64 MiB that other answers of its token need.
 */
export const ANSWER_MS_MAX = 30_000;

/**
 * The slowest rate at which an answer must be read; equal to that of posts. Operating systems
 * announce room in a slow reader's buffer only rarely (Linux after a sixteenth of it, up to 384
 * KiB), which must take less than ANSWER_MS_MAX.
 */
export const ANSWER_BYTES_PER_S_MIN = 16 * 1024;

/** Interval of the checks for slow callers. */
export const SLOW_LOOK_MS = 1_000;

/**
 * How long a refused connection stays open so that its caller can read the answer. Closing it while
 * bytes arrive would discard the answer. After this time the connection is closed.
 */
export const LINGER_MS = 2_000;

/** Longer than the idle time of common proxies, so that they close first and no call is lost. */
export const KEEP_ALIVE_MS = 75_000;

/** Connections at once; each costs some kilobytes and a file descriptor. */
export const CONNECTIONS_MAX = 10_000;

/** Connections of gRPC at once. Each costs more than one of HTTP/1, and is for many calls. */
export const GRPC_CONNECTIONS_MAX = 1_000;

/** Calls of one connection of gRPC at once. An exporter has a few; a collector has ten, or as it is configured. */
export const GRPC_STREAMS_MAX = 100;

/** Calls of gRPC at once: as many as there may be connections of HTTP. */
export const GRPC_CALLS_MAX = 10_000;

/**
 * Time to answer a call, including its waiting and parking. A run of the longest time can end while
 * another one runs beside it.
 */
export const QUERY_MS_MAX = 2 * QUERY_TIME_MS_MAX;

/** How long a command waits for a service: longer than the service's own time limit. */
export const COMMAND_MS_MAX = QUERY_MS_MAX + 5_000;

/** Lines that the prompt of `weir sql` remembers. */
export const SQL_HISTORY_MAX = 1_000;

/** Calls that run or wait at once; further ones are refused with Retry-After. */
export const CALLS_MAX = 512;

/** Callers that wait for runs that others began; each costs about a kilobyte. */
export const CALLERS_WAITING_MAX = 10_000;

/**
 * Default of `CACHE_LIMIT`, in bytes. It holds thousands of typical answers of some kilobytes and
 * is small beside the logs.
 */
export const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Cached answers. All of them are visited once a second, for expiry and renewal. */
export const CACHE_ENTRIES_MAX = 10_000;

/** An answer larger than this part of the cache is not cached, because it would evict most others. */
export const CACHE_ANSWER_PARTS = 8;

/**
 * Bytes that a cached answer takes besides its body and its key: objects, headers, entries in two
 * maps.
 */
export const CACHE_ENTRY_BYTES = 1_024;

/** Bytes of a caller's own bound query, which a cached answer keeps for its renewal. */
export const CACHE_CALLER_QUERY_BYTES = 64 * 1024;

/** A shorter body fits in one packet, so compressing it saves no time. */
export const COMPRESSED_BYTES_MIN = 1_400;

/**
 * Bytes of an answer that are converted to another format, CSV or NDJSON, before yielding to the
 * event loop. Each piece is one write to a connection.
 */
export const REWRITTEN_BYTES = 64 * 1024;

/** Followers at once: each holds a connection and up to one page of events. */
export const FOLLOWERS_MAX = 256;

/** Events read for followers at a time: usually some hundred kilobytes. */
export const FOLLOWED_PAGE_ROWS = 200;

/**
 * Minimum time between two notifications of followers about new events, in milliseconds, so that
 * one page serves all of them.
 */
export const FOLLOWED_PAUSE_MS = 25;

/** The longest silence on a follower's connection. Proxies close connections that look idle. */
export const HEARTBEAT_MS = 15_000;

/** After this time a follower must reconnect, and its token is checked again. */
export const FOLLOWING_MS_MAX = 3_600_000;

/** Delay after which a follower reconnects. */
export const FOLLOWER_RETRY_MS = 2_000;

/** The most events that a follower may request from the past. */
export const FOLLOWED_LAST_MAX = 10_000;

/**
 * Share of the time for renewals of cached answers, which run one after another. The rest is for
 * callers.
 */
export const RENEWAL_TIME_SHARE = 1 / 10;

/**
 * Milliseconds of renewal time that may accumulate, so that a quiet night is not followed by a long
 * series of renewals.
 */
export const RENEWAL_MS_SAVED_MAX = 1_000;

/**
 * A renewal begins at the latest when this fraction of `cache` is left, so an answer in use never
 * expires.
 */
export const RENEWAL_LEAD_PARTS = 10;

/** A failed renewal is retried after this fraction of the definition's `warm`. */
export const RENEWAL_RETRY_PARTS = 10;

/** The longest time of a stop. Container managers and upgrades wait for it. */
const STOP_SERVICE_MS_MAX = 5_000;

/**
 * How long running answers may continue after SIGTERM. Waiting calls are then refused with
 * Retry-After, because a query may take much longer.
 */
export const DRAIN_MS_MAX = 2_500;

/** How long answers that are being sent may then take before they are cut off. */
export const DRAIN_LAST_MS = 300;

/**
 * How long requests on queued or idle connections are still answered, with `Connection: close`.
 * Closing these connections at once would reset requests in flight.
 */
export const DRAIN_ACCEPT_MS = 250;

/**
 * How long sealing, writing and the ending of threads may take. Unfinished work is repeated at the
 * next start.
 */
export const CLOSE_MS_MAX = 1_000;

/** How long an idle connection may take to deliver a request that is in flight. */
export const DRAIN_SILENT_MS = 500;

/** Interval of the log store's ticks, at which it seals and expires segments. */
export const TICK_MS = 1_000;

/** Retry-After of temporary refusals, in seconds. */
export const RETRY_AFTER_S = 3;

/** Characters of a parameter's text that an error message shows. */
export const ECHO_LENGTH_MAX = 100;

/** The largest `max_rows` of a definition: an answer is built in memory. */
export const DEFINITION_ROWS_MAX = 100_000;

/** Rows of an answer where neither the definition nor the caller says how many. */
export const ROWS_MAX_DEFAULT = 1_000;

/** The longest `cache` of a definition: a week. */
export const CACHE_S_MAX = 604_800;

/** Bytes of a definition file. The SQL text in it has a lower limit. */
export const DEFINITION_BYTES_MAX = 1_048_576;

/** Bytes of a definition in a request. As JSON, its text contains escapes. */
export const DEFINITION_BODY_BYTES_MAX = 2 * DEFINITION_BYTES_MAX;

/** Definitions of one service. All are bound at the start and listed in one answer. */
export const DEFINITIONS_MAX = 1_000;

/** Tokens besides those of the settings. Each change rewrites all of them, about 300 bytes each. */
export const TOKENS_MAX = 10_000;

/**
 * Sources made over HTTP. Each has its own files for each day, its own metrics and, once it has
 * events, an open segment in memory of at least 300 KiB.
 */
export const SOURCES_MADE_MAX = 200;

/** Bytes of the description of a new source: a path into metadata. */
export const SOURCE_BODY_BYTES_MAX = 16 * 1024;

/**
 * Projects, sources or endpoints that a token is bound to. Each is part of the key of every plan
 * and kept answer.
 */
export const NARROWED_NAMES_MAX = 100;

/** Characters of a project key to which a token is bound. */
export const PROJECT_LENGTH_MAX = 256;

/** Bytes of the request for a new token: three lists of the longest names. */
export const TOKEN_BODY_BYTES_MAX = 512 * 1024;

/** Characters of a settings token below which the start warns: 16 random letters and digits cannot be guessed at any rate. */
export const TOKEN_LENGTH_SAFE = 16;

/**
 * Wrong tokens of one address within REFUSED_TOKENS_WINDOW_MS that are refused without delay: a
 * person's attempts, or a few senders.
 */
export const REFUSED_TOKENS_MAX = 20;

export const REFUSED_TOKENS_WINDOW_MS = 60_000;

/** Delay of later refusals within that time. */
export const REFUSED_TOKEN_WAIT_MS = 1_000;

/**
 * Delayed refusals at once, over all addresses. Each holds a connection. Further ones are refused
 * with Retry-After.
 */
export const REFUSED_TOKENS_WAITING_MAX = 100;

/** Addresses whose wrong tokens are counted; they take some megabytes. */
export const REFUSED_ADDRESSES_MAX = 10_000;

/** How far back the history of the service goes: for whoever looks after something went wrong. */
export const HISTORY_MS = 3_600_000;

/** A step of the history: 360 points make a chart as wide as a window. */
export const HISTORY_STEP_MS = 10_000;

/** Endpoints whose calls the history counts: some 5 KB each. */
export const HISTORY_ENDPOINTS_MAX = 1_000;

/** Senders whose posts are reported: some hundred bytes each. */
export const POST_REPORTS_MAX = 1_000;

/** How far an event's timestamp may be from its arrival before a report says so: the window of most queries. */
export const FAR_TIMESTAMP_MS = 3_600_000;

/** Characters of an event's id and project that a report shows; most ids are UUIDs. */
export const REPORTED_TEXT_LENGTH_MAX = 100;

/**
 * Interval at which the use of quotas is written to disk. A crash loses at most this much of it.
 */
export const QUOTA_WRITE_MS = 30_000;

/** Dependent definitions that the error of a refused change names. */
export const DEPENDENTS_TOLD_MAX = 5;

/** Milliseconds between two scans of ENDPOINTS_DIR. A scan reads the status of at most `DEFINITIONS_MAX` files. */
export const ENDPOINTS_LOOK_MS = 2_000;

/** Characters of the name of an endpoint, a parameter or a token. */
export const NAME_LENGTH_MAX = 128;

/**
 * Cached OpenAPI documents, one for each set of definitions that a token can see. A definition
 * takes about 2 KB of a document.
 */
export const OPENAPI_DOCUMENTS_MAX = 8;

/** Parameters of one definition. */
export const PARAMETERS_MAX = 100;

/**
 * Texts of one parameter whose parsed values are cached: more than the values that a dashboard uses
 * in turn.
 */
export const KNOWN_TEXTS_MAX = 1_000;

/**
 * Characters of such a text. Names, words and times are short, and the cache stays below a
 * megabyte.
 */
export const KNOWN_TEXT_LENGTH_MAX = 128;

/** Characters of one text in a log line. A path may have 64 KiB, a stack several thousand. */
export const LOG_TEXT_LENGTH_MAX = 8_192;

/** Milliseconds between two log lines about refusals of one kind. More would flood the log. */
export const LOG_REPEAT_MS = 1_000;

/**
 * Milliseconds between two stack traces of one place in the program. A sender may repeat a failing
 * post for ever, and a full disk fails every write.
 */
export const STACK_REPEAT_MS = 60_000;

/** Lines of one list in the output of weir inspect; --json has all. */
export const LINES_LISTED_MAX = 40;

/**
 * The number of differing lines up to which the shortest difference of two texts is computed, which
 * takes quadratic time. Above it, all lines are shown as removed and added.
 */
export const DIFF_LINES_MAX = 2_000;

assert(HEADERS_MS_MAX < REQUEST_MS_MAX, 'headers are a part of the request');
assert(
  HEADERS_MS_MAX + BODY_MS_MAX < REQUEST_MS_MAX,
  'a body has more time when it comes steadily',
);
assert(SLOW_LOOK_MS < HEADERS_MS_MAX / 4, 'who is too slow is found soon');
assert(QUERY_MS_MAX < REQUEST_MS_MAX, 'a call ends within the time of its request');
assert(
  BODIES_BYTES_MIN > 2 * BODY_WIRE_BYTES_MAX,
  'a tenant beside another may send the longest body',
);
assert(BODIES_BYTES_MAX > BODIES_BYTES_MIN, 'the bytes of bodies may grow');
assert(
  CALL_BODIES_BYTES_MAX > 4 * CALL_BODY_BYTES_MAX,
  'a tenant may send two of the longest calls',
);
assert(SMALL_BODIES_BYTES_MAX > 2 * LARGE_BODY_BYTES_MIN, 'small bodies share groups of the log');
assert(LARGE_BODIES_BYTES_MAX > 2 * BODY_BYTES_MAX, 'one of the longest bodies stops no other');
assert(CALL_BODY_BYTES_MAX <= BODY_BYTES_MAX, 'a call is no longer than a post');
assert(
  DRAIN_MS_MAX + DRAIN_LAST_MS + CLOSE_MS_MAX < STOP_SERVICE_MS_MAX,
  'all steps of a stop have their time',
);
assert(
  DRAIN_ACCEPT_MS < DRAIN_SILENT_MS,
  'what is on its way is taken before silent connections go',
);
assert(CALLS_MAX < CALLERS_WAITING_MAX, 'who begins a run may wait for it');
assert(QUERY_MS_MAX > QUERY_TIME_MS_MAX + STOP_MS_MAX, 'a run is ended before its caller gives up');
assert(QUERIES_WAITING_MAX < CALLS_MAX, 'calls that run have a place beside those that wait');

/**
 * Milliseconds for which `/health` reports lost worker threads: several checks of a monitoring
 * system.
 */
export const WORKERS_LOST_LATELY_MS = 300_000;

/** The most rows of a list of `POST /api/explore`: a page of a list that goes on. */
export const EXPLORE_ROWS_MAX = 1_000;

/** The most buckets that may be asked for: a chart has no more pixels than some thousands. */
export const EXPLORE_BUCKETS_MAX = 1_000;

/** Bars of a histogram and of its series: some more buckets than were asked for, and 12 series in each. */
export const EXPLORE_HISTOGRAM_ROWS_MAX = 50_000;

/**
 * The most bytes of rows in one line of an explore answer, unless a single row has more: a browser parses a line at once,
 * and nothing else runs meanwhile. Most pages of rows are one line.
 */
export const EXPLORE_ROWS_LINE_BYTES = 262_144;

/** The most characters of a condition beside a search. */
export const EXPLORE_WHERE_LENGTH_MAX = 16_384;

/** The largest body of `POST /api/explore` and of a download ticket: a condition, a search and a cursor, or a query. */
export const EXPLORE_BODY_BYTES_MAX = 131_072;

/** Milliseconds for which a download ticket is valid. A browser follows an address at once, also over a slow line. */
export const TICKET_MS_MAX = 60_000;

/** Open download tickets of one token. A person starts a few downloads at once; more would be a program, which has its token. */
export const TICKETS_OF_TOKEN_MAX = 16;

/** Open download tickets in all. Each holds a request of up to EXPLORE_BODY_BYTES_MAX: together 16 MB. */
export const TICKETS_MAX = 128;

/** Milliseconds for which the end of a download is known: a page that is not looked at asks once a minute or less. */
export const ENDED_DOWNLOAD_MS_MAX = 600_000;

/** Ends of downloads that are known. The oldest one is forgotten for another. */
export const ENDED_DOWNLOADS_MAX = 512;

/**
 * Rows of a page of a download. Each page scans once, so many pages would scan often; a page of usual events is some
 * megabytes.
 */
export const DOWNLOAD_PAGE_ROWS = 5_000;

/** A page of a download that has fewer bytes is followed by a larger one, up to DOWNLOAD_PAGE_ROWS: the memory of answers has room for it. */
export const DOWNLOAD_PAGE_BYTES = 4 * 1024 * 1024;

/** Ids of one question of a Splunk sender for acknowledgements: those of some seconds with a thousand posts each. */
export const ACKS_MAX = 10_000;

/** The largest such question: each id has at most 16 digits. */
export const ACKS_BYTES_MAX = 24 * ACKS_MAX;

import { assert } from '../engine/assert.ts';
import {
  ANSWER_BYTES_MAX,
  QUERIES_WAITING_MAX,
  QUERY_TIME_MS_MAX,
  STOP_MS_MAX,
} from '../engine/limits.ts';
import { BODY_BYTES_MAX, LOG_GROUP_BYTES_MAX } from '../ingest/limits.ts';

/** Every bound of the service's doors, each with what it guards. */

/** A body's bytes as they arrive: a compressed body is hardly ever longer than what it holds. */
export const BODY_WIRE_BYTES_MAX = BODY_BYTES_MAX + 65_536;

/**
 * Bytes of all posts being received or worked on at once, of which one tenant has half: a flood is refused before it
 * is memory …
 */
export const BODIES_BYTES_MAX = 128 * 1024 * 1024;

/** … and no more than are worked on in this time, as it went of late: senders do not wait for ever … */
export const BODIES_WAIT_MS_MAX = 2_000;

/** … but these however slow it goes, so that the longest body can come at all. */
export const BODIES_BYTES_MIN = 32 * 1024 * 1024;

/** … and of all bodies of calls: these are short, and posts leave them room … */
export const CALL_BODIES_BYTES_MAX = 16 * 1024 * 1024;

/** … with little memory, too: a tenant may send two of the longest calls. */
export const CALL_BODIES_BYTES_MIN = 5 * 1024 * 1024;

/**
 * Bytes of what bodies are inflated with, all of them at once: two of brotli's longest windows, or a hundred of gzip. More
 * than a few gain nothing, as few threads do it; those that wait are held as they came.
 */
export const INFLATERS_BYTES_MAX = 36 * 1024 * 1024;

/**
 * Milliseconds of one turn of the event loop that may go by in beginning to work on posts and callers' SQL texts; the
 * rest waits for the next. Whoever asks for something small waits for no more of them.
 */
export const WORK_TURN_MS_MAX = 2;

/**
 * Bytes of small bodies that are worked on at once: as many as are being written to the log and come next, so that the disk
 * never waits. What comes later waits where tenants take turns, and not behind all of one in the log.
 */
export const SMALL_BODIES_BYTES_MAX = 2 * LOG_GROUP_BYTES_MAX;

/**
 * … of tenants who post at the same time, for each millisecond that the log takes for a group: a quarter of what the main
 * thread decodes meanwhile. More would lie in the log before whoever comes next …
 */
export const SHARED_BODIES_BYTES_PER_MS = 12 * 1024;

/**
 * … but these at least: two small bodies, so that there is always one to decode. With 256 KiB, posts of others took half
 * as long again.
 */
export const SHARED_BODIES_BYTES_MIN = 80 * 1024;

/** A tenant floods when at least so many of its bodies wait, while fewer do of another that posts at the same time. */
export const FLOOD_WAITING_MIN = 4;

/** … and may then have so many bytes a millisecond decoded: a quarter of the main thread's time, some 30,000 events a second. */
export const FLOOD_BYTES_PER_MS = 12 * 1024;

/** A tenant is alone when no other has posted for so long. */
export const COMPANY_MS = 2_000;

/** Bodies from this size on are worked on only a few at a time: decoded, they take up to ten times it. */
export const LARGE_BODY_BYTES_MIN = 256 * 1024;

/** … as many as have these bytes together; the others wait as they came. */
export const LARGE_BODIES_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of a call's JSON body: parameters, a long SQL text among them. */
export const CALL_BODY_BYTES_MAX = 1_000_000;

/** Levels of such a body: a map of parameters has one, and what nobody reads of it a few more. */
export const JSON_DEPTH_MAX = 32;

/**
 * Characters of the SQL text a caller brings: as long as a URL may ever be. Parsing and binding it takes
 * the main thread, from all other callers, too.
 */
export const CALLER_SQL_LENGTH_MAX = 65_536;

/** Bytes of a post that take the main thread about as long as binding or planning a character of such a text. */
export const CALLER_SQL_CHARACTER_BYTES = 100;

/** … and of one that take it about as long as WORK_TURN_MS_MAX, after which the work on a long text waits for its next turn. */
export const CALLER_SQL_TURN_BYTES = 200 * 1024;

/** SQL texts, and posts, of one token that wait for their turn on the main thread: each text is held meanwhile. */
export const CALLER_SQL_WAITING_MAX = 256;

/**
 * Bytes of callers' queries that are remembered as they were bound, written out; as objects they take
 * some four times that. A page's query takes about 10 KB.
 */
export const CALLER_QUERIES_BYTES_MAX = 8 * 1024 * 1024;

/** … of each its place in the memory. */
export const CALLER_QUERY_BYTES = 512;

/**
 * A post that would be refused for now waits so long and is tried once more: less than any sender's patience, and long
 * enough that senders who come back at once leave the main thread most of its time …
 */
export const REFUSAL_WAIT_MS = 4_000;

/** … so many at a time: of each 64 KiB may have arrived with its headers. */
export const REFUSALS_WAITING_MAX = 1_000;

/**
 * A refused body up to this length is read off, and its connection kept: that takes less than another connection. The
 * sender of a longer one is told that the connection ends, so that it may stop sending.
 */
export const SHORT_BODY_BYTES_MAX = 256 * 1024;

/** What is read and thrown away of a body that was refused, before the connection is cut. */
export const DISCARD_BYTES_MAX = 2 * BODY_WIRE_BYTES_MAX;

/**
 * By how much a thread's heap grows before V8 collects all garbage, bodies just received included. Left
 * to itself it lets a heap of 20 MB grow by a third, finds it as it was, and does so several times a
 * second: with a steady stream of posts that takes a seventh of the thread, in pauses.
 */
export const HEAP_GROWING_PERCENT = 200;

/** Bytes of one request's headers, its URL among them. */
export const HEADERS_BYTES_MAX = 16 * 1024;

/** … where readers send SQL in the URL: the longest of Studio's, percent-encoded, and room for cookies. */
export const HEADERS_WITH_SQL_BYTES_MAX = 64 * 1024;

/** Ranges of an `Accept` header that are looked at: browsers send ten at most, and each is looked for by some answers. */
export const ACCEPT_RANGES_MAX = 32;

/** A caller that trickles its headers holds a connection no longer than this: they are one packet, or a few. */
export const HEADERS_MS_MAX = 10_000;

/**
 * Time for a body to arrive, and a second more for each BODY_BYTES_PER_S_MIN of it that did. Who sends a byte now
 * and then is cut off after it; who sends much over a slow line is not.
 */
export const BODY_MS_MAX = 30_000;

/** The slowest line that is waited for: a telephone's, some 130 kbit/s. */
export const BODY_BYTES_PER_S_MIN = 16 * 1024;

/** A whole request, however steadily it comes. 12 MB pass in this time at 40 kB/s. */
export const REQUEST_MS_MAX = 300_000;

/**
 * Bytes of all answers that are leaving: four of the longest, of which one tenant may have two. Who reads slowly holds
 * its answer, and so do a hundred who ask for a long one at once.
 */
export const ANSWERS_BYTES_MAX = 4 * ANSWER_BYTES_MAX;

/**
 * An answer that waits is given up when it was read more slowly than ANSWER_BYTES_PER_S_MIN, averaged over this time: up
 * to 64 MiB are held for it, which other answers of its token then lack.
 */
export const ANSWER_MS_MAX = 30_000;

/**
 * … as slow as a line may be that posts. Systems tell a sender only now and then that a slow reader has room again, with
 * Linux after a sixteenth of its buffer, up to 384 KiB: that must take less than ANSWER_MS_MAX.
 */
export const ANSWER_BYTES_PER_S_MIN = 16 * 1024;

/** How often slow callers are looked for. */
export const SLOW_LOOK_MS = 1_000;

/**
 * How long a connection that was refused stays open for its caller to read why: closing it while bytes come in
 * would take the answer away, and who never closes it is not waited for.
 */
export const LINGER_MS = 2_000;

/** Longer than the idle time of usual proxies, so that they close first and no call is lost. */
export const KEEP_ALIVE_MS = 75_000;

/** Connections held at once; each costs some kilobytes and a descriptor. */
export const CONNECTIONS_MAX = 10_000;

/**
 * A call is answered after this time, in which its run may wait for its turn and be parked, too: a run that takes all its
 * time ends beside another that takes as much.
 */
export const QUERY_MS_MAX = 2 * QUERY_TIME_MS_MAX;

/** A command waits this long for a service: longer than the service itself takes to give up. */
export const COMMAND_MS_MAX = QUERY_MS_MAX + 5_000;

/** Calls that run or wait at once; more are told to come back. */
export const CALLS_MAX = 512;

/** Callers that may wait at once for runs under way; a waiting caller costs about a kilobyte. */
export const CALLERS_WAITING_MAX = 10_000;

/**
 * Bytes of all kept answers at most where `CACHE_LIMIT` says nothing: thousands of answers of the usual
 * kilobytes, and little beside the logs.
 */
export const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Kept answers at once: all of them are looked at once a second, to expire and to renew. */
export const CACHE_ENTRIES_MAX = 10_000;

/** An answer larger than this part of the cache is served and not kept: it would empty it. */
export const CACHE_ANSWER_PARTS = 8;

/** Bytes that a kept answer costs beside its body and its key: objects, headers, two maps' places. */
export const CACHE_ENTRY_BYTES = 1_024;

/** … and of a caller's own query, which a renewal runs again: the query as it was bound. */
export const CACHE_CALLER_QUERY_BYTES = 64 * 1024;

/** A body below this fits one packet as it is, and compressing it saves no one any time. */
export const COMPRESSED_BYTES_MIN = 1_400;

/**
 * Bytes of an answer that are rewritten in another form, CSV or lines, before others have the thread:
 * well below a millisecond. Each such piece is one write to a connection.
 */
export const REWRITTEN_BYTES = 64 * 1024;

/**
 * Followers of sources at once: each holds a connection, and events that it has not read yet, up to a
 * page of them.
 */
export const FOLLOWERS_MAX = 256;

/** Events that are read for followers at a time: some hundred kilobytes as they usually are. */
export const FOLLOWED_PAGE_ROWS = 200;

/** Followers hear of new events together, at most this often: what they read is then one page for all. */
export const FOLLOWED_PAUSE_MS = 25;

/** A follower hears at least this often that its connection is there, before proxies take it for idle. */
export const HEARTBEAT_MS = 15_000;

/** After this time a follower has to come again, and show a token that is still good. */
export const FOLLOWING_MS_MAX = 3_600_000;

/** A follower whose connection has ended comes again after this time. */
export const FOLLOWER_RETRY_MS = 2_000;

/** The most of the last events that a follower may ask to begin with. */
export const FOLLOWED_LAST_MAX = 10_000;

/** The part of the time that renewals of kept answers take together, one after the other: the rest is for who calls. */
export const RENEWAL_TIME_SHARE = 1 / 10;

/** Milliseconds of that which are kept for later: a moment's rest for callers, not all renewals of a quiet night at once. */
export const RENEWAL_MS_SAVED_MAX = 1_000;

/** A renewal begins at the latest when this part of `cache` is left: an answer in use never expires. */
export const RENEWAL_LEAD_PARTS = 10;

/** After a failure a renewal is tried again in this part of the definition's `warm`. */
export const RENEWAL_RETRY_PARTS = 10;

/** A stop takes no longer: whoever waits for the end of a container, or for the next version, waits for this. */
const STOP_SERVICE_MS_MAX = 5_000;

/** Answers under way at SIGTERM have this long; then who waits is told to come back: a query may take much longer. */
export const DRAIN_MS_MAX = 2_500;

/** … what has begun to leave then has this long; then it is cut. */
export const DRAIN_LAST_MS = 300;

/**
 * … what comes on connections in the system's queue, or on kept ones, is answered for this time, and told that the
 * connection ends. Closing those at once that have nothing under way would reset what is on its way.
 */
export const DRAIN_ACCEPT_MS = 250;

/** Segments being sealed or written, and threads, have this long to end; what they do is begun anew at the next start. */
export const CLOSE_MS_MAX = 1_000;

/** … and a connection on which no request is under way this long to bring one that was on its way. */
export const DRAIN_SILENT_MS = 500;

/** How often the log store is given the time, to seal and to expire. */
export const TICK_MS = 1_000;

/** A refused caller comes back after this. */
export const RETRY_AFTER_S = 3;

/** Characters of one parameter's text in an error message: an echo, not a payload. */
export const ECHO_LENGTH_MAX = 100;

/** The largest `max_rows` a definition may ask for: an answer is built in memory. */
export const DEFINITION_ROWS_MAX = 100_000;

/** The longest time a definition may keep answers: a week. */
export const CACHE_S_MAX = 604_800;

/** Bytes of one definition file; its text has a tighter limit of its own. */
export const DEFINITION_BYTES_MAX = 1_048_576;

/** Bytes of a definition as it is sent: as JSON its text has escapes. */
export const DEFINITION_BODY_BYTES_MAX = 2 * DEFINITION_BYTES_MAX;

/** Definitions of one service: all are bound at the start and listed in one answer. */
export const DEFINITIONS_MAX = 1_000;

/** Tokens beside those of the settings: each change writes all of them, some 300 bytes each. */
export const TOKENS_MAX = 10_000;

/** Projects, sources or endpoints that a token is bound to: each stands in the key of every plan and kept answer. */
export const NARROWED_NAMES_MAX = 100;

/** Characters of a project key that a token is bound to. */
export const PROJECT_LENGTH_MAX = 256;

/** Bytes of what describes a new token: three lists of the longest names. */
export const TOKEN_BODY_BYTES_MAX = 512 * 1024;

/**
 * Characters of a token of the settings below which the start warns: 16 random letters and digits are beyond guessing,
 * whatever the speed.
 */
export const TOKEN_LENGTH_SAFE = 16;

/** Wrong tokens of one address within REFUSED_TOKENS_WINDOW_MS that are refused at once: a person who tries, a few senders. */
export const REFUSED_TOKENS_MAX = 20;

export const REFUSED_TOKENS_WINDOW_MS = 60_000;

/** … later ones are refused after this time. */
export const REFUSED_TOKEN_WAIT_MS = 1_000;

/** … so many at a time, of all addresses; each holds a connection. More are told to come back. */
export const REFUSED_TOKENS_WAITING_MAX = 100;

/** Addresses whose wrong tokens are counted: some megabytes. */
export const REFUSED_ADDRESSES_MAX = 10_000;

/** How often what was used of quotas is written: a crash forgets no more of it than this time's. */
export const QUOTA_WRITE_MS = 30_000;

/** Definitions that a refused change is told to break: a sentence, not a list. */
export const DEPENDENTS_TOLD_MAX = 5;

/**
 * Milliseconds between two looks at ENDPOINTS_DIR. A look asks the system once for each file, at most
 * `DEFINITIONS_MAX` times.
 */
export const ENDPOINTS_LOOK_MS = 2_000;

/** Characters of a name of an endpoint, a parameter or a token. */
export const NAME_LENGTH_MAX = 128;

/**
 * OpenAPI documents that are remembered as they leave: one for each set of definitions that tokens see. A
 * definition takes some 2 KB of one, and making one anew some milliseconds.
 */
export const OPENAPI_DOCUMENTS_MAX = 8;

/** Parameters of one definition. */
export const PARAMETERS_MAX = 100;

/** Texts of one parameter whose values are remembered: more than a dashboard asks for by turns. */
export const KNOWN_TEXTS_MAX = 1_000;

/** Characters of such a text: names, words and times are short, and the memory stays below a megabyte. */
export const KNOWN_TEXT_LENGTH_MAX = 128;

/** Characters of one text in a line of the log: a path may have 64 KiB, a stack of calls has some thousand. */
export const LOG_TEXT_LENGTH_MAX = 8_192;

/** Milliseconds between two lines of the log about refusals of one kind: readable, and never a flood. */
export const LOG_REPEAT_MS = 1_000;

/**
 * … and between two stacks of one place in the program: a sender that meets an error may repeat its post for ever, and
 * a full disk fails each write.
 */
export const STACK_REPEAT_MS = 60_000;

/** Lines of one list of weir inspect, which is for a person; --json has the rest. */
export const LINES_LISTED_MAX = 40;

/**
 * Lines that two texts may differ in for the fewest such lines to be looked for, which takes time by their
 * square: half a second at most. Beyond, all lines are shown as taken away and put there.
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

/** Milliseconds for which `/health` speaks of worker threads that were lost: several looks of a monitor. */
export const WORKERS_LOST_LATELY_MS = 300_000;

/** Bounds that callers can meet (docs/http-api.md, Limits), or that several files use. All others are beside the code that uses them. */

/** Rows a chunk holds at most: its vectors stay within the second-level cache. */
export const CHUNK_ROWS_MAX = 2048;

/** Levels of records kept as tokens; deeper ones are kept as JSON text, so no walk is deep. */
export const RECORD_DEPTH_MAX = 32;

/** Open segments are sealed at this many rows: a scan of unsorted rows stays short. */
export const OPEN_ROWS_MAX = 131_072;

/** Open segments are sealed at this many bytes of strings and slots: sealing copies them once, and offsets fit 32 bits. */
export const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** Characters of SQL text. */
export const SQL_LENGTH_MAX = 262_144;

/**
 * Words, numbers and symbols of a text that names another's tables: it is parsed while others wait, a word in some
 * microseconds. The longest that log pages send have some 800.
 */
export const SQL_TOKENS_WITHIN_MAX = 10_000;

/** Nested parentheses, subqueries and expressions: the parser and the binder recurse. */
export const SQL_DEPTH_MAX = 100;

/**
 * Levels of a syntax tree, links of a chain (`a AND b AND …`) included: binder and planner recurse
 * on the tree, and a stack of 1 MB holds some thousand of their frames.
 */
export const SQL_TREE_DEPTH_MAX = 1000;

/** Groups of one aggregation. */
export const GROUPS_MAX = 1_000_000;

/** Rows a sort, a window or a join's build side may hold. */
export const MATERIALIZED_ROWS_MAX = 2_000_000;

/** Distinct values per group that quantiles stay exact for; beyond, a digest takes over. */
export const EXACT_QUANTILE_VALUES_MAX = 16_384;

/**
 * Characters of a text that REPEAT, LPAD, FORMAT and the like make, as in GoogleSQL, and by which CONCAT makes
 * a text longer: a row stays small.
 */
export const MADE_TEXT_LENGTH_MAX = 1_048_576;

/**
 * Characters of a text that is looked for in strings where they lie: at worst each of their bytes is compared with all of
 * these. A longer one is looked for in the strings themselves, in linear time.
 */
export const SEARCHED_TEXT_LENGTH_MAX = 256;

/** Elements GENERATE_TIMESTAMP_ARRAY and its kin may make, as in BigQuery. */
export const GENERATED_ARRAY_MAX = 1_048_575;

/** Bytes of a regular expression. */
export const REGEX_LENGTH_MAX = 1024;

/**
 * Instructions of a compiled regular expression, its repetitions written out: each character of a text may
 * meet all of them, and to compile so many takes some 20 ms. RE2 itself allows 1,000 of one character.
 */
export const REGEX_PROGRAM_MAX = 10_000;

/**
 * Characters of a text, times instructions, that finding a part of it may come to: at worst some tenths of a second,
 * in which its thread looks at nothing else. The patterns of log pages have some ten instructions.
 */
export const REGEX_STEPS_MAX = 25_000_000;

/**
 * Characters times instructions that a test of a text by RE2 may come to: at worst some 50 ms. Longer texts are put to the
 * automaton first, which nearly all patterns have; its work is bounded below.
 */
export const REGEX_TEST_STEPS_MAX = 2_500_000;

/** Steps it takes to compile one of these, of the kind that `work-meter.ts` counts: some microseconds. */
export const REGEX_INSTRUCTION_STEPS = 100;

/**
 * Entries of the table of one automaton, of four bytes: 300 states of a pattern that tells 20 classes of
 * bytes apart. Those of log pages come to some ten.
 */
export const REGEX_DFA_TABLE_MAX = 131_072;

/** Places of a program in all states of one automaton: some 400 KiB with what finds them. */
export const REGEX_DFA_MEMBERS_MAX = 32_768;

/** Places looked at for the states of one table, each some ten nanoseconds: at most some 10 ms. */
export const REGEX_DFA_WORK_MAX = 1_000_000;

/**
 * States that an automaton may be in behind what varies of a string: more of them are not followed, and
 * the strings read. Patterns of log pages have some ten states in all.
 */
export const SPLIT_STATES_MAX = 64;

/** Milliseconds a query may run: a saved query that takes longer is a mistake, not patience. */
export const QUERY_TIME_MS_MAX = 30_000;

/** Bytes of segments from which a grouping is split over workers: more hops cost some 0.2 ms. */
export const FRAGMENT_BYTES_MIN = 8 * 1024 * 1024;

/**
 * Milliseconds of one thread below which a grouping is not split over workers: half of it is little more than the hops,
 * and to collect what the partial states leave takes as much again.
 */
export const FRAGMENTED_MS_MIN = 3;

/**
 * Bytes of partial states for each row above which a grouping is not split again, as there are nearly as many groups as rows: the
 * task that combines the states puts in each group once more.
 */
export const FRAGMENT_STATE_BYTES_PER_ROW_MAX = 8;

/**
 * Expression nodes that binding may make, and columns that operators give: each use of a CTE or an alias is written
 * out in full, and each join has the columns of all before it.
 */
export const BOUND_NODES_MAX = 300_000;

/**
 * The same bound for a caller's own SQL, which is bound and planned while others wait. The
 * longest that log pages send come to 3,000; this many take the main thread up to 100 ms, in pieces (`bench/hostile-texts.ts`).
 */
export const BOUND_NODES_WITHIN_MAX = 5_000;

/** Compiled regular expressions and LIKE patterns kept: a saved query uses a handful per call. */
export const PATTERNS_KEPT_MAX = 256;

/** Quantiles one APPROX_QUANTILES may ask for: an answer of a cell stays short. */
export const QUANTILES_MAX = 10_000;

/** Tables and arrays in one FROM: each is a level of the plan. */
export const FROM_ITEMS_MAX = 100;

/** Bytes of JSON templates a segment's reader keeps: one per shape of record it has written. */
export const TEMPLATE_BYTES_MAX = 4 * 1024 * 1024;

/** Columns of one SELECT: each name is looked up among them, and each becomes a key of JSON. */
export const SELECT_COLUMNS_MAX = 2_000;

/** Dropped segments that threads are told of by id; one that missed more forgets all it has open. */
export const DROPPED_IDS_MAX = 256;

/** Elements of a constant array computed while planning: some tenths of a millisecond. */
export const FOLDED_ELEMENTS_MAX = 4096;

/**
 * Steps (`work-meter.ts`) that planning one call may spend on computing constants and compiling patterns, some
 * 10 ms of the main thread. What is left then is computed by the worker.
 */
export const FOLDING_STEPS_MAX = 1_000_000;

/** Bytes of one answer: it is held in memory twice, and parsed by its reader in one piece. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Blocks of answers a worker keeps: as many as there may be callers who read slowly. */
export const ANSWER_BLOCKS_MAX = 8;

/** Bytes of the largest block that is kept; a larger answer has memory of its own. */
export const ANSWER_BLOCK_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Bytes of V8's heap that one worker may fill; a query that fills it loses its worker and fails.
 * QUERIES_BYTES_MAX keeps a query well below it; typed arrays lie outside of the heap.
 */
export const WORKER_HEAP_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Bytes of heaps and of arrays outside of them, of columns that a sort, a window or a join holds, in all threads of
 * queries together, where the service does not say how much of its memory they have.
 */
export const QUERIES_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Bytes that a thread may keep of tasks that have ended, for others that come: texts, plans, segments that are open.
 * Beyond, all is forgotten.
 */
export const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Bytes of new objects in a worker, apart from that heap. One collection moves up to a third of them into the heap. The
 * thread ends, and not the process, only while that is at most 16 MiB: so much more does Node give it to end in.
 * Node 20 has this size by itself, Node 24 four times as much.
 */
export const WORKER_NEW_OBJECTS_BYTES_MAX = 48 * 1024 * 1024;

/**
 * Milliseconds that a task has to come to a checkpoint once it is to stop. Then its worker is ended:
 * the next one starts cold, which costs more than a short wait.
 */
export const STOP_MS_MAX = 2_000;

/**
 * Milliseconds that a task of a query runs, at least, before it is parked for one of another tenant: what a call waits
 * for beside tasks that run for long. To change tasks takes some tenths of a millisecond.
 */
export const TURN_MS_MIN = 20;

/**
 * Tasks that may be parked, for each worker: each holds the memory of its query, and a thread. With two workers six
 * tokens may have a long query each.
 */
export const PARKED_PER_WORKER_MAX = 2;

/**
 * Milliseconds after which a thread ends that has had nothing to do: each takes some 15 MB, and what
 * its tasks left. To start one takes some 100 ms.
 */
export const THREAD_IDLE_MS_MAX = 60_000;

/**
 * How much the threads of queries stand back behind the main thread (nice). Posts, small calls and `/health` then find a
 * processor while a query of many seconds runs on every thread: the main thread gets three times the time of one of these where
 * both want a core. Beside six queries that group everything, the p99 of posts was 236 ms without this, 166 at 4, and 27 at 8;
 * but at 8 other programs on a busy machine leave queries too little.
 */
export const QUERY_NICE = 5;

/**
 * How much the threads that seal, merge and pack stand back. Three more than queries: the
 * system gives them half of a query's time where both want a core, so calls hardly notice them.
 */
export const BACKGROUND_NICE = 8;

/** Bytes of these, at most: to take in 1 MiB takes some tenths of a millisecond. */
export const INLINE_PARTIALS_BYTES_MAX = 1024 * 1024;

/** The longest that a refused caller is told to wait: beyond, nobody knows what will be. */
export const RETRY_AFTER_S_MAX = 30;

/** Queries that wait for a worker: each holds its plan and its list of segments, some 100 KB. */
export const QUERIES_WAITING_MAX = 256;

/**
 * Bytes of plans remembered by the values of their parameters, written out, on the main thread and on
 * each worker: some thousand plans of 2 KB. As objects they are about five times as large.
 */
export const REMEMBERED_PLANS_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Bytes of segments that a task reads into memory of its own when the memory for all is full, at
 * most: beyond the last one, however large that is. A scan goes from one segment to the next. Half as many may be let
 * go of before garbage is collected, in some 10 ms: a tenth of what reading took.
 */
export const PASSING_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Bytes of arrays of one thread from which it keeps fewer segments open: what is remembered of some
 * hundred segments, and what a query of usual size holds. A segment of 400 shapes takes 20 to 40 KiB,
 * one of 10,000 up to 850 KiB.
 */
export const READERS_BYTES_MAX = 32 * 1024 * 1024;

/**
 * How often a query is run again because a segment could not be read: each time one damaged segment
 * is mended, or one that was merged or dropped meanwhile has another in its place.
 */
export const UNREADABLE_TRIES_MAX = 16;

/** Bytes of partial states remembered where nothing else is said: hundreds of states of large projects. */
export const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024;

/** Every bound of the engine, each with what it guards. */

/** Rows a chunk holds at most: its vectors stay within the second-level cache. */
export const CHUNK_ROWS_MAX = 2048;

/**
 * Rows of a chunk on its way from a scan to a grouping, where they are read as they lie: what is done once a
 * chunk comes to little beside what is done once a row, and a run that goes over from one to the next is counted twice.
 * As many as a counter of 16 bits counts, less a few, so that the next begins at a word.
 */
export const GROUPED_CHUNK_ROWS_MAX = 65_520;

/** Codes of integers that are counted by code: two counters for each stay within the second-level cache. */
export const TALLY_CODES_MAX = 65_536;

/** Levels of records kept as tokens; deeper ones are kept as JSON text, so no walk is deep. */
export const RECORD_DEPTH_MAX = 32;

/** Open segments are sealed at this many rows: a scan of unsorted rows stays short. */
export const OPEN_ROWS_MAX = 131_072;

/** … or at this many bytes of strings and slots: sealing copies them once, and offsets fit 32 bits. */
export const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** Leaf columns of one sealed segment; rarer leaves share the residual column. */
export const SEGMENT_COLUMNS_MAX = 512;

/** A leaf needs this many values in a segment to get a column of its own: a column costs a header. */
export const COLUMN_VALUES_MIN = 16;

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

/**
 * Groups met at the beginning of a run that make it worth to look for the first of them in another way: below, what it
 * takes to aggregate all of them comes to less than a look at each row more.
 */
export const LEADING_GROUPS_MIN = 1024;

/**
 * Rows kept meanwhile: the one column that is read of them all takes 8 MB then, and their places 4. No more than there may
 * be groups, so that too many of these are refused all the same.
 */
export const LEADING_ROWS_HELD_MAX = GROUPS_MAX;

/** Rows a sort, a window or a join's build side may hold. */
export const MATERIALIZED_ROWS_MAX = 2_000_000;

/**
 * Elements of the lists and characters of the texts that one aggregate gives over frames: frames
 * that grow by a row each give lists whose lengths add up to the square of the rows. 256 MB.
 */
export const WINDOW_VALUES_MAX = 33_554_432;

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

/** Cells of the table that EDIT_DISTANCE fills for two texts: some tenths of a second. */
export const EDIT_DISTANCE_CELLS_MAX = 25_000_000;

/**
 * Marks (accents and the like) on one character of a text that is normalized. Text that is meant to be read has at most 30
 * (Unicode Standard Annex #15, "Stream-Safe Text Format"); 40,000 took V8 more than half a second.
 */
export const NORMALIZED_MARKS_MAX = 128;

/** Elements of an array joined of others: as many as the lists of an event, and some. */
export const ARRAY_ELEMENTS_MAX = 8_388_608;

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
 * … and that testing a text may, where no automaton of ours tells: at worst some 50 ms. Longer texts are put to the
 * automaton first, which nearly all patterns have; its work is bounded below.
 */
export const REGEX_TEST_STEPS_MAX = 2_500_000;

/** Steps it takes to compile one of these, of the kind that `work-meter.ts` counts: some microseconds. */
export const REGEX_INSTRUCTION_STEPS = 100;

/** Steps over single bytes that a pattern's classes of characters may come to: some 20 of `\p{L}`. */
export const REGEX_BYTE_STEPS_MAX = 8_192;

/** Texts that a match needs, of one list, and lists: each costs a look at what blocks of strings hold. */
export const REGEX_LITERALS_MAX = 16;

/** Classes of bytes from which an automaton takes bytes one by one: a row of all pairs has 4 KiB here. */
export const REGEX_PAIR_CLASSES_MAX = 32;

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
 * Strings of a column with text in no table that a thread keeps end to end, and their bytes: a thousandth of the
 * strings of a large segment. More are read where they lie.
 */
export const SPLIT_TEXTS_MAX = 4_096;
export const SPLIT_TEXTS_BYTES_MAX = 1_048_576;

/**
 * States that an automaton may be in behind what varies of a string: more of them are not followed, and
 * the strings read. Patterns of log pages have some ten states in all.
 */
export const SPLIT_STATES_MAX = 64;

/**
 * Words of a column that an automaton is stepped over one by one, some 20 ns each, to know where they
 * lead: of more it is told by the bytes they may have.
 */
export const SPLIT_WORDS_MAX = 8_192;

/**
 * Patterns of which a thread remembers what heads and shapes of open segments say: a saved query has a
 * handful, and each takes some 40 KB for a segment, and a byte for each string of which a word or text in no table
 * decides.
 */
export const SPLIT_PATTERNS_MAX = 16;

/** Bytes of texts for each state of a full table that make it worth beginning another, as in RE2. */
export const REGEX_DFA_PROGRESS_MIN = 10;

/** Chunks whose rows a top-N holds at a time: each keeps its read columns alive, some 50 KB. */
export const TOP_CHUNKS_MAX = 256;

/** Milliseconds a query may run: a saved query that takes longer is a mistake, not patience. */
export const QUERY_TIME_MS_MAX = 30_000;

/** Bytes of segments from which a grouping is split over workers: more hops cost some 0.2 ms. */
export const FRAGMENT_BYTES_MIN = 8 * 1024 * 1024;

/**
 * What the worker with most of such segments may have, as a multiple of what each has in the mean: beyond, all have a part
 * of the rows of each segment, for which each reads it.
 */
export const FRAGMENT_EXCESS_MAX = 1.25;

/**
 * … unless it is known to take less, in milliseconds, on one thread: half of it is little more than these hops, and
 * what the partial states leave to be collected is as much again of processor time. What took 1.5 ms on one took 2.4
 * on two.
 */
export const FRAGMENTED_MS_MIN = 3;

/**
 * … or to leave more bytes of partial states for each row, as where groups are nearly as many as rows: these are
 * copied four times on their way to the task that combines them, which puts in each group once more.
 */
export const FRAGMENT_STATE_BYTES_PER_ROW_MAX = 8;

/**
 * Expression nodes that binding may make, and columns that operators give: each use of a CTE or an alias is written
 * out in full, and each join has the columns of all before it.
 */
export const BOUND_NODES_MAX = 300_000;

/**
 * … of a text that names another's tables: it is not saved but sent, and bound and planned while others wait. The
 * longest that log pages send come to 3,000; this many take the main thread up to 100 ms, in pieces (`bench/hostile-texts.ts`).
 */
export const BOUND_NODES_WITHIN_MAX = 5_000;

/**
 * Nodes that the conditions above a projection, or the keys of a sort, may come to once its expressions are put in
 * the place of its columns; beyond, they stay above it. Those of log pages have some tens.
 */
export const SUBSTITUTED_NODES_MAX = 8_192;

/**
 * … and that one pass of the optimiser may write so, at all projections and unions. All later passes look at them: with
 * 30,000 a text of 5,500 characters took 8,000,000 steps.
 */
export const SUBSTITUTION_NODES_MAX = 12_000;

/** … and the conditions above one union, in all of its inputs together: each input has scans that look at all of them. */
export const UNION_NODES_MAX = 3_000;

/**
 * Syntax nodes within one another that the binder follows, uses of CTEs included. It recurses with
 * up to eight frames to a node; the parser's own limit on nesting is hit before in most texts.
 */
export const BIND_DEPTH_MAX = 400;

/**
 * Views within one another: a chain longer than this is hard to follow for whoever reads it. How much all
 * their uses come to is bounded by `BOUND_NODES_MAX`.
 */
export const VIEW_DEPTH_MAX = 8;

/** Operators above one another in a bound plan: all that walks a plan recurses. */
export const PLAN_DEPTH_MAX = 500;

/** Rows of the first chunk of a newest-first scan: the newest 100 are mostly all that is wanted. */
export const NEWEST_CHUNK_ROWS_MIN = 128;

/** Compiled regular expressions and LIKE patterns kept: a saved query uses a handful per call. */
export const PATTERNS_KEPT_MAX = 256;

/** Time zones kept, by name. There are about 600. */
export const TIME_ZONES_MAX = 1024;

/** Hours whose offset a time zone remembers: asking Intl costs microseconds. Nearly a year. */
export const ZONE_SLOTS_MAX = 8192;

/** Doubles that the exact sums of one SUM or AVG may take: 256 MB. Ordinary data takes 4 to 6 a group. */
export const SUM_LIMBS_MAX = 33_554_432;

/** Bytes of the distinct texts of one column, less than 4 GiB: offsets of 32 bits say where each begins and ends. */
export const INDEXED_BYTES_MAX = 2 ** 32 - 1;

/** Quantiles one APPROX_QUANTILES may ask for: an answer of a cell stays short. */
export const QUANTILES_MAX = 10_000;

/** Counters in the histograms of one APPROX_QUANTILES: 64 MB. Beyond, counts are kept by hashing. */
export const HISTOGRAM_COUNTERS_MAX = 16_777_216;

/** Tables and arrays in one FROM: each is a level of the plan. */
export const FROM_ITEMS_MAX = 100;

/** Names whose fields a segment's reader remembers the way to; beyond, it forgets them all. */
export const FIELD_MEMOS_MAX = 1024;

/** Bytes of JSON templates a segment's reader keeps: one per shape of record it has written. */
export const TEMPLATE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Bytes of records that a thread keeps as the text it wrote to answers: some 2,800 events of 3 KB, so
 * the newest page of some dozens of projects. Where a thread may keep less, they have a third of that.
 */
export const ROW_TEXTS_BYTES_MAX = 8 * 1024 * 1024;

/** … of one record: a larger one would push out what dozens of callers ask for. */
export const ROW_TEXT_SIZE_MAX = 64 * 1024;

/** … and at least: a smaller one is put together about as quickly as it is found. */
export const ROW_TEXT_SIZE_MIN = 32;

/**
 * Bytes of one answer up to which its records are kept: a page of 100 events has some 350 KB. What asks for
 * thousands of events does so once, and would push out all pages.
 */
export const ANSWER_TEXTS_BYTES_MAX = 1024 * 1024;

/** Sealed segments a thread keeps open: opening one again costs its columns, not its rows. */
export const SEALED_READERS_MAX = 1024;

/** Chains of rows of an open segment that a thread remembers; beyond, it forgets them all. */
export const CHAINS_KEPT_MAX = 256;

/** Open segments a thread remembers the shapes of: one per source in use. */
export const OPEN_READERS_MAX = 64;

/** Messages compressed as one block: larger packs better, smaller reads the newest few faster. */
export const DEFLATED_BLOCK_ENTRIES = 64;

/** Columns of one SELECT: each name is looked up among them, and each becomes a key of JSON. */
export const SELECT_COLUMNS_MAX = 2_000;

/** Dropped segments that threads are told of by id; one that missed more forgets all it has open. */
export const DROPPED_IDS_MAX = 256;

/** Elements of a constant array computed while planning: some tenths of a millisecond. */
export const FOLDED_ELEMENTS_MAX = 4096;

/**
 * Characters and elements of a value that planning may put in the place of its expression. Plans are made
 * on the main thread, whose heap is everybody's: larger values are left to the worker that needs them.
 */
export const FOLDED_VALUE_SIZE_MAX = 16_384;

/**
 * Steps (`work-meter.ts`) that planning one call may spend on computing constants and compiling patterns, some
 * 10 ms of the main thread. What is left then is computed by the worker.
 */
export const FOLDING_STEPS_MAX = 1_000_000;

/** Steps between two checkpoints of functions: some milliseconds, and far more than a checkpoint takes. */
export const CHECKPOINT_STEPS = 250_000;

/** Rows of a constant relation computed while planning; longer ones are left to a worker. */
export const FOLDED_ROWS_MAX = 10_000;

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

/** Part of QUERIES_BYTES_MAX that the partial state of one fragment may take: on its way to the thread that combines it, it is there up to four times. */
export const PARTIAL_BYTES_PART = 1 / 16;

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

/** While queries wait for threads that others have, it is looked so often whether one of these is to be parked. */
export const PARKING_LOOK_MS = 10;

/**
 * Tasks that may be parked, for each worker: each holds the memory of its query, and a thread. With two workers six
 * tokens may have a long query each.
 */
export const PARKED_PER_WORKER_MAX = 2;

/** Milliseconds between two looks of a parked task at memory: it is refused as others are where it holds most. */
export const PARKED_CHECK_MS = 200;

/**
 * Milliseconds that the query of a tenant waits of which nothing has begun, while no more tasks may be parked: then
 * one of the tenant that has run so much longer without a break is ended. Shorter ones end of themselves.
 */
export const STARVED_MS_MAX = 500;

/**
 * Milliseconds a sealing may take: some five hundred times the usual, for it lets all others go first,
 * but so that none holds a thread for ever.
 */
export const SEAL_TIME_MS_MAX = 600_000;

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

/**
 * Rows that the scans of a query may look at for it to be run on the main thread: these many take some
 * tenths of a millisecond, and more gain nothing, for the hop to a worker takes 0.05 to 0.1.
 */
export const INLINE_ROWS_MAX = 4096;

/**
 * … and of a plan that calls share, more rows, where they took so many milliseconds before: for a worker to do it
 * takes the main thread some tenths of a millisecond, too.
 */
export const INLINE_EXPECTED_MS_MAX = 1.5;
export const INLINE_KNOWN_ROWS_MAX = 131_072;

/** … and where this thread has little else to do: two workers take a run of 370,000 rows a quarter longer than it does. */
export const INLINE_QUIET_ROWS_MAX = 524_288;

/**
 * Milliseconds of other work in a turn of the event loop, on the mean of the last turns with runs, below which a thread has
 * little: an answer or two. While events come in these are slices of some milliseconds.
 */
export const INLINE_QUIET_MS_MAX = 0.5;

/** Rows from which a run tells what its plan takes for one: fewer tell what it takes to begin. */
export const COST_ROWS_MIN = 1024;

/**
 * Rows inside the window of such a query that may be looked up in the index of texts, so that it is known how many are to
 * be looked at: of ten million rows in 14 segments that takes some 0.35 ms, and the run looks them up no second time.
 * The clock is looked at before each segment. More are left to workers unseen.
 */
export const INLINE_INDEXED_ROWS_MAX = 16_777_216;

/**
 * Milliseconds that such a run may take; then a worker begins anew. Whatever else the main thread has
 * to do waits as long, and a chunk more.
 */
export const INLINE_MS_MAX = 1;

/**
 * … and one of a plan whose runs take less than `INLINE_EXPECTED_MS_MAX`, all of their threads together, or one that
 * is tried again after it took too long: what it takes longer are code that is not compiled yet and waiting for a
 * processor, and neither would be less if it began anew. Else the first runs would be given up, and with them what
 * the compiler learns of this thread.
 */
export const INLINE_LONG_MS_MAX = 4;

/**
 * … and one that takes in remembered states: to hand over such a run would cost all of it again.
 */
export const INLINE_COVERED_MS_MAX = 8;

/**
 * Rows that such a run may look at, if it is not known what they take on the main thread: they are what is left of many,
 * and the code for many is seldom compiled for it. 3,600 of them took it more than 8 ms at first, and a worker 2.
 */
export const INLINE_COVERED_ROWS_MAX = 2048;

/** Of such runs of a plan with more rows, one in so many is tried all the same, if it took workers little. */
export const INLINE_LEARNING_RUNS = 16;

/**
 * Rows that a run may look at here if it tries regular expressions on them: of more it may try them on all that the
 * strings of a segment are made of, and where the code for it is not compiled that took this thread 30 ms.
 */
export const INLINE_EXPRESSION_ROWS_MAX = 1024;

/** Such runs of a plan that go to a worker after some were too large: the states may be others soon. */
export const INLINE_COVERED_RUNS_APART_MAX = 8;

/** Bytes of these, at most: to take in 1 MiB takes some tenths of a millisecond. */
export const INLINE_PARTIALS_BYTES_MAX = 1024 * 1024;

/** … and that all of one turn of the event loop may take together: posts are taken in between. */
export const INLINE_TURN_MS_MAX = 4;

/** Steps (`work-meter.ts`) of functions between two looks at the clock: some tenths of a millisecond. */
export const INLINE_STEPS = 50_000;

/**
 * Runs of a plan that go to a worker after many were too large: the time lost on the next stays below a few
 * percent.
 */
export const INLINE_RUNS_APART_MAX = 64;

/** Buffers of answers of the main thread that are kept: as many as there may be callers who read slowly. */
export const INLINE_BUFFERS_MAX = 16;

/** Over how long it is looked how fast a queue drains: some runs of usual length, and no old story. */
export const DRAIN_RATE_MEMORY_MS = 5_000;

/** The longest that a refused caller is told to wait: beyond, nobody knows what will be. */
export const RETRY_AFTER_S_MAX = 30;

/** Queries that wait for a worker: each holds its plan and its list of segments, some 100 KB. */
export const QUERIES_WAITING_MAX = 256;

/** Paths whose texts a segment's reader remembers the whereabouts of; beyond, it forgets them all. */
export const TEXT_PATHS_MAX = 64;

/**
 * Rows of a run of all projects from which its segment is asked which of them are inside a window: two searches for each
 * of two thousand projects take as long as to look at so many times, some 0.2 ms; and longer where V8 has not compiled them
 * yet, for fewer rows seldom come to this.
 */
export const INSIDE_ROWS_MIN = 65_536;

/**
 * Rows of a run from which its segment is asked which of them may hold a text: the answer takes some
 * microseconds, as does looking at 100 rows.
 */
export const TEXT_ROWS_MIN = 512;

/**
 * Bytes of plans remembered by the values of their parameters, written out, on the main thread and on
 * each worker: some thousand plans of 2 KB. As objects they are about five times as large.
 */
export const REMEMBERED_PLANS_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes of the texts that calls put into such plans: those of some thousand projects. */
export const REMEMBERED_TEXTS_BYTES_MAX = 1024 * 1024;

/**
 * Plans whose expressions a worker keeps compiled: each some tens of KB, and the last dictionaries that its
 * functions were asked about.
 */
export const PREPARED_PLANS_MAX = 64;

/** Texts for which it keeps those expressions of a plan compiled that read them: of projects called in turns. */
export const PREPARED_TEXTS_MAX = 16;

/**
 * Bytes of segments that a task reads into memory of its own when the memory for all is full, at
 * most: beyond the last one, however large that is. A scan goes from one segment to the next. Half as many may be let
 * go of before garbage is collected, in some 10 ms: a tenth of what reading took.
 */
export const PASSING_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Milliseconds that V8 has to collect garbage beside other work, some ten times the usual. Then it is collected at
 * once: memory that is let go of must not stay.
 */
export const COLLECTING_MS_MAX = 200;

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

/** Rows, over all groups, that one ARRAY_AGG, STRING_AGG or ARRAY_CONCAT_AGG holds at a time. */
export const COLLECTED_VALUES_MAX = 2_000_000;

/** … and bytes of their values and keys: an answer could not give more back, nor a heap hold it. */
export const COLLECTED_BYTES_MAX = 256 * 1024 * 1024;

/** Bytes of the sketches of one APPROX_COUNT_DISTINCT: 16,384 groups of many values each. */
export const SKETCHES_BYTES_MAX = 256 * 1024 * 1024;

/** Values one APPROX_TOP_COUNT or APPROX_TOP_SUM may ask for: an answer of a cell stays short. */
export const TOP_VALUES_MAX = 10_000;

/** Bytes of partial states remembered where nothing else is said: hundreds of states of large projects. */
export const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024;

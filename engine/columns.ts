/**
 * One of the two faces of the engine, which alone are imported from outside of it: events as columns, in segments, and their
 * values. All it needs is below SQL, plans and threads, so that a command or a thread that runs no query loads none of these;
 * they are in `index.ts`.
 */

// Claims about our own code.

export { assert, must, unreachable } from './assert.ts';

// What is wrong with a query, and how it is shown.

export { hint, nearestName } from './nearest-name.ts';
export { caret, QueryError, type QueryErrorCode, type Span } from './query-error.ts';

// Bounds that are documented, shared, or part of the budget of memory.

export {
  ANSWER_BLOCKS_MAX,
  ANSWER_BYTES_MAX,
  CHUNK_ROWS_MAX,
  DROPPED_IDS_MAX,
  GENERATED_ARRAY_MAX,
  KEPT_BYTES_MAX,
  MADE_TEXT_LENGTH_MAX,
  OPEN_ROWS_MAX,
  PARKED_PER_WORKER_MAX,
  PASSING_BYTES_MAX,
  QUANTILES_MAX,
  QUERIES_WAITING_MAX,
  QUERY_NICE,
  QUERY_TIME_MS_MAX,
  READERS_BYTES_MAX,
  RECORD_DEPTH_MAX,
  REMEMBERED_BYTES_MAX,
  STOP_MS_MAX,
  THREAD_IDLE_MS_MAX,
  WORKER_HEAP_BYTES_MAX,
  WORKER_NEW_OBJECTS_BYTES_MAX,
} from './limits.ts';

// Types and values of SQL.

export {
  arrayOf,
  BOOL,
  DYNAMIC,
  elementTypeOf,
  FLOAT64,
  INT64,
  isElement,
  isNumber,
  type SqlType,
  STRING,
  TIMESTAMP,
  typeName,
  typesEqual,
} from './column/type.ts';
export { isInterval, isNested, type SqlValue } from './column/value.ts';
export { type Vector, valueAt } from './column/vector.ts';

// Whole numbers and times, as numbers and as texts.

export { canonicalInteger, INT64_MAX, INT64_MIN, type Int64 } from './function/number/int64.ts';
export {
  mustTimeZone,
  PLUS_HINT,
  type TimeZone,
  UTC,
  UTC_NAMES,
} from './function/time/calendar.ts';
export {
  datetimeIsoText,
  formatDate,
  formatTimeOfDay,
  parseTimestamp,
} from './function/time/timestamp-text.ts';

// Values that are kept, up to a size.

export { SizedCache } from './column/caches.ts';

// Bytes of texts.

export { JsonBuffer } from './column/json-buffer.ts';
export { endOfString } from './column/json-template.ts';
export { quickHash } from './column/string-table.ts';
export { encodedKey, encodeWtf8, LONE_SURROGATE } from './column/wtf8.ts';

// A batch, and the tokens that the skeletons of its events consist of.

export {
  type Batch,
  BatchRecords,
  MIXED_PROJECTS,
  NO_STRING,
  referenceLength,
  referenceOffset,
  STRING_LENGTH_MAX,
  stringReference,
} from './column/batch.ts';
export type { ByteRange } from './column/skeleton.ts';
export {
  BIG_INTEGER,
  EMPTY_LIST,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  KIND_HAS_SLOT,
  KIND_HAS_TEXT,
  KIND_MASK,
  NODE_HEADER_SIZE,
  NULL_KIND,
  RECORD,
  RECORD_LIST,
  TEXT,
  TRUE_KIND,
} from './column/token.ts';

// Segments as queries see them.

export { countFields, type Field, type FieldCounts } from './column/field-counts.ts';
export { OpenSegment } from './column/open-segment.ts';
export { SealedSegmentReader } from './column/sealed-segment.ts';
export type {
  AnyContent,
  DroppedSegments,
  OpenSegmentHandle,
  ScanScope,
  SealedSegmentHandle,
  SegmentCatalog,
  SegmentContent,
  SegmentHandle,
  SourceSchema,
  TimeScope,
} from './column/segment.ts';
export { SegmentDamagedError, SegmentGoneError, SegmentReadError } from './column/segment-image.ts';
export { forgetReaders, readSegment } from './column/segment-reader.ts';

// Sealed segments as arrays: their parts, repair, and packing for a file.

export { newSegmentBuffer } from './column/arrays.ts';
export { countThrough, type PartRows } from './column/divide-rows.ts';
export { repairSegment } from './column/merge-segments.ts';
export type { PackedBlock, PackedImage } from './column/packed-image.ts';
export {
  FOOTER_SIZE_OFFSET,
  HEADER_SIZE,
  readFooter,
  type SealedColumnName,
  type SealedFooter,
  sealedColumnsOf,
} from './column/sealed-layout.ts';
export { type Slice, SliceSource } from './column/slice.ts';

// The memory of sealed segments: which of their blocks are in it, and what threads count together.

export { collectGarbageBeside } from './column/garbage.ts';
export {
  ABSENT,
  BLOCK_NUMBERS,
  type BlockTable,
  type BlockUses,
  blocksWith,
  FREQUENT_USES,
  GAUGE_CLOCK,
  GAUGE_EVICTED,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  isFrequent,
  KIB,
  type MemoryGauge,
  newBlockUses,
  newMemoryGauge,
  noteLeaving,
  READ_IN_PARTS_NUMBERS,
  RESIDENT,
  releaseBuffer,
  retire,
  type SegmentBacking,
  sizeOfUses,
} from './column/segment-backing.ts';

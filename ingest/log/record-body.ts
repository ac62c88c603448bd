import { crc32 } from 'node:zlib';
import { Builder, ByteBuffer } from 'flatbuffers';
import { type Batch, must } from '../../engine/columns.ts';
import { Slices, yieldToEventLoop } from '../event-loop.ts';
import { COPY_SLICE_BYTES } from '../limits.ts';
import { aligned } from './log-layout.ts';

/**
 * A *record*: one batch as it is written to the log. It has the results of all decisions about its events, so replay
 * decides nothing again.
 */
export type LogRecord = {
  readonly source: string;
  /** When the batch was received, in microseconds since the epoch. */
  readonly receivedUs: number;
  /** The arrival number of its first row in its source; the other rows follow consecutively. */
  readonly arrivalBase: number;
  readonly batch: Batch;
};

/** What the envelope states of a record, without its data. */
export type RecordSummary = {
  readonly source: string;
  readonly receivedUs: number;
  readonly arrivalBase: number;
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
};

/** A record's body, which follows a record header. */
export type EncodedBody = {
  /** Envelope and data, end to end. Some parts are views of the batch's own memory. */
  readonly parts: readonly Uint8Array[];
  readonly envelopeSize: number;
  readonly dataSize: number;
  readonly timestampUsMax: number;
};

/** The bytes match their CRC but are not a record: the writer was wrong. */
export class RecordError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RecordError';
  }
}

/**
 * The body:
 *
 * ```
 * ┌────────────────────┬───────────────────────────────────────────────────────────────────┐
 * │ envelope           │ data: the arrays of the batch, each padded to a multiple of 8     │
 * │ (FlatBuffer,       │ slots │ ids │ timestampsUs │ messages │ projects │ projectKeys    │
 * │ padded to 8 B)     │ keys │ tokens │ tokenStarts │ slotStarts │ bytes                  │
 * └────────────────────┴───────────────────────────────────────────────────────────────────┘
 * ```
 *
 * The envelope is a table with the field numbers of FIELD. New fields are only added at the end:
 *
 * ```
 * table Record { source: string; received_us: double; arrival_base: double; row_count: uint;
 *                timestamp_us_min: double; timestamp_us_max: double; slice_sizes: [uint]; }
 * ```
 *
 * `slice_sizes` has the bytes of each array, without padding, in the order of the drawing. If `projectKeys` has no bytes, it
 * equals `projects`. Numbers have the byte order of the machine: little-endian on all that Node runs on.
 *
 * Arrays are written without copying, but without their spare capacity. Packing the strings end to end would save a third
 * of the bytes and double the work, and the log is short-lived.
 */
const FIELD = {
  source: 0,
  receivedUs: 1,
  arrivalBase: 2,
  rowCount: 3,
  timestampUsMin: 4,
  timestampUsMax: 5,
  sliceSizes: 6,
} as const;
const FIELD_COUNT = 7;
const SLICE_COUNT = 11;

const PADDING = new Uint8Array(8);

/** Bytes up to which a body is copied to one part: for a short one, a list of parts is slower. */
const JOINED_BYTES_MAX = 16 * 1024;

/** Reused: its result is read or copied before the next call. */
const ENVELOPE_BUILDER = new Builder(512);

/** The batch must not change until the parts have been written. */
export function encodeBody(record: LogRecord): EncodedBody {
  const { source, receivedUs, arrivalBase, batch } = record;
  const { rowCount } = batch;
  const slices = listSlices(batch);
  let timestampUsMin = Number.POSITIVE_INFINITY;
  let timestampUsMax = Number.NEGATIVE_INFINITY;
  for (const timestampUs of batch.timestampsUs.subarray(0, rowCount)) {
    if (timestampUs < timestampUsMin) timestampUsMin = timestampUs;
    if (timestampUs > timestampUsMax) timestampUsMax = timestampUs;
  }
  const envelope = encodeEnvelope(
    // Field by field, because spreading an object takes longer than writing the envelope.
    { source, receivedUs, arrivalBase, rowCount, timestampUsMin, timestampUsMax },
    slices.map((slice) => slice.byteLength),
  );
  const envelopeSize = aligned(envelope.byteLength);
  const dataSize = slices.reduce((size, slice) => size + aligned(slice.byteLength), 0);
  const isShort = envelopeSize + dataSize <= JOINED_BYTES_MAX;
  const parts = isShort
    ? [joined([envelope, ...slices], envelopeSize + dataSize)]
    : [...padded(envelope.slice()), ...slices.flatMap(padded)];
  return { parts, envelopeSize, dataSize, timestampUsMax };
}

/** The CRC-32 of a body. Yields to the event loop every COPY_SLICE_BYTES. */
export async function computeChecksum({ parts }: EncodedBody): Promise<number> {
  let crc = 0;
  const slices = new Slices(COPY_SLICE_BYTES);
  let doneSize = 0;
  for (const part of parts) {
    for (let start = 0; start < part.length; start += slices.stepSize) {
      const step = part.subarray(start, start + slices.stepSize);
      crc = crc32(step, crc);
      doneSize += step.length;
      if (slices.isOver(doneSize)) await yieldToEventLoop();
    }
  }
  return crc;
}

/** Joins the slices, each padded to a multiple of 8. */
function joined(slices: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let start = 0;
  for (const slice of slices) {
    bytes.set(slice, start);
    start += aligned(slice.byteLength);
  }
  return bytes;
}

/** The bytes, then zeros up to a multiple of 8, as parts that are not empty. */
function padded(bytes: Uint8Array): Uint8Array[] {
  const size = bytes.byteLength;
  const padding = PADDING.subarray(0, aligned(size) - size);
  return [bytes, padding].filter((part) => part.byteLength > 0);
}

/** Decodes the envelope, and returns the offset of the data. */
export function decodeEnvelope(
  envelope: Uint8Array,
): RecordSummary & { readonly sliceSizes: readonly number[] } {
  try {
    const buffer = new ByteBuffer(envelope);
    const table = buffer.readInt32(0);
    const mustFindOffset = (field: number): number => {
      const offset = buffer.__offset(table, 4 + 2 * field);
      if (offset === 0) throw new RecordError(`an envelope has no field ${field}`);
      return table + offset;
    };
    const double = (field: number): number => buffer.readFloat64(mustFindOffset(field));
    const sizesAt = mustFindOffset(FIELD.sliceSizes);
    const sizesStart = buffer.__vector(sizesAt);
    return {
      source: String(buffer.__string(mustFindOffset(FIELD.source))),
      receivedUs: double(FIELD.receivedUs),
      arrivalBase: double(FIELD.arrivalBase),
      rowCount: buffer.readUint32(mustFindOffset(FIELD.rowCount)),
      timestampUsMin: double(FIELD.timestampUsMin),
      timestampUsMax: double(FIELD.timestampUsMax),
      sliceSizes: Array.from({ length: buffer.__vector_len(sizesAt) }, (_, index) =>
        buffer.readUint32(sizesStart + 4 * index),
      ),
    };
  } catch (error) {
    if (error instanceof RecordError) throw error;
    throw new RecordError('an envelope cannot be read', error);
  }
}

/** A batch in one buffer, in the layout of a record's data; `decodeBatch` reads it. */
export type PackedBatch = {
  readonly rowCount: number;
  readonly sliceSizes: readonly number[];
  readonly data: Uint8Array<ArrayBuffer>;
};

export function packBatch(batch: Batch): PackedBatch {
  const slices = listSlices(batch);
  const size = slices.reduce((sum, slice) => sum + aligned(slice.byteLength), 0);
  const sliceSizes = slices.map((slice) => slice.byteLength);
  return { rowCount: batch.rowCount, sliceSizes, data: joined(slices, size) };
}

/**
 * The batch of a record, without copying: its arrays are views of `data`, which must begin at a multiple of 8 of its
 * buffer and must not change while the batch is in use.
 */
export function decodeBatch(
  { rowCount, sliceSizes }: { readonly rowCount: number; readonly sliceSizes: readonly number[] },
  data: Uint8Array,
): Batch {
  if (sliceSizes.length !== SLICE_COUNT) {
    throw new RecordError(`a record must have ${SLICE_COUNT} slices; got ${sliceSizes.length}`);
  }
  let end = 0;
  const slices = sliceSizes.map((size) => {
    const start = end;
    end = aligned(start + size);
    return { offset: data.byteOffset + start, size };
  });
  if (end !== data.byteLength) {
    throw new RecordError(`the slices of a record take ${end} bytes; it has ${data.byteLength}`);
  }
  const { buffer } = data;
  const sliceAt = (index: number): Slice => must(slices[index], 'a record has all its slices');
  const numbers = (index: number): Float64Array => {
    const { offset, size } = sliceAt(index);
    return new Float64Array(buffer, offset, size / 8);
  };
  const integers = (index: number): Int32Array => {
    const { offset, size } = sliceAt(index);
    return new Int32Array(buffer, offset, size / 4);
  };
  const offsets = (index: number): Uint32Array => {
    const { offset, size } = sliceAt(index);
    return new Uint32Array(buffer, offset, size / 4);
  };
  const text = sliceAt(10);
  const projects = numbers(4);
  const keys = numbers(6);
  const batch: Batch = {
    rowCount,
    slots: numbers(0),
    ids: numbers(1),
    timestampsUs: numbers(2),
    messages: numbers(3),
    projects,
    projectKeys: sliceAt(5).size === 0 ? projects : numbers(5),
    keys,
    keyCount: keys.length,
    tokens: integers(7),
    tokenStarts: offsets(8),
    slotStarts: offsets(9),
    bytes: new Uint8Array(buffer, text.offset, text.size),
  };
  checkBatch(batch);
  return batch;
}

/** The position of a slice in the record's buffer, in bytes. */
type Slice = { readonly offset: number; readonly size: number };

/** The result is valid until the next call. */
function encodeEnvelope(summary: RecordSummary, sliceSizes: readonly number[]): Uint8Array {
  const builder = ENVELOPE_BUILDER;
  builder.clear();
  const source = builder.createString(summary.source);
  builder.startVector(4, sliceSizes.length, 4);
  for (const size of sliceSizes.toReversed()) builder.addInt32(size);
  const sizes = builder.endVector();
  builder.startObject(FIELD_COUNT);
  // No default is given, so every field is written, whatever its value.
  builder.addFieldFloat64(FIELD.receivedUs, summary.receivedUs, null);
  builder.addFieldFloat64(FIELD.arrivalBase, summary.arrivalBase, null);
  builder.addFieldFloat64(FIELD.timestampUsMin, summary.timestampUsMin, null);
  builder.addFieldFloat64(FIELD.timestampUsMax, summary.timestampUsMax, null);
  builder.addFieldOffset(FIELD.source, source, 0);
  builder.addFieldOffset(FIELD.sliceSizes, sizes, 0);
  builder.addFieldInt32(FIELD.rowCount, summary.rowCount, null);
  builder.finish(builder.endObject());
  return builder.asUint8Array();
}

function listSlices(batch: Batch): Uint8Array[] {
  const { rowCount, projects, projectKeys } = batch;
  const tokenCount = must(batch.tokenStarts[rowCount], 'the tokens of the last row have an end');
  const slotCount = must(batch.slotStarts[rowCount], 'the slots of the last row have an end');
  return [
    viewBytes(batch.slots, slotCount),
    viewBytes(batch.ids, rowCount),
    viewBytes(batch.timestampsUs, rowCount),
    viewBytes(batch.messages, rowCount),
    viewBytes(projects, rowCount),
    viewBytes(projectKeys, projectKeys === projects ? 0 : rowCount),
    viewBytes(batch.keys, batch.keyCount),
    viewBytes(batch.tokens, tokenCount),
    viewBytes(batch.tokenStarts, rowCount + 1),
    viewBytes(batch.slotStarts, rowCount + 1),
    batch.bytes,
  ];
}

function viewBytes(array: Float64Array | Int32Array | Uint32Array, count: number): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, count * array.BYTES_PER_ELEMENT);
}

/** Checks the lengths and bounds by which rows are found. The CRC covers the values. */
function checkBatch(batch: Batch): void {
  const { rowCount } = batch;
  const columns = [
    batch.ids,
    batch.timestampsUs,
    batch.messages,
    batch.projects,
    batch.projectKeys,
  ];
  const areWhole =
    columns.every((column) => column.length === rowCount) &&
    haveBounds(batch.tokenStarts, rowCount, batch.tokens.length) &&
    haveBounds(batch.slotStarts, rowCount, batch.slots.length);
  if (!areWhole) throw new RecordError(`the arrays of a record do not have its ${rowCount} rows`);
}

function haveBounds(starts: Uint32Array, rowCount: number, count: number): boolean {
  if (starts.length !== rowCount + 1 || starts[0] !== 0 || starts[rowCount] !== count) return false;
  let last = 0;
  for (const start of starts) {
    if (start < last) return false;
    last = start;
  }
  return true;
}

import {
  type Batch,
  BatchRecords,
  type ByteRange,
  JsonBuffer,
  MIXED_PROJECTS,
  referenceLength,
  referenceOffset,
} from '../../engine/columns.ts';
import type { ReplayedRecord } from '../../ingest/log/log-walk.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { readableJson } from './readable-json.ts';
import type { EventRow } from './schema.ts';
import type { TsvBuffer } from './tsv-buffer.ts';

/** The columns of the table (`schema.ts`), in the order in which they are written. */
export const SHIPPED_COLUMNS = [
  'source',
  'project',
  'is_mixed',
  'timestamp',
  'id',
  'event_message',
  'named_project',
  'body',
  'posted_body',
  'gateway',
  'sequence',
  'event',
  'received',
] as const satisfies readonly (keyof EventRow)[];

/** A row of the table. Strings are WTF-8; `undefined` is NULL. */
export type ShippedRow = {
  readonly source: string;
  /** `undefined`: none. */
  readonly projectKey: ByteRange | undefined;
  readonly isMixed: boolean;
  readonly timestampUs: number;
  readonly id: ByteRange | undefined;
  readonly message: ByteRange | undefined;
  readonly namedProject: ByteRange | undefined;
  /** JSON of the root record. */
  readonly body: ByteRange;
  readonly gateway: string;
  readonly place: RowPlace;
  /** 0 if it is not known. */
  readonly receivedUs: number;
};

/** The place of a row in the order of arrival at its gateway. */
export type RowPlace = Pick<EventRow, 'event'> & { readonly sequence: number };

/** The column `event` has 32 bits. */
const EVENTS_MAX = 2 ** 32;

/**
 * The place of an event of a moved folder in the order of arrival. In a segment nothing tells which post brought an
 * event; its number in its source does, wherever it lies. These places come before those of records that the service
 * sends: a log has more records than there are times 2^32 events.
 */
export function placeOfArrival(arrival: number): RowPlace {
  return { sequence: Math.floor(arrival / EVENTS_MAX), event: arrival % EVENTS_MAX };
}

/** The arrival of a row with such a place. */
export const ARRIVAL_SQL = `sequence * ${EVENTS_MAX} + event`;

/** Writes a row in the order of SHIPPED_COLUMNS. */
export function writeShippedRow(row: ShippedRow, tsv: TsvBuffer): void {
  const { body } = row;
  tsv.ascii(row.source);
  writeText(tsv, row.projectKey ?? NO_TEXT);
  tsv.ascii(row.isMixed ? '1' : '0');
  tsv.timestamp(row.timestampUs);
  // The column has no NULL. An id is missing where the file of a segment was damaged.
  writeText(tsv, row.id ?? NO_TEXT);
  writeText(tsv, row.message);
  writeText(tsv, row.namedProject);
  const readable = readableJson(body);
  writeText(tsv, readable ?? body);
  writeText(tsv, readable && body);
  tsv.ascii(row.gateway);
  tsv.integer(row.place.sequence);
  tsv.integer(row.place.event);
  tsv.integer(secondOf(row.receivedUs), SECOND_DIGITS);
  tsv.endRow();
}

/** With fewer digits ClickHouse does not read a number as a time. */
const SECOND_DIGITS = 10;

/** The value of the column `received`. */
export function secondOf(receivedUs: number): number {
  return Math.floor(receivedUs / 1_000_000);
}

const NO_TEXT: ByteRange = { bytes: new Uint8Array(0), start: 0, end: 0 };

function writeText(tsv: TsvBuffer, text: ByteRange | undefined): void {
  if (text === undefined) tsv.null();
  else tsv.text(text.bytes, text.start, text.end);
}

/** The rows of a record of the log. The record must not change while they are written. */
export class RecordRows {
  readonly #source: string;
  readonly #gateway: string;
  readonly #receivedUs: number;
  readonly #batch: Batch;
  readonly #records: BatchRecords;
  readonly #body = new JsonBuffer();

  /** @throws RecordError if the record's data is not that of a batch. */
  constructor(
    { source, receivedUs, batch }: Pick<ReplayedRecord, 'source' | 'receivedUs' | 'batch'>,
    gateway: string,
  ) {
    this.#source = source;
    this.#receivedUs = receivedUs;
    this.#gateway = gateway;
    this.#batch = batch();
    this.#records = new BatchRecords(this.#batch);
  }

  timestampUs(row: number): number {
    return this.#batch.timestampsUs[row]!;
  }

  write(row: number, tsv: TsvBuffer, place: RowPlace): void {
    const batch = this.#batch;
    const projectKey = batch.projectKeys[row]!;
    this.#body.clear();
    this.#records.write(row, this.#body);
    // Field by field: of an object that is spread V8 makes a hidden class for each row.
    const written: ShippedRow = {
      source: this.#source,
      projectKey: findString(batch, projectKey),
      isMixed: projectKey === MIXED_PROJECTS,
      timestampUs: this.timestampUs(row),
      id: findString(batch, batch.ids[row]!),
      message: findString(batch, batch.messages[row]!),
      namedProject: findString(batch, batch.projects[row]!),
      body: this.#body.range(),
      gateway: this.#gateway,
      place,
      receivedUs: this.#receivedUs,
    };
    writeShippedRow(written, tsv);
  }
}

/** A string of the batch; `undefined` for none. */
function findString({ bytes }: Batch, reference: number): ByteRange | undefined {
  if (reference < 0) return undefined;
  const start = referenceOffset(reference);
  return { bytes, start, end: start + referenceLength(reference) };
}

/** A partition as `2026-07-01`. */
export function dayText(partition: number): string {
  return new Date((partition * PARTITION_US) / 1000).toISOString().slice(0, 10);
}

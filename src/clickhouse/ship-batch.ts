import {
  type Batch,
  MIXED_PROJECTS,
  referenceLength,
  referenceOffset,
} from '../../engine/column/batch.ts';
import { BatchRecords } from '../../engine/column/batch-records.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { Slices, yieldToEventLoop } from '../../ingest/event-loop.ts';
import type { ReplayedRecord } from '../../ingest/log/log-walk.ts';
import { PARTITION_US, toPartition } from '../../ingest/partition.ts';
import type { EventRow } from './schema.ts';
import { TsvBuffer } from './tsv-buffer.ts';

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
  'gateway',
  'sequence',
  'event',
] as const satisfies readonly (keyof EventRow)[];

/** Bytes of rows that are written before other work of the thread may run. */
const ROWS_SLICE_BYTES = 256 * 1024;

/** Rows of one UTC day, in the format TabSeparated. */
export type DayOfRows = {
  /** As `2026-07-01`. */
  readonly day: string;
  readonly rowCount: number;
  readonly rows: Uint8Array;
};

type OpenDay = { readonly tsv: TsvBuffer; rowCount: number };

/**
 * The rows of consecutive records of the log, divided by UTC day: ClickHouse knows a repeated insert only within a
 * partition of the table. The rows, their order and their bytes depend on the records alone.
 */
export class ShipBatch {
  readonly #gateway: string;
  readonly #days = new Map<number, OpenDay>();
  readonly #body = new JsonBuffer();
  #rowCount = 0;
  #byteSize = 0;
  #receivedUs: number | undefined;

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Bytes of the rows. */
  get byteSize(): number {
    return this.#byteSize;
  }

  /** When the first record was received, in microseconds; `undefined` if there is none. */
  get receivedUs(): number | undefined {
    return this.#receivedUs;
  }

  /** Adds the rows of a record, which must not change before the promise resolves. Calls must not overlap. */
  async add(record: ReplayedRecord): Promise<void> {
    this.#receivedUs ??= record.receivedUs;
    const batch = record.batch();
    const records = new BatchRecords(batch);
    const slices = new Slices(ROWS_SLICE_BYTES);
    const sizeBefore = this.#byteSize;
    for (let row = 0; row < record.rowCount; row++) {
      this.#addRow(record, { batch, records }, row);
      if (slices.isOver(this.#byteSize - sizeBefore)) await yieldToEventLoop();
    }
  }

  /** The rows of each day, oldest day first. They are good until more are added. */
  days(): DayOfRows[] {
    const days = [...this.#days].sort(([left], [right]) => left - right);
    return days.map(([day, { tsv, rowCount }]) => ({
      day: new Date((day * PARTITION_US) / 1000).toISOString().slice(0, 10),
      ...{ rowCount, rows: tsv.written() },
    }));
  }

  #addRow(
    { source, sequence }: ReplayedRecord,
    { batch, records }: { readonly batch: Batch; readonly records: BatchRecords },
    row: number,
  ): void {
    const timestampUs = batch.timestampsUs[row]!;
    const projectKey = batch.projectKeys[row]!;
    const day = this.#dayOf(timestampUs);
    const { tsv } = day;
    const sizeBefore = tsv.size;
    tsv.ascii(source);
    if (projectKey < 0) tsv.ascii('');
    else writeReference(tsv, batch, projectKey);
    tsv.ascii(projectKey === MIXED_PROJECTS ? '1' : '0');
    tsv.timestamp(timestampUs);
    writeReference(tsv, batch, batch.ids[row]!);
    writeReference(tsv, batch, batch.messages[row]!);
    writeReference(tsv, batch, batch.projects[row]!);
    this.#body.clear();
    records.write(row, this.#body);
    tsv.text(this.#body.written(), 0, this.#body.size);
    tsv.ascii(this.#gateway);
    tsv.ascii(String(sequence));
    tsv.ascii(String(row));
    tsv.endRow();
    day.rowCount += 1;
    this.#rowCount += 1;
    this.#byteSize += tsv.size - sizeBefore;
  }

  #dayOf(timestampUs: number): OpenDay {
    const partition = toPartition(timestampUs);
    let day = this.#days.get(partition);
    if (day === undefined) {
      day = { tsv: new TsvBuffer(), rowCount: 0 };
      this.#days.set(partition, day);
    }
    return day;
  }
}

/** A field of a string of the batch, NULL for none. */
function writeReference(tsv: TsvBuffer, { bytes }: Batch, reference: number): void {
  if (reference < 0) {
    tsv.null();
    return;
  }
  const start = referenceOffset(reference);
  tsv.text(bytes, start, start + referenceLength(reference));
}

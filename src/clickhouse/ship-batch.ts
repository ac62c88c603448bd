import { Slices, yieldToEventLoop } from '../../ingest/event-loop.ts';
import type { ReplayedRecord } from '../../ingest/log/log-walk.ts';
import { toPartition } from '../../ingest/partition.ts';
import { dayText, RecordRows } from './shipped-row.ts';
import { type Stretch, Stretches } from './stretches.ts';
import { TsvBuffer } from './tsv-buffer.ts';

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
  readonly #stretches = new Stretches();
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
    const rows = new RecordRows(record, this.#gateway);
    const slices = new Slices(ROWS_SLICE_BYTES);
    const sizeBefore = this.#byteSize;
    let timestampUsMin = Number.POSITIVE_INFINITY;
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < record.rowCount; row++) {
      this.#addRow(rows, row, record.sequence);
      timestampUsMin = Math.min(timestampUsMin, rows.timestampUs(row));
      timestampUsMax = Math.max(timestampUsMax, rows.timestampUs(row));
      if (slices.isOver(this.#byteSize - sizeBefore)) await yieldToEventLoop();
    }
    if (record.rowCount > 0) this.#stretches.add({ ...record, timestampUsMin, timestampUsMax });
  }

  /** The records with events, to be numbered in this order. */
  stretches(): Stretch[] {
    return this.#stretches.list();
  }

  /** The rows of each day, oldest day first. They are good until more are added. */
  days(): DayOfRows[] {
    const days = [...this.#days].sort(([left], [right]) => left - right);
    return days.map(([day, { tsv, rowCount }]) => ({
      day: dayText(day),
      ...{ rowCount, rows: tsv.written() },
    }));
  }

  #addRow(rows: RecordRows, row: number, sequence: number): void {
    const day = this.#dayOf(rows.timestampUs(row));
    const { tsv } = day;
    const sizeBefore = tsv.size;
    rows.write(row, tsv, { sequence, event: row });
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

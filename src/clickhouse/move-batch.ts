import { createHash } from 'node:crypto';
import { must } from '../../engine/columns.ts';
import type { ArrivalRange, Arrivals } from './moved-table.ts';
import { dayText, placeOfArrival, type RowPlace } from './shipped-row.ts';
import { TsvBuffer } from './tsv-buffer.ts';

/** Rows of one source and one UTC day, with the arrival of each. */
export class MoveBatch {
  readonly #source: string;
  readonly #partition: number;
  readonly #tsv = new TsvBuffer();
  readonly #arrivals: number[] = [];
  /** Where each row ends in the bytes. */
  readonly #rowEnds: number[] = [];

  constructor(source: string, partition: number) {
    this.#source = source;
    this.#partition = partition;
  }

  get rowCount(): number {
    return this.#arrivals.length;
  }

  get byteSize(): number {
    return this.#tsv.size;
  }

  /** Adds a row, which `write` writes. */
  add(arrival: number, write: (tsv: TsvBuffer, place: RowPlace) => void): void {
    write(this.#tsv, placeOfArrival(arrival));
    this.#arrivals.push(arrival);
    this.#rowEnds.push(this.#tsv.size);
  }

  /** The arrivals of the rows, and perhaps others between them. The batch must have a row. */
  get range(): ArrivalRange {
    let arrivalMin = Number.POSITIVE_INFINITY;
    let arrivalMax = Number.NEGATIVE_INFINITY;
    for (const arrival of this.#arrivals) {
      arrivalMin = Math.min(arrivalMin, arrival);
      arrivalMax = Math.max(arrivalMax, arrival);
    }
    const day = dayText(this.#partition);
    return { source: this.#source, day, arrivalMin, arrivalMax };
  }

  /** The rows without those of some arrivals, and how many they are. Good until a row is added. */
  rowsWithout(present: Arrivals): { readonly rows: Uint8Array; readonly count: number } {
    const written = this.#tsv.written();
    if (present.count === 0) return { rows: written, count: this.rowCount };
    const parts: Uint8Array[] = [];
    for (const [row, arrival] of this.#arrivals.entries()) {
      if (present.has(arrival)) continue;
      const start = row === 0 ? 0 : must(this.#rowEnds[row - 1]);
      parts.push(written.subarray(start, this.#rowEnds[row]));
    }
    return { rows: Buffer.concat(parts), count: parts.length };
  }
}

/**
 * Marks an insert of rows: the same rows have the same token, also in another process, and so ClickHouse ignores the
 * second of two inserts of one batch.
 */
export function tokenOf(rows: Uint8Array): string {
  return `moved ${createHash('sha256').update(rows).digest('hex')}`;
}

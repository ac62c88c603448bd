import type { EventTable } from './event-table.ts';

/** Events of one source and one UTC day, written as `2026-07-01`, by their numbers in the source; both ends inclusive. */
export type ArrivalRange = {
  readonly source: string;
  readonly day: string;
  readonly arrivalMin: number;
  readonly arrivalMax: number;
  /** The first and the last project key, in the order of bytes; absent: any. */
  readonly projects?: { readonly first: Uint8Array; readonly last: Uint8Array };
};

/** Number of rows of a source and a UTC day, written as `2026-07-01`. */
export type DayCount = { readonly source: string; readonly day: string; readonly count: number };

/** A table of events that says what it has of a folder. */
export interface MovedTable extends EventTable {
  /** Number of rows of a part by source and day. */
  countDays(gateway: string, part: GatewayPart, signal: AbortSignal): Promise<readonly DayCount[]>;
  /** The events of a move that the table has in a range. */
  findArrivals(gateway: string, range: ArrivalRange, signal: AbortSignal): Promise<Arrivals>;
}

/** Rows of a gateway by sequence: [first, end). The rows of a move are those before the records that the service sends. */
export type GatewayPart = { readonly first: number; readonly end: number };

/** Ascending arrivals. */
export class Arrivals {
  static readonly NONE = new Arrivals(new Float64Array(0));
  readonly #ascending: Float64Array;

  constructor(ascending: Float64Array) {
    this.#ascending = ascending;
  }

  get count(): number {
    return this.#ascending.length;
  }

  has(arrival: number): boolean {
    let low = 0;
    let high = this.#ascending.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ascending[middle]! < arrival) low = middle + 1;
      else high = middle;
    }
    return this.#ascending[low] === arrival;
  }
}

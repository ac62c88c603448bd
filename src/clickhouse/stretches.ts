/** Consecutive records of a gateway's log, each of which takes the same number of numbers (`arrivals-table.ts`). */
export type Stretch = {
  readonly sequenceStart: number;
  /** Exclusive. */
  readonly sequenceEnd: number;
  /** The events of the largest record. */
  readonly stride: number;
  readonly rowCount: number;
  readonly sources: readonly string[];
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly receivedUsMin: number;
  readonly receivedUsMax: number;
};

/** A record with its events. */
export type StretchedRecord = {
  readonly sequence: number;
  readonly source: string;
  readonly receivedUs: number;
  /** At least one. */
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
};

/**
 * Numbers that a stretch may take: so many for each of its events, and some more. All gateways share 2^53 numbers; with
 * this, a million events a second use them up in half a century, however they are posted.
 */
const NUMBERS_PER_ROW = 4;
const NUMBERS_SPARE = 4_096;

type OpenStretch = {
  readonly sequenceStart: number;
  readonly sources: Set<string>;
  sequenceEnd: number;
  stride: number;
  rowCount: number;
  timestampUsMin: number;
  timestampUsMax: number;
  receivedUsMin: number;
  receivedUsMax: number;
};

/** Divides consecutive records into stretches, which depend on the records alone. */
export class Stretches {
  readonly #stretches: OpenStretch[] = [];

  add(record: StretchedRecord): void {
    const last = this.#stretches.at(-1);
    if (last !== undefined && hasRoom(last, record)) {
      last.sequenceEnd = record.sequence + 1;
      last.stride = Math.max(last.stride, record.rowCount);
      last.rowCount += record.rowCount;
      last.sources.add(record.source);
      last.timestampUsMin = Math.min(last.timestampUsMin, record.timestampUsMin);
      last.timestampUsMax = Math.max(last.timestampUsMax, record.timestampUsMax);
      // A clock may be set back.
      last.receivedUsMin = Math.min(last.receivedUsMin, record.receivedUs);
      last.receivedUsMax = Math.max(last.receivedUsMax, record.receivedUs);
      return;
    }
    const { sequence, source, rowCount, timestampUsMin, timestampUsMax, receivedUs } = record;
    this.#stretches.push({
      ...{ sequenceStart: sequence, sequenceEnd: sequence + 1, stride: rowCount, rowCount },
      ...{ sources: new Set([source]), timestampUsMin, timestampUsMax },
      ...{ receivedUsMin: receivedUs, receivedUsMax: receivedUs },
    });
  }

  /** In the order of the log. */
  list(): Stretch[] {
    return this.#stretches.map((stretch) => ({ ...stretch, sources: [...stretch.sources].sort() }));
  }
}

function hasRoom(stretch: OpenStretch, { sequence, rowCount }: StretchedRecord): boolean {
  const stride = Math.max(stretch.stride, rowCount);
  const numbers = (sequence + 1 - stretch.sequenceStart) * stride;
  return numbers <= NUMBERS_PER_ROW * (stretch.rowCount + rowCount) + NUMBERS_SPARE;
}

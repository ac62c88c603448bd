/** Totals of one source's posts since the start. */
export type IngestCount = {
  /** Events stored. */
  readonly events: number;
  /** Events refused individually; their posts were answered with 406. */
  readonly refusals: number;
  /** Events stored with U+FFFD for bytes that were not UTF-8. */
  readonly repairs: number;
  /** Events stored with the time of receipt, because their timestamp could not be read. */
  readonly unreadableTimestamps: number;
  /** Bytes of the stored bodies after decompression. */
  readonly bytes: number;
};

const NOTHING: IngestCount = {
  events: 0,
  refusals: 0,
  repairs: 0,
  unreadableTimestamps: 0,
  bytes: 0,
};

/** Totals of ingestion by source name. */
export class IngestCounts {
  readonly #bySource = new Map<string, IngestCount>();

  add(source: string, more: IngestCount): void {
    const before = this.#bySource.get(source) ?? NOTHING;
    this.#bySource.set(source, {
      events: before.events + more.events,
      refusals: before.refusals + more.refusals,
      repairs: before.repairs + more.repairs,
      unreadableTimestamps: before.unreadableTimestamps + more.unreadableTimestamps,
      bytes: before.bytes + more.bytes,
    });
  }

  bySource(): ReadonlyMap<string, IngestCount> {
    return this.#bySource;
  }
}

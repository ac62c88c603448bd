/** What posts have brought to one source since the start. */
export type IngestCount = {
  /** Events that were stored. */
  readonly events: number;
  /** Events that were refused, one by one; their posts were answered with 406. */
  readonly refusals: number;
  /** Events that were stored with U+FFFD for bytes that were not UTF-8. */
  readonly repairs: number;
  /** Events that were stored with the time of their receipt, as their timestamp could not be read. */
  readonly unreadableTimestamps: number;
  /** Bytes of the bodies that were stored, inflated. */
  readonly bytes: number;
};

const NOTHING: IngestCount = {
  events: 0,
  refusals: 0,
  repairs: 0,
  unreadableTimestamps: 0,
  bytes: 0,
};

/** Counts what is taken in, by the name of its source. */
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

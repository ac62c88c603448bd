/** What a sender of events does until it is stopped. */
export type EventOrder = {
  readonly url: string;
  readonly token: string;
  /** Half of them full edge events, half invocations; 0: as many as are taken. */
  readonly eventsPerSecond: number;
};

/** The posts that were answered so far. */
export type SentCounts = {
  /** Events of posts that were answered with 200. */
  readonly eventCount: number;
  /** Posts answered with 429 or 503; they are not sent again. */
  readonly refusedCount: number;
};

import type { Kind } from '../workload/workload.ts';

/** What one tenant sends, and how often. */
export type Stream = {
  readonly token: string;
  readonly load: PostLoad | CallLoad;
  /** Requests that begin each second, whatever becomes of the others; 0: each connection sends without a pause. */
  readonly perSecond: number;
  /** What would need more begins not at all, and is counted. */
  readonly connectionsMax: number;
};

/** Events of one kind, as NDJSON. */
export type PostLoad = {
  readonly kind: 'posts';
  readonly of: Kind;
  readonly path: string;
  readonly eventsPerPost: number;
  /** Different bodies, sent in turn. */
  readonly bodyCount: number;
};

/** Paths asked for in turn. */
export type CallLoad = { readonly kind: 'calls'; readonly paths: readonly string[] };

/** What a sender is to do. It stops by itself when the time is over. */
export type SendOrder = {
  readonly url: string;
  readonly seconds: number;
  readonly streams: readonly Stream[];
};

/** One request; times in milliseconds since the beginning. */
export type Sample = {
  /** When it was due: what it waited to be sent counts. */
  readonly dueMs: number;
  readonly tookMs: number;
  /** 0: the connection ended before an answer. */
  readonly status: number;
  readonly hasRetryAfter: boolean;
};

export type StreamReport = {
  readonly samples: readonly Sample[];
  /** Due when no connection was free and no more might be made. */
  readonly unsentCount: number;
};

/** What came of it, by stream. */
export type SendReport = { readonly streams: readonly StreamReport[] };

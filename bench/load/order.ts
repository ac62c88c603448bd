import type { Kind } from '../workload/workload.ts';

/** What one tenant sends, and how often. */
export type Stream = {
  readonly token: string;
  readonly load: PostLoad | CallLoad | EventStreamLoad | HostileLoad;
  /** Requests that begin each second, whatever becomes of the others; 0: each connection sends without a pause. */
  readonly perSecond: number;
  /** What would need more begins not at all, and is counted. */
  readonly connectionsMax: number;
  /** When the first request is due, as a part of the time between two; 0 unless given. */
  readonly phase?: number;
};

/** Events of one kind, as NDJSON. */
export type PostLoad = {
  readonly kind: 'posts';
  readonly of: Kind;
  readonly path: string;
  readonly eventsPerPost: number;
  /** Different bodies, sent in turn. */
  readonly bodyCount: number;
  /** The project of all events; unless given, each has its own. */
  readonly project?: string;
  /** The time of the first event in microseconds; each other one is a microsecond later. Unless given, times of a week. */
  readonly fromUs?: number;
};

/** Paths asked for in turn. */
export type CallLoad = { readonly kind: 'calls'; readonly paths: readonly string[] };

/** Answers that do not end, asked for in turn, each on a connection of its own, which is closed `heldMs` after its first event. */
export type EventStreamLoad = {
  readonly kind: 'event streams';
  readonly paths: readonly string[];
  /** Whether nothing is read after the headers; the time is then counted from there. */
  readonly isUnread: boolean;
  readonly heldMs: number;
};

/** Requests of one of the kinds of `workload/hostile-requests.ts`, in turn. */
export type HostileLoad = {
  readonly kind: 'hostile';
  readonly of: string;
  /** Bytes of a body before it is packed. */
  readonly bodySize: number;
};

/** What a sender is to do. It stops by itself when the time is over. */
export type SendOrder = {
  readonly url: string;
  readonly seconds: number;
  /** How long after the others it begins; 0 unless given. */
  readonly delayMs?: number;
  /** How long answers are waited for at the end; those that have not come then are left out. 45 s unless given. */
  readonly lastAnswersMs?: number;
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

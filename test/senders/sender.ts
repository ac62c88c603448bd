import type { Exchange } from './tap.ts';

/** Where a sender has to post, and as whom. */
export type Target = {
  readonly port: number;
  /** May post and do nothing else. */
  readonly token: string;
  /** An index, where a sender knows nothing of sources. */
  readonly source: string;
  readonly project: string;
  /** For what the sender keeps. */
  readonly folder: string;
};

/** What an application logs; its message begins with a name that no other has. */
export type LogRecord = {
  readonly message: string;
  /** Milliseconds; now, where there are none. */
  readonly timeMs?: number;
  readonly fields?: Readonly<Record<string, string | number>>;
};

/** A sender at work in a process of its own. */
export interface RunningSender {
  log(record: LogRecord): void;
  /** Names of events that it says it could not deliver, so far. */
  readonly dropped: ReadonlySet<string>;
  /** What it wrote to its terminal, to be shown when a test fails. */
  readonly terminal: () => string;
  /** Ends it as its users would: it delivers what it has, if it can. */
  stop(): Promise<void>;
}

/**
 * What a sender does with events that were not acknowledged:
 *
 * - `everything`: sends them until they are, so each arrives, some perhaps twice;
 * - `tells`: tries for a while, and says of each that it gave up;
 * - `nothing`: sends no event twice.
 */
type Keeping = 'everything' | 'tells' | 'nothing';

/** A program that others wrote, as its users configure it. */
export type Sender = {
  /** As docs/ingest.md has it, without a version. */
  readonly name: string;
  /** Of what is tried here; nothing where it cannot be run. */
  readonly version: () => string | undefined;
  /** Why it cannot be run here, and what to do; nothing where it can. */
  readonly missing: () => string | undefined;
  readonly keeps: Keeping;
  /** What it speaks; HTTP unless given. */
  readonly speaks?: 'grpc';
  /** Whether an event has the time at which it is sent, whatever the record says. */
  readonly isStampedLate?: true;
  /** Settings of the service for a sender that cannot name its source. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly start: (target: Target) => Promise<RunningSender>;
  /** The body of a request as it is before compression, if the sender compresses; as it is, if it was cut off. */
  readonly readBody?: (body: Buffer) => Buffer;
  /** Names of the events that an answer says are stored. */
  readonly acknowledged: (exchange: Exchange) => readonly string[];
  /** How an event arrives that was logged with a time and the field `order`, which is 7. */
  readonly arrives: (row: Row) => void;
};

/** An event as weir answers it. */
export type Row = {
  readonly id: string;
  /** Microseconds. */
  readonly timestamp: number;
  readonly event_message: string;
  readonly project: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: senders give it any form
  readonly metadata: any;
};

const NAME = /event-\d{6}/g;

export function eventName(number: number): string {
  return `event-${String(number).padStart(6, '0')}`;
}

/** The names of events in a text, or in bytes that have texts in them as they are. */
export function eventNames(text: string | Buffer): readonly string[] {
  return (typeof text === 'string' ? text : text.toString('latin1')).match(NAME) ?? [];
}

/** Of a sender who looks at the status alone: all, or none. */
export function acknowledgedByStatus({ status, requestBody }: Exchange): readonly string[] {
  return status >= 200 && status < 300 ? eventNames(requestBody) : [];
}

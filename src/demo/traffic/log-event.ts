import type { Random } from './random.ts';

/** One event as a sender posts it. */
export type LogEvent = {
  readonly id: string;
  /** ISO 8601, or a number of milliseconds or microseconds, because senders differ. */
  readonly timestamp: string | number;
  readonly event_message: string;
  readonly project?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** A hosted project that traffic comes from. */
export type Project = {
  readonly ref: string;
  readonly functions: readonly string[];
};

/** The inputs of a generated event. */
export type TrafficContext = {
  readonly random: Random;
  readonly project: Project;
  readonly timestampMs: number;
  readonly timestamp: string;
};

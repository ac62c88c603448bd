/** One line of the service's own log: what happened, and plain values about it. */
export type LogEntry = {
  readonly level: 'info' | 'error';
  readonly event: string;
  readonly [detail: string]: string | number | boolean | undefined;
};

export type Log = (entry: LogEntry) => void;

/** All that is known of an error, for the log only. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * A log of JSON lines. No caller's text is ever part of the line's own syntax.
 *
 * @param wallTime the time of day as ISO 8601, of the machine's clock even when `FROZEN_NOW` is set.
 */
export function createLog(write: (line: string) => void, wallTime: () => string): Log {
  return (entry) => write(`${JSON.stringify({ time: wallTime(), ...entry })}\n`);
}

import { LOG_TEXT_LENGTH_MAX } from './limits.ts';
import { shownText } from './shown-text.ts';

/** One line of the service's own log: the event's name and plain values. */
export type LogEntry = {
  readonly level: 'info' | 'warning' | 'error';
  readonly event: string;
  readonly [detail: string]: string | number | boolean | readonly string[] | undefined;
};

export type Log = (entry: LogEntry) => void;

/** Formats an error with its stack trace and causes, for the log only. */
export function formatStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Makes a log of JSON lines. Callers' texts are escaped, so that they change neither the syntax of
 * a line nor the terminal or editor that shows it.
 *
 * @param wallTime the time of day as ISO 8601, from the machine's clock even if `FROZEN_NOW` is
 * set.
 */
export function createLog(write: (line: string) => void, wallTime: () => string): Log {
  return (entry) => {
    const json = JSON.stringify({ time: wallTime(), ...entry }, (_key, value: unknown) =>
      typeof value === 'string' ? shortened(value) : value,
    );
    write(`${shownText(json)}\n`);
  };
}

/**
 * Makes a log for a person at a terminal: a line for each entry, such as
 * `12:00:00 error: start_failed, error: the disk is full`, with callers' texts escaped. `wallTime`
 * is that of `createLog`.
 */
export function createPlainLog(write: (line: string) => void, wallTime: () => string): Log {
  return ({ level, event, ...details }) => {
    const told = Object.entries(details).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const text = Array.isArray(value) ? value.join(' ') : String(value);
      return [`${name}: ${shortened(text)}`];
    });
    const title = level === 'info' ? event : `${level}: ${event}`;
    const timeOfDay = wallTime().slice('2026-01-15T'.length, '2026-01-15T12:00:00'.length);
    write(`${timeOfDay} ${shownText([title, ...told].join(', '))}\n`);
  };
}

function shortened(text: string): string {
  if (text.length <= LOG_TEXT_LENGTH_MAX) return text;
  return `${text.slice(0, LOG_TEXT_LENGTH_MAX)}… (${text.length} characters)`;
}

import { LOG_TEXT_LENGTH_MAX } from './limits.ts';

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
 * A log of JSON lines. No caller's text is ever part of the line's own syntax, nor of what a terminal or an editor
 * would act on that shows it.
 *
 * @param wallTime the time of day as ISO 8601, of the machine's clock even when `FROZEN_NOW` is set.
 */
export function createLog(write: (line: string) => void, wallTime: () => string): Log {
  return (entry) => {
    const json = JSON.stringify({ time: wallTime(), ...entry }, (_key, value: unknown) =>
      typeof value === 'string' ? shortened(value) : value,
    );
    write(`${json.replace(UNSHOWN, escaped)}\n`);
  };
}

function shortened(text: string): string {
  if (text.length <= LOG_TEXT_LENGTH_MAX) return text;
  return `${text.slice(0, LOG_TEXT_LENGTH_MAX)}… (${text.length} characters)`;
}

/**
 * What JSON leaves as it is and is not shown: DEL and the controls of C1, of which one begins commands to a
 * terminal; other spaces, ends of lines and directions of writing, which make a line read as another.
 */
const UNSHOWN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** In JSON's own way, a unit of 16 bits at a time. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

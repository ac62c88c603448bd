import { ECHO_LENGTH_MAX } from './limits.ts';

/**
 * Formats a caller's text for a message: quoted, with control characters escaped, and cut when
 * long.
 */
export function echo(text: string): string {
  if (text.length <= ECHO_LENGTH_MAX) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, ECHO_LENGTH_MAX))}… (${text.length} characters)`;
}

/** Formats a text that should be a number: without quotes if it is one, else as `echo` does. */
export function echoNumber(text: string): string {
  return /^-?\d{1,20}$/.test(text) ? text : echo(text);
}

/** Formats a JSON value for a message: a string as `echo` does, other values as JSON. */
export function echoValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return echo(value);
  const json = JSON.stringify(value);
  return json.length <= ECHO_LENGTH_MAX ? json : `${json.slice(0, ECHO_LENGTH_MAX)}…`;
}

/** Formats the allowed words: `a, b or c`. */
export function formatChoices(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

import { ECHO_LENGTH_MAX } from './limits.ts';

/** A caller's text as a message repeats it: quoted, control characters escaped, cut when long. */
export function echo(text: string): string {
  if (text.length <= ECHO_LENGTH_MAX) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, ECHO_LENGTH_MAX))}… (${text.length} characters)`;
}

/** A text that should be a number: as one where it is one, as `echo` does where it is not. */
export function echoNumber(text: string): string {
  return /^-?\d{1,20}$/.test(text) ? text : echo(text);
}

/** A value of JSON as a message repeats it: a text as `echo` does, all else as it was written. */
export function echoValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return echo(value);
  const json = JSON.stringify(value);
  return json.length <= ECHO_LENGTH_MAX ? json : `${json.slice(0, ECHO_LENGTH_MAX)}…`;
}

/** `a, b or c`, for what is allowed. */
export function formatChoices(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

import { ECHO_LENGTH_MAX } from './limits.ts';

/** A caller's text as a message repeats it: quoted, control characters escaped, cut when long. */
export function echo(text: string): string {
  if (text.length <= ECHO_LENGTH_MAX) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, ECHO_LENGTH_MAX))}… (${text.length} characters)`;
}

/** `a, b or c`, for what is allowed. */
export function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

import type { Span } from '../query-error.ts';

/**
 * The line of `text` on which the span begins, and under it a caret at the span's first character.
 * Tabs stay tabs, so that both lines are indented alike. Of a very long line only the part around
 * the caret is shown.
 */
export function caret(text: string, span: Span): string {
  const at = Math.min(span.start, text.length);
  const lead = lastLine(text.slice(Math.max(0, at - SHOWN_MAX), at));
  const rest = firstLine(text.slice(at, at + SHOWN_MAX));
  const indent = Array.from(lead, (character) => (character === '\t' ? '\t' : ' ')).join('');
  return `${lead}${rest}\n${indent}^`;
}

/** Characters shown on either side of the caret: a line of a terminal. */
const SHOWN_MAX = 120;

function lastLine(text: string): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

export function firstLine(text: string): string {
  const end = text.search(/[\r\n]/);
  return end < 0 ? text : text.slice(0, end);
}

import type { AnswerRow } from '../peers/question.ts';
import { digestOfRows } from './answer-digest.ts';

/**
 * Asks an engine a text of SQL. Resolves once the answer is there; this is timed. What it resolves to reads the rows of
 * it; `undefined` where the engine gave up.
 */
export type AskText = (text: string) => Promise<(() => readonly AnswerRow[]) | undefined>;

/** What one text took. */
export type TextTimes = {
  /** When it was asked for the first time. */
  readonly firstMs: number;
  /** When it was asked again at once. */
  readonly againMs: number;
  /** Of the first answer; `undefined` where the engine gave up. */
  readonly digest: string | undefined;
  /** The first rows, to look at when engines differ. */
  readonly head: string;
};

const HEAD_ROWS = 3;

/** @throws Error when the second answer is not equal to the first. */
export async function askTwice(ask: AskText, text: string): Promise<TextTimes> {
  const first = await timedOf(ask, text);
  const again = await timedOf(ask, text);
  const digests = new Set([first.digest, again.digest].filter((digest) => digest !== undefined));
  if (digests.size > 1) throw new Error(`two answers differ: ${text}`);
  return { firstMs: first.ms, againMs: again.ms, digest: first.digest, head: first.head };
}

async function timedOf(
  ask: AskText,
  text: string,
): Promise<{ readonly ms: number; readonly digest: string | undefined; readonly head: string }> {
  const fromMs = performance.now();
  const readRows = await ask(text);
  const ms = performance.now() - fromMs;
  if (readRows === undefined) return { ms, digest: undefined, head: 'given up' };
  const rows = readRows();
  return { ms, digest: digestOfRows(rows), head: JSON.stringify(rows.slice(0, HEAD_ROWS)) };
}

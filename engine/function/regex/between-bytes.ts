import { isWordByte } from './byte-classes.ts';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from './rune-program.ts';

/** In a context: the byte before is part of a word. Beside BEGIN_TEXT and BEGIN_LINE. */
export const BEHIND_WORD = 1 << 8;
/** What holds between two bytes by the one before alone. */
export const KNOWN_BEFORE = BEGIN_TEXT | BEGIN_LINE;

/** In place of the next byte: the text ends. */
export const TEXT_END = -1;

const NEWLINE = 0x0a;

/** The context behind a byte: what assertions need to know of it. */
export function contextBehind(byte: number): number {
  return (byte === NEWLINE ? BEGIN_LINE : 0) | (isWordByte(byte) ? BEHIND_WORD : 0);
}

/** What holds between the byte that a context is of and the next one, as the bits of assertions. */
export function flagsBetween(context: number, next: number): number {
  const ends = next === TEXT_END ? END_LINE | END_TEXT : next === NEWLINE ? END_LINE : 0;
  const isBoundary = ((context & BEHIND_WORD) !== 0) !== isWordByte(next);
  return (context & KNOWN_BEFORE) | ends | (isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
}

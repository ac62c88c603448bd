/**
 * The characters of a STRING are its code points: a surrogate pair is one. Those of BYTES are its
 * bytes.
 */
export function charactersOf(text: string): string[] {
  return [...text];
}

/** A part of a text keeps all of it in memory: one of a longer text is a text of its own. */
const SLICED_LENGTH_MAX = 1_024;

/** The characters [start, end) of a text, as far as it has them; `start` is at least 0. */
export function charactersBetween(text: string, start: number, end: number): string {
  if (text.length <= SLICED_LENGTH_MAX && !HIGH_SURROGATE.test(text)) return text.slice(start, end);
  return charactersOf(text).slice(start, end).join('');
}

/** Code points, not UTF-16 units: a surrogate pair counts once. */
export function characterCount(text: string): number {
  if (!HIGH_SURROGATE.test(text)) return text.length;
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    if (isLowSurrogate(text, index) && isHighSurrogate(text, index - 1)) count--;
  }
  return count;
}

/** Without the flag `u` each unit is looked at alone; V8 keeps Latin-1 in bytes, and knows at once that none of them is one. */
const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** The index of the UTF-16 unit at which character `position`, counted from 0, begins; the length beyond. */
export function unitOfCharacter(text: string, position: number): number {
  let unit = 0;
  for (let count = 0; count < position && unit < text.length; count++) {
    unit += isHighSurrogate(text, unit) && isLowSurrogate(text, unit + 1) ? 2 : 1;
  }
  return unit;
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

import { useState } from 'preact/hooks';
import { Button } from './button.tsx';

/** Characters of a text that are drawn at once: a browser lays out a line of a megabyte for seconds. */
const TEXT_LENGTH_MAX = 4_000;

const SPECIAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  /\u001b\[([\d;]*)m|([\u0000-\u0008\u000b-\u001f\u007f-\u009f])|([\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff])/g;

/** A piece of a text: what it is drawn as, and how. */
type Piece = { readonly text: string; readonly style: string };

/**
 * A text that strangers wrote: ANSI colours are colours, and characters that cannot be seen, or that would turn the text
 * around, are shown by their codes.
 */
export function LogText({
  text,
  isCut = false,
}: {
  readonly text: string;
  readonly isCut?: boolean;
}) {
  const [lengthMax, setLengthMax] = useState(TEXT_LENGTH_MAX);
  const shown = text.length > lengthMax ? text.slice(0, lengthMax) : text;
  const leftCount = text.length - shown.length;
  // Unlike `test`, `search` leaves no place behind from which the next search would begin.
  if (leftCount === 0 && shown.search(SPECIAL) < 0) return <bdi>{shown}</bdi>;
  return (
    <bdi>
      {splitText(shown).map(({ text: part, style }, index) =>
        style === '' ? (
          part
        ) : (
          <span key={index} class={style}>
            {part}
          </span>
        ),
      )}
      {leftCount > 0 && isCut && '…'}
      {leftCount > 0 && !isCut && (
        <Button kind="quiet" onClick={() => setLengthMax(lengthMax * 8)}>
          {leftCount} characters more
        </Button>
      )}
    </bdi>
  );
}

/** Pieces that are drawn alike. */
function splitText(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let style = '';
  let at = 0;
  for (const match of text.matchAll(SPECIAL)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), style });
    at = match.index + match[0].length;
    const [, codes, control, invisible] = match;
    if (codes !== undefined) style = ansiStyle(codes, style);
    const strange = control ?? invisible;
    if (strange !== undefined) pieces.push({ text: codeName(strange), style: 'strange' });
  }
  if (at < text.length) pieces.push({ text: text.slice(at), style });
  return pieces;
}

function codeName(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0x1b) return 'ESC';
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Classes for the codes of a "select graphic rendition" sequence (ECMA-48 §8.3.117), in the 16 named colours. */
function ansiStyle(codes: string, before: string): string {
  const classes = new Set(before.split(' ').filter((name) => name !== ''));
  const without = (prefix: string): void => {
    for (const name of classes) if (name.startsWith(prefix)) classes.delete(name);
  };
  for (const code of codes === '' ? [0] : codes.split(';').map(Number)) {
    if (code === 0) classes.clear();
    else if (code === 1) classes.add('ansi-bold');
    else if (code === 2) classes.add('ansi-dim');
    else if (code === 3) classes.add('ansi-italic');
    else if (code === 4) classes.add('ansi-underline');
    else if (code === 22) {
      classes.delete('ansi-bold');
      classes.delete('ansi-dim');
    } else if (code === 39) without('ansi-fg-');
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      without('ansi-fg-');
      classes.add(`ansi-fg-${code % 10}`);
    }
  }
  return [...classes].join(' ');
}

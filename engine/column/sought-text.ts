import { ByteNeedle } from './byte-needle.ts';
import type { NeededText } from './segment.ts';
import { bytesInHole, HEX, IS_WORD_BYTE } from './split-shape.ts';
import { gramsOf } from './text-signature.ts';
import { encodeWtf8 } from './wtf8.ts';

/** A text to be looked for in many segments, in the forms that it is looked for in. */
export class SoughtText {
  readonly text: string;
  readonly grams: Int32Array;
  readonly needle: ByteNeedle;
  /**
   * Whether it is a word, or a part of one, with a letter that is no hexadecimal digit: whole in heads, shapes,
   * numbered words and text, and never a part of digits that are packed.
   */
  readonly isOfWord: boolean;

  constructor(text: string) {
    this.text = text;
    this.grams = gramsOf(text);
    const bytes = new Uint8Array(encodeWtf8(text));
    this.needle = new ByteNeedle(bytes);
    const isHexDigit = bytesInHole(HEX);
    this.isOfWord =
      bytes.every((byte) => IS_WORD_BYTE[byte] === 1) && bytes.some((byte) => !isHexDigit[byte]);
  }
}

const known = new WeakMap<NeededText, readonly SoughtText[]>();

/** The texts of which any will do: one `NeededText` is asked for in each segment of a scan. */
export function soughtTexts(needed: NeededText): readonly SoughtText[] {
  let texts = known.get(needed);
  if (texts === undefined) {
    texts = [needed.text, ...(needed.or ?? [])].map((text) => new SoughtText(text));
    known.set(needed, texts);
  }
  return texts;
}

import { TRUE } from '../../column/vector.ts';
import { ALWAYS, NEVER } from './verdict.ts';

/** Some strings of one head: `codes[from, to)`. */
export type Stretch = {
  readonly codes: Int32Array;
  readonly from: number;
  readonly to: number;
  /** The strings of the head are [start, end). */
  readonly start: number;
  readonly end: number;
};

/**
 * Writes the truths of strings as long as they are of one head and their shapes decide; gives the place of
 * the first that is not, or that is marked.
 */
export function decideByShapes(
  stretch: Stretch,
  { shapeCodes }: { readonly shapeCodes: Uint8Array },
  verdicts: Readonly<Uint8Array>,
  marks: Uint8Array | undefined,
  truths: Uint8Array,
): number {
  return marks === undefined
    ? decideAll(stretch, shapeCodes, verdicts, truths)
    : decideUnmarked(stretch, shapeCodes, verdicts, marks, truths);
}

function decideAll(
  { codes, from, to, start, end }: Stretch,
  shapeCodes: Uint8Array,
  verdicts: Readonly<Uint8Array>,
  truths: Uint8Array,
): number {
  let i = from;
  for (; i < to; i++) {
    const code = codes[i]!;
    if (code < start || code >= end) break;
    const verdict = verdicts[shapeCodes[code]!]!;
    if (verdict !== ALWAYS && verdict !== NEVER) break;
    // ALWAYS is TRUE, and NEVER has no bit of it.
    truths[i] = verdict & TRUE;
  }
  return i;
}

function decideUnmarked(
  { codes, from, to, start, end }: Stretch,
  shapeCodes: Uint8Array,
  verdicts: Readonly<Uint8Array>,
  marks: Uint8Array,
  truths: Uint8Array,
): number {
  let i = from;
  for (; i < to; i++) {
    const code = codes[i]!;
    if (code < start || code >= end || marks[code] === 1) break;
    const verdict = verdicts[shapeCodes[code]!]!;
    if (verdict !== ALWAYS && verdict !== NEVER) break;
    truths[i] = verdict & TRUE;
  }
  return i;
}

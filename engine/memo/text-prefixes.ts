import type { Segment, SegmentContent } from '../column/segment.ts';
import { prefixesOf, type StringPrefixes } from '../column/string-values.ts';
import { encodeWtf8, LONE_SURROGATE } from '../column/wtf8.ts';
import { ACCEPTED, DEAD } from '../function/regex/byte-dfa.ts';
import { compileRegex } from '../function/text/regular-expression.ts';
import { REGEX_LENGTH_MAX } from '../limits.ts';

/**
 * Prefixes of strings of a segment, such as the hosts of URLs, from which states of each are not made: twice as many as
 * there are projects on a large host. Beyond them, they tell little from much.
 */
const PREFIXES_MAX = 4096;

/** Prefixes of all segments together that are known for a fragment: to try a pattern on each takes a millisecond. */
const PREFIXES_KNOWN_MAX = 16_384;

/**
 * Prefixes whose strings a pattern may match, at most, for it to be answered from their states: to combine these takes
 * some microseconds each, in each segment.
 */
const PREFIXES_TOLD_MAX = 64;

/**
 * The prefixes of the strings in which a family looks for patterns, of those segments whose states were made ahead.
 */
export class KnownPrefixes {
  /** Of all of these segments together. */
  readonly #all = new Set<string>();
  /** The same, put together when a pattern is first tried on them. */
  #bytes: PrefixBytes | undefined;
  #ofContents = new WeakMap<SegmentContent, ReadonlySet<string>>();
  #version = 0;

  /** Another one as soon as more is known. */
  get version(): number {
    return this.#version;
  }

  note(content: SegmentContent, prefixes: readonly string[]): void {
    // Those of segments that are no more are among them.
    if (this.#all.size + prefixes.length > PREFIXES_KNOWN_MAX) {
      this.#all.clear();
      this.#ofContents = new WeakMap();
    }
    this.#ofContents.set(content, new Set(prefixes));
    for (const prefix of prefixes) this.#all.add(prefix);
    this.#bytes = undefined;
    this.#version += 1;
  }

  of(content: SegmentContent): ReadonlySet<string> | undefined {
    return this.#ofContents.get(content);
  }

  verdictsOf(pattern: string): PrefixVerdicts | undefined {
    this.#bytes ??= bytesOfPrefixes([...this.#all]);
    return prefixVerdicts(pattern, this.#bytes);
  }
}

/**
 * What the prefixes of strings say of a pattern. A string with one of `taken` matches, whatever is behind; of one with
 * one of `open` they do not tell; no other string matches.
 */
export type PrefixVerdicts = {
  readonly taken: readonly string[];
  readonly open: readonly string[];
};

/**
 * The prefixes of the strings at a path, and how many strings have each; `undefined` where it is not known, or they are
 * too many.
 */
export function prefixesAt(segment: Segment, path: readonly string[]): StringPrefixes | undefined {
  const counts = new Map<string, number>();
  for (const split of segment.splitsAt?.(path) ?? []) {
    const own = prefixesOf(split, PREFIXES_MAX);
    if (own === undefined) return undefined;
    for (const [prefix, count] of own) counts.set(prefix, (counts.get(prefix) ?? 0) + count);
  }
  return counts.size === 0 || counts.size > PREFIXES_MAX ? undefined : counts;
}

/** Prefixes, and their bytes end to end: `texts[i]` ends at `ends[i]`. */
type PrefixBytes = {
  readonly texts: readonly string[];
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
};

export function bytesOfPrefixes(texts: readonly string[]): PrefixBytes {
  const all = texts.map(encodeWtf8);
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [index, text] of all.entries()) {
    bytes.set(text, end);
    end += text.length;
    ends[index] = end;
  }
  return { texts, bytes, ends };
}

/**
 * Tries the automaton of a right pattern on prefixes, some tens of nanoseconds each; `undefined` where it has none, or
 * where prefixes leave much open.
 */
function prefixVerdicts(
  pattern: string,
  { texts, bytes, ends }: PrefixBytes,
): PrefixVerdicts | undefined {
  const dfa = compileRegex(pattern).automaton();
  // What may match anywhere is never dead.
  if (dfa === undefined || !dfa.isAtStartOnly) return undefined;
  const taken: string[] = [];
  const open: string[] = [];
  let start = 0;
  for (let index = 0; index < texts.length; index++) {
    const end = ends[index]!;
    const state = dfa.step(dfa.start(), bytes, start, end);
    start = end;
    if (state === DEAD) continue;
    (state === ACCEPTED ? taken : open).push(texts[index]!);
    if (taken.length + open.length > PREFIXES_TOLD_MAX) return undefined;
  }
  return { taken, open };
}

/** Whether all strings with these prefixes match a right pattern, or do not, by their prefixes alone. */
export function decidedBy(pattern: string, prefixes: PrefixBytes): boolean {
  const verdicts = prefixVerdicts(pattern, prefixes);
  return verdicts !== undefined && verdicts.taken.length > 0 && verdicts.open.length === 0;
}

/** The pattern that all strings with a prefix match, and no others; `undefined` where there is none. */
export function patternOfPrefix(prefix: string): string | undefined {
  // Half of a pair matches nothing.
  if (LONE_SURROGATE.test(prefix)) return undefined;
  const pattern = `^${prefix.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}`;
  return Buffer.byteLength(pattern) > REGEX_LENGTH_MAX ? undefined : pattern;
}

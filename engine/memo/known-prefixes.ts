import type { SegmentContent } from '../column/segment.ts';
import { encodeWtf8 } from '../column/wtf8.ts';
import { PREFIXES_KNOWN_MAX } from '../limits.ts';
import { type PrefixVerdicts, prefixVerdicts } from './prefix-verdicts.ts';

/**
 * The prefixes of the strings in which a family looks for patterns, of those segments whose states were made ahead.
 */
export class KnownPrefixes {
  /** Of all of these segments together, with their bytes. */
  readonly #all = new Map<string, Uint8Array>();
  #ofContents = new WeakMap<SegmentContent, ReadonlySet<string>>();

  note(content: SegmentContent, prefixes: readonly string[]): void {
    // Those of segments that are no more are among them.
    if (this.#all.size + prefixes.length > PREFIXES_KNOWN_MAX) {
      this.#all.clear();
      this.#ofContents = new WeakMap();
    }
    this.#ofContents.set(content, new Set(prefixes));
    for (const prefix of prefixes) {
      if (!this.#all.has(prefix)) this.#all.set(prefix, encodeWtf8(prefix));
    }
  }

  of(content: SegmentContent): ReadonlySet<string> | undefined {
    return this.#ofContents.get(content);
  }

  verdictsOf(pattern: string): PrefixVerdicts | undefined {
    return prefixVerdicts(pattern, this.#all);
  }
}

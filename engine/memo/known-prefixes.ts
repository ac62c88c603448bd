import type { SegmentContent } from '../column/segment.ts';
import { PREFIXES_KNOWN_MAX } from './limits.ts';
import {
  bytesOfPrefixes,
  type PrefixBytes,
  type PrefixVerdicts,
  prefixVerdicts,
} from './prefix-verdicts.ts';

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

import type { AnyContent } from '../column/segment.ts';
import { StateShelf } from './packed-states.ts';
import type { RememberedPartial } from './remembered-partial.ts';

/**
 * `few`: the segment has few rows, which are remembered together with those of others, if at all. `dear`: to
 * make its state again takes less than to keep it.
 */
export type Remembered = RememberedPartial | 'few' | 'dear';

export type MemoStats = {
  readonly bytes: number;
  readonly bytesMax: number;
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
};

/** What an entry costs beside its partial. */
const ENTRY_BYTES = 256;

type Entry = {
  readonly content: AnyContent;
  readonly key: string;
  /** Small states of a segment are under keys of their own. */
  readonly kept: Remembered | StateShelf;
  readonly byteSize: number;
};

/**
 * The partial states of segments, by content and by the key of their fragment: bounded by their
 * bytes, the ones unused for longest leave first. Whatever is in it, answers are the same.
 *
 * Invariant: `#bytes` is the sum over `#byUse`, and at most `#bytesMax`; both indexes have the same entries.
 */
export class PartialMemo {
  readonly #bytesMax: number;
  readonly #byContent = new Map<AnyContent, Map<string, Entry>>();
  /** In the order they were last used. */
  readonly #byUse = new Set<Entry>();
  readonly #gone = new WeakSet<AnyContent>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  /** With 0 bytes nothing is remembered. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isOn(): boolean {
    return this.#bytesMax > 0;
  }

  /** Counts as use, and as a hit or a miss. */
  find(content: AnyContent, key: string): Remembered | undefined {
    const entry = this.#byContent.get(content)?.get(key);
    if (entry === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#use(entry);
    const remembered = rememberedOf(entry);
    if (typeof remembered === 'object') this.#hits += 1;
    return remembered;
  }

  /** The same, unseen: it counts for nothing. */
  peek(content: AnyContent, key: string): Remembered | undefined {
    return rememberedOf(this.#byContent.get(content)?.get(key));
  }

  /** The small states of a segment under a key of theirs; counts as use. */
  findShelf(content: AnyContent, key: string): StateShelf | undefined {
    const entry = this.#byContent.get(content)?.get(key);
    if (entry === undefined || !(entry.kept instanceof StateShelf)) return undefined;
    this.#use(entry);
    return entry.kept;
  }

  /** Under which something is remembered of a segment. */
  keysOf(content: AnyContent): readonly string[] {
    return [...(this.#byContent.get(content)?.keys() ?? [])];
  }

  /** In the place of what was there. What is larger than all may be is not kept. */
  keep(content: AnyContent, key: string, kept: Remembered | StateShelf): void {
    const byteSize = ENTRY_BYTES + (typeof kept === 'object' ? kept.byteSize : 0);
    this.drop(content, key);
    if (byteSize > this.#bytesMax || this.#gone.has(content)) return;
    const entry: Entry = { content, key, kept, byteSize };
    const entries = this.#byContent.get(content) ?? new Map<string, Entry>();
    this.#byContent.set(content, entries.set(key, entry));
    this.#byUse.add(entry);
    this.#bytes += byteSize;
    for (const oldest of this.#byUse) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
    }
  }

  /** Forgets what is remembered of a segment under a key. */
  drop(content: AnyContent, key: string): void {
    this.#remove(this.#byContent.get(content)?.get(key));
  }

  /** The segment is no more; what still comes of it is not kept. */
  forget(content: AnyContent): void {
    this.#gone.add(content);
    for (const entry of this.#byContent.get(content)?.values() ?? []) this.#remove(entry);
  }

  stats(): MemoStats {
    return {
      bytes: this.#bytes,
      bytesMax: this.#bytesMax,
      entries: this.#byUse.size,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  #use(entry: Entry): void {
    this.#byUse.delete(entry);
    this.#byUse.add(entry);
  }

  #remove(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.#byUse.delete(entry);
    this.#bytes -= entry.byteSize;
    const entries = this.#byContent.get(entry.content);
    entries?.delete(entry.key);
    if (entries?.size === 0) this.#byContent.delete(entry.content);
  }
}

function rememberedOf(entry: Entry | undefined): Remembered | undefined {
  return entry === undefined || entry.kept instanceof StateShelf ? undefined : entry.kept;
}

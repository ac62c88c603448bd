import { deserialize, serialize } from 'node:v8';
import { distinctValue } from '../aggregate/distinct-values.ts';
import type { AnyContent, SegmentContent } from '../column/segment.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import type { Fragment, TimeKey } from './fragment.ts';
import { partialSize } from './run-pieces.ts';

/**
 * States that a segment has of those that it was made of, at most: to combine one takes the main thread some tenths of a
 * millisecond, and the calls in use have some dozens.
 */
const INHERITED_STATES_MAX = 256;

/** Small states packed of one segment and one fragment: of a host with some thousand projects. */
export const PACKED_STATES_MAX = 4096;

/** Bytes of them together, at most: 1/64 of `REMEMBERED_BYTES_MAX`, so that those of many segments leave room. */
export const PACKED_STATES_BYTES_MAX = 1024 * 1024;

/** Bytes of a state from which it is no small one: it takes as long to take out of the pack as to make it again. */
export const PACKED_STATE_BYTES_MAX = 4096;

/** `dear`: to make the state again takes less than to keep it. */
export type Remembered = RememberedState | 'dear';

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
  readonly kept: Remembered | PackedStateReader;
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
  findPacked(content: AnyContent, key: string): PackedStateReader | undefined {
    const entry = this.#byContent.get(content)?.get(key);
    if (entry === undefined || !(entry.kept instanceof PackedStateReader)) return undefined;
    this.#use(entry);
    return entry.kept;
  }

  /** Under which something is remembered of a segment. */
  keysOf(content: AnyContent): readonly string[] {
    return [...(this.#byContent.get(content)?.keys() ?? [])];
  }

  /** In the place of what was there. What is larger than all may be is not kept. */
  keep(content: AnyContent, key: string, kept: Remembered | PackedStateReader): void {
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
  return entry === undefined || entry.kept instanceof PackedStateReader ? undefined : entry.kept;
}

/** The partial state of all rows of some segments that a fragment is over, ready to be used again. */
export type RememberedState = {
  /** Sealed ones in the order of a snapshot, or an open one. The state is kept with the first. */
  readonly segments: readonly AnyContent[];
  /** Of an open segment: the first row that it does not stand for. */
  readonly rowEnd: number | undefined;
  readonly partial: AggregatePartial;
  /** Of which it is the state, or one that differs in its texts alone. */
  readonly fragment: Fragment;
  /** Rows it stands for. */
  readonly rowCount: number;
  readonly byteSize: number;
  /** There when it can be used for a part of its time. */
  readonly times: GroupTimes | undefined;
};

/** Rows of group `g` have times in [starts[g], ends[g]), and none else. */
type GroupTimes = { readonly starts: Float64Array; readonly ends: Float64Array };

export function rememberedState(
  fragment: Fragment,
  { segments, rowEnd, partial, rowCount }: StateOfSegments,
): RememberedState {
  const { timeKey } = fragment;
  const times = timeKey && segments.length === 1 ? groupTimes(partial, timeKey) : undefined;
  const byteSize = partialSize(partial) + (times === undefined ? 0 : partialSize(times));
  return { segments, rowEnd, partial, fragment, rowCount, byteSize, times };
}

type StateOfSegments = Pick<RememberedState, 'segments' | 'partial' | 'rowCount'> & {
  readonly rowEnd?: number | undefined;
};

function groupTimes({ keys }: AggregatePartial, { index, steps }: TimeKey): GroupTimes | undefined {
  const { ids, values } = keys.columns[index]!;
  const starts = new Float64Array(keys.size);
  const ends = new Float64Array(keys.size);
  for (let group = 0; group < keys.size; group++) {
    const value = distinctValue(values, values.refs[ids[group]!]!);
    if (typeof value !== 'number') return undefined;
    const startUs = steps.firstUs(value);
    const endUs = steps.firstUs(value + 1);
    if (startUs === undefined || endUs === undefined) return undefined;
    starts[group] = startUs;
    ends[group] = endUs;
  }
  return { starts, ends };
}

/** What of a remembered state lies inside a window, and where rows have to be looked at beside it. */
type StateSlice = {
  readonly partial: AggregatePartial;
  readonly edges: readonly TimeWindow[];
};

/** `undefined`: none of its groups lies wholly inside. */
export function sliceOf(
  { partial, times }: RememberedState,
  { startUs, endUs }: TimeWindow,
): StateSlice | undefined {
  if (times === undefined) return undefined;
  const { starts, ends } = times;
  const wanted = new Uint8Array(partial.keys.size);
  let wantedCount = 0;
  let leftEndUs = startUs;
  let rightStartUs = endUs;
  for (let group = 0; group < wanted.length; group++) {
    const start = starts[group]!;
    const end = ends[group]!;
    if (start >= startUs && end <= endUs) {
      wanted[group] = 1;
      wantedCount += 1;
      continue;
    }
    if (start < startUs && end > startUs) leftEndUs = Math.min(end, endUs);
    if (start < endUs && end > endUs) rightStartUs = Math.max(start, startUs);
  }
  if (wantedCount === 0) return undefined;
  const edges: TimeWindow[] = [];
  if (leftEndUs > startUs) edges.push({ startUs, endUs: leftEndUs });
  if (rightStartUs < endUs) edges.push({ startUs: rightStartUs, endUs });
  return { partial: wantedCount === wanted.length ? partial : { ...partial, wanted }, edges };
}

/**
 * Many small partial states of one segment, each under the name of a project or a prefix. Some 200 bytes a state,
 * where its arrays alone take ten times as much: that of `names[i]` ends at `ends[i]`.
 */
export type PackedStates = {
  readonly names: readonly string[];
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
};

/** What a name costs beside its two bytes a letter. */
const NAME_BYTES = 48;

/** Under this key a segment has the small states of a family. */
export function packedKey({ familyKey }: { readonly familyKey: string }): string {
  return `${familyKey} shelf`;
}

/** Packs states as they are made; what is too much, or large itself, is left out. */
export class StatePacker {
  readonly #names: string[] = [];
  readonly #ends: number[] = [];
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  get isFull(): boolean {
    return this.#names.length >= PACKED_STATES_MAX || this.#size >= PACKED_STATES_BYTES_MAX;
  }

  add(name: string, partial: AggregatePartial): void {
    const bytes = serialize(partial);
    if (this.isFull || bytes.length > PACKED_STATE_BYTES_MAX) return;
    this.#size += bytes.length;
    this.#names.push(name);
    this.#ends.push(this.#size);
    this.#parts.push(bytes);
  }

  /** `undefined`: there is none. */
  packed(): PackedStates | undefined {
    if (this.#names.length === 0) return undefined;
    const bytes = new Uint8Array(this.#size);
    for (const [index, part] of this.#parts.entries()) {
      bytes.set(part, this.#ends[index]! - part.length);
    }
    return { names: this.#names, ends: Uint32Array.from(this.#ends), bytes };
  }
}

/** Packed states, each taken out when it is asked for, in some 5 µs. */
export class PackedStateReader {
  readonly byteSize: number;
  readonly #ends: Uint32Array;
  readonly #bytes: Uint8Array;
  readonly #indexes: ReadonlyMap<string, number>;

  constructor({ names, ends, bytes }: PackedStates) {
    this.#ends = ends;
    this.#bytes = bytes;
    this.#indexes = new Map(names.map((name, index) => [name, index]));
    const namesSize = names.reduce((sum, name) => sum + NAME_BYTES + 2 * name.length, 0);
    this.byteSize = bytes.byteLength + ends.byteLength + namesSize;
  }

  /** To be combined with others, not kept: its arrays may lie among those of all states. */
  find(name: string): AggregatePartial | undefined {
    const index = this.#indexes.get(name);
    if (index === undefined) return undefined;
    const start = index === 0 ? 0 : this.#ends[index - 1]!;
    return deserialize(this.#bytes.subarray(start, this.#ends[index])) as AggregatePartial;
  }
}

/**
 * By the key of each fragment of which something is remembered of all of some segments: the states of their rows,
 * which are now those of one segment, with this content.
 */
export function inheritedStates(
  memo: PartialMemo,
  from: readonly AnyContent[],
  to: SegmentContent,
): ReadonlyMap<string, readonly RememberedState[]> {
  const inherited = new Map<string, readonly RememberedState[]>();
  const [first, ...others] = from;
  if (first === undefined) return inherited;
  for (const key of memo.keysOf(first)) {
    if (inherited.size === INHERITED_STATES_MAX) break;
    const parts: RememberedState[] = [];
    for (const content of [first, ...others]) {
      const remembered = memo.peek(content, key);
      if (typeof remembered === 'object' && isOfAll(remembered, to)) parts.push(remembered);
    }
    if (parts.length === from.length) inherited.set(key, parts);
  }
  return inherited;
}

/** Whether it is the state of one segment, and of all of its rows: of an open one these are all of the new one. */
function isOfAll({ segments, rowEnd }: RememberedState, { rowCount }: SegmentContent): boolean {
  return segments.length === 1 && (rowEnd === undefined || rowEnd === rowCount);
}

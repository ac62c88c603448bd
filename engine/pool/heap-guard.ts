import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { resourceLimits, threadId } from 'node:worker_threads';
import { must } from '../assert.ts';
import { runMemory } from '../column/arrays.ts';
import {
  beginCollecting,
  collectGarbage,
  collectKeepingCode,
  collectNewGarbage,
} from '../column/garbage.ts';
import { QUERIES_BYTES_MAX } from '../limits.ts';
import { RunStoppedError } from '../query-error.ts';

const MEGABYTE = 1024 * 1024;

/** What V8 ends this thread at; WORKER_NEW_OBJECTS_BYTES_MAX is not counted there. */
const HEAP_BYTES_MAX = (resourceLimits.maxOldGenerationSizeMb ?? Infinity) * MEGABYTE;

/**
 * The part of the allowed memory above which the guard collects garbage and measures. The rest must hold what is allocated
 * between two checkpoints; V8 gives up somewhat below its limit.
 */
const LOOKED_AT_PART = 3 / 4;

/** The part that may be in use after garbage is collected. The difference to LOOKED_AT_PART bounds how often that happens. */
const USED_PART = 9 / 16;

/** Part of what may be held by which a thread's own must have grown for its garbage to be collected again. */
const GROWN_PART = 1 / 16;

/**
 * Part of what a thread may keep by which it may keep more until V8 has collected garbage beside its next work. To collect
 * at once holds the thread up; what a query has left was counted as held by it.
 */
const UNCOLLECTED_PART = 1 / 2;

/** Part by which a thread must keep more than the least since V8 was last made to collect, for it to be worth it. */
const KEPT_MORE_PART = 1 / 4;

/** Thrown when a query holds too much; a kind of its own, as a part of a query may be run again as a whole. */
export class HeldTooMuchError extends RunStoppedError {}

/**
 * Keeps the query of this thread within what all queries may hold together, and within what V8 lets a thread hold.
 * What the thread held when the task began, of those before, is not counted: it is bounded apart.
 */
export class HeapGuard {
  readonly #memory: HeldMemory;
  readonly #slot: number | undefined;
  readonly #heapBytesMax: number;
  readonly #keptBytesMax: number;
  /** Bytes kept at the end of a task from which they are looked at. */
  #keptLookBytes: number;
  /** The least kept at the end of a task since V8 was last made to collect. */
  #keptLeastBytes = Number.POSITIVE_INFINITY;
  /** Kept before the first task. */
  readonly #firstBytes: number;
  /** Held when the task at hand began. */
  #startBytes: number;
  /** Held when garbage was last collected. */
  #leftBytes = 0;
  /** Of the answer of the task that has ended: they are moved to the thread that gets it. */
  #leavingBytes = 0;
  #relieve = neverRelieved;

  /** `keptBytesMax`: what this thread may keep of tasks that have ended. */
  constructor(
    use: SharedMemoryUse | undefined,
    keptBytesMax: number,
    heapBytesMax: number = HEAP_BYTES_MAX,
  ) {
    this.#memory =
      use === undefined ? HeldMemory.create(QUERIES_BYTES_MAX, 1) : new HeldMemory(use);
    this.#slot = this.#memory.join(Math.max(threadId, 1));
    this.#heapBytesMax = heapBytesMax;
    this.#keptBytesMax = keptBytesMax;
    this.#keptLookBytes = keptBytesMax;
    this.#firstBytes = measureKept();
    this.#startBytes = measure().bytes;
  }

  /**
   * To be called at checkpoints: throws a HeldTooMuchError when what the query of this thread holds comes
   * near to what V8 lets the thread have, or when all queries hold too much together and this one holds most, and when it
   * cannot be relieved (`relievedBy`). Takes about a microsecond, and some tenths of a second when there is that much.
   */
  readonly check = (): void => {
    const { heapBytes, ownBytes } = this.#note();
    const isHeapFull = heapBytes > LOOKED_AT_PART * this.#heapBytesMax;
    if (!isHeapFull && !this.#mayBeTooMuch(ownBytes)) return;
    const refusal = this.#findRefusal();
    if (refusal === undefined) return;
    if (!this.#relieve()) throw refusal;
    const refusalStill = this.#findRefusal();
    if (refusalStill !== undefined) throw refusalStill;
  };

  get bytesMax(): number {
    return this.#memory.bytesMax;
  }

  /** Of this thread, garbage among them. */
  get heldBytes(): number {
    return this.#note().ownBytes;
  }

  /** `arrivedBytes`: those of arrays that the task has brought from other threads. */
  beginTask(arrivedBytes: number): void {
    this.#startBytes = measure().bytes - arrivedBytes;
    this.#leftBytes = 0;
    this.#leavingBytes = 0;
  }

  /**
   * Calls `relieve` before a query is refused: it may release memory, and says whether it did. In force until `work` ends.
   */
  relievedBy<T>(relieve: () => boolean, work: () => T): T {
    this.#relieve = relieve;
    try {
      return work();
    } finally {
      this.#relieve = neverRelieved;
    }
  }

  /**
   * To be called at the end of a task. Has garbage collected, that of new objects first, when this thread keeps more than
   * it may; while it still does, calls one of `forgets` after the other, each of which releases more of what the thread
   * keeps for later tasks. `leavingBytes`: those of the answer that are moved to another thread, and not kept.
   */
  collectKept(leavingBytes: number, forgets: readonly (() => void)[]): void {
    this.#leavingBytes = leavingBytes;
    const before = this.#noteKept();
    if (before.bytes <= this.#keptLookBytes || !before.hasGrown) return;
    collectNewGarbage();
    const { bytes, hasGrown } = this.#noteKept();
    if (bytes > this.#keptLookBytes + UNCOLLECTED_PART * this.#keptBytesMax) {
      this.#collectNow(forgets);
    } else if (hasGrown) {
      this.#keptLeastBytes = bytes;
      beginCollecting();
    }
  }

  /** To be called when a task has ended. */
  endTask(): void {
    if (this.#slot === undefined) return;
    this.#memory.note(this.#slot, 0);
    this.#memory.noteKept(this.#slot, measure().bytes - this.#leavingBytes);
  }

  /** Whether this thread keeps more of tasks that have ended than it may. */
  get keepsTooMuch(): boolean {
    return this.#keptBytes() > this.#keptLookBytes;
  }

  #collectNow(forgets: readonly (() => void)[]): void {
    this.#collect(collectKeepingCode);
    for (const forget of forgets) {
      if (!this.keepsTooMuch) return;
      forget();
      this.#collect(collectKeepingCode);
    }
    // What `forget` cannot release must not make each later task collect again.
    const keptBytesMax = this.#keptBytesMax;
    this.#keptLookBytes = Math.max(keptBytesMax, this.#keptBytes() + keptBytesMax / 2);
  }

  /** What is kept, and whether it is so much more than the least that some of it may be garbage. */
  #noteKept(): { readonly bytes: number; readonly hasGrown: boolean } {
    const bytes = this.#keptBytes();
    this.#keptLeastBytes = Math.min(this.#keptLeastBytes, bytes);
    const hasGrown = bytes > this.#keptLeastBytes + KEPT_MORE_PART * this.#keptBytesMax;
    return { bytes, hasGrown };
  }

  #keptBytes(): number {
    return measureKept() - this.#firstBytes - this.#leavingBytes;
  }

  /** All hold much, and this thread most, or it has grown since its garbage was collected. */
  #mayBeTooMuch(ownBytes: number): boolean {
    const { heldBytes, bytesMax } = this.#memory;
    if (heldBytes <= LOOKED_AT_PART * bytesMax) return false;
    return this.#isLargest() || ownBytes > this.#leftBytes + GROWN_PART * bytesMax;
  }

  /** Collects garbage; why the query is to be refused, if what is left is too much. */
  #findRefusal(): HeldTooMuchError | undefined {
    runMemory.forget();
    const left = this.#collect(collectGarbage);
    if (left.heapBytes > USED_PART * this.#heapBytesMax) {
      return tooMuch(USED_PART * this.#heapBytesMax, left.heapBytes, 0);
    }
    const { heldBytes, bytesMax } = this.#memory;
    if (heldBytes <= USED_PART * bytesMax || !this.#isLargest()) return undefined;
    return tooMuch(USED_PART * bytesMax, left.ownBytes, heldBytes - left.ownBytes);
  }

  #collect(collect: () => void): Measured & { readonly ownBytes: number } {
    collect();
    // Arrays that one collection finds are given back by the next.
    collect();
    const left = this.#note();
    this.#leftBytes = left.ownBytes;
    return left;
  }

  #note(): Measured & { readonly ownBytes: number } {
    const measured = measure();
    const ownBytes = Math.max(0, measured.bytes - this.#startBytes);
    // It may have begun with more than it has now.
    this.#leftBytes = Math.min(this.#leftBytes, ownBytes);
    if (this.#slot !== undefined) this.#memory.note(this.#slot, ownBytes);
    return { ...measured, ownBytes };
  }

  #isLargest(): boolean {
    return this.#slot === undefined || this.#memory.isLargest(this.#slot);
  }
}

function neverRelieved(): boolean {
  return false;
}

type Measured = {
  readonly heapBytes: number;
  /** With arrays outside of the heap; shared ones are not counted. */
  readonly bytes: number;
};

function measure(): Measured {
  const { used_heap_size: heapBytes, external_memory: bytesOutside } = getHeapStatistics();
  return { heapBytes, bytes: heapBytes + bytesOutside };
}

/** Bytes without new objects, for which V8 has a room of its own, WORKER_NEW_OBJECTS_BYTES_MAX. Takes some ten microseconds. */
function measureKept(): number {
  const spaces = getHeapSpaceStatistics();
  const newObjects = must(spaces.find(({ space_name }) => space_name === 'new_space'));
  return measure().bytes - newObjects.space_used_size;
}

function tooMuch(bytesMax: number, ownBytes: number, othersBytes: number): HeldTooMuchError {
  const others =
    othersBytes < MEGABYTE ? '' : `, and others that ran ${Math.ceil(othersBytes / MEGABYTE)} MiB`;
  return new HeldTooMuchError(
    'query_limit',
    `a query may hold about ${Math.floor(bytesMax / MEGABYTE)} MiB of rows, texts and groups at a time, a part of MEMORY_LIMIT that all queries share; this one held ${Math.ceil(ownBytes / MEGABYTE)} MiB${others}`,
  );
}

const KIB = 1024;

/**
 * Integers of a slot: the id of its thread, 0 while it is free, the KiB that its task holds, and those that the thread keeps
 * between two tasks.
 */
const SLOT_LENGTH = 3;

/** What threads need to share a `HeldMemory`; it can be sent to them. */
export type SharedMemoryUse = {
  /** A slot for each thread, in memory that all of them share. */
  readonly slots: Int32Array;
  readonly bytesMax: number;
};

/**
 * Bytes that the threads of a pool hold together, as each of them measured its own last. One query alone may use all of
 * `bytesMax`; queries that run at the same time share it.
 *
 * ```
 *  slot 0                         slot 1
 * ┌─────────┬─────────┬──────────┬─────────┬─
 * │ thread  │ KiB     │ KiB kept │ thread  │ …    32 bits each
 * └─────────┴─────────┴──────────┴─────────┴─
 * ```
 *
 * A slot is written by its thread. The pool frees the slots of threads that have ended.
 */
export class HeldMemory {
  readonly use: SharedMemoryUse;
  readonly #slots: Int32Array;

  constructor(use: SharedMemoryUse) {
    this.use = use;
    this.#slots = use.slots;
  }

  /** With so many slots: more than there may be threads, as some end while others start. */
  static create(bytesMax: number, slotCount: number): HeldMemory {
    const byteSize = slotCount * SLOT_LENGTH * Int32Array.BYTES_PER_ELEMENT;
    return new HeldMemory({ slots: new Int32Array(new SharedArrayBuffer(byteSize)), bytesMax });
  }

  get bytesMax(): number {
    return this.use.bytesMax;
  }

  /** Of all threads. */
  get heldBytes(): number {
    return this.#sum(1);
  }

  /** Of all threads, beside what their tasks hold. */
  get keptBytes(): number {
    return this.#sum(2);
  }

  /** Takes a free slot for a thread; `undefined` when there is none. */
  join(threadId: number): number | undefined {
    for (let at = 0; at < this.#slots.length; at += SLOT_LENGTH) {
      if (Atomics.compareExchange(this.#slots, at, 0, threadId) === 0) return at / SLOT_LENGTH;
    }
    return undefined;
  }

  note(slot: number, bytes: number): void {
    Atomics.store(this.#slots, slot * SLOT_LENGTH + 1, Math.max(0, Math.ceil(bytes / KIB)));
  }

  /** What a thread keeps between two tasks, its code among it. */
  noteKept(slot: number, bytes: number): void {
    Atomics.store(this.#slots, slot * SLOT_LENGTH + 2, Math.ceil(bytes / KIB));
  }

  /** Whether no other thread holds more; of equals the first is the largest. */
  isLargest(slot: number): boolean {
    const own = Atomics.load(this.#slots, slot * SLOT_LENGTH + 1);
    for (let at = 0; at < this.#slots.length; at += SLOT_LENGTH) {
      const kib = Atomics.load(this.#slots, at + 1);
      if (kib > own || (kib === own && at < slot * SLOT_LENGTH)) return false;
    }
    return true;
  }

  /** Frees the slots of all threads but these. */
  forgetAllBut(threadIds: readonly number[]): void {
    for (let at = 0; at < this.#slots.length; at += SLOT_LENGTH) {
      const threadId = Atomics.load(this.#slots, at);
      if (threadId === 0 || threadIds.includes(threadId)) continue;
      Atomics.store(this.#slots, at + 1, 0);
      Atomics.store(this.#slots, at + 2, 0);
      Atomics.store(this.#slots, at, 0);
    }
  }

  #sum(place: number): number {
    let kib = 0;
    for (let at = place; at < this.#slots.length; at += SLOT_LENGTH) {
      kib += Atomics.load(this.#slots, at);
    }
    return kib * KIB;
  }
}

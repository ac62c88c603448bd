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

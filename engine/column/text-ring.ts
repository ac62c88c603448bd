import { assert } from '../assert.ts';
import type { JsonWriter } from './json-writer.ts';

/** Entries at the start of the queue that have gone, before it is made shorter: not one at a time. */
const QUEUE_SLACK = 1024;

/** A text that may be in the ring. */
export interface RingText {
  /** Counts from the first byte that was ever written to the ring; NOWHERE: it is not there. The ring's. */
  place: number;
  readonly size: number;
  /** Called when another text has taken its place. */
  forgotten(): void;
}

export const NOWHERE = -1;

/**
 * Texts one behind the other in one array of bytes, however many they are: what is put in takes the
 * place of what was put in longest ago. A text that is read while it is among the older half is put in
 * again, so that those in use stay.
 *
 * Invariant: the texts in the ring are at `[#end - capacity, #end)`; each is in the queue from `#first` on, in
 * the order of their places, under the place it has. What is there under another has moved or gone.
 */
export class TextRing {
  readonly #capacity: number;
  /** Made when it is first written to; pages that nobody has written to take no memory. */
  #bytes = new Uint8Array(0);
  #end = 0;
  #queue: { readonly text: RingText; readonly place: number }[] = [];
  #first = 0;

  /** Bytes. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#bytes.length;
  }

  /** Puts in a text that is nowhere; it may be at most as large as the ring. */
  put(text: RingText, bytes: Uint8Array): void {
    assert(
      text.place === NOWHERE && text.size === bytes.length,
      'a text is put in once, and whole',
    );
    this.#reserve(text);
    this.#bytes.set(bytes, text.place % this.#capacity);
  }

  /** Writes a text that is in the ring. */
  write(text: RingText, out: JsonWriter): void {
    const { place, size } = text;
    assert(place !== NOWHERE, 'a text that is asked for is in the ring');
    const start = place % this.#capacity;
    out.rawBytes(this.#bytes, start, start + size);
    if (place >= this.#end - this.#capacity / 2) return;
    this.drop(text);
    this.#reserve(text);
    this.#bytes.copyWithin(text.place % this.#capacity, start, start + size);
  }

  /** Lets go of a text before its time. */
  drop(text: RingText): void {
    text.place = NOWHERE;
  }

  /** Gives a text a place behind all others, and lets go of those that are where it is. */
  #reserve(text: RingText): void {
    const capacity = this.#capacity;
    assert(text.size <= capacity, 'a text is no larger than the ring');
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(capacity);
    const left = capacity - (this.#end % capacity);
    // No text goes on at the start of the array.
    const place = text.size > left ? this.#end + left : this.#end;
    this.#end = place + text.size;
    this.#release(this.#end - capacity);
    text.place = place;
    this.#queue.push({ text, place });
  }

  /** Lets go of all texts that begin before `placeMin`. */
  #release(placeMin: number): void {
    const queue = this.#queue;
    for (; this.#first < queue.length; this.#first++) {
      const { text, place } = queue[this.#first]!;
      if (place >= placeMin) break;
      if (text.place !== place) continue;
      text.place = NOWHERE;
      text.forgotten();
    }
    if (this.#first < QUEUE_SLACK || 2 * this.#first < queue.length) return;
    this.#queue = queue.slice(this.#first);
    this.#first = 0;
  }
}

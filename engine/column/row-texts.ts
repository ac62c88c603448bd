import { assert } from '../assert.ts';
import type { JsonWriter } from './json-buffer.ts';

/**
 * Bytes of records that a thread keeps as the text it wrote to answers: some 2,800 events of 3 KB, so
 * the newest page of some dozens of projects. Where a thread may keep less, they have a third of that.
 */
const ROW_TEXTS_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes of one record that is kept, at most: a larger one would push out what dozens of callers ask for. */
export const ROW_TEXT_SIZE_MAX = 64 * 1024;

/** Bytes of one record that is kept, at least: a smaller one is put together as quickly as it is found. */
export const ROW_TEXT_SIZE_MIN = 32;

/** Entries at the start of the queue that have gone, before it is made shorter: not one at a time. */
const QUEUE_SLACK = 1024;

/** A text that may be in the ring. */
interface RingText {
  /** Counts from the first byte that was ever written to the ring; NOWHERE: it is not there. The ring's. */
  place: number;
  readonly size: number;
  /** Called when another text has taken its place. */
  forgotten(): void;
}

const NOWHERE = -1;

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

  /** Removes a text early. */
  drop(text: RingText): void {
    text.place = NOWHERE;
  }

  /** Writes a text behind the last one, and removes the texts that it overwrites. */
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

  /** Removes all texts that begin before `placeMin`. */
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

/** The texts of all segments that this thread reads. State of the module: they have one bound together, that of the thread. */
let threadRing = new TextRing(ROW_TEXTS_BYTES_MAX);

/** Part of what a thread may keep that texts may take: the rest is for open segments, and garbage until it is collected. */
const TEXTS_PART = 1 / 3;

/** To be called before the first task of a thread. `keptBytesMax`: what it may keep of tasks that have ended. */
export function boundRowTexts(keptBytesMax: number): void {
  threadRing = new TextRing(Math.min(ROW_TEXTS_BYTES_MAX, Math.floor(TEXTS_PART * keptBytesMax)));
}

/** Bytes of the memory for the texts of all segments that this thread reads. */
export function rowTextsSize(): number {
  return threadRing.size;
}

/**
 * The JSON of records of one segment as this thread has written it to answers lately: the newest rows
 * of a project are asked for again and again, and to copy one takes a tenth of the time of putting it
 * together. For each row the text written last is kept, of whichever of its records that was.
 *
 * A row never changes, so no text does: it goes when the ring needs its place, or with its segment.
 */
export class RowTexts {
  readonly #ring: TextRing;
  /** Those in the ring, by row. */
  readonly #texts = new Map<number, RowText>();

  constructor(ring: TextRing = threadRing) {
    this.#ring = ring;
  }

  /** Writes the text of the record or list at a node of a row; false when it is not kept. */
  write(row: number, node: number, out: JsonWriter): boolean {
    const text = this.#texts.get(row);
    if (text === undefined || text.node !== node) return false;
    this.#ring.write(text, out);
    return true;
  }

  /** Keeps what was written for it, where that gains anything. */
  keep(row: number, node: number, bytes: Uint8Array): void {
    if (bytes.length < ROW_TEXT_SIZE_MIN || bytes.length > ROW_TEXT_SIZE_MAX) return;
    const before = this.#texts.get(row);
    if (before !== undefined) this.#ring.drop(before);
    const text = new RowText(this.#texts, { row, node, size: bytes.length });
    this.#texts.set(row, text);
    this.#ring.put(text, bytes);
  }
}

/** One text, and where it is remembered. */
class RowText implements RingText {
  place = NOWHERE;
  readonly size: number;
  readonly node: number;
  readonly #row: number;
  readonly #texts: Map<number, RowText>;

  constructor(
    texts: Map<number, RowText>,
    { row, node, size }: { readonly row: number; readonly node: number; readonly size: number },
  ) {
    this.#texts = texts;
    this.#row = row;
    this.node = node;
    this.size = size;
  }

  forgotten(): void {
    this.#texts.delete(this.#row);
  }
}

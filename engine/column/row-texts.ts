import type { JsonWriter } from './json-writer.ts';
import { NOWHERE, type RingText, TextRing } from './text-ring.ts';

/**
 * Bytes of records that a thread keeps as the text it wrote to answers: some 2,800 events of 3 KB, so
 * the newest page of some dozens of projects. Where a thread may keep less, they have a third of that.
 */
const ROW_TEXTS_BYTES_MAX = 8 * 1024 * 1024;

/** … of one record: a larger one would push out what dozens of callers ask for. */
export const ROW_TEXT_SIZE_MAX = 64 * 1024;

/** … and at least: a smaller one is put together about as quickly as it is found. */
export const ROW_TEXT_SIZE_MIN = 32;

/** The texts of all segments that this thread reads. */
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

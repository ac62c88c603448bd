/** Bytes of a buffer at first; it doubles when it is full. Events of one post may be of thousands of days. */
const CAPACITY_MIN = 4 * 1024;

const TAB = 0x09;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NULL_FIELD = Buffer.from('\\N');

/** The letter after the backslash that stands for a byte; 0 where the byte stands for itself. Indexed by byte. */
const ESCAPES = new Uint8Array(256);
for (const [character, letter] of ['\0' + '0', '\tt', '\nn', '\rr', '\\\\']) {
  ESCAPES[character!.charCodeAt(0)] = letter!.charCodeAt(0);
}

const MICROS = 1_000_000;

/**
 * Rows in ClickHouse's format TabSeparated. Strings may hold any bytes: what would end a field is escaped.
 *
 * This format, because strings stay nearly as they are: in JSON each quote of a text that is JSON itself would be
 * escaped.
 */
export class TsvBuffer {
  #bytes = new Uint8Array(CAPACITY_MIN);
  #size = 0;
  #isRowEmpty = true;
  /** The last second that was written, and its text. */
  #second = Number.NaN;
  #secondText = '';

  get size(): number {
    return this.#size;
  }

  /** What was written, good until more is. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** A field of the bytes `bytes[start, end)`. */
  text(bytes: Uint8Array, start: number, end: number): void {
    this.#beginField(2 * (end - start));
    const target = this.#bytes;
    let size = this.#size;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      const letter = ESCAPES[byte]!;
      if (letter === 0) {
        target[size++] = byte;
      } else {
        target[size++] = BACKSLASH;
        target[size++] = letter;
      }
    }
    this.#size = size;
  }

  /** A field of ASCII without anything to escape. */
  ascii(text: string): void {
    this.#beginField(text.length);
    for (let index = 0; index < text.length; index++) {
      this.#bytes[this.#size++] = text.charCodeAt(index);
    }
  }

  /** A field of an integer from 0 on, with at least so many digits. */
  integer(value: number, digitsMin = 1): void {
    let digits = digitsMin;
    for (let power = 10 ** digitsMin; value >= power; power *= 10) digits++;
    this.#beginField(digits);
    this.#digits(value, digits);
  }

  null(): void {
    this.#beginField(NULL_FIELD.length);
    this.#bytes.set(NULL_FIELD, this.#size);
    this.#size += NULL_FIELD.length;
  }

  /** A field of type DateTime64(6). `timestampUs`: an integer, microseconds since the epoch. */
  timestamp(timestampUs: number): void {
    const second = Math.floor(timestampUs / MICROS);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = `${new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ')}.`;
    }
    this.ascii(this.#secondText);
    this.#reserve(6);
    this.#digits(timestampUs - second * MICROS, 6);
  }

  endRow(): void {
    this.#reserve(1);
    this.#bytes[this.#size++] = NEWLINE;
    this.#isRowEmpty = true;
  }

  /** The last so many digits of an integer, for which there is room. */
  #digits(value: number, count: number): void {
    let rest = value;
    for (let at = this.#size + count - 1; at >= this.#size; at--) {
      const tenth = Math.floor(rest / 10);
      this.#bytes[at] = ZERO + rest - 10 * tenth;
      rest = tenth;
    }
    this.#size += count;
  }

  #beginField(size: number): void {
    this.#reserve(size + 1);
    if (!this.#isRowEmpty) this.#bytes[this.#size++] = TAB;
    this.#isRowEmpty = false;
  }

  #reserve(count: number): void {
    const needed = this.#size + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }
}

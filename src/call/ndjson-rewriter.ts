import { REWRITTEN_BYTES } from '../limits.ts';
import type { RowsRewriter } from './rows-rewriter.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const MAP_START = 0x7b;
const MAP_END = 0x7d;
const NEWLINE = 0x0a;

/**
 * Converts rows to NDJSON, one line a row. The bytes are those of the array without its first one,
 * with a newline instead of each comma between rows and of the final bracket. JSON escapes
 * newlines, so no row contains one.
 */
export class NdjsonRewriter implements RowsRewriter {
  readonly #rows: Uint8Array;
  readonly #pieceBytes: number;
  #at = 1;
  /** Open maps and lists, without the array itself. */
  #depth = 0;
  #isInString = false;
  /**
   * How many bytes of the next piece are escaped by a backslash at the end of the last one: 0 or 1.
   */
  #escapedCount = 0;

  /** Pieces have at most `pieceBytes`. */
  constructor(rows: Uint8Array, pieceBytes: number = REWRITTEN_BYTES) {
    this.#pieceBytes = pieceBytes;
    this.#rows = rows;
    // Without rows there is no line.
    if (rows.length <= 2) this.#at = rows.length;
  }

  next(): Uint8Array | undefined {
    const start = this.#at;
    if (start >= this.#rows.length) return undefined;
    // This copies: `slice` of a Buffer would be a view of the rows themselves.
    const piece = new Uint8Array(this.#rows.subarray(start, start + this.#pieceBytes));
    let index = this.#escapedCount;
    let depth = this.#depth;
    let isInString = this.#isInString;
    for (; index < piece.length; index++) {
      const byte = piece[index];
      if (isInString) {
        if (byte === BACKSLASH) index += 1;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === MAP_START || byte === LIST_START) depth += 1;
      else if (depth === 0 && (byte === COMMA || byte === LIST_END)) piece[index] = NEWLINE;
      else if (byte === MAP_END || byte === LIST_END) depth -= 1;
    }
    this.#escapedCount = index - piece.length;
    this.#depth = depth;
    this.#isInString = isInString;
    this.#at = start + piece.length;
    return piece;
  }
}

/** Where JSON is written to, as UTF-8 bytes in one growing buffer. */
export interface JsonWriter {
  /** ASCII that needs no escaping: punctuation, digits, literals. */
  raw(text: string): void;
  /** UTF-8 that is JSON already. */
  rawBytes(bytes: Uint8Array, start: number, end: number): void;
  /** A string, quoted and escaped. A lone surrogate becomes its `\uXXXX` escape. */
  string(text: string): void;
  /** A string given as UTF-8 (a lone surrogate as its three bytes), quoted and escaped. */
  stringBytes(bytes: Uint8Array, start: number, end: number): void;
  /** Bytes written so far. */
  readonly size: number;
}

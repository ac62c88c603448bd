/**
 * Lets work in as long as the bytes of all that is in stay within a bound; the rest waits, in order.
 * Work larger than the bound goes in alone.
 */
export class ByteGate {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Resolves when the work may begin. Each is followed by one `leave` with the same number. */
  async enter(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#bytes += bytes;
      return;
    }
    await new Promise<void>((enter) => this.#waiting.push({ bytes, enter }));
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || !this.#hasRoom(next.bytes)) return;
      this.#waiting.shift();
      this.#bytes += next.bytes;
      next.enter();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }
}

import { decodeWtf8, encodeWtf8 } from './wtf8.ts';

export type KeyMatch = 'none' | 'similar' | 'exact';

/** A field name as it is looked for among keys: exactly, else with another case. */
export class KeyPattern {
  readonly #bytes: Uint8Array;
  readonly #lowerCase: string;
  readonly #isAscii: boolean;

  constructor(name: string) {
    this.#bytes = new Uint8Array(encodeWtf8(name));
    this.#lowerCase = name.toLowerCase();
    this.#isAscii = isAscii(this.#bytes, 0, this.#bytes.length);
  }

  /** How the key `bytes[start, end)` compares with the name. */
  match(bytes: Uint8Array, start: number, end: number): KeyMatch {
    const own = this.#bytes;
    if (this.#isAscii && isAscii(bytes, start, end)) {
      if (own.length !== end - start) return 'none';
      let match: KeyMatch = 'exact';
      for (let index = 0; index < own.length; index++) {
        const ownByte = own[index]!;
        const byte = bytes[start + index]!;
        if (ownByte === byte) continue;
        if (lowerCase(ownByte) !== lowerCase(byte)) return 'none';
        match = 'similar';
      }
      return match;
    }
    if (own.length === end - start && own.every((byte, index) => byte === bytes[start + index])) {
      return 'exact';
    }
    const key = decodeWtf8(bytes, start, end);
    return key.toLowerCase() === this.#lowerCase ? 'similar' : 'none';
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! >= 0x80) return false;
  return true;
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

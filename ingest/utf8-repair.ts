import { yieldToEventLoop } from './event-loop.ts';
import { InvalidUtf8Error } from './ingest-error.ts';
import { DECODE_SLICE_BYTES } from './limits.ts';

/** U+FFFD in UTF-8: replaces bytes that are not UTF-8. */
export const REPLACEMENT = Buffer.from('\ufffd');

/**
 * Reads a text body as it was sent, and again from a repaired copy if `read` throws `InvalidUtf8Error`. So valid bodies
 * pay for the check only.
 */
export async function withRepairedUtf8<T>(
  pieces: readonly Uint8Array[],
  read: (pieces: readonly Uint8Array[], isRepaired: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await read(pieces, false);
  } catch (error) {
    if (!(error instanceof InvalidUtf8Error)) throw error;
  }
  return read(await repairUtf8(pieces), true);
}

/**
 * Replaces each maximal subpart that is not UTF-8 by U+FFFD (WHATWG Encoding, "UTF-8 decoder"). The result has at most
 * three times the size. A byte order mark is kept. Yields to the event loop every DECODE_SLICE_BYTES.
 */
export async function repairUtf8(pieces: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  // Streaming, because a character may continue in the next piece.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const repaired: Uint8Array[] = [];
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += DECODE_SLICE_BYTES) {
      const slice = piece.subarray(start, start + DECODE_SLICE_BYTES);
      repaired.push(Buffer.from(decoder.decode(slice, { stream: true })));
      await yieldToEventLoop();
    }
  }
  repaired.push(Buffer.from(decoder.decode()));
  return repaired;
}

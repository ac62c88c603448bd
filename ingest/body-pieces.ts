import { yieldToEventLoop } from './event-loop.ts';
import { COPY_SLICE_BYTES } from './limits.ts';

/** Bytes of a body that is in pieces. */
export function sizeOfPieces(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** Copies the pieces, end to end, to the start of `target`. */
export function copyPieces(pieces: readonly Uint8Array[], target: Uint8Array): void {
  let end = 0;
  for (const piece of pieces) {
    target.set(piece, end);
    end += piece.length;
  }
}

/** Copies the pieces, end to end, to the start of `target`. Yields to the event loop every COPY_SLICE_BYTES. */
export async function copyPiecesInSlices(
  pieces: readonly Uint8Array[],
  target: Uint8Array,
): Promise<void> {
  let end = 0;
  let sliceSize = 0;
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += COPY_SLICE_BYTES) {
      const slice = piece.subarray(start, start + COPY_SLICE_BYTES);
      if (sliceSize + slice.length > COPY_SLICE_BYTES) {
        await yieldToEventLoop();
        sliceSize = 0;
      }
      target.set(slice, end);
      end += slice.length;
      sliceSize += slice.length;
    }
  }
}

/**
 * Converts the rows of an answer, a JSON array of objects as the engine writes it, to another
 * format. It works in pieces, so that other work can run in between.
 */
export interface RowsRewriter {
  /** The next piece, in its own memory; `undefined` after the last. */
  next(): Uint8Array | undefined;
}

/**
 * Joins all pieces in memory of exactly their size. The event loop turns between pieces, and the
 * rows must not change meanwhile.
 */
export async function rewriteAll(rewriter: RowsRewriter): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = rewriter.next(); piece !== undefined; piece = rewriter.next()) {
    pieces.push(piece);
    size += piece.length;
    await new Promise(setImmediate);
  }
  // Not from the pool of small buffers, because a kept slice would retain the whole pool.
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/**
 * Rewrites the rows of an answer, a JSON array of objects as the engine writes it, in another form:
 * a piece at a time, so that whoever asks can let others have the thread in between.
 */
export interface RowsRewriter {
  /** The next piece, in memory of its own; `undefined` when all has been given. */
  next(): Uint8Array | undefined;
}

/**
 * All pieces end to end, in memory of exactly their size. The event loop turns between them, and the
 * rows must stay as they are meanwhile.
 */
export async function rewriteAll(rewriter: RowsRewriter): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = rewriter.next(); piece !== undefined; piece = rewriter.next()) {
    pieces.push(piece);
    size += piece.length;
    await new Promise(setImmediate);
  }
  // Not of the pool that small buffers share: a kept slice would keep the whole of it.
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

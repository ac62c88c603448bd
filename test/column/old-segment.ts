import { readFooter } from '../../engine/column/sealed-layout.ts';

/** A segment as it was made before footers said where the values of paths lie. */
export function asOldSegment(buffer: SharedArrayBuffer): SharedArrayBuffer {
  const footer = readFooter(buffer);
  const leaves = footer.leaves.map(({ textSources: _, listDepths: __, ...leaf }) => leaf);
  const text = Buffer.from(JSON.stringify({ ...footer, leaves }));
  const [, , end = 0] = new Uint32Array(buffer, 0, 4);
  const old = new SharedArrayBuffer(end + text.length);
  new Uint8Array(old).set(new Uint8Array(buffer, 0, end));
  new Uint8Array(old).set(text, end);
  new Uint32Array(old, 0, 4)[3] = text.length;
  return old;
}

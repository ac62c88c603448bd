import { readFooter } from '../../engine/column/sealed-layout.ts';

/** A handle of a sealed segment that the memory may know by what it holds. */
export function sealedHandle(buffer: SharedArrayBuffer, id: number) {
  const { rowCount, timestampUsMin, timestampUsMax } = readFooter(buffer);
  const content = { rowCount, timestampUsMin, timestampUsMax };
  return { kind: 'sealed', id, buffer, content } as const;
}

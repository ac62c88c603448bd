import {
  type Batch,
  NO_STRING,
  referenceLength,
  referenceOffset,
  stringReference,
} from '../../engine/column/batch.ts';
import { NODE_HEADER_SIZE, RECORD } from '../../engine/column/token.ts';

const DIGITS = '0123456789';

/** A batch of events that have an id, a time and, of at most ten that are named by digits, a project. */
export function smallBatch(ids: readonly string[], timestampUs = 0, projectCount = 0): Batch {
  const rowCount = ids.length;
  let offset = 0;
  const references = ids.map((id) => {
    const length = Buffer.byteLength(id);
    offset += length;
    return stringReference(offset - length, length);
  });
  const none = new Float64Array(rowCount).fill(NO_STRING);
  const digitOf = (id: string): number =>
    Buffer.from(id).reduce((sum, byte) => sum + byte, 0) % projectCount;
  const projects =
    projectCount === 0
      ? none
      : Float64Array.from(ids, (id) => stringReference(offset + digitOf(id), 1));
  const tokens = new Int32Array(rowCount * NODE_HEADER_SIZE);
  for (let row = 0; row < rowCount; row++) tokens[row * NODE_HEADER_SIZE] = RECORD;
  return {
    rowCount,
    bytes: Buffer.from(`${ids.join('')}${projectCount === 0 ? '' : DIGITS}`),
    keys: new Float64Array(0),
    keyCount: 0,
    tokens,
    tokenStarts: Uint32Array.from({ length: rowCount + 1 }, (_, row) => row * NODE_HEADER_SIZE),
    slots: new Float64Array(0),
    slotStarts: new Uint32Array(rowCount + 1),
    ids: Float64Array.from(references),
    timestampsUs: new Float64Array(rowCount).fill(timestampUs),
    messages: none,
    projects,
    projectKeys: projects,
  };
}

/** The ids of a batch. */
export function idsOf({ bytes, ids, rowCount }: Batch): string[] {
  return Array.from(ids.subarray(0, rowCount), (id) => {
    const start = referenceOffset(id);
    return Buffer.from(bytes.subarray(start, start + referenceLength(id))).toString();
  });
}

import type { DecodingOptions } from '../../ingest/post-decoding.ts';
import { RANDOM_ID_SIZE } from '../../ingest/random-id.ts';

/** Ids that are the numbers from 1. */
export function countedIds(): Pick<DecodingOptions, 'randomId' | 'newId'> {
  let count = 0;
  const newId = (): string => String(++count).padStart(RANDOM_ID_SIZE, '0');
  return {
    newId,
    randomId: (bytes, offset) => void Buffer.from(bytes.buffer, offset).write(newId(), 'latin1'),
  };
}

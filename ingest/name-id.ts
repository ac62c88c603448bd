import { createHash } from 'node:crypto';
import { markUuid, RANDOM_ID_SIZE, writeUuid } from './random-id.ts';

/** A UUID made of a name alone, in a namespace of 16 bytes (RFC 9562, §5.5: version 5). */
export function nameId(namespace: Uint8Array, name: string): string {
  const hash = createHash('sha1').update(namespace).update(name, 'utf8').digest();
  markUuid(hash, 0, 5);
  const text = Buffer.alloc(RANDOM_ID_SIZE);
  writeUuid(hash, 0, text, 0);
  return text.toString('latin1');
}

import { QueryError } from '../../query-error.ts';

/** A STRING as the BYTES of its UTF-8. */
export function bytesOfText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** BYTES as a buffer of as many bytes. */
export function bufferOfBytes(bytes: string): Buffer {
  return Buffer.from(bytes, 'latin1');
}

export function bytesOfBuffer(buffer: Uint8Array): string {
  return Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length).toString('latin1');
}

/** How the JSON of an answer shows BYTES, as BigQuery does. */
export function base64OfBytes(bytes: string): string {
  return bufferOfBytes(bytes).toString('base64');
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** BYTES as the STRING they are the UTF-8 of; throws when they are none. */
export function textOfBytes(bytes: string): string {
  try {
    return strictUtf8.decode(bufferOfBytes(bytes));
  } catch {
    const shown = bytes.slice(0, 32);
    const hex = bufferOfBytes(shown).toString('hex') + (shown === bytes ? '' : '…');
    throw new QueryError('query_failed', `BYTES are not UTF-8 and no STRING; got the bytes ${hex}`);
  }
}

/** Characters of UTF-8 (RFC 3629, section 4), or a single byte that begins none. */
const UTF8_PIECE =
  /[^\x80-\xff]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/** The same, each byte that is part of no character replaced by U+FFFD. */
export function lenientTextOfBytes(bytes: string): string {
  return bytes.replace(UTF8_PIECE, (piece) => {
    if (piece.length === 1) return piece <= '\x7f' ? piece : '\ufffd';
    return piece[0]! <= '\x7f' ? piece : bufferOfBytes(piece).toString('utf8');
  });
}

import { crc32 } from 'node:zlib';
import { LOG_READ_BYTES, LOG_RECORD_BYTES_MAX } from '../limits.ts';
import {
  decodeRecordHeader,
  FILE_HEADER_SIZE,
  RECORD_ALIGNMENT,
  RECORD_HEADER_SIZE,
  RECORD_MAGIC,
  type RecordHeader,
} from './log-layout.ts';
import type { LogWindow } from './log-window.ts';

/** An item of a log file. Items come in order and without gaps. The bytes are valid until the next item. */
export type LogItem =
  | {
      readonly kind: 'record';
      readonly offset: number;
      readonly size: number;
      readonly header: RecordHeader;
      readonly envelope: Uint8Array;
      readonly data: Uint8Array;
    }
  | {
      readonly kind: 'damage';
      readonly offset: number;
      /** Bytes up to the next record or the end of the file. */
      readonly size: number;
      /** Known if only the body is damaged. */
      readonly sequence: number | undefined;
    };

/**
 * Reads the records of a log file whose header has `number` and `id`. If the header is unreadable, `id` is `undefined`
 * and is taken from the first record. Bytes that are not a whole record are yielded as damage. Time is linear in the
 * size of the file.
 *
 * `start`: where a record begins, by default the first one.
 */
export async function* scanLogFile(
  window: LogWindow,
  file: { readonly number: number; readonly id: bigint | undefined },
  start = FILE_HEADER_SIZE,
): AsyncGenerator<LogItem> {
  let { id } = file;
  const isOfFile = (header: RecordHeader): boolean =>
    header.file.number === file.number && (id === undefined || header.file.id === id);
  let offset = start;
  while (offset < window.size) {
    const header = await headerAt(window, offset);
    if (header === undefined || !isOfFile(header)) {
      const next = await findHeader(window, offset + RECORD_ALIGNMENT, isOfFile);
      yield { kind: 'damage', offset, size: next - offset, sequence: undefined };
      offset = next;
      continue;
    }
    id ??= header.file.id;
    const { envelopeSize, dataSize, sequence } = header;
    const size = RECORD_HEADER_SIZE + envelopeSize + dataSize;
    if (offset + size > window.size || size > LOG_RECORD_BYTES_MAX) {
      const next = await findHeader(window, offset + RECORD_ALIGNMENT, isOfFile);
      yield { kind: 'damage', offset, size: next - offset, sequence };
      offset = next;
      continue;
    }
    const body = (await window.bytes(offset, size)).subarray(RECORD_HEADER_SIZE);
    if (body.length === size - RECORD_HEADER_SIZE && crc32(body) === header.bodyCrc) {
      const envelope = body.subarray(0, envelopeSize);
      const data = body.subarray(envelopeSize);
      yield { kind: 'record', offset, size, header, envelope, data };
    } else {
      yield { kind: 'damage', offset, size, sequence };
    }
    offset += size;
  }
}

async function headerAt(window: LogWindow, offset: number): Promise<RecordHeader | undefined> {
  const bytes = await window.bytes(offset, RECORD_HEADER_SIZE);
  return bytes.length < RECORD_HEADER_SIZE ? undefined : decodeRecordHeader(bytes, 0);
}

/** The offset of the next record header, from `from` on; the end of the file if there is none. */
async function findHeader(
  window: LogWindow,
  from: number,
  isOfFile: (header: RecordHeader) => boolean,
): Promise<number> {
  for (let start = from; start + RECORD_HEADER_SIZE <= window.size; ) {
    const bytes = await window.bytes(start, LOG_READ_BYTES);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
    const step = RECORD_ALIGNMENT / 4;
    let at = 0;
    for (; at * 4 + RECORD_HEADER_SIZE <= bytes.length; at += step) {
      if (words[at] !== RECORD_MAGIC) continue;
      const header = decodeRecordHeader(bytes, at * 4);
      if (header !== undefined && isOfFile(header)) return start + at * 4;
    }
    if (at === 0) break;
    start += at * 4;
  }
  return window.size;
}

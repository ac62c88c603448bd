import { isUtf8 } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { BodyLimitError, MalformedBodyError } from '../ingest-error.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { EventTexts } from './event-texts.ts';
import type { JsonReader } from './json-reader.ts';
import { WantedKeys } from './wanted-keys.ts';

/** The bytes of a record, decompressed and in UTF-8, or why it is refused. */
export type FirehoseRecord = Buffer | Error;

/**
 * Reads the records of a delivery: `{"requestId", "timestamp", "records": [{"data": BASE64}, …]}`. The data of a record
 * may be compressed with gzip, as CloudWatch Logs sends it. All records together may have as many bytes as a body.
 *
 * @throws BodyLimitError if they have more.
 */
export function* readRecords(
  reader: JsonReader,
  events: EventTexts,
): Generator<number, readonly FirehoseRecord[]> {
  const records: FirehoseRecord[] = [];
  const keys = new WantedKeys('records');
  let size = 0;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    keys.add(key);
    yield reader.position + size;
    if (key !== 'records') continue;
    reader.enterList();
    while (reader.hasNext()) {
      events.addPart();
      const data = reader.tryEvent(() => readData(reader));
      const record = data instanceof Error ? data : decodeRecord(data, BODY_BYTES_MAX - size);
      if (record instanceof Error) records.push(record);
      else {
        size += record.length;
        if (size > BODY_BYTES_MAX) throw tooLarge();
        const text = isUtf8(record) ? record : repaired(record);
        if (text !== record) events.isRepaired = true;
        records.push(text);
      }
      yield reader.position + size;
    }
  }
  reader.endText();
  keys.check('a delivery of Firehose', { mayBeEmpty: false });
  return records;
}

/** The data of the next element, if it has any. */
function readData(reader: JsonReader): string | undefined {
  if (reader.kind() !== 'object') {
    reader.skip();
    return undefined;
  }
  let data: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (key === 'data' && reader.kind() === 'string') data = reader.text();
  }
  return data;
}

/** Reasons for refusing a record. They are constants: a body may have half a million records, and a stack costs memory. */
const NO_DATA = new MalformedBodyError('a record must be an object with "data", a text in base64');
const NOT_BASE64 = new MalformedBodyError('the data of a record must be base64');
const NOT_GZIP = new MalformedBodyError('the data of a record is not whole gzip');
const MORE_THAN_GZIP = new MalformedBodyError('bytes follow the gzip data of a record');

/** `bytesMax`: what the record may have after decompression. */
function decodeRecord(data: string | undefined, bytesMax: number): FirehoseRecord {
  if (data === undefined) return NO_DATA;
  const bytes = Buffer.from(data, 'base64');
  // The decoder passes over what is not base64.
  if (bytes.toString('base64') !== data) return NOT_BASE64;
  return isGzip(bytes) ? inflateRecord(bytes, bytesMax) : bytes;
}

/** RFC 1952, §2.3.1: two bytes that no text in UTF-8 begins with. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** What `gunzipSync` returns with the option `info`, which its type does not say. */
type Inflated = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };

function inflateRecord(bytes: Buffer, bytesMax: number): FirehoseRecord {
  try {
    const options = { info: true, maxOutputLength: Math.max(1, bytesMax) };
    const { buffer, engine } = gunzipSync(bytes, options) as unknown as Inflated;
    // A second part would be stored as if it were not there.
    return engine.bytesWritten === bytes.length ? buffer : MORE_THAN_GZIP;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    return NOT_GZIP;
  }
}

function tooLarge(): BodyLimitError {
  return new BodyLimitError(
    `the records of a body may have ${BODY_BYTES_MAX} bytes after decompression; got more`,
  );
}

/** Replaces what is not UTF-8 by U+FFFD, as the decoder of the WHATWG does. */
function repaired(record: Buffer): Buffer {
  return Buffer.from(record.toString('utf8'));
}

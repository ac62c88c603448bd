import { assert } from '../../engine/columns.ts';
import { NdjsonRewriter } from '../call/ndjson-rewriter.ts';
import { rewriteAll } from '../call/rows-rewriter.ts';

/** The start of each row, followed by its arrival number. */
const ROW_START = '{"_arrival":';

const COMMA = 0x2c;
const NEWLINE = 0x0a;

/** Consecutive events of a source, encoded for followers. */
export type EventPage = {
  /** Server-Sent Events; each has the id with which a follower reconnects. */
  readonly bytes: Buffer;
  readonly eventCount: number;
  /** The number of the last event; `undefined` if there is none. */
  readonly lastNumber: number | undefined;
};

/**
 * Encodes rows from the engine, a JSON array whose first column is `_arrival`, in order. An event that occurs several
 * times, once for each matching record, is sent once. The number of an event is its arrival number plus one: the count
 * of events so far, if none had been dropped.
 */
export async function createEventPage(
  rows: Uint8Array,
  createId: (number: number) => string,
): Promise<EventPage> {
  const lines = await rewriteAll(new NdjsonRewriter(rows));
  const parts: Uint8Array[] = [];
  let eventCount = 0;
  let lastNumber: number | undefined;
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start);
    const comma = lines.indexOf(COMMA, start);
    const number = Number(lines.toString('latin1', start + ROW_START.length, comma)) + 1;
    if (number !== lastNumber) {
      // The rest of the row after the comma, with the brace that preceded the arrival number.
      const head = Buffer.from(`id: ${createId(number)}\ndata: {`);
      parts.push(head, lines.subarray(comma + 1, end + 1), LINE_END);
      eventCount += 1;
      lastNumber = number;
    }
    start = end + 1;
  }
  assert(Number.isSafeInteger(lastNumber ?? 0), 'every row begins with its arrival');
  return { bytes: Buffer.concat(parts), eventCount, lastNumber };
}

const LINE_END = Buffer.from('\n');

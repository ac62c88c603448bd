import { assert } from '../../engine/assert.ts';
import { NdjsonRewriter } from '../call/ndjson-rewriter.ts';
import { rewriteAll } from '../call/rows-rewriter.ts';

/** What each row begins with; its number is that of its arrival. */
const ROW_START = '{"_arrival":';

const COMMA = 0x2c;
const NEWLINE = 0x0a;

/** Some consecutive events of a source, as they leave for followers. */
export type EventPage = {
  /** As Server-Sent Events; each has the id that a follower comes again with. */
  readonly bytes: Buffer;
  readonly eventCount: number;
  /** The id of the last of them; `undefined` when there is none. */
  readonly lastId: number | undefined;
};

/**
 * The page of rows as the engine gives them, a JSON array, whose first column is `_arrival`, in its
 * order. An event that is there several times, once for each record that it was found by, is one.
 * The id of an event is one more than its arrival: how many there were, had none been given up.
 */
export async function eventPageOf(rows: Uint8Array): Promise<EventPage> {
  const lines = await rewriteAll(new NdjsonRewriter(rows));
  const parts: Uint8Array[] = [];
  let eventCount = 0;
  let lastId: number | undefined;
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start);
    const comma = lines.indexOf(COMMA, start);
    const id = Number(lines.toString('latin1', start + ROW_START.length, comma)) + 1;
    if (id !== lastId) {
      // The rest of the row behind the comma, and the brace that the arrival stood behind.
      parts.push(Buffer.from(`id: ${id}\ndata: {`), lines.subarray(comma + 1, end + 1), LINE_END);
      eventCount += 1;
      lastId = id;
    }
    start = end + 1;
  }
  assert(Number.isSafeInteger(lastId ?? 0), 'every row begins with its arrival');
  return { bytes: Buffer.concat(parts), eventCount, lastId };
}

const LINE_END = Buffer.from('\n');

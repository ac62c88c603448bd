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
  /** The number of the last of them; `undefined` when there is none. */
  readonly lastNumber: number | undefined;
};

/**
 * The page of rows as the engine gives them, a JSON array, whose first column is `_arrival`, in its
 * order. An event that is there several times, once for each record that it was found by, is one.
 * The number of an event is one more than its arrival: how many there were, had none been given up.
 */
export async function eventPageOf(
  rows: Uint8Array,
  idOf: (number: number) => string,
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
      // The rest of the row behind the comma, and the brace that the arrival stood behind.
      const head = Buffer.from(`id: ${idOf(number)}\ndata: {`);
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

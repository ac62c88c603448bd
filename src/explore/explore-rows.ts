import { assert } from '../../engine/columns.ts';
import { NdjsonRewriter } from '../call/ndjson-rewriter.ts';
import { rewriteAll } from '../call/rows-rewriter.ts';
import type { ExploreCursor } from './explore-cursor.ts';
import type { ListStart } from './explore-sql.ts';

/** The rows of an answer, and where the list goes on. */
export type ExploredRows = {
  /** Each in JSON, in memory that is not the engine's. */
  readonly rows: readonly Uint8Array[];
  /** Absent if there are no more rows. */
  readonly next: ExploreCursor | undefined;
};

const NEWLINE = 0x0a;

/** How a row begins: with the members that the list is ordered by. */
const ROW_START = /^\{"id":("(?:[^"\\]|\\.)*"),"timestamp":(-?\d+)/;

/**
 * Takes the rows of a list from the engine's JSON. Of the rows with the timestamp and id of `start` it leaves out as many
 * as earlier answers had.
 */
export async function takeRows(
  json: Uint8Array,
  { start, limit }: { readonly start: ListStart | undefined; readonly limit: number },
): Promise<ExploredRows> {
  const lines = await splitRows(json);
  const isAfter = start?.direction === 'after';
  // In the order in which the list goes on.
  const keys = lines.map(readKey);
  if (isAfter) keys.reverse();
  const seenCount = start === undefined ? 0 : countSeen(keys, start.cursor);
  const taken = isAfter ? lines.slice(0, lines.length - seenCount) : lines.slice(seenCount);
  const last = keys.at(-1);
  const isFull = taken.length >= limit && last !== undefined;
  const next = isFull ? { ...last, seenCount: countLast(keys) } : undefined;
  return { rows: taken, next };
}

/** Joins rows to a JSON list. */
export function joinRows(rows: readonly Uint8Array[]): Buffer {
  const parts = rows.flatMap((row, index) => (index === 0 ? [row] : [COMMA, row]));
  return Buffer.concat([OPEN, ...parts, CLOSE]);
}

/** Joins rows to JSON lists of at most `bytesMax`, or of a single row that has more. There is at least one list. */
export function* joinInLists(rows: readonly Uint8Array[], bytesMax: number): Generator<Buffer> {
  let start = 0;
  let bytes = OPEN.length;
  for (let row = 0; row < rows.length; row++) {
    // With the comma or the bracket that follows.
    const rowBytes = rows[row]!.length + 1;
    if (row > start && bytes + rowBytes > bytesMax) {
      yield joinRows(rows.slice(start, row));
      start = row;
      bytes = OPEN.length;
    }
    bytes += rowBytes;
  }
  yield joinRows(rows.slice(start));
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

type RowKey = Pick<ExploreCursor, 'timestampUs' | 'id'>;

async function splitRows(json: Uint8Array): Promise<readonly Buffer[]> {
  const text = await rewriteAll(new NdjsonRewriter(json));
  const lines: Buffer[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(NEWLINE, start);
    lines.push(text.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function readKey(line: Buffer): RowKey {
  const match = ROW_START.exec(line.toString('utf8', 0, line.indexOf(',"event_message":')));
  assert(match !== null, 'a row begins with its id and its timestamp');
  return { id: JSON.parse(match[1]!), timestampUs: Number(match[2]) };
}

/** How many rows at the start earlier answers had. */
function countSeen(keys: readonly RowKey[], cursor: ExploreCursor): number {
  let count = 0;
  while (count < cursor.seenCount && isSame(keys[count], cursor)) count += 1;
  return count;
}

/** How many rows at the end have the key of the last, those among them that earlier answers had. */
function countLast(keys: readonly RowKey[]): number {
  let count = 1;
  while (count < keys.length && isSame(keys[keys.length - 1 - count], keys.at(-1)!)) count += 1;
  return count;
}

function isSame(left: RowKey | undefined, right: RowKey): boolean {
  return left?.timestampUs === right.timestampUs && left.id === right.id;
}

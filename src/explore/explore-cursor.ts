import { z } from 'zod';
import { echoValue } from '../echo.ts';
import { ServiceError } from '../errors.ts';

/**
 * A place in the list of events, which is ordered by timestamp and id. Several events may have the same: `seenCount` of them
 * were in earlier answers; 0: the place is behind all of them.
 */
export type ExploreCursor = {
  readonly timestampUs: number;
  readonly id: string;
  readonly seenCount: number;
};

const CURSOR = z.tuple([z.int(), z.string(), z.int().min(0)]);

/** Cursors as callers make them, of an event in their hands. */
const EVENT_KEY = z.strictObject({ timestamp: z.int(), id: z.string() });

/** Longer ones are none of ours: an id has at most as many characters as an event has bytes. */
const CURSOR_LENGTH_MAX = 32_768;

/** The cursor as callers send it back. */
export function formatCursor({ timestampUs, id, seenCount }: ExploreCursor): string {
  return Buffer.from(JSON.stringify([timestampUs, id, seenCount])).toString('base64url');
}

/**
 * Parses `next` of an earlier answer, or the timestamp and id of an event.
 *
 * @throws ServiceError for anything else.
 */
export function parseCursor(name: string, value: unknown): ExploreCursor {
  if (typeof value === 'string' && value.length <= CURSOR_LENGTH_MAX) {
    const parsed = CURSOR.safeParse(parseJson(Buffer.from(value, 'base64url').toString()));
    if (parsed.success) {
      const [timestampUs, id, seenCount] = parsed.data;
      return { timestampUs, id, seenCount };
    }
  }
  const key = EVENT_KEY.safeParse(value);
  if (key.success) return { timestampUs: key.data.timestamp, id: key.data.id, seenCount: 0 };
  const message = `${name} must be next of an earlier answer, or {"timestamp": MICROSECONDS, "id": "…"} of an event; got ${echoValue(value)}`;
  throw new ServiceError('invalid_parameter', message, { parameter: name });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { Source } from '../../ingest/source.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { DOWNLOAD_PAGE_BYTES, DOWNLOAD_PAGE_ROWS } from '../limits.ts';
import type { ExploreRequest } from './explore-request.ts';
import { type ExploredRows, joinRows, takeRows } from './explore-rows.ts';
import { type ExploredEvents, formatList, type ListStart } from './explore-sql.ts';
import { type ExploreTools, findWalkedEvents } from './explorer.ts';

/** Rows of a walk, and how far it is. */
export type WalkedPage = {
  /** A JSON list, in memory of its own. */
  readonly json: Uint8Array;
  /** Rows of this and all earlier pages. */
  readonly rowCount: number;
  /** The part of the time window that is done, 0 to 1. */
  readonly share: number;
  readonly lostDays: readonly number[];
};

/**
 * Walks all events of a window, newest first. Each page is a call of its own that begins where the last one ended, and reads
 * what is there at its time: no snapshot keeps old segments for as long as a slow caller takes.
 *
 * @throws ServiceError: for what is wrong with the request, and for what goes wrong in a run.
 */
export async function* walkEvents(
  request: ExploreRequest,
  source: Source,
  tools: ExploreTools,
): AsyncGenerator<WalkedPage> {
  const { window } = request;
  const events = await findWalkedEvents(request, source, tools);
  let limit = DOWNLOAD_PAGE_ROWS;
  let start: ListStart | undefined;
  let rowCount = 0;
  for (;;) {
    const page = await readPage({ events, window, start, limit }, tools);
    if (page === 'too large') {
      limit = Math.ceil(limit / 2);
      continue;
    }
    const { rows, next, lostDays } = page;
    const json = joinRows(rows);
    if (json.length < DOWNLOAD_PAGE_BYTES) limit = Math.min(2 * limit, DOWNLOAD_PAGE_ROWS);
    rowCount += rows.length;
    const doneUs = next === undefined ? window.fromUs : next.timestampUs;
    const share = (window.toUs - doneUs) / (window.toUs - window.fromUs);
    yield { json, rowCount, share, lostDays };
    if (next === undefined) return;
    start = { direction: 'before', cursor: next };
  }
}

/** Codes of a call that may succeed with fewer rows. */
const SIZE_CODES: readonly ErrorCode[] = ['query_limit', 'answer_too_large', 'overloaded'];

type Page = {
  readonly events: ExploredEvents;
  readonly window: ExploreRequest['window'];
  readonly start: ListStart | undefined;
  readonly limit: number;
};

/** Reads a page. One of large events may go over the limits of a call or the memory of answers, and a smaller one not. */
async function readPage(
  { events, window, start, limit }: Page,
  { run }: ExploreTools,
): Promise<(ExploredRows & { lostDays: readonly number[] }) | 'too large'> {
  const sql = formatList(events, window, { start, limit });
  try {
    const answer = await run(sql, { rowsMax: limit + (start?.cursor.seenCount ?? 0) });
    try {
      const taken = await takeRows(answer.json, { start, limit });
      return { ...taken, lostDays: answer.lostDays };
    } finally {
      answer.release();
    }
  } catch (error) {
    const isTooLarge = error instanceof ServiceError && SIZE_CODES.includes(error.code);
    if (isTooLarge && limit > 1) return 'too large';
    throw error;
  }
}

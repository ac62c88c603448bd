import { ApiError, ask, resolveAddress, send } from './client.ts';
import type { ExploreRequest } from './explore.ts';
import { type QueryParameter, toValues } from './query.ts';

export const DOWNLOAD_FORMATS = ['csv', 'ndjson'] as const;

export type DownloadFormat = (typeof DOWNLOAD_FORMATS)[number];

/** All events that match, or all rows of the answer of a query. */
export type DownloadOrder =
  | Pick<ExploreRequest, 'source' | 'project' | 'from' | 'to' | 'search'>
  | { readonly sql: string; readonly parameters: object; readonly max_rows: number };

/** The most rows that an answer may have. */
export const ANSWER_ROWS_MAX = 100_000;

export function orderAnswer(sql: string, parameters: readonly QueryParameter[]): DownloadOrder {
  return { sql, parameters: toValues(parameters), max_rows: ANSWER_ROWS_MAX };
}

/** An address that works once, within a minute. The id is that of the progress, too. */
type Ticket = { readonly id: string };

/** How far a download is, or how it ended. */
export type DownloadProgress = {
  readonly state: 'waiting' | 'running' | 'sending' | 'done' | 'cancelled' | 'failed';
  /** Of events those that were sent, of a query those that were read. */
  readonly rows_done: number;
  /** 0 to 1. */
  readonly share: number;
  /** Rows of the answer of a query, if the limit of rows cut it. */
  readonly truncated_to?: number;
  readonly error?: { readonly message: string };
};

/** Has the browser itself save a file, and gives the ticket for it. @throws ApiError */
export async function startDownload(order: DownloadOrder, format: DownloadFormat): Promise<Ticket> {
  const json = { ...order, format };
  const path = 'api/query/tickets';
  const { result } = await ask<{ readonly result: Ticket }>(path, { method: 'POST', json });
  const link = document.createElement('a');
  link.href = resolveAddress(ticketPath(result)).href;
  // Without this attribute, the browser would show an error of the service instead of this page.
  link.download = '';
  link.click();
  return result;
}

/** Milliseconds between two looks at a download. */
const LOOK_MS = 400;

/**
 * How far a download is, again and again until it is over; `undefined` while the browser has not begun it.
 *
 * @throws ApiError when it never begins, or when how it ended cannot be learnt.
 */
export async function* followDownload(
  ticket: Ticket,
  signal: AbortSignal,
): AsyncGenerator<DownloadProgress | undefined> {
  let hasBegun = false;
  for (;;) {
    let progress = await findProgress(ticket, signal);
    if (progress === undefined && (hasBegun || !(await isOpen(ticket, signal)))) {
      // It may have begun between the two questions.
      progress = await findProgress(ticket, signal);
      if (progress === undefined) throw hasBegun ? UNKNOWN_END : NEVER_BEGUN;
    }
    hasBegun ||= progress !== undefined;
    yield progress;
    if (progress !== undefined && isOver(progress)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const NEVER_BEGUN = new ApiError(404, {
  code: 'unknown_ticket',
  message:
    'The download did not begin: its address works once, within a minute, and is no longer valid. Try again',
});

const UNKNOWN_END = new ApiError(404, {
  code: 'unknown_run',
  message:
    'The service no longer knows how the download ended: look at the list of downloads of the browser',
});

export function isOver({ state }: DownloadProgress): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed';
}

/** Ends a download; one that is over already stays as it is. @throws ApiError */
export async function cancelDownload(ticket: Ticket): Promise<void> {
  await unlessMissing(send(runPath(ticket), { method: 'DELETE' }));
}

function findProgress(ticket: Ticket, signal: AbortSignal): Promise<DownloadProgress | undefined> {
  return unlessMissing(ask<DownloadProgress>(runPath(ticket), { signal }));
}

/** Whether the address was not used yet. */
async function isOpen(ticket: Ticket, signal: AbortSignal): Promise<boolean> {
  const found = await unlessMissing(send(ticketPath(ticket), { method: 'HEAD', signal }));
  return found !== undefined;
}

async function unlessMissing<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function ticketPath({ id }: Ticket): string {
  return `api/query/tickets/${id}`;
}

function runPath({ id }: Ticket): string {
  return `api/query/runs/${id}`;
}

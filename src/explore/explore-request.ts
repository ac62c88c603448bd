import { z } from 'zod';
import { echo, echoValue, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { EXPLORE_BUCKETS_MAX, EXPLORE_ROWS_MAX } from '../limits.ts';
import { parseCursor } from './explore-cursor.ts';
import type { ListStart } from './explore-sql.ts';
import { type ExploredWindow, parseWindow } from './time-window.ts';

/** What is to be explored. */
export type ExploreRequest = {
  /** A name or an id. */
  readonly source: string;
  readonly project?: string | undefined;
  readonly window: ExploredWindow;
  readonly search: string;
  readonly where?: string | undefined;
  /** The path of a field, as in a search. */
  readonly by?: string | undefined;
  /** About how many; absent: no histogram is wanted. */
  readonly buckets?: number | undefined;
  readonly limit: number;
  readonly start: ListStart | undefined;
};

const TEXT = z.string('must be a text');

function wholeNumber(max: number) {
  const message = `must be a whole number from 1 to ${max}`;
  return z.int(message).min(1, message).max(max, message);
}

const ROWS = 100;
const BUCKETS = 60;

const BODY = z.strictObject({
  source: TEXT,
  project: TEXT.min(1, 'must not be empty').optional(),
  from: TEXT.optional(),
  to: TEXT.optional(),
  search: TEXT.optional(),
  where: TEXT.optional(),
  by: TEXT.optional(),
  buckets: wholeNumber(EXPLORE_BUCKETS_MAX).optional(),
  limit: wholeNumber(EXPLORE_ROWS_MAX).optional(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  histogram: z.boolean('must be true or false').optional(),
});

/**
 * Parses the body of a request. With a place in the list and no `from` or `to`, the window has no bounds, and there is no
 * histogram.
 *
 * @throws ServiceError for a body that asks for nothing that can be explored.
 */
export function parseExploreRequest(value: unknown, nowUs: number): ExploreRequest {
  const parsed = BODY.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error.issues[0]!, value);
  const { source, project, search = '', where, by, limit = ROWS, before, after } = parsed.data;
  const { from, to, buckets = BUCKETS, histogram = true } = parsed.data;
  if (before != null && after != null) {
    throw new ServiceError('invalid_body', 'an explore request may have before or after, not both');
  }
  const start = toStart('before', before) ?? toStart('after', after);
  const isOpen = start !== undefined && from === undefined && to === undefined;
  const window = isOpen ? { fromUs: -Infinity, toUs: Infinity } : parseWindow({ from, to }, nowUs);
  const isBlank = where === undefined || where.trim() === '';
  return {
    ...{ source, project, window, search, by, limit, start },
    where: isBlank ? undefined : where,
    buckets: histogram && !isOpen ? buckets : undefined,
  };
}

function toStart(direction: ListStart['direction'], value: unknown): ListStart | undefined {
  // Null is what an answer without more rows has as its next place.
  return value == null ? undefined : { direction, cursor: parseCursor(direction, value) };
}

function invalid(issue: z.core.$ZodIssue, value: unknown): ServiceError {
  const [name] = issue.path;
  if (issue.code === 'unrecognized_keys') {
    const known = formatChoices(Object.keys(BODY.shape));
    const got = issue.keys.map(echo).join(', ');
    return new ServiceError('invalid_body', `an explore request may have ${known}; got ${got}`);
  }
  if (typeof name !== 'string') {
    return new ServiceError('invalid_body', 'an explore request must be a JSON object');
  }
  const got = echoValue((value as Readonly<Record<string, unknown>>)[name]);
  return new ServiceError('invalid_body', `${name} ${issue.message}; got ${got}`);
}

import { parseIsoTimestampUs } from '../definition/iso-timestamp.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';

/** [fromUs, toUs), microseconds since the epoch; without a bound where it is infinite. */
export type ExploredWindow = { readonly fromUs: number; readonly toUs: number };

const UNITS_US: ReadonlyMap<string, number> = new Map([
  ['s', 1e6],
  ['m', 60e6],
  ['h', 3_600e6],
  ['d', 86_400e6],
  ['w', 604_800e6],
]);

/** What a window is without `from`. */
const DEFAULT_WINDOW_US = 3_600e6;

/** Timestamps beyond are no safe integers. */
const TIMESTAMP_US_MAX = Number.MAX_SAFE_INTEGER;

const RELATIVE = /^-(\d{1,9})([smhdw])$/;

/**
 * Parses a window: ISO 8601 times or dates, `now`, or times before now such as `-3h`. By default it is the last hour and
 * includes now.
 *
 * @throws ServiceError for a text that is no time, and for a window without time in it.
 */
export function parseWindow(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowUs: number,
): ExploredWindow {
  // Half open: with one more microsecond, events of this moment are inside.
  const toUs = to === undefined || to === 'now' ? nowUs + 1 : parseTime('to', to, nowUs);
  const fromUs = from === undefined ? nowUs - DEFAULT_WINDOW_US : parseTime('from', from, nowUs);
  if (fromUs < toUs) return { fromUs, toUs };
  const got = `${formatTime(fromUs)} and ${formatTime(toUs)}`;
  throw new ServiceError('invalid_parameter', `from must be before to; got ${got}`, {
    parameter: 'from',
  });
}

function parseTime(name: string, text: string, nowUs: number): number {
  if (text === 'now') return nowUs;
  const [, count, unit] = RELATIVE.exec(text) ?? [];
  const timestampUs =
    count === undefined ? parseIsoTimestampUs(text) : nowUs - Number(count) * UNITS_US.get(unit!)!;
  if (timestampUs !== undefined && Math.abs(Number(timestampUs)) <= TIMESTAMP_US_MAX) {
    return Number(timestampUs);
  }
  const message = `${name} must be an ISO 8601 time or date, now, or a time before now such as -90s, -5m, -3h, -7d or -2w; got ${echo(text)}`;
  throw new ServiceError('invalid_parameter', message, { parameter: name });
}

function formatTime(timestampUs: number): string {
  const milliseconds = new Date(timestampUs / 1000);
  return Number.isNaN(milliseconds.getTime()) ? `${timestampUs} µs` : milliseconds.toISOString();
}

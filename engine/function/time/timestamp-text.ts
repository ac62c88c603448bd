import { QueryError } from '../../query-error.ts';
import { addInt64, type Int64 } from '../number/int64.ts';
import {
  checkedTimestampUs,
  civilDateOf,
  dayNumberOf,
  daysInMonth,
  instantUs,
  joinUs,
  mustTimeZone,
  splitUs,
  type TimeZone,
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MINUTE,
  US_PER_SECOND,
  UTC,
} from './calendar.ts';

/**
 * `2026-1-5`, `2026-01-15 11:55:00`, `2026-01-15T11:55:00.123456+01:00`, `… Europe/Paris`: a date,
 * at most a time with up to six digits of a second's fraction and a zone; a date alone takes an
 * offset at most. Just what GoogleSQL takes. Every repetition is bounded, so the match is linear.
 */
const TIME_TEXT = new RegExp(
  String.raw`^(\d{4})-(\d{1,2})-(\d{1,2})` +
    String.raw`(?:[ Tt](?:(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?` +
    String.raw`(?:([Zz])|([+-][\d:]{1,5})| ([A-Za-z][A-Za-z0-9_+:\-/]{1,63}))?` +
    String.raw`|([+-][\d:]{1,5})))?$`,
);

/** The longest text that can be a time; longer ones are refused unread. */
const TIME_TEXT_LENGTH_MAX = 128;

/**
 * Microseconds since the epoch. A text without a zone is in `zone`, or in UTC. Throws for any other
 * text, and for one with a zone when `zone` is given, too.
 */
export function parseTimestamp(text: string, zone?: TimeZone): Int64 {
  const parsed = parseCivil(text);
  if (parsed === undefined) throw badTime('TIMESTAMP', text);
  if (parsed.zoneName === undefined) return checkedTimestampUs(instantUs(parsed.us, zone ?? UTC));
  if (zone !== undefined) {
    throw new QueryError(
      'query_failed',
      `a text with its own time zone cannot be given another one; got ${JSON.stringify(text)}`,
    );
  }
  return checkedTimestampUs(instantUs(parsed.us, mustTimeZone(parsed.zoneName)));
}

/** Throws for a text that is no civil time, and for one with a zone. */
export function parseDatetime(text: string): Int64 {
  const parsed = parseCivil(text);
  if (parsed === undefined || parsed.zoneName !== undefined) throw badTime('DATETIME', text);
  return parsed.us;
}

const DATE_TEXT = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;

/** The day number. Throws for a text that is no date alone. */
export function parseDate(text: string): number {
  const match = text.length > TIME_TEXT_LENGTH_MAX ? null : DATE_TEXT.exec(text);
  if (match === null) throw badTime('DATE', text);
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  if (!isCivilTime({ ...MIDNIGHT, year, month, day })) throw badTime('DATE', text);
  return dayNumberOf({ year, month, day });
}

const TIME_OF_DAY_TEXT = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?$/;

/** Microseconds since midnight. Throws for a text that is no time alone. */
export function parseTimeOfDay(text: string): number {
  const match = text.length > TIME_TEXT_LENGTH_MAX ? null : TIME_OF_DAY_TEXT.exec(text);
  if (match === null) throw badTime('TIME', text);
  const [hour, minute, second] = match.slice(1).map(Number) as [number, number, number];
  const microsecond = Number((match[4] ?? '').padEnd(6, '0'));
  const time = { ...EPOCH_DAY, hour, minute, second, microsecond };
  if (!isCivilTime(time)) throw badTime('TIME', text);
  return timeOfDayOf(time);
}

/** Microseconds since midnight; a leap second at the end of a day is the next one's first. */
export function timeOfDayOf(time: TimeOfDay): number {
  return usOf(time) % US_PER_DAY;
}

/** A leap second is the instant after it, whatever fraction of it has passed: as GoogleSQL has it. */
function usOf({ hour, minute, second, microsecond }: TimeOfDay): number {
  const fraction = second === LEAP_SECOND ? 0 : microsecond;
  return hour * US_PER_HOUR + minute * US_PER_MINUTE + second * US_PER_SECOND + fraction;
}

const LEAP_SECOND = 60;

const EPOCH_DAY = { year: 1970, month: 1, day: 1 };
const MIDNIGHT = { hour: 0, minute: 0, second: 0, microsecond: 0 };

const EXAMPLES = {
  TIMESTAMP: '2026-01-15T11:55:00.123456Z',
  DATETIME: '2026-01-15 11:55:00.123456',
  DATE: '2026-01-15',
  TIME: '11:55:00.123456',
};

function badTime(type: keyof typeof EXAMPLES, text: string): QueryError {
  const got = JSON.stringify(text.slice(0, TIME_TEXT_LENGTH_MAX));
  return new QueryError(
    'query_failed',
    `${type} must be written like ${EXAMPLES[type]}; got ${got}`,
  );
}

type CivilText = { readonly us: Int64; readonly zoneName: string | undefined };

function parseCivil(text: string): CivilText | undefined {
  if (text.length > TIME_TEXT_LENGTH_MAX) return undefined;
  const match = TIME_TEXT.exec(text);
  if (match === null) return undefined;
  const fields = {
    year: Number(match[1]),
    month: Number(match[2]),
    day: Number(match[3]),
    hour: Number(match[4] ?? 0),
    minute: Number(match[5] ?? 0),
    second: Number(match[6] ?? 0),
    microsecond: Number((match[7] ?? '').padEnd(6, '0')),
  };
  if (!isCivilTime(fields)) return undefined;
  return { us: civilUs(fields), zoneName: match[8] ?? match[9] ?? match[10] ?? match[11] };
}

export type CivilTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
} & TimeOfDay;

type TimeOfDay = {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
};

/** Second 60, a leap second, is taken; it is the next minute's first. */
export function isCivilTime(time: CivilTime): boolean {
  return (
    inRange(time.year, 1, 9999) &&
    inRange(time.month, 1, 12) &&
    inRange(time.day, 1, daysInMonth(time.year, time.month)) &&
    inRange(time.hour, 0, 23) &&
    inRange(time.minute, 0, 59) &&
    inRange(time.second, 0, LEAP_SECOND)
  );
}

function inRange(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

/** A civil time that `isCivilTime`, as a DATETIME. */
export function civilUs(time: CivilTime): Int64 {
  return checkedTimestampUs(joinUs(dayNumberOf(time), usOf(time)));
}

/**
 * As CAST writes a TIMESTAMP: `2026-01-15 11:55:00.123+00`. Zones of old times are some seconds off
 * a minute; these are left out of the offset and of the time alike, so that both name the instant.
 */
export function formatTimestamp(us: Int64, zone: TimeZone = UTC): string {
  const offsetUs = wholeMinutesUs(zone.offsetUs(us));
  const sign = offsetUs < 0 ? '-' : '+';
  const minutes = Math.floor(Math.abs(offsetUs) / US_PER_MINUTE);
  const minuteText = minutes % 60 === 0 ? '' : `:${padded(minutes % 60, 2)}`;
  const local = formatDatetime(checkedTimestampUs(addInt64(us, offsetUs)));
  return `${local}${sign}${padded(Math.floor(minutes / 60), 2)}${minuteText}`;
}

/** An offset from UTC without its seconds. */
export function wholeMinutesUs(offsetUs: number): number {
  return offsetUs - (offsetUs % US_PER_MINUTE);
}

/** A DATETIME as CAST writes it: `2026-01-15 11:55:00`, with 3 or 6 digits of a fraction if any. */
export function formatDatetime(us: Int64): string {
  return civilText(us, ' ');
}

/** A DATETIME as it stands in JSON: `2026-01-15T11:55:00`, with 3 or 6 digits of a fraction if any. */
export function datetimeIsoText(us: Int64): string {
  return civilText(us, 'T');
}

function civilText(us: Int64, separator: string): string {
  const { dayNumber, timeOfDayUs } = splitUs(us);
  return `${formatDate(dayNumber)}${separator}${formatTimeOfDay(timeOfDayUs)}`;
}

/** A DATE as CAST and JSON have it: `2026-01-15`. */
export function formatDate(dayNumber: number): string {
  const { year, month, day } = civilDateOf(dayNumber);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

/** A TIME as CAST and JSON have it: `11:55:00`, with 3 or 6 digits of a fraction if any. */
export function formatTimeOfDay(timeOfDayUs: number): string {
  const hour = padded(Math.floor(timeOfDayUs / US_PER_HOUR), 2);
  const minute = padded(Math.floor((timeOfDayUs % US_PER_HOUR) / US_PER_MINUTE), 2);
  const second = padded(Math.floor((timeOfDayUs % US_PER_MINUTE) / US_PER_SECOND), 2);
  return `${hour}:${minute}:${second}${fractionText(timeOfDayUs % US_PER_SECOND)}`;
}

/** With three or six digits; nothing for none. */
export function fractionText(microsecond: number): string {
  if (microsecond === 0) return '';
  if (microsecond % 1000 === 0) return `.${padded(microsecond / 1000, 3)}`;
  return `.${padded(microsecond, 6)}`;
}

export function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

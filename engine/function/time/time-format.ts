import { keepLast } from '../../column/caches.ts';
import { QueryError } from '../../query-error.ts';
import { addInt64, canonicalInteger, floorDivide, type Int64 } from '../number/int64.ts';
import {
  type CivilDate,
  checkedTimestampUs,
  civilDateOf,
  dayOfWeek,
  daysInMonth,
  instantUs,
  isLeapYear,
  mustTimeZone,
  splitUs,
  startOfYear,
  type TimeZone,
  US_PER_HOUR,
  US_PER_SECOND,
  UTC,
} from './calendar.ts';
import { extractPart, startOfIsoYear, type TimePart, type TimeUnit } from './time-part.ts';
import { civilUs, isCivilTime, padded, wholeMinutesUs } from './timestamp-text.ts';

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];

/** Elements that stand for several others. */
const COMPOUND: ReadonlyMap<string, string> = new Map([
  ['F', '%Y-%m-%d'],
  ['T', '%H:%M:%S'],
  ['R', '%H:%M'],
  ['D', '%m/%d/%y'],
  ['r', '%I:%M:%S %p'],
  ['c', '%a %b %e %H:%M:%S %Y'],
  ['x', '%m/%d/%y'],
  ['X', '%H:%M:%S'],
]);

/** `%Y`, `%E*S`, `%E3S`, `%Ez`: the element's name; other text is itself. */
export type Token = { readonly element: string } | { readonly text: string };

/** `%W` counts weeks from the first Monday on. */
const MONDAY_WEEK: TimePart = { name: 'WEEK(MONDAY)', unit: 'WEEK', weekStart: 1 };

export const tokensOf = keepLast((format: string): readonly Token[] => {
  const expanded = format.replace(
    /%(?:E(?=[cxX]))?([%FTRDrcxX])/g,
    (whole, name: string) => COMPOUND.get(name) ?? whole,
  );
  return (expanded.match(/%(?:E\*S|E[0-6]S|Ez|E4Y|E[CyY]|O[deHImMSUuVwWy]|.)?|[^%]+/gs) ?? []).map(
    (piece): Token => {
      if (piece === '%%') return { text: '%' };
      if (!piece.startsWith('%')) return { text: piece };
      // As in POSIX's own locale, where E and O make no difference.
      return { element: piece.slice(/^%(?:E[CyY]|O.)$/.test(piece) ? 2 : 1) };
    },
  );
});

/** `known`: the elements, besides compound ones, that would have been understood. */
function badElement(element: string, known: Iterable<string>): QueryError {
  const allowed = [...COMPOUND.keys(), ...known, '%'].map((name) => `%${name}`);
  return new QueryError(
    'query_failed',
    `time format takes the elements ${allowed.join(' ')}; got ${JSON.stringify(`%${element}`)}`,
  );
}

/** A moment as a formatter sees it. */
type Moment = { readonly localUs: Int64; readonly instantUs: Int64; readonly offsetUs: number };

type Formatter = (moment: Moment) => string;

const FORMATTERS: ReadonlyMap<string, Formatter> = new Map<string, Formatter>([
  ['Y', ({ localUs }) => paddedPart(localUs, 'YEAR', 1)],
  ['E4Y', ({ localUs }) => paddedPart(localUs, 'YEAR', 4)],
  ['y', ({ localUs }) => paddedPart(localUs, 'YEAR', 4).slice(-2)],
  ['C', ({ localUs }) => paddedPart(localUs, 'YEAR', 4).slice(0, 2)],
  ['G', ({ localUs }) => paddedPart(localUs, 'ISOYEAR', 1)],
  ['g', ({ localUs }) => paddedPart(localUs, 'ISOYEAR', 4).slice(-2)],
  ['U', ({ localUs }) => paddedPart(localUs, 'WEEK', 2)],
  ['W', ({ localUs }) => padded(extractPart(localUs, MONDAY_WEEK), 2)],
  ['V', ({ localUs }) => paddedPart(localUs, 'ISOWEEK', 2)],
  ['u', ({ localUs }) => String(((fieldOf(localUs, 'DAYOFWEEK') + 5) % 7) + 1)],
  ['w', ({ localUs }) => String(fieldOf(localUs, 'DAYOFWEEK') - 1)],
  ['m', ({ localUs }) => paddedPart(localUs, 'MONTH', 2)],
  ['d', ({ localUs }) => paddedPart(localUs, 'DAY', 2)],
  ['e', ({ localUs }) => paddedPart(localUs, 'DAY', 1).padStart(2, ' ')],
  ['j', ({ localUs }) => paddedPart(localUs, 'DAYOFYEAR', 3)],
  ['Q', ({ localUs }) => paddedPart(localUs, 'QUARTER', 1)],
  ['H', ({ localUs }) => paddedPart(localUs, 'HOUR', 2)],
  ['k', ({ localUs }) => paddedPart(localUs, 'HOUR', 1).padStart(2, ' ')],
  ['I', ({ localUs }) => padded(hourOfHalfDay(localUs), 2)],
  ['l', ({ localUs }) => String(hourOfHalfDay(localUs)).padStart(2, ' ')],
  ['p', ({ localUs }) => (fieldOf(localUs, 'HOUR') < 12 ? 'AM' : 'PM')],
  ['P', ({ localUs }) => (fieldOf(localUs, 'HOUR') < 12 ? 'am' : 'pm')],
  ['M', ({ localUs }) => paddedPart(localUs, 'MINUTE', 2)],
  ['S', ({ localUs }) => paddedPart(localUs, 'SECOND', 2)],
  ['B', ({ localUs }) => monthName(localUs)],
  ['b', ({ localUs }) => monthName(localUs).slice(0, 3)],
  ['h', ({ localUs }) => monthName(localUs).slice(0, 3)],
  ['A', ({ localUs }) => weekdayName(localUs)],
  ['a', ({ localUs }) => weekdayName(localUs).slice(0, 3)],
  ['s', ({ instantUs }) => `${floorDivide(BigInt(instantUs), BigInt(US_PER_SECOND))}`],
  ['z', ({ offsetUs }) => offsetText(offsetUs, '')],
  ['Ez', ({ offsetUs }) => offsetText(offsetUs, ':')],
  ['Z', ({ offsetUs }) => zoneName(offsetUs)],
  ['n', () => '\n'],
  ['t', () => '\t'],
]);

/** 12, 1 to 11, and so again after noon. */
function hourOfHalfDay(local: Int64): number {
  return ((fieldOf(local, 'HOUR') + 11) % 12) + 1;
}

/** `UTC`, `UTC+1`, `UTC-0330`. */
function zoneName(offsetUs: number): string {
  if (offsetUs === 0) return 'UTC';
  const hours = offsetUs / US_PER_HOUR;
  if (!Number.isInteger(hours)) return `UTC${offsetText(offsetUs, '')}`;
  return `UTC${hours < 0 ? '-' : '+'}${Math.abs(hours)}`;
}

type CivilKind = 'DATETIME' | 'DATE' | 'TIME';

const ZONE_ELEMENTS = /^(?:z|Ez|Z)$/;
const CLOCK_ELEMENTS = /^(?:[HkIlpPMSs]|E[*0-6]S)$/;
const BLANK_ELEMENTS = /^[nt]$/;

/** Elements of what a type does not have. */
function isForeign(element: string, kind: CivilKind): boolean {
  if (ZONE_ELEMENTS.test(element)) return true;
  if (kind === 'DATETIME' || BLANK_ELEMENTS.test(element)) return false;
  if (element === 's') return true;
  return CLOCK_ELEMENTS.test(element) === (kind === 'DATE');
}

/**
 * Throws for a format with an element that the type has not: no zone in a DATETIME, no hour in a
 * DATE, no year in a TIME. `known`: the elements that there are.
 */
export function checkCivilElements(format: string, kind: CivilKind, known: Iterable<string>): void {
  for (const token of tokensOf(format)) {
    if ('text' in token || !isForeign(token.element, kind)) continue;
    throw badElement(
      token.element,
      [...known].filter((name) => !isForeign(name, kind)),
    );
  }
}

/** FORMAT_DATETIME, FORMAT_DATE and FORMAT_TIME. Throws for an element that it does not know. */
export function formatCivilTime(format: string, us: Int64, kind: CivilKind): string {
  checkCivilElements(format, kind, [...FORMATTERS.keys(), 'E*S', 'E6S']);
  return formatTime(format, us, UTC);
}

/** FORMAT_TIMESTAMP. Throws for an element that it does not know. */
export function formatTime(format: string, us: Int64, zone: TimeZone): string {
  const offsetUs = wholeMinutesUs(zone.offsetUs(us));
  const moment = {
    localUs: checkedTimestampUs(addInt64(us, offsetUs)),
    instantUs: us,
    offsetUs,
  };
  let text = '';
  for (const token of tokensOf(format)) {
    text += 'text' in token ? token.text : formatElement(token.element, moment);
  }
  return text;
}

function formatElement(element: string, moment: Moment): string {
  const formatter = FORMATTERS.get(element);
  if (formatter !== undefined) return formatter(moment);
  const digits = /^E([*0-6])S$/.exec(element)?.[1];
  if (digits === undefined) throw badElement(element, [...FORMATTERS.keys(), 'E*S', 'E6S']);
  const second = paddedPart(moment.localUs, 'SECOND', 2);
  const fraction = paddedPart(moment.localUs, 'MICROSECOND', 6);
  const shown = digits === '*' ? fraction.replace(/0+$/, '') : fraction.slice(0, Number(digits));
  return shown === '' ? second : `${second}.${shown}`;
}

function fieldOf(local: Int64, unit: TimeUnit): number {
  return extractPart(local, { name: unit, unit, weekStart: 0 });
}

function paddedPart(local: Int64, unit: TimeUnit, width: number): string {
  return padded(fieldOf(local, unit), width);
}

function monthName(local: Int64): string {
  return MONTHS[fieldOf(local, 'MONTH') - 1] as string;
}

function weekdayName(local: Int64): string {
  return WEEKDAYS[dayOfWeek(splitUs(local).dayNumber)] as string;
}

function offsetText(offsetUs: number, separator: string): string {
  const minutes = Math.floor(Math.abs(offsetUs) / (60 * US_PER_SECOND));
  const sign = offsetUs < 0 ? '-' : '+';
  return `${sign}${padded(Math.floor(minutes / 60), 2)}${separator}${padded(minutes % 60, 2)}`;
}

/** What has been read so far; what the format leaves out is 1970-01-01 00:00:00. */
type Reading = DateReading & {
  hour: number;
  minute: number;
  second: number;
  microsecond: number;
  isAfternoon: boolean | undefined;
  /** Whether the hour was read as one of twelve: only then does AM or PM mean anything. */
  isHalfDay: boolean;
  epochSecond: number | undefined;
  zone: TimeZone | undefined;
};

/** `read` may find that the text is none of its names: then it returns false. */
type Reader = {
  readonly pattern: RegExp;
  readonly read: (text: string, reading: Reading) => boolean;
};

const TWO_DIGITS = /\d{1,2}/y;
const HALF_DAY_HOUR = / ?(?:1[0-2]|0?[1-9])(?!\d)/y;
const NAME = /[a-z]{3,9}/iy;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['Y', reader(/\d{1,4}/y, readYear)],
  ['E4Y', reader(/\d{4}/y, readYear)],
  ['y', reader(TWO_DIGITS, readYearOfCentury)],
  ['C', reader(/\d{2}/y, readCentury)],
  ['Q', reader(/[1-4]/y, (text, reading) => readMonthNumber(Number(text) * 3 - 2, reading))],
  ['m', reader(TWO_DIGITS, (text, reading) => readMonthNumber(Number(text), reading))],
  ['d', reader(TWO_DIGITS, readDay)],
  ['e', reader(/ ?\d{1,2}/y, readDay)],
  ['j', reader(/\d{1,3}/y, readDayOfYear)],
  ['U', reader(TWO_DIGITS, (text, reading) => readWeek(text, 0, reading))],
  ['W', reader(TWO_DIGITS, (text, reading) => readWeek(text, 1, reading))],
  ['G', field(/\d{1,4}/y, 'isoYear')],
  ['g', reader(TWO_DIGITS, readShortIsoYear)],
  ['V', field(/5[0-3]|[1-4]\d|0?[1-9]/y, 'isoWeek')],
  ['J', field(/\d{1,3}/y, 'isoDayOfYear')],
  ['u', reader(/[1-7]/y, (text, reading) => readWeekday(Number(text) % 7, reading))],
  ['w', reader(/[0-6]/y, (text, reading) => readWeekday(Number(text), reading))],
  ['H', reader(TWO_DIGITS, readHour)],
  ['k', reader(/ ?\d{1,2}/y, readHour)],
  ['I', reader(HALF_DAY_HOUR, readHalfDayHour)],
  ['l', reader(HALF_DAY_HOUR, readHalfDayHour)],
  ['p', reader(/[ap]m/iy, readHalfDay)],
  ['P', reader(/[ap]m/iy, readHalfDay)],
  ['M', field(TWO_DIGITS, 'minute')],
  ['S', field(TWO_DIGITS, 'second')],
  ['E*S', reader(/\d{1,2}(?:\.\d{1,100})?/y, readSeconds)],
  ['E0S', field(TWO_DIGITS, 'second')],
  ...[1, 2, 3, 4, 5, 6].map((digits): [string, Reader] => [
    `E${digits}S`,
    reader(new RegExp(`\\d{1,2}(?:\\.\\d{1,${digits}})?`, 'y'), readSeconds),
  ]),
  ['B', reader(NAME, readMonth)],
  ['b', reader(NAME, readMonth)],
  ['h', reader(NAME, readMonth)],
  ['A', reader(NAME, readWeekdayName)],
  ['a', reader(NAME, readWeekdayName)],
  ['s', field(/-?\d{1,15}/y, 'epochSecond')],
  ['z', reader(/[+-]\d{2}(?:\d{2})?/y, readZone)],
  ['Ez', reader(/[zZ]|[+-]\d{2}(?::?\d{2})?/y, readZone)],
  ['Z', reader(/[A-Za-z+-][A-Za-z0-9_+\-/:]{0,63}/y, readZone)],
  ['n', reader(/\s*/y, () => {})],
  ['t', reader(/\s*/y, () => {})],
]);

function reader(pattern: RegExp, read: (text: string, reading: Reading) => unknown): Reader {
  return { pattern, read: (text, reading) => read(text, reading) !== false };
}

/** An element that is a number, kept as it is. */
function field(
  pattern: RegExp,
  name: 'isoYear' | 'isoWeek' | 'isoDayOfYear' | 'minute' | 'second' | 'epochSecond',
): Reader {
  return reader(pattern, (text, reading) => {
    reading[name] = Number(text);
  });
}

function readYear(text: string, reading: Reading): void {
  reading.year = Number(text);
}

function readYearOfCentury(text: string, reading: Reading): void {
  reading.year = undefined;
  reading.yearOfCentury = Number(text);
}

function readCentury(text: string, reading: Reading): void {
  reading.year = undefined;
  reading.century = Number(text);
}

function readShortIsoYear(text: string, reading: Reading): void {
  reading.isoYear = twoDigitYear(Number(text));
}

function readMonthNumber(month: number, reading: Reading): void {
  forgetOtherDays(reading);
  reading.month = month;
}

function readDay(text: string, reading: Reading): void {
  forgetOtherDays(reading);
  reading.day = Number(text);
}

function readDayOfYear(text: string, reading: Reading): void {
  forgetOtherDays(reading);
  reading.dayOfYear = Number(text);
}

function readWeek(text: string, start: 0 | 1, reading: Reading): boolean {
  forgetOtherDays(reading);
  reading.week = { number: Number(text), start };
  return reading.week.number <= 53;
}

function readWeekday(weekday: number, reading: Reading): void {
  reading.weekday = weekday;
}

function readWeekdayName(text: string, reading: Reading): boolean {
  const weekday = indexOfName(WEEKDAYS, text);
  reading.weekday = weekday;
  return weekday >= 0;
}

/** The name in full or its first three letters, in any case; -1 for no name. */
function indexOfName(names: readonly string[], text: string): number {
  const wanted = text.toLowerCase();
  return names.findIndex((name) => {
    const lower = name.toLowerCase();
    return lower === wanted || lower.slice(0, 3) === wanted;
  });
}

function readHour(text: string, reading: Reading): void {
  reading.hour = Number(text);
  reading.isHalfDay = false;
}

function readHalfDayHour(text: string, reading: Reading): void {
  reading.hour = Number(text) % 12;
  reading.isHalfDay = true;
}

function readHalfDay(text: string, reading: Reading): void {
  reading.isAfternoon = /p/i.test(text);
}

function readSeconds(text: string, reading: Reading): void {
  const [second, fraction = ''] = text.split('.');
  reading.second = Number(second);
  reading.microsecond = Number(fraction.slice(0, 6).padEnd(6, '0'));
}

function readMonth(text: string, reading: Reading): void {
  readMonthNumber(indexOfName(MONTHS, text) + 1, reading);
}

function readZone(text: string, reading: Reading): void {
  reading.zone = mustTimeZone(text);
}

/** PARSE_DATETIME, PARSE_DATE and PARSE_TIME. */
export function parseCivilTime(format: string, text: string, kind: CivilKind): Int64 {
  checkCivilElements(format, kind, READERS.keys());
  return parseTime(format, text, UTC);
}

/** PARSE_TIMESTAMP. A zone in the text wins over `zone`. */
export function parseTime(format: string, text: string, zone: TimeZone): Int64 {
  const reading: Reading = {
    ...emptyDate(),
    hour: 0,
    minute: 0,
    second: 0,
    microsecond: 0,
    isAfternoon: undefined,
    isHalfDay: false,
    epochSecond: undefined,
    zone: undefined,
  };
  let at = skipSpaces(text, 0);
  for (const token of tokensOf(format)) {
    const end =
      'text' in token
        ? skipText(text, at, token.text)
        : readElement(token.element, text, at, reading);
    if (end === undefined) throw badText(format, text);
    at = end;
  }
  if (skipSpaces(text, at) !== text.length) throw badText(format, text);
  if (reading.epochSecond !== undefined)
    return checkedTimestampUs(canonicalInteger(BigInt(reading.epochSecond) * 1_000_000n));
  const isLater = reading.isAfternoon === true && reading.isHalfDay;
  const hour = isLater ? reading.hour + 12 : reading.hour;
  const date = dateOfReading(reading);
  const { minute, second, microsecond } = reading;
  const time = date && { ...date, hour, minute, second, microsecond };
  if (time === undefined || !isCivilTime(time)) throw badText(format, text);
  return instantUs(civilUs(time), reading.zone ?? zone);
}

function badText(format: string, text: string): QueryError {
  return new QueryError(
    'query_failed',
    `time must be written as ${JSON.stringify(format)} says; got ${JSON.stringify(text.slice(0, 128))}`,
  );
}

/** Where the text goes on after `wanted`; white space stands for any amount of it. */
function skipText(text: string, at: number, wanted: string): number | undefined {
  let next = at;
  for (const character of wanted) {
    if (/\s/.test(character)) next = skipSpaces(text, next);
    else if (text.startsWith(character, next)) next += character.length;
    else return undefined;
  }
  return next;
}

function skipSpaces(text: string, at: number): number {
  let next = at;
  while (next < text.length && text.charCodeAt(next) <= 0x20) next++;
  return next;
}

function readElement(
  element: string,
  text: string,
  at: number,
  reading: Reading,
): number | undefined {
  const found = READERS.get(element);
  if (found === undefined) throw badElement(element, READERS.keys());
  const { pattern, read } = found;
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  return read(match[0], reading) ? at + match[0].length : undefined;
}

/**
 * What a text told of its date. A year and one way to name a day in it; where two are told, the
 * later one counts. What is left out is the first of January 1970.
 */
type DateReading = {
  /** All of its digits, or its last two, or those before them. */
  year: number | undefined;
  yearOfCentury: number | undefined;
  century: number | undefined;
  month: number;
  day: number;
  /** From 1; instead of month and day. */
  dayOfYear: number | undefined;
  /** Week 1 begins with the first `start`, 0 being Sunday; days before it are in week 0. */
  week: { readonly number: number; readonly start: 0 | 1 } | undefined;
  /** 0 is Sunday. Counts beside a week alone. */
  weekday: number | undefined;
  /** Instead of a year: weeks and days are those of ISO 8601. */
  isoYear: number | undefined;
  isoWeek: number | undefined;
  isoDayOfYear: number | undefined;
};

function emptyDate(): DateReading {
  return {
    ...{ year: undefined, yearOfCentury: undefined, century: undefined },
    ...{ month: 1, day: 1, dayOfYear: undefined, week: undefined, weekday: undefined },
    ...{ isoYear: undefined, isoWeek: undefined, isoDayOfYear: undefined },
  };
}

/** A month or a day of it was read: other ways to name the day count no more. */
function forgetOtherDays(reading: DateReading): void {
  reading.dayOfYear = undefined;
  reading.week = undefined;
  reading.isoYear = undefined;
}

/** `undefined` for a date that is none, such as day 366 of most years. */
function dateOfReading(reading: DateReading): CivilDate | undefined {
  const year = yearOfReading(reading);
  if (year === undefined) return isoDate(reading.isoYear ?? 1970, reading);
  if (year < 1 || year > 9999) return undefined;
  if (reading.dayOfYear !== undefined) return dayInYear(year, reading.dayOfYear - 1);
  if (reading.week !== undefined) return dayOfWeekIn(year, reading.week, reading.weekday);
  const { month, day } = reading;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return { year, month, day };
}

/** `undefined` when only a year of ISO 8601 was read. */
function yearOfReading({ year, yearOfCentury, century, isoYear }: DateReading): number | undefined {
  if (year !== undefined) return year;
  if (century !== undefined) return century * 100 + (yearOfCentury ?? 0);
  if (yearOfCentury !== undefined) return twoDigitYear(yearOfCentury);
  return isoYear === undefined ? 1970 : undefined;
}

/** As POSIX reads `%y`: 69 to 99 are of the twentieth century. */
function twoDigitYear(year: number): number {
  return year < 69 ? 2000 + year : 1900 + year;
}

function dayInYear(year: number, index: number): CivilDate | undefined {
  if (index < 0 || index >= (isLeapYear(year) ? 366 : 365)) return undefined;
  return civilDateOf(startOfYear(year) + index);
}

/** The week's day, or its first one in the year. */
function dayOfWeekIn(
  year: number,
  { number, start }: { readonly number: number; readonly start: 0 | 1 },
  weekday: number | undefined,
): CivilDate | undefined {
  const firstStart = (7 + start - dayOfWeek(startOfYear(year))) % 7;
  const first = firstStart + (number - 1) * 7;
  if (weekday === undefined) return first > -7 ? dayInYear(year, Math.max(0, first)) : undefined;
  return dayInYear(year, first + ((weekday - start + 7) % 7));
}

function isoDate(year: number, reading: DateReading): CivilDate | undefined {
  if (year < 1 || year > 9999) return undefined;
  const { isoWeek = 1, isoDayOfYear, weekday = 1 } = reading;
  const index = isoDayOfYear ?? (isoWeek - 1) * 7 + ((weekday + 6) % 7) + 1;
  const start = startOfIsoYear(year);
  if (index < 1 || start + index - 1 >= startOfIsoYear(year + 1)) return undefined;
  return civilDateOf(start + index - 1);
}

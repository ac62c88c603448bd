import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import { canonicalInteger } from '../number/int64.ts';
import { checkedTimestampUs } from './calendar.ts';
import type { DateReading } from './parsed-date.ts';
import { dateOfReading, emptyDate, forgetOtherDays, twoDigitYear } from './parsed-date.ts';
import type { CivilKind } from './time-format.ts';
import { badElement, checkCivilElements, MONTHS, tokensOf, WEEKDAYS } from './time-format.ts';
import type { TimeZone } from './time-zone.ts';
import { instantUs, mustTimeZone, UTC } from './time-zone.ts';
import { civilUs, isCivilTime } from './timestamp-text.ts';

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

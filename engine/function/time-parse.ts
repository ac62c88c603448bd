import { QueryError } from '../query-error.ts';
import { checkedTimestampUs } from './calendar.ts';
import type { Int64 } from './int64.ts';
import { canonicalInteger } from './int64.ts';
import type { CivilKind } from './time-format.ts';
import { badElement, checkCivilElements, MONTHS, tokensOf } from './time-format.ts';
import type { TimeZone } from './time-zone.ts';
import { instantUs, mustTimeZone, UTC } from './time-zone.ts';
import { civilUs, isCivilTime } from './timestamp-text.ts';

/** What has been read so far; what the format leaves out is 1970-01-01 00:00:00. */
type Reading = {
  year: number;
  month: number;
  day: number;
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

type Reader = { readonly pattern: RegExp; readonly read: (text: string, reading: Reading) => void };

const TWO_DIGITS = /\d{1,2}/y;
const HALF_DAY_HOUR = / ?(?:1[0-2]|0?[1-9])(?!\d)/y;
const SECONDS = /\d{1,2}(?:\.\d{0,9})?/y;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [
    'Y',
    reader(/\d{1,4}/y, (text, reading) => {
      reading.year = Number(text);
    }),
  ],
  [
    'E4Y',
    reader(/\d{4}/y, (text, reading) => {
      reading.year = Number(text);
    }),
  ],
  [
    'y',
    reader(/\d{2}/y, (text, reading) => {
      reading.year = twoDigitYear(Number(text));
    }),
  ],
  [
    'm',
    reader(TWO_DIGITS, (text, reading) => {
      reading.month = Number(text);
    }),
  ],
  [
    'd',
    reader(TWO_DIGITS, (text, reading) => {
      reading.day = Number(text);
    }),
  ],
  [
    'e',
    reader(/ ?\d{1,2}/y, (text, reading) => {
      reading.day = Number(text);
    }),
  ],
  ['H', reader(TWO_DIGITS, readHour)],
  ['k', reader(/ ?\d{1,2}/y, readHour)],
  ['I', reader(HALF_DAY_HOUR, readHalfDayHour)],
  ['l', reader(HALF_DAY_HOUR, readHalfDayHour)],
  ['p', reader(/[ap]m/iy, readHalfDay)],
  ['P', reader(/[ap]m/iy, readHalfDay)],
  [
    'M',
    reader(TWO_DIGITS, (text, reading) => {
      reading.minute = Number(text);
    }),
  ],
  [
    'S',
    reader(TWO_DIGITS, (text, reading) => {
      reading.second = Number(text);
    }),
  ],
  ['E*S', reader(SECONDS, readSeconds)],
  ...[0, 1, 2, 3, 4, 5, 6].map((digits): [string, Reader] => [
    `E${digits}S`,
    reader(SECONDS, readSeconds),
  ]),
  ['B', reader(/[a-z]{3,9}/iy, readMonth)],
  ['b', reader(/[a-z]{3,9}/iy, readMonth)],
  ['h', reader(/[a-z]{3,9}/iy, readMonth)],
  ['A', reader(/[a-z]{3,9}/iy, () => {})],
  ['a', reader(/[a-z]{3,9}/iy, () => {})],
  [
    's',
    reader(/-?\d{1,15}/y, (text, reading) => {
      reading.epochSecond = Number(text);
    }),
  ],
  ['z', reader(/[zZ]|[+-]\d{2}:?\d{2}/y, readZone)],
  ['Ez', reader(/[zZ]|[+-]\d{2}(?::?\d{2})?/y, readZone)],
  ['Z', reader(/[A-Za-z][A-Za-z0-9_+\-/]{0,63}/y, readZone)],
  ['n', reader(/\s*/y, () => {})],
  ['t', reader(/\s*/y, () => {})],
]);

function reader(pattern: RegExp, read: Reader['read']): Reader {
  return { pattern, read };
}

/** As POSIX reads `%y`: 69 to 99 are of the twentieth century. */
function twoDigitYear(year: number): number {
  return year < 69 ? 2000 + year : 1900 + year;
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
  const start = text.toLowerCase();
  reading.month =
    MONTHS.findIndex((month) => {
      const name = month.toLowerCase();
      return name === start || name.slice(0, 3) === start;
    }) + 1;
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
    year: 1970,
    month: 1,
    day: 1,
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
  const time = { ...reading, hour };
  if (!isCivilTime(time)) throw badText(format, text);
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
  read(match[0], reading);
  return at + match[0].length;
}

import * as ascii from './ascii.ts';

/**
 * Reads timestamps of events. All functions return whole microseconds since the epoch, or `undefined` for a timestamp
 * that cannot be read.
 *
 * The number of digits before the decimal point gives the unit: 10 seconds, 13 milliseconds, 16 microseconds, 19
 * nanoseconds. Fractions of a microsecond are cut off.
 */
export function timestampUsOfNumber(value: number): number | undefined {
  if (Number.isSafeInteger(value)) {
    if (value >= 1e9 && value < 1e10) return value * 1e6;
    if (value >= 1e12 && value < 1e13) return value * 1e3;
    return value >= 1e15 && value < 1e16 ? value : undefined;
  }
  // The shortest digits of a double are those that the sender wrote, unless the sender wrote more than a double holds.
  const digits = Buffer.from(String(value), 'latin1');
  return new TimeScanner(digits, { start: 0, end: digits.length, nowUs: 0 }).timestampUs();
}

/**
 * The text `[start, end)` of `bytes`, in any of the forms below. This is the one reader of times in
 * texts, whatever format an event came in, so that no two receivers disagree about a text.
 *
 * | form | as in |
 * |---|---|
 * | ISO 8601, RFC 3339, RFC 5424 | `2026-11-26T09:00:00.123456789+01:00`, `2026-11-26 09:00`, `2026-11-26` |
 * | ISO 8601, basic | `20261126T090000Z` |
 * | with slashes | `2026/11/26 09:00:00` |
 * | RFC 2822, HTTP | `Thu, 26 Nov 2026 09:00:00 +0100`, `26 Nov 2026 09:00 EST`, `Sun, 06 Nov 1994 08:49:37 GMT` |
 * | RFC 850 | `Sunday, 06-Nov-94 08:49:37 GMT` |
 * | asctime | `Sun Nov  6 08:49:37 1994` |
 * | syslog (RFC 3164) | `Nov 26 09:00:00` |
 * | common log format | `26/Nov/2026:09:00:00 +0100` |
 * | the digits of a number | `1764147600`, `1764147600.123`, `1764147600123456789` |
 *
 * - Seconds may have a fraction of any length after a point or a comma; digits after the microseconds are cut off.
 * - An offset is `Z`, `+01`, `+0100` or `+01:00`, perhaps behind a space, or, behind a space, one of the names
 *   that RFC 2822 defines. Without one the time is in UTC.
 * - Second 60 is a leap second; it is the same as the next minute's first.
 * - Letters may be of either case. A day of the week must be one, but is not compared with the date.
 * - A year that is left out, or has two digits, is the one that brings the time nearest to `nowUs`, the receipt.
 *
 * A text is unreadable if its date does not exist, or if anything precedes or follows the time. Each byte is read a few
 * times at most. A text longer than TEXT_LENGTH_MAX is not read.
 */
export function timestampUsOfText(
  bytes: Uint8Array,
  start: number,
  end: number,
  nowUs: number,
): number | undefined {
  if (end - start > TEXT_LENGTH_MAX) return undefined;
  return new TimeScanner(bytes, { start, end, nowUs }).timestampUs();
}

/** Bytes: three times the longest form; a fraction may take the rest. */
const TEXT_LENGTH_MAX = 128;

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
export const DAY_US = 24 * HOUR_US;

/** Digits of a time in microseconds, from 2001 to 2286. The first 16 digits of a time in nanoseconds are microseconds. */
const UNIX_US_DIGITS = 16;
const UNIX_DIGITS: readonly number[] = [10, 13, UNIX_US_DIGITS, 19];

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
/** Letters of the longest name above. */
const WORD_LENGTH_MAX = 9;

/** Hours that a zone is ahead of UTC (RFC 2822, §4.3), and the name that others have for UTC. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['utc', 0],
  ['gmt', 0],
  ['ut', 0],
  ['z', 0],
  ['est', -5],
  ['edt', -4],
  ['cst', -6],
  ['cdt', -5],
  ['mst', -7],
  ['mdt', -6],
  ['pst', -8],
  ['pdt', -7],
]);

/** Reads a text from left to right. `isValid` becomes false when the text does not match the form. */
class TimeScanner {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #nowUs: number;
  #at: number;
  #isValid = true;

  constructor(
    bytes: Uint8Array,
    { start, end, nowUs }: { readonly start: number; readonly end: number; readonly nowUs: number },
  ) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#nowUs = nowUs;
  }

  timestampUs(): number | undefined {
    const us = this.#form();
    return this.#isValid && this.#at === this.#end ? us : undefined;
  }

  /** The number of leading digits, and the byte after them, determine the form. */
  #form(): number | undefined {
    const digitCount = this.#countDigits();
    const next = this.#at + digitCount;
    const byte = next < this.#end ? this.#bytes[next]! : 0;
    if (digitCount === 0) return this.#nameFirst();
    if (next === this.#end || byte === ascii.DOT) return this.#unix(digitCount);
    if (digitCount <= 2) return this.#dayFirst();
    if (digitCount === 8) return this.#basic();
    return this.#yearFirst(byte === ascii.SLASH ? ascii.SLASH : ascii.MINUS);
  }

  #countDigits(): number {
    let at = this.#at;
    while (at < this.#end && ascii.isDigit(this.#bytes[at]!)) at++;
    return at - this.#at;
  }

  /** In any unit, the first sixteen digits without the decimal point are the microseconds. So a double suffices. */
  #unix(digitCount: number): number | undefined {
    if (!UNIX_DIGITS.includes(digitCount)) return undefined;
    let us = 0;
    let usedCount = 0;
    const pointAt = this.#at + digitCount;
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#byte();
      if (this.#at === pointAt) continue;
      if (!ascii.isDigit(byte)) return undefined;
      if (usedCount++ < UNIX_US_DIGITS) us = us * 10 + (byte - ascii.DIGIT_0);
    }
    for (; usedCount < UNIX_US_DIGITS; usedCount++) us *= 10;
    return us;
  }

  /** `2026-11-26T09:00:00Z`, `2026-11-26`, `2026/11/26 09:00:00` */
  #yearFirst(separator: number): number | undefined {
    const year = this.#digits(4);
    this.#expect(separator);
    const month = this.#digits(2);
    this.#expect(separator);
    const dayUs = startOfDayUs(year, month, this.#digits(2));
    if (this.#at === this.#end && separator === ascii.MINUS) return dayUs;
    this.#expectTimeMark();
    return sum(dayUs, this.#timeOfDayUs() - this.#offsetUs());
  }

  /** `20261126T090000Z` */
  #basic(): number | undefined {
    const dayUs = startOfDayUs(this.#digits(4), this.#digits(2), this.#digits(2));
    this.#expectTimeMark();
    let us = this.#number(23) * HOUR_US + this.#number(59) * MINUTE_US;
    if (ascii.isDigit(this.#byte())) us += this.#secondUs();
    return sum(dayUs, us - this.#offsetUs());
  }

  /** `26 Nov 2026 09:00:00 +0100`, `06-Nov-94 08:49:37 GMT`, `26/Nov/2026:09:00:00 +0100` */
  #dayFirst(): number | undefined {
    const day = this.#digits(Math.min(this.#countDigits(), 2));
    const separator = this.#byte();
    if (!DATE_SEPARATORS.has(separator)) return undefined;
    this.#at++;
    const month = this.#month();
    this.#expect(separator);
    const hasCentury = separator !== ascii.MINUS || this.#countDigits() !== 2;
    const year = this.#digits(hasCentury ? 4 : 2);
    this.#expect(separator === ascii.SLASH ? ascii.COLON : ascii.SPACE);
    const us = this.#timeOfDayUs() - this.#offsetUs();
    if (hasCentury) return sum(startOfDayUs(year, month, day), us);
    const nowYear = this.#nowYear();
    const likely = nowYear - (nowYear % 100) + year;
    return this.#nearest([likely - 100, likely, likely + 100], { month, day, us });
  }

  /** `Thu, ` before one of the forms above, `Sun Nov  6 08:49:37 1994`, `Nov 26 09:00:00` */
  #nameFirst(): number | undefined {
    const word = this.#word();
    if (MONTHS.includes(word)) {
      const date = { month: MONTHS.indexOf(word) + 1, ...this.#dayAndTime() };
      const us = date.us - this.#offsetUs();
      const nowYear = this.#nowYear();
      return this.#nearest([nowYear - 1, nowYear, nowYear + 1], { ...date, us });
    }
    if (!WEEKDAYS.some((name) => name === word || name.slice(0, 3) === word)) return undefined;
    const isBeforeDay = this.#accept(ascii.COMMA);
    this.#expect(ascii.SPACE);
    if (isBeforeDay) return this.#dayFirst();
    const month = this.#month();
    const { day, us } = this.#dayAndTime();
    this.#expect(ascii.SPACE);
    return sum(startOfDayUs(this.#digits(4), month, day), us);
  }

  /** The rest after a month: `  6 08:49:37`, ` 26 09:00:00` */
  #dayAndTime(): { readonly day: number; readonly us: number } {
    this.#expect(ascii.SPACE);
    this.#accept(ascii.SPACE);
    const day = this.#digits(Math.min(Math.max(this.#countDigits(), 1), 2));
    this.#expect(ascii.SPACE);
    return { day, us: this.#timeOfDayUs() };
  }

  /**
   * Chooses the year that brings the time nearest to the receipt. February 29th is unreadable if none of the candidate
   * years has it: a time more than a year away would be refused, and its event with it.
   */
  #nearest(
    years: readonly number[],
    { month, day, us }: { readonly month: number; readonly day: number; readonly us: number },
  ): number | undefined {
    let nearest: number | undefined;
    for (const year of years) {
      const candidate = sum(startOfDayUs(year, month, day), us);
      if (candidate === undefined) continue;
      const isNearer =
        nearest === undefined ||
        Math.abs(candidate - this.#nowUs) < Math.abs(nearest - this.#nowUs);
      if (isNearer) nearest = candidate;
    }
    return nearest;
  }

  #nowYear(): number {
    return new Date(this.#nowUs / 1000).getUTCFullYear();
  }

  /** `09:00`, `09:00:00`, `09:00:00.123` */
  #timeOfDayUs(): number {
    const hour = this.#number(23);
    this.#expect(ascii.COLON);
    const us = hour * HOUR_US + this.#number(59) * MINUTE_US;
    return this.#accept(ascii.COLON) ? us + this.#secondUs() : us;
  }

  #secondUs(): number {
    const us = this.#number(60) * SECOND_US;
    return this.#accept(ascii.DOT) || this.#accept(ascii.COMMA) ? us + this.#fractionUs() : us;
  }

  #fractionUs(): number {
    const digitCount = this.#countDigits();
    if (digitCount === 0) this.#isValid = false;
    const usedCount = Math.min(digitCount, 6);
    const us = this.#digits(usedCount) * 10 ** (6 - usedCount);
    this.#at += digitCount - usedCount;
    return us;
  }

  /** The offset from UTC; none means UTC: `Z`, `+01:00`, `+0100`, `+01`, ` +0100`, ` GMT`. */
  #offsetUs(): number {
    if (this.#at === this.#end || this.#acceptLetter(ascii.LOWER_Z)) return 0;
    const isApart = this.#accept(ascii.SPACE);
    if (isApart && isLetter(this.#byte())) {
      const hours = ZONES.get(this.#word());
      if (hours === undefined) this.#isValid = false;
      return (hours ?? 0) * HOUR_US;
    }
    const isBehind = this.#accept(ascii.MINUS);
    if (!isBehind) this.#expect(ascii.PLUS);
    const hours = this.#number(23);
    const hasMinutes = this.#accept(ascii.COLON) || this.#at < this.#end;
    const minutes = hasMinutes ? this.#number(59) : 0;
    const us = hours * HOUR_US + minutes * MINUTE_US;
    return isBehind ? -us : us;
  }

  /** 1 to 12; 0 if the word is no month, which no date accepts. */
  #month(): number {
    return MONTHS.indexOf(this.#word()) + 1;
  }

  /** The next letters in lower case, at most WORD_LENGTH_MAX. */
  #word(): string {
    let word = '';
    while (word.length < WORD_LENGTH_MAX && isLetter(this.#byte())) {
      word += String.fromCharCode(this.#byte() | 0x20);
      this.#at++;
    }
    return word;
  }

  /** A number of two digits. */
  #number(max: number): number {
    const value = this.#digits(2);
    if (value > max) this.#isValid = false;
    return value;
  }

  #digits(count: number): number {
    let value = 0;
    for (let digit = 0; digit < count; digit++) {
      const byte = this.#byte();
      if (!ascii.isDigit(byte)) this.#isValid = false;
      value = value * 10 + (byte - ascii.DIGIT_0);
      this.#at++;
    }
    return value;
  }

  /** The separator between date and time. */
  #expectTimeMark(): void {
    if (!this.#accept(ascii.SPACE) && !this.#acceptLetter(ascii.LOWER_T)) this.#isValid = false;
  }

  /** The next byte; zero at the end. */
  #byte(): number {
    return this.#at < this.#end ? this.#bytes[this.#at]! : 0;
  }

  #expect(byte: number): void {
    if (!this.#accept(byte)) this.#isValid = false;
  }

  #accept(byte: number): boolean {
    const isThere = this.#byte() === byte;
    if (isThere) this.#at++;
    return isThere;
  }

  #acceptLetter(lower: number): boolean {
    return this.#accept(lower) || this.#accept(lower - 0x20);
  }
}

const DATE_SEPARATORS: ReadonlySet<number> = new Set([ascii.SPACE, ascii.MINUS, ascii.SLASH]);

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= ascii.LOWER_A && lower <= ascii.LOWER_Z;
}

function sum(startUs: number | undefined, us: number): number | undefined {
  return startUs === undefined ? undefined : startUs + us;
}

/** In the proleptic Gregorian calendar; `undefined` for a day that does not exist. */
function startOfDayUs(year: number, month: number, day: number): number | undefined {
  const dayMax = DAYS_OF_MONTH[month - 1];
  if (dayMax === undefined || day < 1 || day > dayMax) return undefined;
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2 && day === 29 && !isLeapYear) return undefined;
  // Date.UTC maps years below 100 to the 20th century. 400 years are a whole cycle of the calendar.
  const cycleDays = 146_097;
  return (Date.UTC(year + 400, month - 1, day) / 86_400_000 - cycleDays) * DAY_US;
}

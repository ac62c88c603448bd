import * as ascii from './ascii.ts';

/**
 * When an event says it happened. All functions return whole microseconds since the epoch, or
 * `undefined` for what cannot be read.
 *
 * A number tells its unit by its count of digits before the point: 10 seconds, 13 milliseconds,
 * 16 microseconds, 19 nanoseconds.
 */
export function timestampUsOfNumber(value: number): number | undefined {
  if (value >= 1e9 && value < 1e10) return Math.round(value * 1e6);
  if (value >= 1e12 && value < 1e13) return Math.round(value * 1e3);
  if (value >= 1e15 && value < 1e16) return Math.floor(value);
  if (value >= 1e18 && value < 1e19) return Math.floor(value / 1e3);
  return undefined;
}

/**
 * `[start, end)`: a date, with `T` or a space and a time behind it or not, with an offset from UTC
 * or not (then it is UTC): `2026-01-15T11:55:00.123456789+01:00`; or the digits of a number, with a
 * decimal point among them or not.
 * Fractions of a second may have 9 digits; those behind the sixth are cut off.
 */
export function timestampUsOfText(
  bytes: Uint8Array,
  start: number,
  end: number,
): number | undefined {
  if (end - start > TEXT_LENGTH_MAX) return undefined;
  const scanner = new DigitScanner(bytes, start, end);
  const points = scanner.countPoints();
  if (points === 0) return scanner.unixTimestampUs();
  if (points !== 1) return scanner.isoTimestampUs();
  // A double holds seconds and milliseconds to less than a microsecond.
  return timestampUsOfNumber(Number(Buffer.from(bytes.subarray(start, end)).toString('latin1')));
}

/** `2026-01-15T11:55:00.123456789+01:00` */
const TEXT_LENGTH_MAX = 35;

const MINUTE_US = 60_000_000;
export const DAY_US = 86_400_000_000;
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reads digits and separators from left to right; `isValid` falls when something is missing. */
class DigitScanner {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  #isValid = true;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** How many decimal points there are among digits; NaN when anything else is there. */
  countPoints(): number {
    let count = 0;
    for (let at = this.#at; at < this.#end; at++) {
      const byte = this.#bytes[at]!;
      if (byte === ascii.DOT) count++;
      else if (!ascii.isDigit(byte)) return Number.NaN;
    }
    return count;
  }

  /** From digits only. Cutting them off divides exactly where a double would not hold them all. */
  unixTimestampUs(): number | undefined {
    const digitCount = this.#end - this.#at;
    if (digitCount === 19) return this.#digits(16);
    const scale = digitCount === 16 ? 1 : digitCount === 13 ? 1e3 : digitCount === 10 ? 1e6 : 0;
    return scale === 0 ? undefined : this.#digits(digitCount) * scale;
  }

  isoTimestampUs(): number | undefined {
    const year = this.#digits(4);
    this.#expect(ascii.MINUS);
    const month = this.#number(1, 12);
    this.#expect(ascii.MINUS);
    const day = this.#number(1, 31);
    if (!this.#isValid || !isDay(year, month, day)) return undefined;
    const dayUs = daysSinceEpoch(year, month, day) * DAY_US;
    if (this.#at === this.#end) return dayUs;
    if (!this.#accept(ascii.SPACE) && !this.#acceptLetter(ascii.LOWER_T)) return undefined;
    const hour = this.#number(0, 23);
    this.#expect(ascii.COLON);
    const minute = this.#number(0, 59);
    let us = dayUs + (hour * 60 + minute) * MINUTE_US;
    if (this.#accept(ascii.COLON)) {
      // Second 60 is a leap second; it falls together with the next minute's first.
      us += this.#number(0, 60) * 1_000_000;
      if (this.#accept(ascii.DOT) || this.#accept(ascii.COMMA)) us += this.#fractionUs();
    }
    us -= this.#offsetUs();
    return this.#isValid && this.#at === this.#end ? us : undefined;
  }

  #fractionUs(): number {
    let us = 0;
    let digitCount = 0;
    for (let byte = this.#byte(); ascii.isDigit(byte); byte = this.#byte()) {
      if (digitCount < 6) us = us * 10 + (byte - ascii.DIGIT_0);
      this.#at++;
      digitCount++;
    }
    if (digitCount === 0 || digitCount > 9) this.#isValid = false;
    for (let digit = digitCount; digit < 6; digit++) us *= 10;
    return us;
  }

  /** `Z`, `+01:00`, `+0100`, `+01` or nothing. */
  #offsetUs(): number {
    if (this.#at === this.#end || this.#acceptLetter(ascii.LOWER_Z)) return 0;
    const isBehind = this.#accept(ascii.MINUS);
    if (!isBehind) this.#expect(ascii.PLUS);
    const hours = this.#number(0, 23);
    const hasMinutes = this.#accept(ascii.COLON) || this.#at < this.#end;
    const minutes = hasMinutes ? this.#number(0, 59) : 0;
    const us = (hours * 60 + minutes) * MINUTE_US;
    return isBehind ? -us : us;
  }

  /** Two digits. */
  #number(min: number, max: number): number {
    const value = this.#digits(2);
    if (value < min || value > max) this.#isValid = false;
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

  /** The byte that is next; zero at the end. */
  #byte(): number {
    return this.#at < this.#end ? this.#bytes[this.#at]! : 0;
  }

  #expect(byte: number): void {
    if (!this.#accept(byte)) this.#isValid = false;
  }

  #accept(byte: number): boolean {
    const isThere = this.#at < this.#end && this.#bytes[this.#at] === byte;
    if (isThere) this.#at++;
    return isThere;
  }

  #acceptLetter(lower: number): boolean {
    return this.#accept(lower) || this.#accept(lower - 0x20);
  }
}

function isDay(year: number, month: number, day: number): boolean {
  const dayMax = DAYS_OF_MONTH[month - 1];
  if (dayMax === undefined || day > dayMax) return false;
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month !== 2 || day <= 28 || isLeapYear;
}

/** Of the proleptic Gregorian calendar. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  // Date.UTC takes years below 100 for those of the last century; 400 years are a whole cycle.
  const cycleDays = 146_097;
  return Date.UTC(year + 400, month - 1, day) / 86_400_000 - cycleDays;
}

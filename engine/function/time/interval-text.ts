import type { Interval } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import { US_PER_HOUR, US_PER_MINUTE, US_PER_SECOND } from './calendar.ts';
import type { Amounts } from './interval.ts';
import { intervalOf, intervalOfPart, MONTHS_PER_YEAR, plus, times } from './interval.ts';
import type { TimeUnit } from './time-part.ts';
import { fractionText } from './timestamp-text.ts';

/** The canonical text, as CAST and JSON have it: `1-2 3 4:5:6.789`, each amount with its sign. */
export function formatInterval({ months, days, us }: Interval): string {
  const allMonths = Math.abs(months);
  const year = Math.floor(allMonths / MONTHS_PER_YEAR);
  const date = `${months < 0 ? '-' : ''}${year}-${allMonths % MONTHS_PER_YEAR} ${days}`;
  return `${date} ${us < 0 ? '-' : ''}${clockText(BigInt(us))}`;
}

function clockText(signedUs: bigint): string {
  const us = signedUs < 0n ? -signedUs : signedUs;
  const hour = us / BigInt(US_PER_HOUR);
  const minute = (us / BigInt(US_PER_MINUTE)) % 60n;
  const second = (us / BigInt(US_PER_SECOND)) % 60n;
  return `${hour}:${minute}:${second}${fractionText(Number(us % BigInt(US_PER_SECOND)))}`;
}

/** Parts that `INTERVAL '…' first TO last` has, the longest first, and what stands before each. */
const FIELDS: readonly { readonly unit: TimeUnit; readonly separator: string }[] = [
  { unit: 'YEAR', separator: '' },
  { unit: 'MONTH', separator: '-' },
  { unit: 'DAY', separator: ' ' },
  { unit: 'HOUR', separator: ' ' },
  { unit: 'MINUTE', separator: ':' },
  { unit: 'SECOND', separator: ':' },
];

/** The longest text that is read; longer ones are refused unread. */
const TEXT_LENGTH_MAX = 128;

/** The forms of a text whose parts are not told: those which only one choice of parts has. */
const TOLD_BY_FORM: readonly (readonly [first: TimeUnit, last: TimeUnit])[] = [
  ['YEAR', 'SECOND'],
  ['YEAR', 'MINUTE'],
  ['YEAR', 'HOUR'],
  ['YEAR', 'DAY'],
  ['YEAR', 'MONTH'],
  ['DAY', 'SECOND'],
  ['DAY', 'MINUTE'],
  ['HOUR', 'SECOND'],
];

/** A text as CAST takes it: `1-2 3 4:5:6`, parts of it, or ISO 8601's `P1Y2M3DT4H5M6S`. */
export function parseInterval(text: string): Interval {
  if (text.length <= TEXT_LENGTH_MAX) {
    if (text.startsWith('P')) {
      const interval = parseIso(text);
      if (interval !== undefined) return interval;
    } else {
      for (const [first, last] of TOLD_BY_FORM) {
        const amounts = readFields(text, fieldsBetween(first, last));
        if (amounts !== undefined) return intervalOf(amounts);
      }
    }
  }
  throw badInterval(text, 'written like 1-2 3 4:5:6.789 or P1Y2M3DT4H5M6S');
}

/** `INTERVAL 'text' first TO last`; a bare part is both. Throws for two that are no range. */
export function parseIntervalFields(text: string, first: TimeUnit, last: TimeUnit): Interval {
  const fields = fieldsBetween(first, last);
  if (fields.length === 0 && first === last) return parseAmount(text, first);
  if (fields.length === 0) {
    throw new QueryError(
      'query_failed',
      `an INTERVAL goes from a longer part TO a shorter one of ${FIELDS.map(({ unit }) => unit).join(', ')}; got ${first} TO ${last}`,
    );
  }
  const amounts = text.length > TEXT_LENGTH_MAX ? undefined : readFields(text, fields);
  if (amounts !== undefined) return intervalOf(amounts);
  const shape = fields.map(({ unit, separator }, index) => (index > 0 ? separator : '') + unit);
  throw badInterval(text, `written as ${shape.join('')}`);
}

/** A part that has no place in a text of several, such as WEEK. */
function parseAmount(text: string, unit: TimeUnit): Interval {
  if (!/^[+-]?\d{1,19}$/.test(text)) throw badInterval(text, `a whole number of ${unit}`);
  return intervalOfPart(BigInt(text.replace('+', '')), unit);
}

type Field = (typeof FIELDS)[number];

/** None when the two are no range. */
function fieldsBetween(first: TimeUnit, last: TimeUnit): readonly Field[] {
  const start = FIELDS.findIndex(({ unit }) => unit === first);
  const end = FIELDS.findIndex(({ unit }) => unit === last);
  return start < 0 ? [] : FIELDS.slice(start, end + 1);
}

const WHOLE = /^([+-]?)(\d{1,19})/;
const SECONDS = /^([+-]?)(\d{1,19}|(?=\.))(?:\.(\d{1,9}))?/;

/** Years and months have one sign, days have one, and hours, minutes and seconds. */
function readFields(text: string, fields: readonly Field[]): Amounts | undefined {
  let rest = text;
  let amounts: Amounts = NOTHING;
  let isNegative = false;
  for (const [index, { unit, separator }] of fields.entries()) {
    const isFirst = index === 0 || separator === ' ';
    const pattern = unit === 'SECOND' ? SECONDS : WHOLE;
    if (index > 0 && !rest.startsWith(separator)) return undefined;
    const match = pattern.exec(index > 0 ? rest.slice(separator.length) : rest);
    if (match === null) return undefined;
    const [all, sign, digits, fraction = ''] = match as unknown as [
      string,
      string,
      string,
      string?,
    ];
    if (!isFirst && sign !== '') return undefined;
    if (isFirst) isNegative = sign === '-';
    const read = plus(amountOf(digits, unit), secondFraction(fraction));
    amounts = plus(amounts, times(read, isNegative ? -1n : 1n));
    rest = rest.slice(all.length + (index > 0 ? separator.length : 0));
  }
  return rest === '' ? amounts : undefined;
}

const NOTHING: Amounts = { months: 0n, days: 0n, us: 0n };

function amountOf(digits: string, unit: TimeUnit): Amounts {
  const { months, days, us } = intervalOfPart(1, unit);
  const one = { months: BigInt(months), days: BigInt(days), us: BigInt(us) };
  return times(one, BigInt(digits));
}

/** Throws for digits beyond microseconds that are not 0: an INTERVAL would be another than the text says. */
function secondFraction(digits: string): Amounts {
  if (/[1-9]/.test(digits.slice(6))) {
    const sentence = `an INTERVAL has at most microseconds; got ${digits.length} digits of a fraction of a second, ${digits}`;
    throw new QueryError('query_failed', sentence);
  }
  return { ...NOTHING, us: BigInt(digits.slice(0, 6).padEnd(6, '0')) };
}

const ISO_TEXT = /^P((?:-?\d{1,19}[YMWD])*)(T(?:-?\d{1,19}[HM]|-?\d{1,19}(?:\.\d{1,9})?S)*)?$/;
const ISO_DATE_UNITS: ReadonlyMap<string, TimeUnit> = new Map([
  ['Y', 'YEAR'],
  ['M', 'MONTH'],
  ['W', 'WEEK'],
  ['D', 'DAY'],
]);
const ISO_TIME_UNITS: ReadonlyMap<string, TimeUnit> = new Map([
  ['H', 'HOUR'],
  ['M', 'MINUTE'],
  ['S', 'SECOND'],
]);

function parseIso(text: string): Interval | undefined {
  const match = ISO_TEXT.exec(text);
  if (match === null || text === 'P') return undefined;
  const dates = readIso(match[1] as string, ISO_DATE_UNITS);
  return intervalOf(plus(dates, readIso(match[2] ?? '', ISO_TIME_UNITS)));
}

function readIso(text: string, units: ReadonlyMap<string, TimeUnit>): Amounts {
  let amounts = NOTHING;
  for (const match of text.matchAll(/(-?)(\d+)(?:\.(\d+))?([A-Z])/g)) {
    const [, sign, digits, fraction = '', letter] = match as unknown as string[];
    const unit = units.get(letter as string) as TimeUnit;
    const read = plus(amountOf(digits as string, unit), secondFraction(fraction));
    amounts = plus(amounts, times(read, sign === '-' ? -1n : 1n));
  }
  return amounts;
}

function badInterval(text: string, wanted: string): QueryError {
  const got = JSON.stringify(text.slice(0, TEXT_LENGTH_MAX));
  return new QueryError('query_failed', `INTERVAL must be ${wanted}; got ${got}`);
}

/** MAKE_INTERVAL(year, month, day, hour, minute, second). */
export function makeInterval(...counts: Int64[]): Interval {
  return intervalOf(
    counts.reduce<Amounts>(
      (sum, count, index) =>
        plus(sum, times(amountOf('1', (FIELDS[index] as Field).unit), BigInt(count))),
      NOTHING,
    ),
  );
}

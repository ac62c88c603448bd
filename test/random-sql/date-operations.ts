import { OutOfRange } from './failure.ts';
import type { Operation } from './operation.ts';
import { strict } from './operation-maker.ts';

const DAY_MS = 86_400_000;
const DAY_US = 86_400_000_000n;
const HOUR_US = 3_600_000_000n;

/** Days since 1970 that every engine has, and some more on either side. */
const DAYS_MAX = 600_000n;

/** On days, and between days and times. */
export function dates(): readonly Operation[] {
  return [
    ...['DATE(?)', 'EXTRACT(DATE FROM ?)', 'CAST(? AS DATE)'].map((text) =>
      strict(text, ['TIMESTAMP'], 'DATE', dayOf),
    ),
    strict('TIMESTAMP(?)', ['DATE'], 'TIMESTAMP', (day: bigint) => day * DAY_US),
    strict('UNIX_DATE(?)', ['DATE'], 'INT64', (day: bigint) => day),
    strict('LAST_DAY(?)', ['DATE'], 'DATE', (day: bigint) => shifted(firstOfMonth(day), 1) - 1n),
    strict('CAST(? AS STRING)', ['DATE'], 'STRING', dayText),
    strict(
      "FORMAT_DATE('%Y/%m/%d %j', ?)",
      ['DATE'],
      'STRING',
      (day: bigint) =>
        `${dayText(day).replaceAll('-', '/')} ${String(dayOfYear(day)).padStart(3, '0')}`,
    ),
    strict("FORMAT_DATE('%F %D %e %y', ?)", ['DATE'], 'STRING', (day: bigint) => {
      const [year, month, date] = dayText(day).split('-') as [string, string, string];
      const short = year.slice(2);
      return `${dayText(day)} ${month}/${date}/${short} ${String(Number(date)).padStart(2)} ${short}`;
    }),
    ...sums(),
    ...starts(),
    ...parts(),
    ...differences(),
    ...intervals(),
    strict('GENERATE_DATE_ARRAY(?, ?, INTERVAL 1 YEAR)', ['DATE', 'DATE'], 'DATE[]', years),
  ];
}

function dayOf(time: bigint): bigint {
  return (time - (((time % DAY_US) + DAY_US) % DAY_US)) / DAY_US;
}

function dateOf(day: bigint): Date {
  return new Date(Number(checkedDay(day)) * DAY_MS);
}

function checkedDay(day: bigint): bigint {
  if (day > DAYS_MAX || day < -DAYS_MAX) throw new OutOfRange(`day ${day}`);
  return day;
}

function fromDate(ms: number): bigint {
  return BigInt(ms / DAY_MS);
}

/** The first of a month, in milliseconds; JavaScript takes years below 100 for those of 1900. */
function monthMs(year: number, month: number): number {
  if (year < 100) throw new OutOfRange(`year ${year}`);
  return Date.UTC(year, month);
}

function dayText(day: bigint): string {
  return dateOf(day).toISOString().slice(0, 10);
}

function firstOfMonth(day: bigint): bigint {
  const date = dateOf(day);
  return fromDate(monthMs(date.getUTCFullYear(), date.getUTCMonth()));
}

/** Some months on; the last day of a month that has not that many days. */
function shifted(day: bigint, months: number): bigint {
  const date = dateOf(day);
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth() + months;
  const first = monthMs(Math.floor(month / 12), ((month % 12) + 12) % 12);
  const next = monthMs(Math.floor((month + 1) / 12), (((month + 1) % 12) + 12) % 12);
  const length = (next - first) / DAY_MS;
  return fromDate(first) + BigInt(Math.min(date.getUTCDate(), length) - 1);
}

function sums(): readonly Operation[] {
  const units: Readonly<Record<string, (day: bigint, count: bigint) => bigint>> = {
    DAY: (day, count) => day + count,
    WEEK: (day, count) => day + count * 7n,
    MONTH: (day, count) => shifted(day, small(count)),
    QUARTER: (day, count) => shifted(day, small(count) * 3),
    YEAR: (day, count) => shifted(day, small(count) * 12),
  };
  return Object.entries(units).flatMap(([unit, add]) => [
    strict(
      `DATE_ADD(?, INTERVAL ? ${unit})`,
      ['DATE', 'INT64'],
      'DATE',
      (day: bigint, count: bigint) => checkedDay(add(day, count)),
    ),
    strict(
      `DATE_SUB(?, INTERVAL ? ${unit})`,
      ['DATE', 'INT64'],
      'DATE',
      (day: bigint, count: bigint) => checkedDay(add(day, -count)),
    ),
  ]);
}

function small(count: bigint): number {
  return Number(checkedDay(count * 100n)) / 100;
}

const STARTS: Readonly<Record<string, (day: bigint) => bigint>> = {
  DAY: (day) => day,
  WEEK: (day) => weekStart(day, 0),
  'WEEK(TUESDAY)': (day) => weekStart(day, 2),
  ISOWEEK: (day) => weekStart(day, 1),
  MONTH: firstOfMonth,
  QUARTER: (day) => {
    const date = dateOf(day);
    return fromDate(monthMs(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3));
  },
  YEAR: firstOfYear,
};

function firstOfYear(day: bigint): bigint {
  return fromDate(monthMs(dateOf(day).getUTCFullYear(), 0));
}

/** The day on or before it that is that day of the week; Sunday is 0. */
function weekStart(day: bigint, first: number): bigint {
  return day - BigInt((dateOf(day).getUTCDay() - first + 7) % 7);
}

function starts(): readonly Operation[] {
  return Object.entries(STARTS).map(([unit, start]) =>
    strict(`DATE_TRUNC(?, ${unit})`, ['DATE'], 'DATE', start),
  );
}

function dayOfYear(day: bigint): number {
  return Number(day - firstOfYear(day)) + 1;
}

/** The Thursday of a week of ISO 8601 says of which year the week is. */
function thursday(day: bigint): bigint {
  return weekStart(day, 1) + 3n;
}

function parts(): readonly Operation[] {
  const readers: Readonly<Record<string, (day: bigint) => number>> = {
    YEAR: (day) => dateOf(day).getUTCFullYear(),
    QUARTER: (day) => Math.floor(dateOf(day).getUTCMonth() / 3) + 1,
    MONTH: (day) => dateOf(day).getUTCMonth() + 1,
    DAY: (day) => dateOf(day).getUTCDate(),
    DAYOFWEEK: (day) => dateOf(day).getUTCDay() + 1,
    DAYOFYEAR: dayOfYear,
    WEEK: (day) => Number(weekStart(day, 0) - weekStart(firstOfYear(day) + 6n, 0)) / 7 + 1,
    ISOYEAR: (day) => dateOf(thursday(day)).getUTCFullYear(),
    ISOWEEK: (day) => Math.floor((dayOfYear(thursday(day)) - 1) / 7) + 1,
  };
  return Object.entries(readers).map(([part, read]) =>
    strict(`EXTRACT(${part} FROM ?)`, ['DATE'], 'INT64', (day: bigint) => BigInt(read(day))),
  );
}

/** How many starts of the unit lie between two days. */
function differences(): readonly Operation[] {
  const months = (day: bigint) => {
    const date = dateOf(day);
    return BigInt(date.getUTCFullYear() * 12 + date.getUTCMonth());
  };
  const counts: Readonly<Record<string, (day: bigint) => bigint>> = {
    DAY: (day) => day,
    WEEK: (day) => weekStart(day, 0) / 7n,
    ISOWEEK: (day) => weekStart(day, 1) / 7n,
    MONTH: months,
    QUARTER: (day) => months(STARTS['QUARTER']!(day)) / 3n,
    YEAR: (day) => BigInt(dateOf(day).getUTCFullYear()),
  };
  return Object.entries(counts).map(([unit, count]) =>
    strict(
      `DATE_DIFF(?, ?, ${unit})`,
      ['DATE', 'DATE'],
      'INT64',
      // Weeks before 1970 begin at numbers that are rounded up, all by the same remainder.
      (end: bigint, start: bigint) => whole(unit, count, end) - whole(unit, count, start),
    ),
  );
}

function whole(unit: string, count: (day: bigint) => bigint, day: bigint): bigint {
  // A thousand years of weeks later, no number is negative.
  return unit.endsWith('WEEK') ? count(day + 364_000n) : count(day);
}

/** Arithmetic with INTERVALs, which are no values here on their own. */
function intervals(): readonly Operation[] {
  return [
    strict('(? + INTERVAL 90 MINUTE)', ['TIMESTAMP'], 'TIMESTAMP', (time: bigint) => {
      return time + (HOUR_US * 3n) / 2n;
    }),
    strict(
      "(? - INTERVAL '1 2:30:0' DAY TO SECOND)",
      ['TIMESTAMP'],
      'TIMESTAMP',
      (time: bigint) => time - DAY_US - (HOUR_US * 5n) / 2n,
    ),
    strict('DATE(? + INTERVAL 1 MONTH)', ['DATE'], 'DATE', (day: bigint) => shifted(day, 1)),
    strict('DATE(? - INTERVAL 1 YEAR)', ['DATE'], 'DATE', (day: bigint) => shifted(day, -12)),
    strict(
      'EXTRACT(HOUR FROM (? - ?))',
      ['TIMESTAMP', 'TIMESTAMP'],
      'INT64',
      (end: bigint, start: bigint) => (end - start) / HOUR_US,
    ),
    strict(
      'EXTRACT(DAY FROM (? - ?))',
      ['DATE', 'DATE'],
      'INT64',
      (end: bigint, start: bigint) => end - start,
    ),
    strict('(? + 3)', ['DATE'], 'DATE', (day: bigint) => day + 3n),
  ];
}

function years(start: bigint, end: bigint): readonly bigint[] {
  const list: bigint[] = [];
  for (let count = 0; ; count++) {
    const day = shifted(start, count * 12);
    if (day > end) return list;
    list.push(day);
  }
}

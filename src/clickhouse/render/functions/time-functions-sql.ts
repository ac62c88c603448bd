import type { SqlType } from '../../../../engine/column/type.ts';
import { tokensOf } from '../../../../engine/function/time/time-format.ts';
import { refuse } from '../refusal.ts';
import { nullOf } from '../sql-type.ts';
import {
  civilDate,
  dateText,
  datetimeText,
  dayNumber,
  dayOf,
  dayOfWeek,
  floorDivide,
  modulo,
  padded,
  TIME_US_MAX,
  TIME_US_MIN,
  US_PER_DAY,
} from '../time-sql.ts';
import { type CallSql, checked, constantOf, type FunctionSql } from './function-sql.ts';

const LENGTHS_US: ReadonlyMap<string, number> = new Map([
  ['MICROSECOND', 1],
  ['MILLISECOND', 1_000],
  ['SECOND', 1_000_000],
  ['MINUTE', 60_000_000],
  ['HOUR', 3_600_000_000],
  ['DAY', US_PER_DAY],
]);

/** The days 0001-01-01 and 9999-12-31. */
const DAY_MIN = '-719162';
const DAY_MAX = '2932896';

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

export const timeSql: Readonly<Record<string, FunctionSql>> = {
  timestamp_trunc: truncate,
  datetime_trunc: truncate,
  date_trunc: truncate,
  timestamp_add: shift('+'),
  timestamp_sub: shift('-'),
  datetime_add: shift('+'),
  datetime_sub: shift('-'),
  date_add: shift('+'),
  date_sub: shift('-'),
  timestamp_diff: difference,
  datetime_diff: boundaries,
  date_diff: boundaries,
  timestamp_micros: ofUnits(1),
  timestamp_millis: ofUnits(1_000),
  timestamp_seconds: ofUnits(1_000_000),
  timestamp_from_unix_micros: ofUnits(1),
  timestamp_from_unix_millis: ofUnits(1_000),
  timestamp_from_unix_seconds: ofUnits(1_000_000),
  timestamp: conversion,
  datetime: conversion,
  date: conversion,
  string: timeText,
  unix_date: ({ arguments: [value] }) => value!,
  format_timestamp: formatTime,
  format_datetime: formatTime,
  format_date: formatTime,
  extract: extractPart,
  unix_micros: ({ arguments: [value] }) => value!,
  unix_millis: ({ arguments: [value], parts }) => floorDivide(value!, 1_000, parts),
  unix_seconds: ({ arguments: [value], parts }) => floorDivide(value!, 1_000_000, parts),
};

function partOf(call: CallSql, index: number): string {
  return String(constantOf(call, index)).toUpperCase();
}

/** Whether the time is a day: a DATE. */
function isDate(types: readonly SqlType[]): boolean {
  return types[0]?.kind === 'DATE';
}

/** Other time zones than UTC are refused: their rules are those of each machine. */
function checkZone(call: CallSql, index: number): void {
  if (call.arguments.length <= index) return;
  const zone = constantOf(call, index);
  if (zone !== 'UTC') refuse(`the time zone ${String(zone)}; only UTC`, call.span);
}

function truncate(call: CallSql): string {
  checkZone(call, 2);
  const part = partOf(call, 1);
  const value = call.arguments[0]!;
  const lengthUs = LENGTHS_US.get(part);
  const { parts } = call;
  if (isDate(call.types)) {
    return parts.once(truncateDay(value, part, call), (day) =>
      checked(call, day, `${day} < ${DAY_MIN}`, 'time out of range'),
    );
  }
  if (lengthUs === 1) return value;
  if (lengthUs !== undefined) {
    return parts.once(value, (us) => `(${us} - ${modulo(us, lengthUs)})`);
  }
  return parts.once(truncateDay(dayOf(value, parts), part, call), (day) => {
    const us = `(${day} * ${US_PER_DAY})`;
    return checked(call, us, `${us} < ${TIME_US_MIN}`, 'time out of range');
  });
}

/** The first day of the week, month … that a day lies in. */
function truncateDay(day: string, part: string, call: CallSql): string {
  const { parts } = call;
  const weekStart = weekStartOf(part);
  if (part === 'DAY') return day;
  if (weekStart !== undefined) {
    return parts.once(day, (number) => {
      return `(${number} - ${modulo(`${dayOfWeek(number)} - ${weekStart}`, 7)})`;
    });
  }
  return civilDate(day, parts, ({ year, month }) => {
    switch (part) {
      case 'MONTH':
        return dayNumber({ year, month, day: '1' }, parts);
      case 'QUARTER':
        return parts.once(`${month} - (${month} - 1) % 3`, (first) =>
          dayNumber({ year, month: first, day: '1' }, parts),
        );
      case 'YEAR':
        return dayNumber({ year, month: '1', day: '1' }, parts);
      default:
        return refuse(`the part ${part}`, call.span);
    }
  });
}

/** Of `WEEK`, `WEEK(MONDAY)` and `ISOWEEK` the first day, 0 is Sunday. */
function weekStartOf(part: string): number | undefined {
  if (part === 'ISOWEEK') return 1;
  if (part === 'WEEK') return 0;
  const day = /^WEEK\((\w+)\)$/.exec(part)?.[1];
  return day === undefined ? undefined : WEEKDAYS.indexOf(day);
}

/** By parts of one length only: months are refused. */
function shift(sign: '+' | '-'): FunctionSql {
  return (call) => {
    const part = partOf(call, 2);
    const lengthUs = part === 'WEEK' ? 7 * US_PER_DAY : LENGTHS_US.get(part);
    if (lengthUs === undefined) return refuse(`${call.name.toUpperCase()} by ${part}`, call.span);
    const [value, amount] = call.arguments as [string, string];
    const isOfDays = isDate(call.types);
    const [length, least, greatest] = isOfDays
      ? [lengthUs / US_PER_DAY, DAY_MIN, DAY_MAX]
      : [lengthUs, TIME_US_MIN, TIME_US_MAX];
    const exact = `toInt128(${value}) ${sign} toInt128(${amount}) * ${length}`;
    return call.parts.once(exact, (sum) => {
      const isBad = `${sum} < ${least} OR ${sum} > ${greatest}`;
      return checked(call, `toInt64(${sum})`, isBad, 'time out of range');
    });
  };
}

/** Whole parts, without the fraction. */
function difference(call: CallSql): string {
  const lengthUs = LENGTHS_US.get(partOf(call, 2));
  if (lengthUs === undefined || call.types[0]?.kind !== 'TIMESTAMP') {
    return refuse('a difference in this part', call.span);
  }
  const [end, start] = call.arguments as [string, string];
  return `intDiv(${end} - ${start}, ${lengthUs})`;
}

function extractPart(call: CallSql): string {
  checkZone(call, 2);
  const value = call.arguments[1]!;
  const part = partOf(call, 0);
  const { parts } = call;
  const kind = call.types[1]?.kind;
  if (kind !== 'DATE' && kind !== 'TIMESTAMP' && kind !== 'DATETIME') {
    return refuse(`EXTRACT from ${kind}`, call.span);
  }
  const ofDay = (lengthUs: number, count: number): string =>
    `intDiv(${modulo(value, lengthUs * count)}, toInt64(${lengthUs}))`;
  switch (part) {
    case 'MICROSECOND':
      return modulo(value, 1_000_000);
    case 'MILLISECOND':
      return ofDay(1_000, 1_000);
    case 'SECOND':
      return ofDay(1_000_000, 60);
    case 'MINUTE':
      return ofDay(60_000_000, 60);
    case 'HOUR':
      return ofDay(3_600_000_000, 24);
    default:
      return `toInt64(${extractDatePart(kind === 'DATE' ? value : dayOf(value, parts), part, call)})`;
  }
}

function extractDatePart(day: string, part: string, call: CallSql): string {
  const { parts } = call;
  if (part === 'DAYOFWEEK') return `${dayOfWeek(day)} + 1`;
  return civilDate(day, parts, (date) => {
    switch (part) {
      case 'YEAR':
        return date.year;
      case 'MONTH':
        return date.month;
      case 'DAY':
        return date.day;
      case 'QUARTER':
        return `intDiv(${date.month} - 1, 3) + 1`;
      case 'DAYOFYEAR': {
        const first = dayNumber({ year: date.year, month: '1', day: '1' }, parts);
        return parts.once(day, (number) => `${number} - ${first} + 1`);
      }
      default:
        return refuse(`EXTRACT of ${part}`, call.span);
    }
  });
}

/** A number of units since the epoch as a time. */
function ofUnits(lengthUs: number): FunctionSql {
  return (call) => {
    if (call.types[0]?.kind !== 'INT64') return call.arguments[0]!;
    return call.parts.once(`toInt128(${call.arguments[0]}) * ${lengthUs}`, (us) => {
      const isBad = `${us} < ${TIME_US_MIN} OR ${us} > ${TIME_US_MAX}`;
      return checked(call, `toInt64(${us})`, isBad, 'time out of range');
    });
  };
}

/** TIMESTAMP, DATETIME and DATE of another time, in UTC. */
function conversion(call: CallSql): string {
  const from = call.types[0]!.kind;
  const value = call.arguments[0]!;
  checkZone(call, 1);
  if (from !== 'TIMESTAMP' && from !== 'DATETIME' && from !== 'DATE') {
    return refuse(`${call.name.toUpperCase()} of ${from}`, call.span);
  }
  if (call.type.kind === 'DATE') return from === 'DATE' ? value : dayOf(value, call.parts);
  return from === 'DATE' ? `(${value} * ${US_PER_DAY})` : value;
}

function timeText(call: CallSql): string {
  const value = call.arguments[0]!;
  checkZone(call, 1);
  switch (call.types[0]!.kind) {
    case 'TIMESTAMP':
      return `concat(${datetimeText(value, call.parts)}, '+00')`;
    case 'DATETIME':
      return datetimeText(value, call.parts);
    case 'DATE':
      return dateText(value, call.parts);
    default:
      return refuse(`STRING of ${call.types[0]!.kind}`, call.span);
  }
}

/** How many starts of a part lie between two times. */
function boundaries(call: CallSql): string {
  if (call.types[0]?.kind === 'TIMESTAMP') return difference(call);
  const part = partOf(call, 2);
  const { parts } = call;
  const [end, start] = call.arguments as [string, string];
  const isOfDays = isDate(call.types);
  const lengthUs = LENGTHS_US.get(part);
  if (lengthUs !== undefined && !isOfDays) {
    return `(${floorDivide(end, lengthUs, parts)} - ${floorDivide(start, lengthUs, parts)})`;
  }
  const ofDay = (value: string): string => {
    const day = isOfDays ? value : dayOf(value, parts);
    const weekStart = weekStartOf(part);
    if (part === 'DAY') return day;
    if (weekStart !== undefined) return floorDivide(`${day} + ${4 - weekStart}`, 7, parts);
    return civilDate(day, parts, ({ year, month }) => {
      if (part === 'YEAR') return year;
      if (part === 'MONTH') return `(${year} * 12 + ${month})`;
      if (part === 'QUARTER') return `(${year} * 4 + intDiv(${month} - 1, 3))`;
      return refuse(`a difference in ${part}`, call.span);
    });
  };
  return `toInt64(${ofDay(end)} - ${ofDay(start)})`;
}

/** FORMAT_TIMESTAMP and its kin, with a constant format, in UTC. */
function formatTime(call: CallSql): string {
  const format = constantOf(call, 0);
  const { parts, type } = call;
  checkZone(call, 2);
  if (format === null) return nullOf(type);
  const isOfDays = call.types[1]!.kind === 'DATE';
  return parts.once(call.arguments[1]!, (time) => {
    const us = isOfDays ? `(${time} * ${US_PER_DAY})` : time;
    const texts = tokensOf(String(format)).map((token) =>
      'text' in token ? parts.text(token.text) : elementText(token.element, us, call),
    );
    const text = texts.length === 0 ? "''" : `concat(${[...texts, "''"].join(', ')})`;
    return `if(isNull(${time}), NULL, ${text})`;
  });
}

function elementText(element: string, us: string, call: CallSql): string {
  const { parts } = call;
  const ofDay = (lengthUs: number, count: number, width = 2) =>
    padded(`intDiv(${modulo(us, lengthUs * count)}, toInt64(${lengthUs}))`, width);
  const ofDate = (part: string, width: number) =>
    padded(extractDatePart(dayOf(us, parts), part, call), width);
  if (call.types[1]!.kind === 'DATE' && /[HMS]$/.test(element)) {
    return refuse(`the element %${element} of a DATE`, call.span);
  }
  switch (element) {
    case 'Y':
      return `toString(${extractDatePart(dayOf(us, parts), 'YEAR', call)})`;
    case 'E4Y':
      return ofDate('YEAR', 4);
    case 'y':
      return `right(${ofDate('YEAR', 4)}, 2)`;
    case 'm':
      return ofDate('MONTH', 2);
    case 'd':
      return ofDate('DAY', 2);
    case 'j':
      return ofDate('DAYOFYEAR', 3);
    case 'Q':
      return `toString(${extractDatePart(dayOf(us, parts), 'QUARTER', call)})`;
    case 'H':
      return ofDay(3_600_000_000, 24);
    case 'M':
      return ofDay(60_000_000, 60);
    case 'S':
      return ofDay(1_000_000, 60);
    case 'E3S':
      return `concat(${ofDay(1_000_000, 60)}, '.', ${ofDay(1_000, 1_000, 3)})`;
    case 'E6S':
      return `concat(${ofDay(1_000_000, 60)}, '.', ${ofDay(1, 1_000_000, 6)})`;
    default:
      return refuse(`the element %${element} of a time format`, call.span);
  }
}

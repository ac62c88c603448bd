import type { SqlType } from '../../../../engine/columns.ts';
import { refuse } from '../refusal.ts';
import {
  DAY_MAX,
  DAY_MIN,
  dateText,
  datetimeText,
  dayOf,
  floorDivide,
  modulo,
  padded,
  timeOfDayText,
  US_PER_DAY,
} from '../time-sql.ts';
import { clockUs, datetimeOfText, isClock, knownDay, timestampOfText } from '../time-text-sql.ts';
import { instantUs, inYears, localUs, wholeMinutes, type ZoneSql } from '../zone-sql.ts';
import { type CallSql, checked, type FunctionSql, strict } from './function-sql.ts';
import { jsonOfKind } from './json-kind-sql.ts';
import { inZone, orError } from './time-argument.ts';

/** Times of other times, of texts and of numbers. */
export const timeConversionSql: Readonly<Record<string, FunctionSql>> = {
  timestamp,
  datetime,
  date,
  time,
  string: timeText,
  unix_date: ({ arguments: [value] }) => value!,
  date_from_unix_date: (call) =>
    strict(call, (days) =>
      checked(call, days!, `NOT ${days} BETWEEN ${DAY_MIN} AND ${DAY_MAX}`, 'date out of range'),
    ),
  timestamp_micros: ofUnits(1),
  timestamp_millis: ofUnits(1_000),
  timestamp_seconds: ofUnits(1_000_000),
  timestamp_from_unix_micros: ofUnits(1),
  timestamp_from_unix_millis: ofUnits(1_000),
  timestamp_from_unix_seconds: ofUnits(1_000_000),
  unix_micros: ({ arguments: [value] }) => value!,
  unix_millis: ({ arguments: [value], parts }) => floorDivide(value!, 1_000, parts),
  unix_seconds: ({ arguments: [value], parts }) => floorDivide(value!, 1_000_000, parts),
};

const BAD_TEXT = 'a time must be written like 2026-01-15 11:55:00';

function refuseKind(call: CallSql, { kind }: SqlType): never {
  return refuse(`${call.name.toUpperCase()} of ${kind}`, call.span);
}

function timestamp(call: CallSql): string {
  const from = call.types[0]!;
  return inZone(call, 1, (zone, value) => {
    switch (from.kind) {
      case 'STRING': {
        const given = call.arguments.length > 1 ? zone : undefined;
        return orError(call, timestampOfText(value!, call, given), BAD_TEXT);
      }
      case 'TIMESTAMP':
        return value!;
      case 'DATETIME':
        return orError(call, instantUs(value!, zone, call));
      case 'DATE':
        return orError(call, instantUs(`(${value} * ${US_PER_DAY})`, zone, call));
      default:
        return refuseKind(call, from);
    }
  });
}

/** What clocks show at a TIMESTAMP. */
function shownUs(call: CallSql, us: string, zone: ZoneSql): string {
  return zone.isUtc ? us : orError(call, localUs(us, zone, call));
}

function datetime(call: CallSql): string {
  const [from, other] = call.types as [SqlType, SqlType?];
  if (call.arguments.length === 6) return civilTime(call);
  if (from.kind === 'DATE' && other?.kind === 'TIME') {
    return strict(call, (day, us) => `(${day} * ${US_PER_DAY} + ${us})`);
  }
  return inZone(call, 1, (zone, value) => {
    switch (from.kind) {
      case 'TIMESTAMP':
        return shownUs(call, value!, zone);
      case 'DATETIME':
        return value!;
      case 'DATE':
        return `(${value} * ${US_PER_DAY})`;
      case 'STRING':
        return orError(call, datetimeOfText(value!, call), BAD_TEXT);
      default:
        return refuseKind(call, from);
    }
  });
}

function date(call: CallSql): string {
  const [from] = call.types as [SqlType];
  if (call.arguments.length === 3) {
    return strict(call, (year, month, day) =>
      orError(call, knownDay({ year: year!, month: month!, day: day! }, call.parts)),
    );
  }
  return inZone(call, 1, (zone, value) => {
    switch (from.kind) {
      case 'TIMESTAMP':
        return dayOf(shownUs(call, value!, zone), call.parts);
      case 'DATETIME':
        return dayOf(value!, call.parts);
      case 'DATE':
        return value!;
      case 'STRING': {
        const us = orError({ ...call, type: TIMESTAMP }, timestampOfText(value!, call), BAD_TEXT);
        return dayOf(us, call.parts);
      }
      default:
        return refuseKind(call, from);
    }
  });
}

const TIMESTAMP: SqlType = { kind: 'TIMESTAMP' };

function time(call: CallSql): string {
  const [from] = call.types as [SqlType];
  if (call.arguments.length === 3) {
    return strict(call, (hour, minute, second) => {
      const clock = { hour: hour!, minute: minute!, second: second!, microsecond: '0' };
      return checked(call, `${clockUs(clock)} % ${US_PER_DAY}`, isNoClock(clock), BAD_CLOCK);
    });
  }
  return inZone(call, 1, (zone, value) => {
    switch (from.kind) {
      case 'TIMESTAMP':
        return modulo(shownUs(call, value!, zone), US_PER_DAY);
      case 'DATETIME':
        return modulo(value!, US_PER_DAY);
      case 'TIME':
        return value!;
      default:
        return refuseKind(call, from);
    }
  });
}

const BAD_CLOCK = 'TIME must be an hour, minute and second of one day';

function isNoClock(clock: Parameters<typeof isClock>[0]): string {
  const { hour, minute, second } = clock;
  return `NOT (${isClock(clock)} AND ${hour} >= 0 AND ${minute} >= 0 AND ${second} >= 0)`;
}

/** DATETIME(year, month, day, hour, minute, second). */
function civilTime(call: CallSql): string {
  return strict(call, (year, month, day, hour, minute, second) => {
    const clock = { hour: hour!, minute: minute!, second: second!, microsecond: '0' };
    const date = knownDay({ year: year!, month: month!, day: day! }, call.parts);
    const us = `if(${isNoClock(clock)}, NULL, ${date} * ${US_PER_DAY} + ${clockUs(clock)})`;
    return orError(call, call.parts.once(us, inYears), 'DATETIME must be a date and time');
  });
}

function timeText(call: CallSql): string {
  const { parts } = call;
  const [from] = call.types as [SqlType];
  if (from.kind === 'JSON' || from.kind === 'DYNAMIC') return jsonOfKind(call);
  return inZone(call, 1, (zone, value) => {
    switch (from.kind) {
      case 'TIMESTAMP':
        return zone.isUtc
          ? `concat(${datetimeText(value!, parts)}, '+00')`
          : zonedText(call, value!, zone);
      case 'DATETIME':
        return datetimeText(value!, parts);
      case 'DATE':
        return dateText(value!, parts);
      case 'TIME':
        return timeOfDayText(value!, parts);
      default:
        return refuseKind(call, from);
    }
  });
}

/** Seconds of an offset are left out of it and of the time alike. */
function zonedText(call: CallSql, us: string, zone: ZoneSql): string {
  const { parts } = call;
  return parts.once(wholeMinutes(zone.offset(us, call)), (offset) => {
    const local = orError({ ...call, type: TIMESTAMP }, parts.once(`${us} + ${offset}`, inYears));
    const minutes = `intDiv(abs(${offset}), 60000000)`;
    const rest = `if(${minutes} % 60 = 0, '', concat(':', ${padded(`${minutes} % 60`, 2)}))`;
    const hours = padded(`intDiv(${minutes}, 60)`, 2);
    return `concat(${datetimeText(local, parts)}, if(${offset} < 0, '-', '+'), ${hours}, ${rest})`;
  });
}

/** A number of units since the epoch as a time. */
function ofUnits(lengthUs: number): FunctionSql {
  return (call) => {
    if (call.types[0]?.kind !== 'INT64') return call.arguments[0]!;
    return strict(call, (value) =>
      orError(
        call,
        call.parts.once(`toInt128(${value}) * ${lengthUs}`, (us) => `toInt64(${inYears(us)})`),
      ),
    );
  };
}

import {
  DATE,
  DATETIME,
  INT64,
  INTERVAL,
  type SqlType,
  STRING,
  TIME,
  TIMESTAMP,
} from '../../column/type.ts';
import type { Interval, SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { asKind } from '../json/json-functions.ts';
import { canonicalInteger, checkedInt64, floorDivide, type Int64 } from '../number/int64.ts';
import {
  type Evaluate,
  type FunctionFacts,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  type TimeStep,
  typed,
  withFacts,
} from '../scalar-function.ts';
import {
  checkedDay,
  checkedTimestampUs,
  dayNumberOf,
  dayOfUs,
  instantUs,
  isUtcAt,
  joinUs,
  localUs,
  midnightUs,
  mustTimeZone,
  splitUs,
  US_PER_MILLISECOND,
  US_PER_SECOND,
  zoneNamed,
} from './calendar.ts';
import { extractInterval, INTERVAL_EXTRACT_PARTS } from './interval.ts';
import { formatCivilTime, formatTime, parseCivilTime, parseTime } from './time-format.ts';
import {
  CLOCK_PARTS,
  EXTRACTABLE_DAY_PARTS,
  EXTRACTABLE_PARTS,
  extractPart,
  partFinder,
  type TimePart,
} from './time-part.ts';
import {
  civilUs,
  formatDate,
  formatDatetime,
  formatTimeOfDay,
  formatTimestamp,
  isCivilTime,
  parseDatetime,
  parseTimestamp,
  timeOfDayOf,
} from './timestamp-text.ts';

const SURE: FunctionFacts = { fails: 'never' };

/** From a TIMESTAMP to a DATE and a DATETIME, as clocks show it in UTC. */
export const DATE_STEP: TimeStep = { firstUs: midnightUs };
export const DATETIME_STEP: TimeStep = { firstUs: (us) => us };

/** In other zones a time near the ends of the years is beyond them, and clocks are put back. */
function inUtc(timeStep?: TimeStep): FunctionFacts {
  return {
    fails: (constants) => (isUtcAt(1, constants) ? 'never' : 'by value'),
    timeStep: (constants) => (isUtcAt(1, constants) ? timeStep : undefined),
  };
}

export const timeConversionFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'timestamp',
    [
      'A TIMESTAMP from a text, a DATE (at midnight) or a DATETIME, in UTC or the given time zone.',
      "TIMESTAMP('2026-01-15 12:00:00', 'Europe/Berlin')",
      "TIMESTAMP '2026-01-15 11:00:00+00'",
    ],
    zoned(
      STRING,
      TIMESTAMP,
      typed((text: string, zone?: string) =>
        parseTimestamp(text, zone === undefined ? undefined : mustTimeZone(zone)),
      ),
    ),
    plain([TIMESTAMP], TIMESTAMP, typed(asItIs)),
    zoned(
      DATETIME,
      TIMESTAMP,
      typed((us: Int64, zone?: string) => instantUs(us, zoneNamed(zone))),
    ),
    zoned(
      DATE,
      TIMESTAMP,
      typed((day: number, zone?: string) => instantUs(midnightUs(day), zoneNamed(zone))),
    ),
  ),
  scalarFunction(
    'datetime',
    [
      'A DATETIME from a TIMESTAMP in UTC or the given time zone, from a DATE and a TIME, from a text, or from year, month, day, hour, minute and second.',
      'DATETIME(2026, 1, 15, 12, 30, 0)',
      "DATETIME '2026-01-15 12:30:00'",
    ],
    withFacts(inUtc(DATETIME_STEP), zoned(TIMESTAMP, DATETIME, typed(localTime))),
    withFacts(SURE, plain([DATETIME], DATETIME, typed(asItIs))),
    withFacts(SURE, plain([DATE], DATETIME, typed(midnightUs))),
    plain([DATE, TIME], DATETIME, typed(joinUs)),
    plain([STRING], DATETIME, typed(parseDatetime)),
    plain([INT64, INT64, INT64, INT64, INT64, INT64], DATETIME, typed(datetimeOf)),
  ),
  scalarFunction(
    'date',
    [
      'A DATE from a TIMESTAMP in UTC or the given time zone, from a DATETIME, from a text, or from year, month and day.',
      "DATE(TIMESTAMP '2026-01-15 23:30:00+00', 'Europe/Berlin')",
      "DATE '2026-01-16'",
    ],
    withFacts(
      inUtc(DATE_STEP),
      zoned(
        TIMESTAMP,
        DATE,
        typed((us: Int64, zone?: string) => dayOfUs(localTime(us, zone))),
      ),
    ),
    withFacts(SURE, plain([DATETIME], DATE, typed(dayOfUs))),
    withFacts(SURE, plain([DATE], DATE, typed(asItIs))),
    plain(
      [STRING],
      DATE,
      typed((text: string) => dayOfUs(parseTimestamp(text))),
    ),
    plain([INT64, INT64, INT64], DATE, typed(dateOf)),
  ),
  scalarFunction(
    'time',
    [
      'A TIME from a TIMESTAMP in UTC or the given time zone, from a DATETIME, or from hour, minute and second.',
      'TIME(12, 30, 0)',
      "TIME '12:30:00'",
    ],
    withFacts(
      inUtc(),
      zoned(
        TIMESTAMP,
        TIME,
        typed((us: Int64, zone?: string) => timeOfUs(localTime(us, zone))),
      ),
    ),
    withFacts(SURE, plain([DATETIME], TIME, typed(timeOfUs))),
    withFacts(SURE, plain([TIME], TIME, typed(asItIs))),
    plain([INT64, INT64, INT64], TIME, typed(timeOf)),
  ),
  scalarFunction(
    'string',
    [
      'A time as a text; a TIMESTAMP in UTC or the given time zone. For JSON, the text in it; an error for other JSON values.',
      "STRING(TIMESTAMP '2026-01-15 12:00:00+00', 'Europe/Berlin')",
      "'2026-01-15 13:00:00+01'",
    ],
    plain([DATE], STRING, typed(formatDate)),
    zoned(
      TIMESTAMP,
      STRING,
      typed((us: Int64, zone?: string) => formatTimestamp(us, zoneNamed(zone))),
    ),
    plain([DATETIME], STRING, typed(formatDatetime)),
    plain([TIME], STRING, typed(formatTimeOfDay)),
    ...asKind(STRING),
  ),
  scalarFunction(
    'unix_date',
    ['The days from 1970-01-01 to a day; negative before.', "UNIX_DATE(DATE '1970-02-01')", '31'],
    plain([DATE], INT64, typed(asItIs)),
  ),
  scalarFunction(
    'date_from_unix_date',
    ['The day this many days after 1970-01-01.', 'DATE_FROM_UNIX_DATE(31)', "DATE '1970-02-01'"],
    plain([INT64], DATE, typed(checkedDay)),
  ),
  ...[
    { unit: 'micros', words: 'microseconds', unitUs: 1 },
    { unit: 'millis', words: 'milliseconds', unitUs: US_PER_MILLISECOND },
    { unit: 'seconds', words: 'seconds', unitUs: US_PER_SECOND },
  ].flatMap(epochConversions),
];

function zoned(from: SqlType, to: SqlType, evaluate: Evaluate): ScalarOverload {
  return { parameters: [from, STRING], optionalCount: 1, result: to, nulls: 'propagate', evaluate };
}

function plain(from: readonly SqlType[], to: SqlType, evaluate: Evaluate): ScalarOverload {
  return { parameters: from, result: to, nulls: 'propagate', evaluate };
}

function asItIs(value: Int64): Int64 {
  return value;
}

function localTime(us: Int64, zone?: string): Int64 {
  return localUs(us, zoneNamed(zone));
}

function timeOfUs(us: Int64): number {
  return splitUs(us).timeOfDayUs;
}

const EPOCH_MIDNIGHT = {
  ...{ year: 1970, month: 1, day: 1 },
  ...{ hour: 0, minute: 0, second: 0, microsecond: 0 },
};

/** DATETIME(year, month, day, hour, minute, second). */
function datetimeOf(...fields: Int64[]): Int64 {
  const [year, month, day, hour, minute, second] = fields.map(Number) as Six;
  const time = { year, month, day, hour, minute, second, microsecond: 0 };
  if (!isCivilTime(time)) throw badFields('DATETIME must be a date and time', fields);
  return civilUs(time);
}

type Six = [number, number, number, number, number, number];
type Three = [number, number, number];

/** DATE(year, month, day). */
function dateOf(...fields: Int64[]): number {
  const [year, month, day] = fields.map(Number) as Three;
  const date = { ...EPOCH_MIDNIGHT, year, month, day };
  if (!isCivilTime(date)) throw badFields('DATE must be a day', fields);
  return dayNumberOf(date);
}

/** TIME(hour, minute, second). */
function timeOf(...fields: Int64[]): number {
  const [hour, minute, second] = fields.map(Number) as Three;
  const time = { ...EPOCH_MIDNIGHT, hour, minute, second };
  if (!isCivilTime(time)) throw badFields('TIME must be an hour, minute and second', fields);
  return timeOfDayOf(time);
}

function badFields(wanted: string, fields: readonly Int64[]): QueryError {
  const years = wanted.startsWith('TIME') ? 'of one day' : 'of the years 0001 to 9999';
  return new QueryError('query_failed', `${wanted} ${years}; got (${fields.join(', ')})`);
}

type EpochUnit = { readonly unit: string; readonly words: string; readonly unitUs: number };

/** UNIX_…, whole units since 1970 rounded down, and the two names for the way back. */
function epochConversions({ unit, words, unitUs }: EpochUnit): readonly ScalarFunction[] {
  const since = typed((us: Int64) => canonicalInteger(floorDivide(BigInt(us), BigInt(unitUs))));
  const from = (name: string) =>
    typed((amount: Int64) => {
      const us = BigInt(amount) * BigInt(unitUs);
      return checkedTimestampUs(checkedInt64(us, () => `${name.toUpperCase()}(${amount})`));
    });
  const [short, long] = [`timestamp_${unit}`, `timestamp_from_unix_${unit}`];
  const count = 60 * (US_PER_SECOND / unitUs);
  const time = "TIMESTAMP '1970-01-01 00:01:00+00'";
  return [
    scalarFunction(
      `unix_${unit}`,
      [
        `Whole ${words} from 1970-01-01 00:00:00 UTC to a time, rounded down; negative before.`,
        `UNIX_${unit.toUpperCase()}(${time})`,
        `${count}`,
      ],
      plain([TIMESTAMP], INT64, since),
    ),
    scalarFunction(
      short,
      [
        `The time this many ${words} after 1970-01-01 00:00:00 UTC; an error outside the years 1 to 9999.`,
        `${short.toUpperCase()}(${count})`,
        time,
      ],
      plain([INT64], TIMESTAMP, from(short)),
    ),
    scalarFunction(
      long,
      [
        `Like \`${short.toUpperCase()}\`; a TIMESTAMP stays unchanged.`,
        `${long.toUpperCase()}(${count})`,
        time,
      ],
      plain([INT64], TIMESTAMP, from(long)),
      plain([TIMESTAMP], TIMESTAMP, typed(asItIs)),
    ),
  ];
}

/** `extract(part, time [, zone])`, for EXTRACT(part FROM time AT TIME ZONE zone). */
export const EXTRACT: ScalarFunction = scalarFunction(
  'extract',
  [
    'A part of a time or INTERVAL as an INT64; of a TIMESTAMP in UTC or the given time zone. `DAYOFWEEK` is 1 on Sundays. `DATE`, `TIME` and `DATETIME` are parts, too.',
    "EXTRACT(HOUR FROM TIMESTAMP '2026-01-15 12:34:56+00')",
    '12',
  ],
  {
    ...extraction(TIMESTAMP, EXTRACTABLE_PARTS, extractPart),
    parameters: ['part', TIMESTAMP, STRING],
    optionalCount: 1,
    facts: { fails: (constants) => (isUtcAt(2, constants) ? 'never' : 'by value') },
    evaluate: inZone(),
  },
  extraction(DATETIME, EXTRACTABLE_PARTS, extractPart),
  extraction(DATE, EXTRACTABLE_DAY_PARTS, (day: number, part) =>
    extractPart(midnightUs(day), part),
  ),
  extraction(TIME, CLOCK_PARTS, extractPart),
  extraction(INTERVAL, INTERVAL_EXTRACT_PARTS, (interval: Interval, part) =>
    extractInterval(interval, part.unit),
  ),
);

function inZone(): ScalarOverload['evaluate'] {
  const findPart = partFinder('EXTRACT', EXTRACTABLE_PARTS);
  return typed((part: string, us: Int64, zone?: string) =>
    extractPart(localUs(us, zoneNamed(zone)), findPart(part)),
  );
}

function extraction<Value extends SqlValue>(
  type: SqlType,
  parts: readonly string[],
  extract: (value: Value, part: TimePart) => Int64,
): ScalarOverload {
  const findPart = partFinder('EXTRACT', parts);
  return {
    parameters: ['part', type],
    parts,
    result: INT64,
    nulls: 'propagate',
    facts: { fails: 'never' },
    evaluate: typed((part: string, value: Value) => extract(value, findPart(part))),
  };
}

/** `format_…(format, time [, zone])` and `parse_…(format, text [, zone])`. */
export const timeTextFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'format_timestamp',
    [
      'Formats a TIMESTAMP, in UTC or the given time zone: `%Y` is the year, `%m` the month, `%d` the day, `%H` the hour, `%M` the minute, `%S` the second, and so on. An error for an unknown element.',
      "FORMAT_TIMESTAMP('%d.%m.%Y %H:%M', TIMESTAMP '2026-01-15 12:00:00+00', 'Europe/Berlin')",
      "'15.01.2026 13:00'",
    ],
    timestampByPattern(),
    datetimeByPattern(),
  ),
  scalarFunction(
    'format_datetime',
    [
      'Formats a DATETIME with the elements of `FORMAT_TIMESTAMP`.',
      "FORMAT_DATETIME('%F %R', DATETIME '2026-01-15 12:34:56')",
      "'2026-01-15 12:34'",
    ],
    datetimeByPattern(),
    timestampByPattern(),
  ),
  scalarFunction(
    'format_date',
    [
      'Formats a day with the date elements of `FORMAT_TIMESTAMP`.',
      "FORMAT_DATE('%a, %d %b', DATE '2026-01-15')",
      "'Thu, 15 Jan'",
    ],
    dateByPattern(),
    datetimeByPattern(),
    timestampByPattern(),
  ),
  scalarFunction(
    'format_time',
    [
      'Formats a time of day with the time elements of `FORMAT_TIMESTAMP`.',
      "FORMAT_TIME('%I:%M %p', TIME '15:04:05')",
      "'03:04 PM'",
    ],
    formatting(
      [TIME],
      typed((format: string, us: number) => formatCivilTime(format, us, 'TIME')),
    ),
  ),
  scalarFunction(
    'parse_timestamp',
    [
      'Parses a TIMESTAMP in the given format, with the elements of `FORMAT_TIMESTAMP`, in UTC or the given time zone. An error if the text has another format.',
      "PARSE_TIMESTAMP('%d.%m.%Y %H:%M', '15.01.2026 12:00')",
      "TIMESTAMP '2026-01-15 12:00:00+00'",
    ],
    parsing(
      [STRING],
      TIMESTAMP,
      typed((format: string, text: string, zone?: string) =>
        parseTime(format, text, zoneNamed(zone)),
      ),
    ),
  ),
  scalarFunction(
    'parse_datetime',
    [
      'The DATETIME in a text, as with `PARSE_TIMESTAMP`.',
      "PARSE_DATETIME('%F %R', '2026-01-15 12:34')",
      "DATETIME '2026-01-15 12:34:00'",
    ],
    parsing(
      [],
      DATETIME,
      typed((format: string, text: string) => parseCivilTime(format, text, 'DATETIME')),
    ),
  ),
  scalarFunction(
    'parse_date',
    [
      'Parses a day, like `PARSE_TIMESTAMP`.',
      "PARSE_DATE('%Y%m%d', '20260115')",
      "DATE '2026-01-15'",
    ],
    parsing(
      [],
      DATE,
      typed((format: string, text: string) => dayOfUs(parseCivilTime(format, text, 'DATE'))),
    ),
  ),
  scalarFunction(
    'parse_time',
    [
      'Parses a time of day, like `PARSE_TIMESTAMP`.',
      "PARSE_TIME('%H:%M', '12:34')",
      "TIME '12:34:00'",
    ],
    parsing(
      [],
      TIME,
      typed(
        (format: string, text: string) => splitUs(parseCivilTime(format, text, 'TIME')).timeOfDayUs,
      ),
    ),
  ),
];

function timestampByPattern(): ScalarOverload {
  return {
    ...formatting(
      [TIMESTAMP, STRING],
      typed((format: string, us: Int64, zone?: string) => formatTime(format, us, zoneNamed(zone))),
    ),
    optionalCount: 1,
  };
}

function datetimeByPattern(): ScalarOverload {
  return formatting(
    [DATETIME],
    typed((format: string, us: Int64) => formatCivilTime(format, us, 'DATETIME')),
  );
}

function dateByPattern(): ScalarOverload {
  return formatting(
    [DATE],
    typed((format: string, day: number) => formatCivilTime(format, midnightUs(day), 'DATE')),
  );
}

function formatting(rest: readonly SqlType[], evaluate: Evaluate): ScalarOverload {
  return { parameters: [STRING, ...rest], result: STRING, nulls: 'propagate', evaluate };
}

function parsing(zone: readonly SqlType[], result: SqlType, evaluate: Evaluate): ScalarOverload {
  return {
    parameters: [STRING, STRING, ...zone],
    optionalCount: zone.length,
    result,
    nulls: 'propagate',
    evaluate,
  };
}

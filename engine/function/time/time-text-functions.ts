import { DATE, DATETIME, type SqlType, STRING, TIME, TIMESTAMP } from '../../column/type.ts';
import type { Evaluate } from '../definition.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { dayOfUs, midnightUs, splitUs } from './calendar.ts';
import { formatCivilTime, formatTime } from './time-format.ts';
import { parseCivilTime, parseTime } from './time-parse.ts';
import { zoneNamed } from './time-zone.ts';

/** `format_…(format, time [, zone])` and `parse_…(format, text [, zone])`. */
export const timeTextFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'format_timestamp',
    [
      'Formats a TIMESTAMP, in UTC or the given time zone: `%Y` is the year, `%m` the month, `%d` the day, `%H` the hour, `%M` the minute, `%S` the second, and so on. An error for an unknown element.',
      "FORMAT_TIMESTAMP('%d.%m.%Y %H:%M', TIMESTAMP '2026-01-15 12:00:00+00', 'Europe/Berlin')",
      "'15.01.2026 13:00'",
    ],
    formatTimestamp(),
    formatDatetime(),
  ),
  scalarFunction(
    'format_datetime',
    [
      'Formats a DATETIME with the elements of `FORMAT_TIMESTAMP`.',
      "FORMAT_DATETIME('%F %R', DATETIME '2026-01-15 12:34:56')",
      "'2026-01-15 12:34'",
    ],
    formatDatetime(),
    formatTimestamp(),
  ),
  scalarFunction(
    'format_date',
    [
      'Formats a day with the date elements of `FORMAT_TIMESTAMP`.',
      "FORMAT_DATE('%a, %d %b', DATE '2026-01-15')",
      "'Thu, 15 Jan'",
    ],
    formatDate(),
    formatDatetime(),
    formatTimestamp(),
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

function formatTimestamp(): ScalarOverload {
  return {
    ...formatting(
      [TIMESTAMP, STRING],
      typed((format: string, us: Int64, zone?: string) => formatTime(format, us, zoneNamed(zone))),
    ),
    optionalCount: 1,
  };
}

function formatDatetime(): ScalarOverload {
  return formatting(
    [DATETIME],
    typed((format: string, us: Int64) => formatCivilTime(format, us, 'DATETIME')),
  );
}

function formatDate(): ScalarOverload {
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

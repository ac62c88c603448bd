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
  scalarFunction('format_timestamp', formatTimestamp(), formatDatetime()),
  scalarFunction('format_datetime', formatDatetime(), formatTimestamp()),
  scalarFunction('format_date', formatDate(), formatDatetime(), formatTimestamp()),
  scalarFunction(
    'format_time',
    formatting(
      [TIME],
      typed((format: string, us: number) => formatCivilTime(format, us, 'TIME')),
    ),
  ),
  scalarFunction(
    'parse_timestamp',
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
    parsing(
      [],
      DATETIME,
      typed((format: string, text: string) => parseCivilTime(format, text, 'DATETIME')),
    ),
  ),
  scalarFunction(
    'parse_date',
    parsing(
      [],
      DATE,
      typed((format: string, text: string) => dayOfUs(parseCivilTime(format, text, 'DATE'))),
    ),
  ),
  scalarFunction(
    'parse_time',
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

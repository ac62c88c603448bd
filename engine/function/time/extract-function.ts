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
import { scalarFunction, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { midnightUs } from './calendar.ts';
import { extractInterval, INTERVAL_EXTRACT_PARTS } from './interval.ts';
import type { TimePart } from './time-part.ts';
import {
  CLOCK_PARTS,
  EXTRACTABLE_DAY_PARTS,
  EXTRACTABLE_PARTS,
  extractPart,
  partFinder,
} from './time-part.ts';
import { isUtcAt, localUs, zoneNamed } from './time-zone.ts';

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

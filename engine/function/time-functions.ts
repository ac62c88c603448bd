import type { SqlType } from '../column/type.ts';
import { DATETIME, INT64, STRING, TIMESTAMP } from '../column/type.ts';
import { QueryError } from '../query-error.ts';
import { checkedTimestampUs, US_PER_MILLISECOND, US_PER_SECOND } from './calendar.ts';
import type { Evaluate } from './definition.ts';
import { scalarFunction, typed } from './definition.ts';
import type { Int64 } from './int64.ts';
import { canonicalInteger, checkedInt64, floorDivide } from './int64.ts';
import type { ScalarFunction, ScalarOverload } from './scalar-function.ts';
import { formatCivilTime, formatTime } from './time-format.ts';
import { truncateKernel } from './time-kernels.ts';
import { parseCivilTime, parseTime } from './time-parse.ts';
import type { TimePart } from './time-part.ts';
import {
  ADDABLE_PARTS,
  addParts,
  boundariesBetween,
  CALENDAR_PARTS,
  EXTRACTABLE_PARTS,
  extractPart,
  FIXED_PARTS,
  fixedPartUs,
  partFinder,
  truncateUs,
  wholePartsBetween,
} from './time-part.ts';
import type { TimeZone } from './time-zone.ts';
import { instantUs, localUs, mustTimeZone, UTC } from './time-zone.ts';
import {
  civilUs,
  formatDatetime,
  formatTimestamp,
  isCivilTime,
  parseDatetime,
  parseTimestamp,
} from './timestamp-text.ts';

export const timeFunctions: readonly ScalarFunction[] = [
  ...conversions(),
  truncation('timestamp_trunc', TIMESTAMP),
  truncation('datetime_trunc', DATETIME),
  shift('timestamp_add', TIMESTAMP, FIXED_PARTS, 1),
  shift('timestamp_sub', TIMESTAMP, FIXED_PARTS, -1),
  shift('datetime_add', DATETIME, ADDABLE_PARTS, 1),
  shift('datetime_sub', DATETIME, ADDABLE_PARTS, -1),
  difference('timestamp_diff', TIMESTAMP, FIXED_PARTS, wholePartsBetween),
  difference('datetime_diff', DATETIME, CALENDAR_PARTS, boundariesBetween),
  extraction(),
  sinceEpoch('unix_micros', 1),
  sinceEpoch('unix_millis', US_PER_MILLISECOND),
  sinceEpoch('unix_seconds', US_PER_SECOND),
  fromEpoch('timestamp_micros', 1),
  fromEpoch('timestamp_millis', US_PER_MILLISECOND),
  fromEpoch('timestamp_seconds', US_PER_SECOND),
];

function conversions(): readonly ScalarFunction[] {
  const zoned = (from: SqlType, to: SqlType, evaluate: Evaluate): ScalarOverload => ({
    parameters: [from, STRING],
    optionalCount: 1,
    result: to,
    nulls: 'propagate',
    evaluate,
  });
  const plain = (from: readonly SqlType[], to: SqlType, evaluate: Evaluate): ScalarOverload => ({
    parameters: from,
    result: to,
    nulls: 'propagate',
    evaluate,
  });
  const same = typed((us: Int64) => us);
  return [
    scalarFunction(
      'timestamp',
      zoned(
        STRING,
        TIMESTAMP,
        typed((text: string, zone?: string) =>
          parseTimestamp(text, zone === undefined ? undefined : mustTimeZone(zone)),
        ),
      ),
      plain([TIMESTAMP], TIMESTAMP, same),
      zoned(
        DATETIME,
        TIMESTAMP,
        typed((us: Int64, zone?: string) => instantUs(us, zoneOf(zone))),
      ),
    ),
    scalarFunction(
      'datetime',
      zoned(
        TIMESTAMP,
        DATETIME,
        typed((us: Int64, zone?: string) => localUs(us, zoneOf(zone))),
      ),
      plain([DATETIME], DATETIME, same),
      plain([STRING], DATETIME, typed(parseDatetime)),
      plain([INT64, INT64, INT64, INT64, INT64, INT64], DATETIME, typed(datetimeOf)),
    ),
    scalarFunction(
      'string',
      zoned(
        TIMESTAMP,
        STRING,
        typed((us: Int64, zone?: string) => formatTimestamp(us, zoneOf(zone))),
      ),
      plain([DATETIME], STRING, typed(formatDatetime)),
    ),
    ...formatting('timestamp', TIMESTAMP),
    ...formatting('datetime', DATETIME),
  ];
}

/** `format_…(format, time)` and `parse_…(format, text)`; those of TIMESTAMP take a zone, too. */
function formatting(suffix: string, type: SqlType): readonly ScalarFunction[] {
  const optional = type.kind === 'TIMESTAMP' ? [STRING] : [];
  const common = { nulls: 'propagate', optionalCount: optional.length } as const;
  return [
    scalarFunction(`format_${suffix}`, {
      ...common,
      parameters: [STRING, type, ...optional],
      result: STRING,
      evaluate:
        type.kind === 'DATETIME'
          ? typed(formatCivilTime)
          : typed((format: string, us: Int64, zone?: string) =>
              formatTime(format, us, zoneOf(zone)),
            ),
    }),
    scalarFunction(`parse_${suffix}`, {
      ...common,
      parameters: [STRING, STRING, ...optional],
      result: type,
      evaluate:
        type.kind === 'DATETIME'
          ? typed(parseCivilTime)
          : typed((format: string, text: string, zone?: string) =>
              parseTime(format, text, zoneOf(zone)),
            ),
    }),
  ];
}

function zoneOf(name: string | undefined): TimeZone {
  return name === undefined ? UTC : mustTimeZone(name);
}

/** DATETIME(year, month, day, hour, minute, second). */
function datetimeOf(...fields: Int64[]): Int64 {
  const [year, month, day, hour, minute, second] = fields.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const time = { year, month, day, hour, minute, second, microsecond: 0 };
  if (!isCivilTime(time)) {
    throw new QueryError(
      'query_failed',
      `DATETIME must be a date and time of the years 0001 to 9999; got (${fields.join(', ')})`,
    );
  }
  return civilUs(time);
}

/** A part shorter than a day begins where clocks show it, whatever their offset then. */
export function truncateInZone(us: Int64, part: TimePart, zone: TimeZone): Int64 {
  if (zone.isUtc) return truncateUs(us, part);
  const local = localUs(us, zone);
  const start = truncateUs(local, part);
  if (part.unit === 'DAY' || fixedPartUs(part.unit) === undefined) return instantUs(start, zone);
  return canonicalInteger(BigInt(us) - (BigInt(local) - BigInt(start)));
}

function truncation(name: string, type: SqlType): ScalarFunction {
  const findPart = partFinder(name.toUpperCase(), CALENDAR_PARTS);
  const isTimestamp = type.kind === 'TIMESTAMP';
  return scalarFunction(name, {
    parameters: isTimestamp ? [type, 'part', STRING] : [type, 'part'],
    optionalCount: isTimestamp ? 1 : 0,
    parts: CALENDAR_PARTS,
    result: type,
    nulls: 'propagate',
    evaluate: typed((us: Int64, part: string, zone?: string) =>
      truncateInZone(us, findPart(part), zoneOf(zone)),
    ),
    kernel: truncateKernel,
  });
}

/** `timestamp_add(time, amount, part)`: INTERVAL comes as its two halves. */
function shift(
  name: string,
  type: SqlType,
  parts: readonly string[],
  sign: 1 | -1,
): ScalarFunction {
  const findPart = partFinder(name.toUpperCase(), parts);
  return scalarFunction(name, {
    parameters: [type, INT64, 'part'],
    parts,
    result: type,
    nulls: 'propagate',
    evaluate: typed((us: Int64, amount: Int64, part: string) =>
      addParts(us, sign === 1 ? amount : canonicalInteger(-BigInt(amount)), findPart(part)),
    ),
  });
}

function difference(
  name: string,
  type: SqlType,
  parts: readonly string[],
  between: (endUs: Int64, startUs: Int64, part: TimePart) => Int64,
): ScalarFunction {
  const findPart = partFinder(name.toUpperCase(), parts);
  return scalarFunction(name, {
    parameters: [type, type, 'part'],
    parts,
    result: INT64,
    nulls: 'propagate',
    evaluate: typed((endUs: Int64, startUs: Int64, part: string) =>
      between(endUs, startUs, findPart(part)),
    ),
  });
}

/** `extract(part, time [, zone])`, for EXTRACT(part FROM time AT TIME ZONE zone). */
function extraction(): ScalarFunction {
  const findPart = partFinder('EXTRACT', EXTRACTABLE_PARTS);
  const common = {
    parts: EXTRACTABLE_PARTS,
    result: INT64,
    nulls: 'propagate',
    evaluate: typed((part: string, us: Int64, zone?: string) =>
      extractPart(localUs(us, zoneOf(zone)), findPart(part)),
    ),
  } as const;
  return scalarFunction(
    'extract',
    { ...common, parameters: ['part', TIMESTAMP, STRING], optionalCount: 1 },
    { ...common, parameters: ['part', DATETIME] },
  );
}

/** Whole units since 1970, rounded down. */
function sinceEpoch(name: string, unitUs: number): ScalarFunction {
  return scalarFunction(name, {
    parameters: [TIMESTAMP],
    result: INT64,
    nulls: 'propagate',
    evaluate: typed((us: Int64) => canonicalInteger(floorDivide(BigInt(us), BigInt(unitUs)))),
  });
}

function fromEpoch(name: string, unitUs: number): ScalarFunction {
  return scalarFunction(name, {
    parameters: [INT64],
    result: TIMESTAMP,
    nulls: 'propagate',
    evaluate: typed((amount: Int64) => {
      const us = BigInt(amount) * BigInt(unitUs);
      return checkedTimestampUs(checkedInt64(us, () => `${name.toUpperCase()}(${amount})`));
    }),
  });
}

import { INTERVAL } from '../../column/type.ts';
import type { Interval } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { FunctionDoc } from '../function-doc.ts';
import type { Int64 } from '../number/int64.ts';
import { canonicalInteger, floorDivide } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { checkedTimestampUs, civilDateOf, midnightUs, splitUs } from './calendar.ts';
import { totalUs } from './interval.ts';
import { formatInterval } from './interval-text.ts';
import { addMonths } from './time-part.ts';
import type { TimeType } from './time-types.ts';
import { OF_DATE, OF_DATETIME, OF_TIMESTAMP } from './time-types.ts';

/** Buckets are counted from here when no origin is given: the midnight of 1 January 1950. */
const ORIGIN_US = midnightUs(-7305);

/** `timestamp_bucket(time, width [, origin])`: the start of the bucket that the time lies in. */
export const timeBucketFunctions: readonly ScalarFunction[] = [
  bucketing(
    'timestamp_bucket',
    [
      'The start of the bucket that contains a time. Buckets are as wide as the INTERVAL of days and time, and start at the third argument (default 1950-01-01).',
      "TIMESTAMP_BUCKET(TIMESTAMP '2026-01-15 12:34:00+00', INTERVAL 15 MINUTE)",
      "TIMESTAMP '2026-01-15 12:30:00+00'",
    ],
    OF_TIMESTAMP,
  ),
  bucketing(
    'datetime_bucket',
    [
      'Like `TIMESTAMP_BUCKET`; the INTERVAL may also be in months.',
      "DATETIME_BUCKET(DATETIME '2026-01-15 12:34:00', INTERVAL 6 HOUR)",
      "DATETIME '2026-01-15 12:00:00'",
    ],
    OF_DATETIME,
  ),
  bucketing(
    'date_bucket',
    [
      'Like `TIMESTAMP_BUCKET`; the INTERVAL has whole days or months.',
      "DATE_BUCKET(DATE '2026-01-15', INTERVAL 10 DAY, DATE '2026-01-01')",
      "DATE '2026-01-11'",
    ],
    OF_DATE,
  ),
];

function bucketing(name: string, doc: FunctionDoc, { type, toUs, ofUs }: TimeType): ScalarFunction {
  return scalarFunction(name, doc, {
    parameters: [type, INTERVAL, type],
    optionalCount: 1,
    result: type,
    nulls: 'propagate',
    evaluate: typed((time: Int64, width: Interval, origin?: Int64) => {
      checkWidth(name, type.kind, width);
      const originUs = origin === undefined ? ORIGIN_US : toUs(origin);
      const bucket = width.months > 0 ? monthBucketUs : fixedBucketUs;
      return ofUs(checkedTimestampUs(bucket(toUs(time), width, originUs)));
    }),
  });
}

/** Months, or days and time: one of the two, and more than nothing; whole days for a DATE. */
function checkWidth(name: string, kind: string, width: Interval): void {
  const isMonths = width.months !== 0;
  const isFixed = width.days !== 0 || width.us !== 0;
  const isTaken = !(isMonths && kind === 'TIMESTAMP') && !(width.us !== 0 && kind === 'DATE');
  if (isTaken && isMonths !== isFixed && totalUs(width) > 0n) return;
  const parts = { TIMESTAMP: 'days and time', DATE: 'months, or of days' }[kind];
  throw new QueryError(
    'query_failed',
    `${name.toUpperCase()} takes a positive INTERVAL of ${parts ?? 'months, or of days and time'}; ` +
      `got ${formatInterval(width)}`,
  );
}

function fixedBucketUs(us: Int64, width: Interval, originUs: Int64): Int64 {
  const widthUs = totalUs(width);
  const index = floorDivide(BigInt(us) - BigInt(originUs), widthUs);
  return canonicalInteger(BigInt(originUs) + index * widthUs);
}

/** Of buckets of months each begins so many months after the origin, on its day or the month's last. */
function monthBucketUs(us: Int64, { months }: Interval, originUs: Int64): Int64 {
  const elapsed = monthIndex(us) - monthIndex(originUs);
  const startUs = addMonths(originUs, Math.floor(elapsed / months) * months);
  if (startUs <= us) return startUs;
  return addMonths(originUs, (Math.floor(elapsed / months) - 1) * months);
}

function monthIndex(us: Int64): number {
  const { year, month } = civilDateOf(splitUs(us).dayNumber);
  return year * 12 + month;
}

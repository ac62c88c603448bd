import {
  DATE,
  DATETIME,
  INT64,
  INTERVAL,
  type SqlType,
  TIME,
  TIMESTAMP,
} from '../../column/type.ts';
import type { Interval } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { canonicalInteger, type Int64 } from '../number/int64.ts';
import {
  type Evaluate,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
} from '../scalar-function.ts';
import { checkedDay, checkedTimestampUs, US_PER_DAY } from './calendar.ts';
import {
  amountsOf,
  divideInterval,
  INTERVAL_PARTS,
  intervalOf,
  intervalOfPart,
  justifyDays,
  justifyHours,
  justifyInterval,
  makeInterval,
  plus,
  times,
} from './interval.ts';
import { addMonths, partFinder } from './time-part.ts';

const findPart = partFinder('INTERVAL', INTERVAL_PARTS);

export const intervalFunctions: readonly ScalarFunction[] = [
  /** `interval(amount, part)`, for INTERVAL amount part. */
  scalarFunction(
    'interval',
    [
      "An INTERVAL of so many parts, such as `DAY`. A text may give several parts: `INTERVAL '1:30' HOUR TO MINUTE`.",
      'INTERVAL 90 MINUTE',
      "INTERVAL '1:30' HOUR TO MINUTE",
    ],
    {
      parameters: [INT64, 'part'],
      parts: INTERVAL_PARTS,
      result: INTERVAL,
      nulls: 'propagate',
      evaluate: typed((count: Int64, part: string) => intervalOfPart(count, findPart(part).unit)),
    },
  ),
  scalarFunction(
    'make_interval',
    [
      'An INTERVAL of years, months, days, hours, minutes and seconds, each 0 by default.',
      'MAKE_INTERVAL(0, 0, 1, 12)',
      "INTERVAL '1 12' DAY TO HOUR",
    ],
    {
      parameters: [INT64, INT64, INT64, INT64, INT64, INT64],
      optionalCount: 6,
      result: INTERVAL,
      nulls: 'propagate',
      evaluate: typed(makeInterval),
    },
  ),
  scalarFunction(
    'justify_hours',
    [
      'The INTERVAL with every 24 hours converted to a day.',
      'JUSTIFY_HOURS(INTERVAL 30 HOUR)',
      "INTERVAL '1 6' DAY TO HOUR",
    ],
    operation([INTERVAL], INTERVAL, typed(justifyHours)),
  ),
  scalarFunction(
    'justify_days',
    [
      'The INTERVAL with every 30 days converted to a month.',
      'JUSTIFY_DAYS(INTERVAL 45 DAY)',
      "INTERVAL '1 15' MONTH TO DAY",
    ],
    operation([INTERVAL], INTERVAL, typed(justifyDays)),
  ),
  scalarFunction(
    'justify_interval',
    [
      '`JUSTIFY_HOURS` followed by `JUSTIFY_DAYS`, so that years, days and time have the same sign.',
      'JUSTIFY_INTERVAL(INTERVAL 1000 HOUR)',
      "INTERVAL '0-1 11 16:0:0' YEAR TO SECOND",
    ],
    operation([INTERVAL], INTERVAL, typed(justifyInterval)),
  ),
];

function operation(
  parameters: readonly SqlType[],
  result: SqlType,
  evaluate: Evaluate,
): ScalarOverload {
  return { parameters, result, nulls: 'propagate', evaluate };
}

/** What `+` takes besides numbers: in either order, but for INTERVALs, one order is enough. */
export const timeSums: readonly ScalarOverload[] = [
  ...eitherOrder(DATE, INT64, DATE, addDays),
  ...eitherOrder(TIMESTAMP, INTERVAL, TIMESTAMP, addToTimestamp),
  ...eitherOrder(DATETIME, INTERVAL, DATETIME, addToDatetime),
  operation([INTERVAL, INTERVAL], INTERVAL, typed(addIntervals)),
];

/** What `-` takes besides numbers. */
export const timeDifferences: readonly ScalarOverload[] = [
  operation(
    [DATE, INT64],
    DATE,
    typed((day: number, days: Int64) => addDays(day, -BigInt(days))),
  ),
  operation([DATE, DATE], INTERVAL, typed(daysBetween)),
  operation([TIMESTAMP, TIMESTAMP], INTERVAL, typed(timeBetween)),
  operation([DATETIME, DATETIME], INTERVAL, typed(daysAndTimeBetween)),
  operation([TIME, TIME], INTERVAL, typed(timeBetween)),
  operation(
    [TIMESTAMP, INTERVAL],
    TIMESTAMP,
    typed((us: Int64, interval: Interval) => addToTimestamp(us, negateInterval(interval))),
  ),
  operation(
    [DATETIME, INTERVAL],
    DATETIME,
    typed((us: Int64, interval: Interval) => addToDatetime(us, negateInterval(interval))),
  ),
  operation(
    [INTERVAL, INTERVAL],
    INTERVAL,
    typed((left: Interval, right: Interval) => addIntervals(left, negateInterval(right))),
  ),
];

/** What `*` takes besides numbers. */
export const intervalProducts: readonly ScalarOverload[] = eitherOrder(
  INTERVAL,
  INT64,
  INTERVAL,
  (interval: Interval, factor: Int64) => intervalOf(times(amountsOf(interval), BigInt(factor))),
);

/** What `/` takes besides numbers. */
export const intervalQuotients: readonly ScalarOverload[] = [
  operation([INTERVAL, INT64], INTERVAL, typed(divideInterval)),
];

/** What a sign takes besides numbers. */
export const intervalNegations: readonly ScalarOverload[] = [
  operation([INTERVAL], INTERVAL, typed(negateInterval)),
];

function eitherOrder<Left extends Int64 | Interval, Right extends Int64 | Interval>(
  left: SqlType,
  right: SqlType,
  result: SqlType,
  evaluate: (left: Left, right: Right) => Int64 | Interval,
): readonly ScalarOverload[] {
  return [
    operation([left, right], result, typed(evaluate)),
    operation(
      [right, left],
      result,
      typed((one: Right, other: Left) => evaluate(other, one)),
    ),
  ];
}

function addDays(day: number, days: Int64): number {
  return checkedDay(BigInt(day) + BigInt(days));
}

function addIntervals(left: Interval, right: Interval): Interval {
  return intervalOf(plus(amountsOf(left), amountsOf(right)));
}

function negateInterval(interval: Interval): Interval {
  return intervalOf(times(amountsOf(interval), -1n));
}

/** Months have no length of their own where there is no calendar. */
function addToTimestamp(us: Int64, interval: Interval): Int64 {
  if (interval.months !== 0) {
    throw new QueryError(
      'query_failed',
      'a TIMESTAMP takes INTERVALs of DAY and shorter parts; got years or months, which DATETIME takes',
    );
  }
  return addTime(us, interval);
}

/** Months first, at most to the last day of the month; then days, then time. */
function addToDatetime(us: Int64, interval: Interval): Int64 {
  return addTime(interval.months === 0 ? us : addMonths(us, interval.months), interval);
}

function addTime(us: Int64, interval: Interval): Int64 {
  const days = BigInt(interval.days) * BigInt(US_PER_DAY);
  return checkedTimestampUs(canonicalInteger(BigInt(us) + days + BigInt(interval.us)));
}

function daysBetween(end: number, start: number): Interval {
  return { months: 0, days: end - start, us: 0 };
}

function timeBetween(endUs: Int64, startUs: Int64): Interval {
  return intervalOf({ months: 0n, days: 0n, us: BigInt(endUs) - BigInt(startUs) });
}

function daysAndTimeBetween(endUs: Int64, startUs: Int64): Interval {
  return justifyHours(timeBetween(endUs, startUs));
}

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
import type { Interval } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { canonicalInteger, floorDivide, type Int64 } from '../number/int64.ts';
import {
  type Constants,
  type Failure,
  type FunctionDoc,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  type TimeStep,
  typed,
} from '../scalar-function.ts';
import {
  checkedDay,
  checkedTimestampUs,
  civilDateOf,
  dayOfUs,
  instantUs,
  isUtcAt,
  localUs,
  midnightUs,
  splitUs,
  type TimeZone,
  US_PER_DAY,
  zoneNamed,
} from './calendar.ts';
import { formatInterval, totalUs } from './interval.ts';
import {
  ADDABLE_PARTS,
  addMonths,
  addParts,
  boundariesBetween,
  CALENDAR_PARTS,
  CLOCK_PARTS,
  DAY_PARTS,
  FIXED_PARTS,
  fixedPartUs,
  LAST_DAY_PARTS,
  lastDayOf,
  partFinder,
  startAtOrAfter,
  type TimePart,
  type TimeUnit,
  truncateUs,
  wholePartsBetween,
} from './time-part.ts';
import { truncateKernel } from './time-truncation.ts';

/** A type of times as what is computed with: microseconds, whatever the type counts. */
type TimeType = {
  readonly type: SqlType;
  readonly toUs: (value: Int64) => Int64;
  readonly ofUs: (us: Int64) => Int64;
};

const asItIs = (us: Int64): Int64 => us;

const OF_TIMESTAMP: TimeType = { type: TIMESTAMP, toUs: asItIs, ofUs: asItIs };
const OF_DATETIME: TimeType = { type: DATETIME, toUs: asItIs, ofUs: asItIs };
/** A DATE is its midnight. */
const OF_DATE: TimeType = {
  type: DATE,
  toUs: (day) => midnightUs(Number(day)),
  ofUs: dayOfUs,
};
/** A TIME is on the first of January 1970; beyond midnight it begins anew. */
const OF_TIME: TimeType = {
  type: TIME,
  toUs: asItIs,
  ofUs: (us) => {
    const rest = Number(BigInt(us) % BigInt(US_PER_DAY));
    return rest < 0 ? rest + US_PER_DAY : rest;
  },
};

type Family = {
  readonly name: string;
  readonly types: readonly TimeType[];
  readonly docs: Readonly<Record<'trunc' | 'add' | 'sub' | 'diff', FunctionDoc>>;
};

/** Each function takes the types that follow its name's, too; a text is read as the first. */
const FAMILIES: readonly Family[] = [
  {
    name: 'date',
    types: [OF_DATE, OF_DATETIME, OF_TIMESTAMP],
    docs: {
      trunc: [
        'The first day of the `WEEK` (from Sunday), `WEEK(MONDAY)`, `ISOWEEK`, `MONTH`, `QUARTER`, `YEAR` or `ISOYEAR` that contains a day. A DATETIME or TIMESTAMP is truncated as by its own function.',
        "DATE_TRUNC(DATE '2026-01-15', MONTH)",
        "DATE '2026-01-01'",
      ],
      add: [
        'The day plus an INTERVAL of one part, `DAY` to `YEAR`. If the month is too short, its last day.',
        "DATE_ADD(DATE '2026-01-31', INTERVAL 1 MONTH)",
        "DATE '2026-02-28'",
      ],
      sub: [
        'The day minus an INTERVAL, like `DATE_ADD`.',
        "DATE_SUB(DATE '2026-01-01', INTERVAL 1 DAY)",
        "DATE '2025-12-31'",
      ],
      diff: [
        'The number of boundaries of the part between two days; negative if the first is earlier.',
        "DATE_DIFF(DATE '2026-01-01', DATE '2025-12-31', YEAR)",
        '1',
      ],
    },
  },
  {
    name: 'datetime',
    types: [OF_DATETIME, OF_TIMESTAMP],
    docs: {
      trunc: [
        'The start of the part that contains a DATETIME: a part of `DATE_TRUNC`, or `HOUR` to `MICROSECOND`.',
        "DATETIME_TRUNC(DATETIME '2026-01-15 12:34:56', HOUR)",
        "DATETIME '2026-01-15 12:00:00'",
      ],
      add: [
        'The DATETIME plus an INTERVAL of one part, `MICROSECOND` to `YEAR`. If the month is too short, its last day.',
        "DATETIME_ADD(DATETIME '2026-01-15 23:30:00', INTERVAL 45 MINUTE)",
        "DATETIME '2026-01-16 00:15:00'",
      ],
      sub: [
        'The DATETIME minus an INTERVAL, like `DATETIME_ADD`.',
        "DATETIME_SUB(DATETIME '2026-01-15 12:00:00', INTERVAL 1 WEEK)",
        "DATETIME '2026-01-08 12:00:00'",
      ],
      diff: [
        'The number of boundaries of the part between two DATETIMEs; negative if the first is earlier.',
        "DATETIME_DIFF(DATETIME '2026-01-15 13:00:00', DATETIME '2026-01-15 12:59:59', HOUR)",
        '1',
      ],
    },
  },
  {
    name: 'timestamp',
    types: [OF_TIMESTAMP, OF_DATETIME],
    docs: {
      trunc: [
        'The start of the part that contains a time, like `DATETIME_TRUNC`, in UTC or the given time zone.',
        "TIMESTAMP_TRUNC(TIMESTAMP '2026-01-15 23:30:00+00', DAY, 'Europe/Berlin')",
        "TIMESTAMP '2026-01-15 23:00:00+00'",
      ],
      add: [
        'The time plus an INTERVAL of one part, `MICROSECOND` to `DAY` (24 hours).',
        "TIMESTAMP_ADD(TIMESTAMP '2026-01-15 12:00:00+00', INTERVAL 90 MINUTE)",
        "TIMESTAMP '2026-01-15 13:30:00+00'",
      ],
      sub: [
        'The time minus an INTERVAL, like `TIMESTAMP_ADD`.',
        "TIMESTAMP_SUB(TIMESTAMP '2026-01-15 12:00:00+00', INTERVAL 1 DAY)",
        "TIMESTAMP '2026-01-14 12:00:00+00'",
      ],
      diff: [
        'The number of whole parts, `MICROSECOND` to `DAY`, between two times; negative if the first is earlier.',
        "TIMESTAMP_DIFF(TIMESTAMP '2026-01-15 13:00:00+00', TIMESTAMP '2026-01-15 12:00:01+00', HOUR)",
        '0',
      ],
    },
  },
  {
    name: 'time',
    types: [OF_TIME],
    docs: {
      trunc: [
        'The start of the part, `HOUR` to `MICROSECOND`, that contains a time of day.',
        "TIME_TRUNC(TIME '12:34:56', MINUTE)",
        "TIME '12:34:00'",
      ],
      add: [
        'The time of day plus an INTERVAL of one part, `MICROSECOND` to `HOUR`. It wraps around at midnight.',
        "TIME_ADD(TIME '23:30:00', INTERVAL 1 HOUR)",
        "TIME '00:30:00'",
      ],
      sub: [
        'The time of day minus an INTERVAL, like `TIME_ADD`.',
        "TIME_SUB(TIME '12:00:00', INTERVAL 90 SECOND)",
        "TIME '11:58:30'",
      ],
      diff: [
        'The number of boundaries of the part between two times of day; negative if the first is earlier.',
        "TIME_DIFF(TIME '13:00:00', TIME '12:59:00', HOUR)",
        '1',
      ],
    },
  },
];

export const timeShiftFunctions: readonly ScalarFunction[] = [
  ...FAMILIES.flatMap(({ name, types, docs }) => [
    scalarFunction(`${name}_trunc`, docs.trunc, ...types.map((type) => truncation(name, type))),
    scalarFunction(`${name}_add`, docs.add, ...types.map((type) => shift(`${name}_add`, type, 1n))),
    scalarFunction(
      `${name}_sub`,
      docs.sub,
      ...types.map((type) => shift(`${name}_sub`, type, -1n)),
    ),
    scalarFunction(`${name}_diff`, docs.diff, ...types.map((type) => difference(name, type))),
  ]),
  scalarFunction(
    'last_day',
    [
      'The last day of the `MONTH` (default), `WEEK`, `QUARTER`, `YEAR` or other part that contains a day or DATETIME.',
      "LAST_DAY(DATE '2026-02-10')",
      "DATE '2026-02-28'",
    ],
    lastDay(OF_DATE),
    lastDay(OF_DATETIME),
  ),
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

/** Parts that differ in what is done with them, and by the type it is done to. */
type Parts = Readonly<Record<'shift' | 'boundary', readonly string[]>>;

function partsOf({ type }: TimeType): Parts {
  switch (type.kind) {
    case 'TIMESTAMP':
      return { shift: FIXED_PARTS, boundary: CALENDAR_PARTS };
    case 'DATE':
      return {
        shift: ADDABLE_PARTS.filter((part) => DAY_PARTS.includes(part)),
        boundary: DAY_PARTS,
      };
    case 'TIME':
      return { shift: CLOCK_PARTS, boundary: CLOCK_PARTS };
    default:
      return { shift: ADDABLE_PARTS, boundary: CALENDAR_PARTS };
  }
}

/** A part shorter than a day begins where clocks show it, whatever their offset then. */
function truncateInZone(us: Int64, part: TimePart, zone: TimeZone): Int64 {
  if (zone.isUtc) return truncateUs(us, part);
  const local = localUs(us, zone);
  const start = truncateUs(local, part);
  if (part.unit === 'DAY' || fixedPartUs(part.unit) === undefined) return instantUs(start, zone);
  return canonicalInteger(BigInt(us) - (BigInt(local) - BigInt(start)));
}

/** Years begin with such a part, so that a time cut down to it is never before the first of them. */
const STARTING_PARTS: ReadonlySet<unknown> = new Set([...FIXED_PARTS, 'MONTH', 'QUARTER', 'YEAR']);

function truncationFailure(constants: Constants): Failure {
  return STARTING_PARTS.has(constants[1]) && isUtcAt(2, constants) ? 'never' : 'by value';
}

function truncationStep(constants: Constants, findPart: FindPart): TimeStep | undefined {
  const [, name] = constants;
  if (typeof name !== 'string' || !isUtcAt(2, constants)) return undefined;
  const part = findPart(name);
  return { firstUs: (us) => startAtOrAfter(us, part), widthUs: fixedPartUs(part.unit) };
}

type FindPart = (name: string) => TimePart;

function truncation(name: string, { type, toUs, ofUs }: TimeType): ScalarOverload {
  const { boundary: parts } = partsOf({ type, toUs, ofUs });
  const findPart = partFinder(`${name.toUpperCase()}_TRUNC`, parts);
  if (type.kind === 'TIMESTAMP') {
    return {
      parameters: [type, 'part', STRING],
      optionalCount: 1,
      parts,
      result: type,
      nulls: 'propagate',
      facts: {
        fails: truncationFailure,
        timeStep: (constants) => truncationStep(constants, findPart),
      },
      evaluate: typed((us: Int64, part: string, zone?: string) =>
        truncateInZone(us, findPart(part), zoneNamed(zone)),
      ),
      kernel: truncateKernel,
    };
  }
  return {
    parameters: [type, 'part'],
    parts,
    result: type,
    nulls: 'propagate',
    facts: { fails: truncationFailure },
    evaluate: typed((value: Int64, part: string) => ofUs(truncateUs(toUs(value), findPart(part)))),
    kernel: type.kind === 'DATE' ? undefined : truncateKernel,
  };
}

/** `date_add(time, amount, part)`: INTERVAL comes as its two halves. */
function shift(name: string, { type, toUs, ofUs }: TimeType, sign: 1n | -1n): ScalarOverload {
  const { shift: parts } = partsOf({ type, toUs, ofUs });
  const findPart = partFinder(name.toUpperCase(), parts);
  return {
    parameters: [type, INT64, 'part'],
    parts,
    result: type,
    nulls: 'propagate',
    facts:
      type.kind === 'TIMESTAMP'
        ? { addedUs: (constants) => addedUs(constants, Number(sign)) }
        : undefined,
    evaluate: typed((value: Int64, amount: Int64, part: string) => {
      const signed = sign === 1n ? amount : canonicalInteger(-BigInt(amount));
      return ofUs(addParts(toUs(value), signed, findPart(part)));
    }),
  };
}

function addedUs([, amount, part]: Constants, sign: number): number | undefined {
  const lengthUs = typeof part === 'string' ? fixedPartUs(part as TimeUnit) : undefined;
  const isWhole = typeof amount === 'number' && Number.isInteger(amount);
  return isWhole && lengthUs !== undefined ? sign * amount * lengthUs : undefined;
}

/** Of instants whole parts are counted, without the fraction; of others the boundaries between. */
function difference(name: string, { type, toUs, ofUs }: TimeType): ScalarOverload {
  const isInstant = type.kind === 'TIMESTAMP';
  const { shift: fixed, boundary } = partsOf({ type, toUs, ofUs });
  const parts = isInstant ? fixed : boundary;
  const between = isInstant ? wholePartsBetween : boundariesBetween;
  const findPart = partFinder(`${name.toUpperCase()}_DIFF`, parts);
  return {
    parameters: [type, type, 'part'],
    parts,
    result: INT64,
    nulls: 'propagate',
    evaluate: typed((end: Int64, start: Int64, part: string) =>
      between(toUs(end), toUs(start), findPart(part)),
    ),
  };
}

/** LAST_DAY(date [, part]): of the month when no part is given. */
function lastDay({ type, toUs }: TimeType): ScalarOverload {
  const findPart = partFinder('LAST_DAY', LAST_DAY_PARTS);
  return {
    parameters: [type, 'part'],
    optionalCount: 1,
    parts: LAST_DAY_PARTS,
    result: DATE,
    nulls: 'propagate',
    evaluate: typed((value: Int64, part: string = 'MONTH') =>
      checkedDay(lastDayOf(OF_DATE.ofUs(toUs(value)) as number, findPart(part))),
    ),
  };
}

/** Buckets are counted from here when no origin is given: the midnight of 1 January 1950. */
const ORIGIN_US = midnightUs(-7305);

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

import type { SqlType } from '../../../../engine/columns.ts';
import { type Amounts, amountsOf, INTERVAL_BOUNDS, totalUs } from '../interval-sql.ts';
import { refuse } from '../refusal.ts';
import {
  addMonths,
  civilDate,
  DAY_MAX,
  DAY_MIN,
  dayOf,
  modulo,
  TIME_US_MAX,
  TIME_US_MIN,
  US_PER_DAY,
} from '../time-sql.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes, strict } from './function-sql.ts';
import { LENGTHS_MONTHS, LENGTHS_US, orError, partOf } from './time-argument.ts';

export const intervalSql: Readonly<Record<string, FunctionSql>> = {
  interval: (call) =>
    strict(call, (count) => intervalOf(call, ofPart(count!, partOf(call, 1), call))),
  make_interval: (call) =>
    strict(call, (...counts) => {
      const [year, month, day, hour, minute, second] = Array.from(
        { length: 6 },
        (_, index) => `toInt128(${counts[index] ?? 0})`,
      );
      return intervalOf(call, {
        months: `${year} * 12 + ${month}`,
        days: day!,
        us: `${hour} * 3600000000 + ${minute} * 60000000 + ${second} * 1000000`,
      });
    }),
  justify_hours: (call) =>
    strict(call, (interval) => {
      const { months, days, us } = wide(interval!);
      const all = `(${days} * ${US_PER_DAY} + ${us})`;
      return intervalOf(call, { months, ...dividedUs(all) });
    }),
  justify_days: (call) =>
    strict(call, (interval) => {
      const { months, days, us } = wide(interval!);
      const all = `(${months} * 30 + ${days})`;
      return intervalOf(call, { months: `intDiv(${all}, 30)`, days: `${all} % 30`, us });
    }),
  justify_interval: (call) =>
    strict(call, (interval) => {
      const { days, us } = dividedUs(totalUs(wide(interval!)));
      return intervalOf(call, { months: `intDiv(${days}, 30)`, days: `${days} % 30`, us });
    }),
  timestamp_bucket: bucket,
  datetime_bucket: bucket,
  date_bucket: bucket,
};

/** Amounts in 128 bits as an INTERVAL, or an error beyond ten thousand years. */
function intervalOf(call: CallSql, { months, days, us }: Amounts): string {
  const { parts } = call;
  return parts.once(
    `tuple(${[months, days, us].map((each) => `toInt128(${each})`).join(', ')})`,
    (all) => {
      const isBeyond = INTERVAL_BOUNDS.map((most, index) => `abs(${all}.${index + 1}) > ${most}`);
      const isBad = isBeyond.join(' OR ');
      const amounts = INTERVAL_BOUNDS.map((_, index) => `toInt64(${all}.${index + 1})`);
      const message = 'an INTERVAL has at most ten thousand years in either direction';
      const type: SqlType = { kind: 'INTERVAL' };
      return checked({ ...call, type }, `[tuple(${amounts.join(', ')})]`, isBad, message);
    },
  );
}

function wide(interval: string): Amounts {
  const { months, days, us } = amountsOf(interval);
  return { months: `toInt128(${months})`, days: `toInt128(${days})`, us: `toInt128(${us})` };
}

/** Whole days, and the rest. */
function dividedUs(us: string): Pick<Amounts, 'days' | 'us'> {
  const day = `toInt128(${US_PER_DAY})`;
  return { days: `intDiv(${us}, ${day})`, us: `${us} % ${day}` };
}

/** So many of a part. */
function ofPart(count: string, part: string, call: CallSql): Amounts {
  const amount = `toInt128(${count})`;
  const [months, lengthUs] = [LENGTHS_MONTHS.get(part), LENGTHS_US.get(part)];
  if (months !== undefined) return { months: `${amount} * ${months}`, days: '0', us: '0' };
  if (part === 'WEEK') return { months: '0', days: `${amount} * 7`, us: '0' };
  if (part === 'DAY') return { months: '0', days: amount, us: '0' };
  if (lengthUs === undefined) return refuse(`an INTERVAL of ${part}`, call.span);
  return { months: '0', days: '0', us: `${amount} * ${lengthUs}` };
}

function combined(operator: string, left: Amounts, right: Amounts): Amounts {
  const [months, days, us] = (['months', 'days', 'us'] as const).map(
    (amount) => `${left[amount]} ${operator} ${right[amount]}`,
  );
  return { months: months!, days: days!, us: us! };
}

export function negatedInterval(call: CallSql): string {
  return strict(call, (interval) => {
    const { months, days, us } = wide(interval!);
    return intervalOf(call, { months: `-${months}`, days: `-${days}`, us: `-${us}` });
  });
}

/** `+`, `-`, `*` and `/` of times and INTERVALs. */
export function timeArithmetic(operator: '+' | '-' | '*' | '/', call: CallSql): string {
  const kinds = call.types.map(({ kind }) => kind);
  const [left, right] = kinds;
  // In the other order `+` and `*` mean the same.
  if ((operator === '+' || operator === '*') && isAfter(left, right)) {
    return timeArithmetic(operator, {
      ...call,
      arguments: call.arguments.toReversed(),
      types: call.types.toReversed(),
    });
  }
  switch (`${left} ${operator} ${right}`) {
    case 'DATE + INT64':
    case 'DATE - INT64':
      return movedDay(operator, call);
    case 'TIMESTAMP + INTERVAL':
    case 'TIMESTAMP - INTERVAL':
    case 'DATETIME + INTERVAL':
    case 'DATETIME - INTERVAL':
      return movedTime(operator, call);
    case 'INTERVAL + INTERVAL':
    case 'INTERVAL - INTERVAL':
      return strict(call, (one, other) =>
        intervalOf(call, combined(operator, wide(one!), wide(other!))),
      );
    case 'INTERVAL * INT64':
      return strict(call, (interval, factor) => {
        const by = `toInt128(${factor})`;
        return intervalOf(call, combined('*', wide(interval!), { months: by, days: by, us: by }));
      });
    case 'INTERVAL / INT64':
      return strict(call, (interval, divisor) => divided(call, interval!, divisor!));
    case 'DATE - DATE':
      return strict(call, (end, start) =>
        intervalOf(call, { months: '0', days: `${end} - ${start}`, us: '0' }),
      );
    case 'TIMESTAMP - TIMESTAMP':
    case 'TIME - TIME':
      return strict(call, (end, start) =>
        intervalOf(call, { months: '0', days: '0', us: `${end} - ${start}` }),
      );
    case 'DATETIME - DATETIME':
      return strict(call, (end, start) =>
        intervalOf(call, { months: '0', ...dividedUs(`toInt128(${end} - ${start})`) }),
      );
    default:
      return refuseTypes(call);
  }
}

/** Whether an INTERVAL stands before a time, or a number before an INTERVAL. */
function isAfter(left: string | undefined, right: string | undefined): boolean {
  if (left === 'INTERVAL') return right === 'TIMESTAMP' || right === 'DATETIME';
  if (left === 'INT64' && right === 'DATE') return true;
  return left === 'INT64' && right === 'INTERVAL';
}

function movedDay(operator: string, call: CallSql): string {
  return strict(call, (day, days) =>
    call.parts.once(`toInt128(${day}) ${operator} toInt128(${days})`, (moved) => {
      const isBad = `NOT ${moved} BETWEEN ${DAY_MIN} AND ${DAY_MAX}`;
      return checked(call, `toInt64(${moved})`, isBad, 'date out of range');
    }),
  );
}

/** Months first, at most to the last day of the month; then days, then time. A TIMESTAMP takes no months. */
function movedTime(operator: string, call: CallSql): string {
  const { parts } = call;
  return strict(call, (us, interval) => {
    const amounts = wide(interval!);
    const rest = `${amounts.days} * ${US_PER_DAY} + ${amounts.us}`;
    const after = (start: string) =>
      parts.once(`toInt128(${start}) ${operator} (${rest})`, (moved) => {
        return `if(${moved} BETWEEN ${TIME_US_MIN} AND ${TIME_US_MAX}, toInt64(${moved}), NULL)`;
      });
    if (call.types[0]!.kind === 'TIMESTAMP') {
      const message = 'a TIMESTAMP takes INTERVALs of DAY and shorter parts';
      return checked(call, orError(call, after(us!)), `${amounts.months} != 0`, message);
    }
    const months = `${operator === '-' ? '-' : ''}${amounts.months}`;
    const day = addMonths(dayOf(us!, parts), months, parts);
    const shifted = `if(${amounts.months} = 0, ${us}, ${day} * ${US_PER_DAY} + ${modulo(us!, US_PER_DAY)})`;
    return orError(call, parts.once(shifted, after));
  });
}

/** What is left of months is divided as days, and what is left of days as time. */
function divided(call: CallSql, interval: string, divisor: string): string {
  const { parts } = call;
  const { months, days, us } = wide(interval);
  return parts.once(`toInt128(if(${divisor} = 0, 1, ${divisor}))`, (by) =>
    parts.once(`${days} + ${months} % ${by} * 30`, (allDays) => {
      const value = intervalOf(call, {
        months: `intDiv(${months}, ${by})`,
        days: `intDiv(${allDays}, ${by})`,
        us: `intDiv(${us} + ${allDays} % ${by} * ${US_PER_DAY}, ${by})`,
      });
      return checked(call, value, `${divisor} = 0`, 'division by zero: INTERVAL / 0');
    }),
  );
}

/** Buckets are counted from here when no origin is given: the midnight of 1 January 1950. */
const ORIGIN_DAY = -7305;

/** The start of the bucket that a time lies in. */
function bucket(call: CallSql): string {
  const { parts } = call;
  const { kind } = call.types[0]!;
  const ofTime = (value: string) => (kind === 'DATE' ? `(${value} * ${US_PER_DAY})` : value);
  return strict(call, (time, width, origin) => {
    const start = origin === undefined ? `toInt64(${ORIGIN_DAY * US_PER_DAY})` : ofTime(origin);
    const { months, days, us } = amountsOf(width!);
    const isForeign = { TIMESTAMP: `${months} != 0`, DATE: `${us} != 0` }[kind as string] ?? '0';
    const isBad = `${isForeign} OR (${months} != 0) = (${days} != 0 OR ${us} != 0) OR ${totalUs(amountsOf(width!))} <= 0`;
    const size = `toInt128(${totalUs(amountsOf(width!))})`;
    const fixed = parts.once(`toInt128(${ofTime(time!)}) - ${start}`, (distance) => {
      const rest = `(${distance} % ${size} + ${size}) % ${size}`;
      return `${start} + ${distance} - ${rest}`;
    });
    const value = parts.once(ofTime(time!), (at) =>
      parts.once(
        `if(${months} > 0, ${monthBucket(at, months, start, call)}, ${fixed})`,
        (begin) => {
          const known = `if(${begin} BETWEEN ${TIME_US_MIN} AND ${TIME_US_MAX}, toInt64(${begin}), NULL)`;
          const found = orError({ ...call, type: { kind: 'TIMESTAMP' } }, known);
          return kind === 'DATE' ? dayOf(found, parts) : found;
        },
      ),
    );
    return checked(
      call,
      value,
      isBad,
      `${call.name.toUpperCase()} takes a positive INTERVAL of one kind of parts`,
    );
  });
}

/** Each begins so many months after the origin, on its day or the month's last. */
function monthBucket(us: string, months: string, origin: string, call: CallSql): string {
  const { parts } = call;
  const indexOf = (time: string) =>
    civilDate(dayOf(time, parts), parts, ({ year, month }) => `toInt64(${year} * 12 + ${month})`);
  const at = (count: string) =>
    `${addMonths(dayOf(origin, parts), count, parts)} * ${US_PER_DAY} + ${modulo(origin, US_PER_DAY)}`;
  return parts.once(`${indexOf(us)} - ${indexOf(origin)}`, (elapsed) => {
    const size = `greatest(${months}, 1)`;
    return parts.once(`${elapsed} - positiveModulo(${elapsed}, ${size})`, (count) =>
      parts.once(at(count), (start) => {
        return `toInt128(if(${start} <= ${us}, ${start}, ${at(`${count} - ${months}`)}))`;
      }),
    );
  });
}

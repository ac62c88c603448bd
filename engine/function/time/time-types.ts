import { DATE, DATETIME, type SqlType, TIME, TIMESTAMP } from '../../column/type.ts';
import type { Int64 } from '../number/int64.ts';
import { dayOfUs, midnightUs, US_PER_DAY } from './calendar.ts';

/** A type of times as what is computed with: microseconds, whatever the type counts. */
export type TimeType = {
  readonly type: SqlType;
  readonly toUs: (value: Int64) => Int64;
  readonly ofUs: (us: Int64) => Int64;
};

const asItIs = (us: Int64): Int64 => us;

export const OF_TIMESTAMP: TimeType = { type: TIMESTAMP, toUs: asItIs, ofUs: asItIs };
export const OF_DATETIME: TimeType = { type: DATETIME, toUs: asItIs, ofUs: asItIs };
/** A DATE is its midnight. */
export const OF_DATE: TimeType = {
  type: DATE,
  toUs: (day) => midnightUs(Number(day)),
  ofUs: dayOfUs,
};
/** A TIME is on the first of January 1970; beyond midnight it begins anew. */
export const OF_TIME: TimeType = {
  type: TIME,
  toUs: asItIs,
  ofUs: (us) => {
    const rest = Number(BigInt(us) % BigInt(US_PER_DAY));
    return rest < 0 ? rest + US_PER_DAY : rest;
  },
};

import { DATE, INT64, STRING } from '../../column/type.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import { canonicalInteger } from '../number/int64.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { checkedDay } from './calendar.ts';
import { truncateKernel } from './time-kernels.ts';
import type { TimePart } from './time-part.ts';
import {
  ADDABLE_PARTS,
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
  truncateUs,
  wholePartsBetween,
} from './time-part.ts';
import type { TimeType } from './time-types.ts';
import { OF_DATE, OF_DATETIME, OF_TIME, OF_TIMESTAMP } from './time-types.ts';
import type { TimeZone } from './time-zone.ts';
import { instantUs, localUs, zoneNamed } from './time-zone.ts';

/** Each function takes the types that follow its name's, too; a text is read as the first. */
const FAMILIES: readonly { readonly name: string; readonly types: readonly TimeType[] }[] = [
  { name: 'date', types: [OF_DATE, OF_DATETIME, OF_TIMESTAMP] },
  { name: 'datetime', types: [OF_DATETIME, OF_TIMESTAMP] },
  { name: 'timestamp', types: [OF_TIMESTAMP, OF_DATETIME] },
  { name: 'time', types: [OF_TIME] },
];

export const timeShiftFunctions: readonly ScalarFunction[] = [
  ...FAMILIES.flatMap(({ name, types }) => [
    scalarFunction(`${name}_trunc`, ...types.map((type) => truncation(name, type))),
    scalarFunction(`${name}_add`, ...types.map((type) => shift(`${name}_add`, type, 1n))),
    scalarFunction(`${name}_sub`, ...types.map((type) => shift(`${name}_sub`, type, -1n))),
    scalarFunction(`${name}_diff`, ...types.map((type) => difference(name, type))),
  ]),
  scalarFunction('last_day', lastDay(OF_DATE), lastDay(OF_DATETIME)),
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
    evaluate: typed((value: Int64, amount: Int64, part: string) => {
      const signed = sign === 1n ? amount : canonicalInteger(-BigInt(amount));
      return ofUs(addParts(toUs(value), signed, findPart(part)));
    }),
  };
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

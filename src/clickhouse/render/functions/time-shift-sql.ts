import { refuse } from '../refusal.ts';
import {
  addMonths,
  DAY_MAX,
  DAY_MIN,
  dayOf,
  floorDivide,
  modulo,
  TIME_US_MAX,
  TIME_US_MIN,
  US_PER_DAY,
} from '../time-sql.ts';
import { instantUs, localUs } from '../zone-sql.ts';
import { type CallSql, checked, type FunctionSql, strict } from './function-sql.ts';
import { inZone, isDate, LENGTHS_MONTHS, LENGTHS_US, orError, partOf } from './time-argument.ts';
import { isBeforeYears, lastDayOf, partIndex, truncatedDay, truncatedUs } from './time-part-sql.ts';

/** Times cut down to a part, moved by one, and compared in one. */
export const timeShiftSql: Readonly<Record<string, FunctionSql>> = {
  ...Object.fromEntries(
    ['date', 'datetime', 'timestamp', 'time'].flatMap((family) => [
      [`${family}_trunc`, truncate],
      [`${family}_add`, shift('+')],
      [`${family}_sub`, shift('-')],
      [`${family}_diff`, difference],
    ]),
  ),
  last_day: (call) => {
    const part = call.arguments.length === 1 ? 'MONTH' : partOf(call, 1);
    return strict(call, (value) => {
      const day = isDate(call.types) ? value! : dayOf(value!, call.parts);
      return call.parts.once(lastDayOf(day, part, call), (last) =>
        checked(call, last, `${last} > ${DAY_MAX}`, 'date out of range'),
      );
    });
  },
};

function truncate(call: CallSql): string {
  const part = partOf(call, 1);
  const { parts } = call;
  if (isDate(call.types)) {
    return strict(call, (value) =>
      parts.once(truncatedDay(value!, part, call), (day) =>
        checked(call, day, isBeforeYears(day), 'time out of range'),
      ),
    );
  }
  return inZone(call, 2, (zone, us) => {
    if (zone.isUtc) {
      const start = truncatedUs(us!, part, call);
      // The years begin with a day.
      return LENGTHS_US.has(part) ? start : orError(call, start);
    }
    return parts.once(orError(call, localUs(us!, zone, call)), (local) => {
      const start = truncatedUs(local, part, call);
      // A part shorter than a day begins where clocks show it, whatever their offset then.
      const isShort = part !== 'DAY' && LENGTHS_US.has(part);
      if (isShort) return `(${us} - (${local} - ${start}))`;
      return orError(call, instantUs(start, zone, call));
    });
  });
}

function shift(sign: '+' | '-'): FunctionSql {
  return (call) => {
    const part = partOf(call, 2);
    const months = LENGTHS_MONTHS.get(part);
    const factor = sign === '-' ? -1 : 1;
    const { kind } = call.types[0]!;
    const { parts } = call;
    return strict(call, (value, amount) => {
      if (months !== undefined) {
        const count = `toInt128(${amount}) * ${factor * months}`;
        const moved = addMonths(kind === 'DATE' ? value! : dayOf(value!, parts), count, parts);
        if (kind === 'DATE') return orError(call, moved);
        return orError(call, `${moved} * ${US_PER_DAY} + ${modulo(value!, US_PER_DAY)}`);
      }
      const lengthUs = part === 'WEEK' ? 7 * US_PER_DAY : LENGTHS_US.get(part);
      if (lengthUs === undefined) return refuse(`${call.name.toUpperCase()} by ${part}`, call.span);
      const [length, least, greatest] =
        kind === 'DATE'
          ? [lengthUs / US_PER_DAY, DAY_MIN, DAY_MAX]
          : [lengthUs, TIME_US_MIN, TIME_US_MAX];
      return parts.once(`toInt128(${value}) + toInt128(${amount}) * ${factor * length}`, (sum) => {
        const isBad = `${sum} < ${least} OR ${sum} > ${greatest}`;
        // A time of the day begins anew behind midnight.
        const moved = kind === 'TIME' ? modulo(sum, US_PER_DAY) : `toInt64(${sum})`;
        return checked(call, moved, isBad, 'time out of range');
      });
    });
  };
}

/** Of TIMESTAMPs whole parts, without the fraction; of others how many starts of a part lie between them. */
function difference(call: CallSql): string {
  const part = partOf(call, 2);
  const lengthUs = LENGTHS_US.get(part);
  const { parts } = call;
  const { kind } = call.types[0]!;
  return strict(call, (end, start) => {
    if (kind === 'TIMESTAMP') {
      if (lengthUs === undefined) return refuse(`a difference in ${part}`, call.span);
      return `intDiv(${end} - ${start}, ${lengthUs})`;
    }
    if (kind !== 'DATE' && lengthUs !== undefined) {
      return `(${floorDivide(end!, lengthUs, parts)} - ${floorDivide(start!, lengthUs, parts)})`;
    }
    const [last, first] = [end!, start!].map((value) =>
      partIndex(kind === 'DATE' ? value : dayOf(value, parts), part, call),
    );
    return `toInt64(${last} - ${first})`;
  });
}

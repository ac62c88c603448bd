import { UTC } from '../../../../engine/columns.ts';
import {
  formatCivilTime,
  formatTime,
  MONTHS,
  tokensOf,
  WEEKDAYS,
} from '../../../../engine/index.ts';
import { amountsOf } from '../interval-sql.ts';
import { refuse } from '../refusal.ts';
import { nullOf } from '../sql-type.ts';
import { dayOf, floorDivide, padded, US_PER_DAY } from '../time-sql.ts';
import { inYears, localUs, wholeMinutes, type ZoneSql } from '../zone-sql.ts';
import {
  type CallSql,
  constantOf,
  type FunctionSql,
  failing,
  orFailure,
  refuseTypes,
  strict,
} from './function-sql.ts';
import { inZone, orError, partOf } from './time-argument.ts';
import { clockPart, dayPart } from './time-part-sql.ts';

/** Times as texts and as numbers. */
export const timeFormatSql: Readonly<Record<string, FunctionSql>> = {
  format_timestamp: format,
  format_datetime: format,
  format_date: format,
  format_time: format,
  extract,
};

/** What clocks show, in microseconds, the instant itself, and the offset between them. */
type Moment = { readonly local: string; readonly instant: string; readonly offset: string };

function format(call: CallSql): string {
  const constant = constantOf(call, 0);
  if (constant === null) return nullOf(call.type);
  const text = String(constant);
  const kind = call.types[1]!.kind;
  if (kind !== 'TIMESTAMP' && kind !== 'DATETIME' && kind !== 'DATE' && kind !== 'TIME') {
    return refuseTypes(call);
  }
  // An element that the type does not have is an error for each row.
  const sample = orFailure(() =>
    kind === 'TIMESTAMP' ? formatTime(text, 0, UTC) : formatCivilTime(text, 0, kind),
  );
  if (typeof sample !== 'string') return failing(call, sample);
  return inZone(call, 2, (zone, _, time) => {
    const instant = kind === 'DATE' ? `(${time} * ${US_PER_DAY})` : time!;
    return call.parts.once(instant, (us) => formatted(call, text, us, zone));
  });
}

function formatted(call: CallSql, text: string, instant: string, zone: ZoneSql): string {
  const { parts } = call;
  const written = (moment: Moment) => {
    const texts = tokensOf(text).map((token) =>
      'text' in token ? parts.text(token.text) : elementText(token.element, moment, call),
    );
    return texts.length === 0 ? "''" : `concat(${[...texts, "''"].join(', ')})`;
  };
  if (zone.isUtc) return written({ local: instant, instant, offset: 'toInt64(0)' });
  return parts.once(wholeMinutes(zone.offset(instant, call)), (offset) => {
    const shown = parts.once(`${instant} + ${offset}`, inYears);
    return parts.once(orError({ ...call, type: { kind: 'TIMESTAMP' } }, shown), (local) =>
      written({ local, instant, offset }),
    );
  });
}

const DAY_PARTS: ReadonlyMap<string, readonly [part: string, width: number]> = new Map([
  ['Y', ['YEAR', 1]],
  ['E4Y', ['YEAR', 4]],
  ['G', ['ISOYEAR', 1]],
  ['U', ['WEEK', 2]],
  ['W', ['WEEK(MONDAY)', 2]],
  ['V', ['ISOWEEK', 2]],
  ['m', ['MONTH', 2]],
  ['d', ['DAY', 2]],
  ['j', ['DAYOFYEAR', 3]],
  ['Q', ['QUARTER', 1]],
]);

const CLOCK_PARTS: ReadonlyMap<string, string> = new Map([
  ['H', 'HOUR'],
  ['M', 'MINUTE'],
  ['S', 'SECOND'],
]);

function elementText(element: string, moment: Moment, call: CallSql): string {
  const { local, instant, offset } = moment;
  const { parts } = call;
  const ofDay = (part: string) => dayPart(dayOf(local, parts), part, call);
  const clock = (part: string) => clockPart(local, part)!;
  const spaced = (value: string) => `leftPad(toString(${value}), 2, ' ')`;
  const half = `((${clock('HOUR')} + 11) % 12 + 1)`;
  const named = (names: readonly string[], index: string) =>
    `[${names.map((name) => `'${name}'`).join(', ')}][${index}]`;
  const [dayElement, clockElement] = [DAY_PARTS.get(element), CLOCK_PARTS.get(element)];
  if (dayElement !== undefined) return padded(ofDay(dayElement[0]), dayElement[1]);
  if (clockElement !== undefined) return padded(clock(clockElement), 2);
  switch (element) {
    case 'y':
      return `right(${padded(ofDay('YEAR'), 4)}, 2)`;
    case 'C':
      return `left(${padded(ofDay('YEAR'), 4)}, 2)`;
    case 'g':
      return `right(${padded(ofDay('ISOYEAR'), 4)}, 2)`;
    case 'u':
      return `toString((${ofDay('DAYOFWEEK')} + 5) % 7 + 1)`;
    case 'w':
      return `toString(${ofDay('DAYOFWEEK')} - 1)`;
    case 'e':
      return spaced(ofDay('DAY'));
    case 'k':
      return spaced(clock('HOUR'));
    case 'I':
      return padded(half, 2);
    case 'l':
      return spaced(half);
    case 'p':
      return `if(${clock('HOUR')} < 12, 'AM', 'PM')`;
    case 'P':
      return `if(${clock('HOUR')} < 12, 'am', 'pm')`;
    case 'B':
      return named(MONTHS, ofDay('MONTH'));
    case 'b':
    case 'h':
      return named(MONTHS.map(shortName), ofDay('MONTH'));
    case 'A':
      return named(WEEKDAYS, ofDay('DAYOFWEEK'));
    case 'a':
      return named(WEEKDAYS.map(shortName), ofDay('DAYOFWEEK'));
    case 's':
      return `toString(${floorDivide(instant, 1_000_000, parts)})`;
    case 'z':
      return offsetText(offset, '');
    case 'Ez':
      return offsetText(offset, ':');
    case 'Z':
      return zoneName(offset);
    case 'n':
      return parts.text('\n');
    case 't':
      return parts.text('\t');
    default:
      return secondsText(element, local, call);
  }
}

function shortName(name: string): string {
  return name.slice(0, 3);
}

/** `%E3S`, and `%E*S` without zeros at the end. */
function secondsText(element: string, local: string, call: CallSql): string {
  const digits = /^E([*0-6])S$/.exec(element)?.[1];
  if (digits === undefined) return refuse(`the element %${element} of a time format`, call.span);
  const second = padded(clockPart(local, 'SECOND')!, 2);
  const fraction = padded(clockPart(local, 'MICROSECOND')!, 6);
  if (digits === '0') return second;
  const shown =
    digits === '*' ? `replaceRegexpOne(${fraction}, '0+$', '')` : `left(${fraction}, ${digits})`;
  return call.parts.once(shown, (rest) => `concat(${second}, if(${rest} = '', '', '.'), ${rest})`);
}

function offsetText(offset: string, separator: string): string {
  const minutes = `intDiv(abs(${offset}), 60000000)`;
  const [hour, minute] = [`intDiv(${minutes}, 60)`, `${minutes} % 60`].map((part) =>
    padded(part, 2),
  );
  return `concat(if(${offset} < 0, '-', '+'), ${hour}, '${separator}', ${minute})`;
}

/** `UTC`, `UTC+1`, `UTC-0330`. */
function zoneName(offset: string): string {
  const hours = `concat(if(${offset} < 0, '-', '+'), toString(intDiv(abs(${offset}), 3600000000)))`;
  const shown = `if(${offset} % 3600000000 = 0, ${hours}, ${offsetText(offset, '')})`;
  return `if(${offset} = 0, 'UTC', concat('UTC', ${shown}))`;
}

function extract(call: CallSql): string {
  const part = partOf(call, 0);
  const { kind } = call.types[1]!;
  const { parts } = call;
  if (kind === 'INTERVAL')
    return strict(call, (_, interval) => intervalPart(interval!, part, call));
  return inZone(call, 2, (zone, _, value) => {
    switch (kind) {
      case 'DATE':
        return dayPart(value!, part, call);
      case 'TIME':
        return clockPart(value!, part) ?? refuse(`EXTRACT of ${part}`, call.span);
      case 'TIMESTAMP':
      case 'DATETIME': {
        const local = zone.isUtc ? value! : orError(call, localUs(value!, zone, call));
        return clockPart(local, part) ?? dayPart(dayOf(local, parts), part, call);
      }
      default:
        return refuse(`EXTRACT from ${kind}`, call.span);
    }
  });
}

/** Each amount taken apart, with its sign. */
function intervalPart(interval: string, part: string, call: CallSql): string {
  const { months, days, us } = amountsOf(interval);
  switch (part) {
    case 'YEAR':
      return `intDiv(${months}, 12)`;
    case 'MONTH':
      return `toInt64(${months} % 12)`;
    case 'DAY':
      return days;
    case 'HOUR':
      return `intDiv(${us}, 3600000000)`;
    case 'MINUTE':
      return `toInt64(intDiv(${us}, 60000000) % 60)`;
    case 'SECOND':
      return `toInt64(intDiv(${us}, 1000000) % 60)`;
    case 'MILLISECOND':
      return `toInt64(intDiv(${us}, 1000) % 1000)`;
    case 'MICROSECOND':
      return `toInt64(${us} % 1000000)`;
    default:
      return refuse(`EXTRACT of ${part} from an INTERVAL`, call.span);
  }
}

import { type Span, UTC_NAMES } from '../../../engine/columns.ts';
import { UNSUPPORTED } from './refusal.ts';
import type { StatementParts } from './statement-parts.ts';
import { dayNumber, daysInMonth, US_PER_DAY } from './time-sql.ts';
import { instantUs, inYears, UTC_ZONE, type ZoneSql } from './zone-sql.ts';

/** Texts that are read as times: a value, or NULL for a text that is none, and for NULL. */
type Context = { readonly parts: StatementParts; readonly span: Span | undefined };

/** Year, month, day, hour, minute, second, fraction, and four forms of a zone: `TIME_TEXT` of the engine. */
const TIME_TEXT =
  '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})' +
  '(?:[ Tt](?:([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\\.([0-9]{1,6}))?' +
  '(?:([Zz])|([+-][0-9:]{1,5})| ([A-Za-z][A-Za-z0-9_+:/-]{1,63}))?' +
  '|([+-][0-9:]{1,5})))?$';

const DATE_TEXT = '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})$';
const CLOCK_TEXT = '^([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\\.([0-9]{1,6}))?$';

/** The groups of a pattern as a list; an empty one where it does not match. */
function groupsOf(
  text: string,
  pattern: string,
  parts: StatementParts,
  body: (group: (index: number) => string) => string,
): string {
  return parts.once(`extractGroups(ifNull(${text}, ''), ${parts.text(pattern)})`, (groups) => {
    return `if(empty(${groups}), NULL, ${body((index) => `${groups}[${index}]`)})`;
  });
}

export function number(digits: string): string {
  return `toInt64OrZero(${digits})`;
}

/** The digits of a fraction of a second. */
export function microseconds(digits: string): string {
  return number(`rightPad(substring(${digits}, 1, 6), 6, '0')`);
}

export type Clock = Readonly<Record<'hour' | 'minute' | 'second' | 'microsecond', string>>;

/** Second 60, a leap second, is the next one, whatever fraction of it has passed. */
export function clockUs({ hour, minute, second, microsecond }: Clock): string {
  return `(${hour} * 3600000000 + ${minute} * 60000000 + ${second} * 1000000 + if(${second} = 60, 0, ${microsecond}))`;
}

export function isClock({ hour, minute, second }: Clock): string {
  return `${hour} <= 23 AND ${minute} <= 59 AND ${second} <= 60`;
}

/** The day number; NULL for what is no day of the years 0001 to 9999. */
export function knownDay(
  { year, month, day }: Readonly<Record<'year' | 'month' | 'day', string>>,
  parts: StatementParts,
): string {
  return parts.once(year, (theYear) =>
    parts.once(month, (theMonth) =>
      parts.once(day, (theDay) => {
        const isMonth = `${theYear} BETWEEN 1 AND 9999 AND ${theMonth} BETWEEN 1 AND 12`;
        const isDay = `${isMonth} AND ${theDay} BETWEEN 1 AND ${daysInMonth(theYear, `if(${theMonth} BETWEEN 1 AND 12, ${theMonth}, 1)`)}`;
        const date = { year: theYear, month: theMonth, day: theDay };
        return `if(${isDay}, ${dayNumber(date, parts)}, NULL)`;
      }),
    ),
  );
}

type Group = (index: number) => string;

function dateOf(group: Group, parts: StatementParts): string {
  return knownDay(
    { year: number(group(1)), month: number(group(2)), day: number(group(3)) },
    parts,
  );
}

function clockOf(group: Group, first: number): Clock {
  const [hour, minute, second, fraction] = [0, 1, 2, 3].map((index) => group(first + index));
  return {
    hour: number(hour!),
    minute: number(minute!),
    second: number(second!),
    microsecond: microseconds(fraction!),
  };
}

export function dateOfText(text: string, { parts }: Context): string {
  return groupsOf(text, DATE_TEXT, parts, (group) => dateOf(group, parts));
}

export function timeOfDayOfText(text: string, { parts }: Context): string {
  return groupsOf(text, CLOCK_TEXT, parts, (group) => {
    const clock = clockOf(group, 1);
    return `if(${isClock(clock)}, ${clockUs(clock)} % ${US_PER_DAY}, NULL)`;
  });
}

function civilUs(group: Group, parts: StatementParts): string {
  const clock = clockOf(group, 4);
  const us = `${dateOf(group, parts)} * ${US_PER_DAY} + ${clockUs(clock)}`;
  return parts.once(`if(${isClock(clock)}, ${us}, NULL)`, inYears);
}

function zoneNameOf(group: Group): string {
  return `concat(${[8, 9, 10, 11].map(group).join(', ')})`;
}

/** A text with a zone is none. */
export function datetimeOfText(text: string, { parts }: Context): string {
  return groupsOf(text, TIME_TEXT, parts, (group) => {
    return `if(${zoneNameOf(group)} = '', ${civilUs(group, parts)}, NULL)`;
  });
}

/** A text without a zone is in `zone`, or in UTC; one with its own is none if `zone` is given. */
export function timestampOfText(text: string, context: Context, zone?: ZoneSql): string {
  const { parts } = context;
  return groupsOf(text, TIME_TEXT, parts, (group) => {
    const local = civilUs(group, parts);
    const plain = instantUs(local, zone ?? UTC_ZONE, context);
    const own = parts.once(`${local} - ${zoneOffset(zoneNameOf(group), context)}`, inYears);
    return `if(${zoneNameOf(group)} = '', ${plain}, ${zone === undefined ? own : 'NULL'})`;
  });
}

const OFFSET = '^(?:UTC)?([+-])(?:([0-9]{2})([0-9]{2})|([0-9]{1,2})(?::([0-9]{1,2}))?)$';
const PLACE = '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$';

/**
 * Microseconds that a zone is ahead of UTC, by a name that stands in a text: UTC, or an offset. NULL for what is none;
 * places are refused as they are met.
 */
export function zoneOffset(name: string, { parts, span }: Context): string {
  return parts.once(name, (zone) => {
    const names = [...UTC_NAMES].map((each) => parts.text(each));
    const isUtc = `lower(${zone}) IN (${names.join(', ')})`;
    const offset = groupsOf(zone, OFFSET, parts, (group) => {
      // Only one of the two forms has digits.
      const hours = `(${number(group(2))} + ${number(group(4))})`;
      const minutes = `(${number(group(3))} + ${number(group(5))})`;
      const ahead = `(${hours} * 60 + ${minutes})`;
      const isKnown = `${minutes} <= 59 AND ${ahead} <= ${OFFSET_MINUTES_MAX}`;
      return `if(${isKnown}, if(${group(1)} = '-', -1, 1) * ${ahead} * 60000000, NULL)`;
    });
    const isPlace = `NOT ${isUtc} AND match(${zone}, '${PLACE}') AND NOT match(${zone}, ${parts.text(OFFSET)})`;
    const message = `${UNSUPPORTED} the name of a place in a text as a time zone`;
    const raised = parts.raise(isPlace, { code: 'query_failed', message, span });
    return `multiIf(${raised} = 1, NULL, ${isUtc}, toInt64(0), ${offset})`;
  });
}

const OFFSET_MINUTES_MAX = 14 * 60;

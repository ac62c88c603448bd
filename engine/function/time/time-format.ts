import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import { addInt64, floorDivide } from '../number/int64.ts';
import { checkedTimestampUs, dayOfWeek, splitUs, US_PER_HOUR, US_PER_SECOND } from './calendar.ts';
import type { TimePart, TimeUnit } from './time-part.ts';
import { extractPart } from './time-part.ts';
import type { TimeZone } from './time-zone.ts';
import { UTC } from './time-zone.ts';
import { wholeMinutesUs } from './timestamp-text.ts';

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];

/** Elements that stand for several others. */
const COMPOUND: ReadonlyMap<string, string> = new Map([
  ['F', '%Y-%m-%d'],
  ['T', '%H:%M:%S'],
  ['R', '%H:%M'],
  ['D', '%m/%d/%y'],
  ['r', '%I:%M:%S %p'],
  ['c', '%a %b %e %H:%M:%S %Y'],
  ['x', '%m/%d/%y'],
  ['X', '%H:%M:%S'],
]);

/** `%Y`, `%E*S`, `%E3S`, `%Ez`: the element's name; other text is itself. */
export type Token = { readonly element: string } | { readonly text: string };

/** `%W` counts weeks from the first Monday on. */
const MONDAY_WEEK: TimePart = { name: 'WEEK(MONDAY)', unit: 'WEEK', weekStart: 1 };

let latest: { readonly format: string; readonly tokens: readonly Token[] } | undefined;

export function tokensOf(format: string): readonly Token[] {
  // Row after row asks for the same format.
  if (latest?.format === format) return latest.tokens;
  const expanded = format.replace(
    /%(?:E(?=[cxX]))?([%FTRDrcxX])/g,
    (whole, name: string) => COMPOUND.get(name) ?? whole,
  );
  const tokens = (
    expanded.match(/%(?:E\*S|E[0-6]S|Ez|E4Y|E[CyY]|O[deHImMSUuVwWy]|.)?|[^%]+/gs) ?? []
  ).map((piece): Token => {
    if (piece === '%%') return { text: '%' };
    if (!piece.startsWith('%')) return { text: piece };
    // As in POSIX's own locale, where E and O make no difference.
    return { element: piece.slice(/^%(?:E[CyY]|O.)$/.test(piece) ? 2 : 1) };
  });
  latest = { format, tokens };
  return tokens;
}

/** `known`: the elements, besides compound ones, that would have been understood. */
export function badElement(element: string, known: Iterable<string>): QueryError {
  const allowed = [...COMPOUND.keys(), ...known, '%'].map((name) => `%${name}`);
  return new QueryError(
    'query_failed',
    `time format takes the elements ${allowed.join(' ')}; got ${JSON.stringify(`%${element}`)}`,
  );
}

/** A moment as a formatter sees it. */
type Moment = { readonly localUs: Int64; readonly instantUs: Int64; readonly offsetUs: number };

type Formatter = (moment: Moment) => string;

const FORMATTERS: ReadonlyMap<string, Formatter> = new Map<string, Formatter>([
  ['Y', ({ localUs }) => field(localUs, 'YEAR', 1)],
  ['E4Y', ({ localUs }) => field(localUs, 'YEAR', 4)],
  ['y', ({ localUs }) => field(localUs, 'YEAR', 4).slice(-2)],
  ['C', ({ localUs }) => field(localUs, 'YEAR', 4).slice(0, 2)],
  ['G', ({ localUs }) => field(localUs, 'ISOYEAR', 1)],
  ['g', ({ localUs }) => field(localUs, 'ISOYEAR', 4).slice(-2)],
  ['U', ({ localUs }) => field(localUs, 'WEEK', 2)],
  ['W', ({ localUs }) => pad(extractPart(localUs, MONDAY_WEEK), 2)],
  ['V', ({ localUs }) => field(localUs, 'ISOWEEK', 2)],
  ['u', ({ localUs }) => String(((fieldOf(localUs, 'DAYOFWEEK') + 5) % 7) + 1)],
  ['w', ({ localUs }) => String(fieldOf(localUs, 'DAYOFWEEK') - 1)],
  ['m', ({ localUs }) => field(localUs, 'MONTH', 2)],
  ['d', ({ localUs }) => field(localUs, 'DAY', 2)],
  ['e', ({ localUs }) => field(localUs, 'DAY', 1).padStart(2, ' ')],
  ['j', ({ localUs }) => field(localUs, 'DAYOFYEAR', 3)],
  ['Q', ({ localUs }) => field(localUs, 'QUARTER', 1)],
  ['H', ({ localUs }) => field(localUs, 'HOUR', 2)],
  ['k', ({ localUs }) => field(localUs, 'HOUR', 1).padStart(2, ' ')],
  ['I', ({ localUs }) => pad(hourOfHalfDay(localUs), 2)],
  ['l', ({ localUs }) => String(hourOfHalfDay(localUs)).padStart(2, ' ')],
  ['p', ({ localUs }) => (fieldOf(localUs, 'HOUR') < 12 ? 'AM' : 'PM')],
  ['P', ({ localUs }) => (fieldOf(localUs, 'HOUR') < 12 ? 'am' : 'pm')],
  ['M', ({ localUs }) => field(localUs, 'MINUTE', 2)],
  ['S', ({ localUs }) => field(localUs, 'SECOND', 2)],
  ['B', ({ localUs }) => monthName(localUs)],
  ['b', ({ localUs }) => monthName(localUs).slice(0, 3)],
  ['h', ({ localUs }) => monthName(localUs).slice(0, 3)],
  ['A', ({ localUs }) => weekdayName(localUs)],
  ['a', ({ localUs }) => weekdayName(localUs).slice(0, 3)],
  ['s', ({ instantUs }) => `${floorDivide(BigInt(instantUs), BigInt(US_PER_SECOND))}`],
  ['z', ({ offsetUs }) => offsetText(offsetUs, '')],
  ['Ez', ({ offsetUs }) => offsetText(offsetUs, ':')],
  ['Z', ({ offsetUs }) => zoneName(offsetUs)],
  ['n', () => '\n'],
  ['t', () => '\t'],
]);

/** 12, 1 to 11, and so again after noon. */
function hourOfHalfDay(local: Int64): number {
  return ((fieldOf(local, 'HOUR') + 11) % 12) + 1;
}

/** `UTC`, `UTC+1`, `UTC-0330`. */
function zoneName(offsetUs: number): string {
  if (offsetUs === 0) return 'UTC';
  const hours = offsetUs / US_PER_HOUR;
  if (!Number.isInteger(hours)) return `UTC${offsetText(offsetUs, '')}`;
  return `UTC${hours < 0 ? '-' : '+'}${Math.abs(hours)}`;
}

export type CivilKind = 'DATETIME' | 'DATE' | 'TIME';

const ZONE_ELEMENTS = /^(?:z|Ez|Z)$/;
const CLOCK_ELEMENTS = /^(?:[HkIlpPMSs]|E[*0-6]S)$/;
const BLANK_ELEMENTS = /^[nt]$/;

/** Elements of what a type does not have. */
function isForeign(element: string, kind: CivilKind): boolean {
  if (ZONE_ELEMENTS.test(element)) return true;
  if (kind === 'DATETIME' || BLANK_ELEMENTS.test(element)) return false;
  if (element === 's') return true;
  return CLOCK_ELEMENTS.test(element) === (kind === 'DATE');
}

/**
 * Throws for a format with an element that the type has not: no zone in a DATETIME, no hour in a
 * DATE, no year in a TIME. `known`: the elements that there are.
 */
export function checkCivilElements(format: string, kind: CivilKind, known: Iterable<string>): void {
  for (const token of tokensOf(format)) {
    if ('text' in token || !isForeign(token.element, kind)) continue;
    throw badElement(
      token.element,
      [...known].filter((name) => !isForeign(name, kind)),
    );
  }
}

/** FORMAT_DATETIME, FORMAT_DATE and FORMAT_TIME. Throws for an element that it does not know. */
export function formatCivilTime(format: string, us: Int64, kind: CivilKind): string {
  checkCivilElements(format, kind, [...FORMATTERS.keys(), 'E*S', 'E6S']);
  return formatTime(format, us, UTC);
}

/** FORMAT_TIMESTAMP. Throws for an element that it does not know. */
export function formatTime(format: string, us: Int64, zone: TimeZone): string {
  const offsetUs = wholeMinutesUs(zone.offsetUs(us));
  const moment = {
    localUs: checkedTimestampUs(addInt64(us, offsetUs)),
    instantUs: us,
    offsetUs,
  };
  let text = '';
  for (const token of tokensOf(format)) {
    text += 'text' in token ? token.text : formatElement(token.element, moment);
  }
  return text;
}

function formatElement(element: string, moment: Moment): string {
  const formatter = FORMATTERS.get(element);
  if (formatter !== undefined) return formatter(moment);
  const digits = /^E([*0-6])S$/.exec(element)?.[1];
  if (digits === undefined) throw badElement(element, [...FORMATTERS.keys(), 'E*S', 'E6S']);
  const second = field(moment.localUs, 'SECOND', 2);
  const fraction = field(moment.localUs, 'MICROSECOND', 6);
  const shown = digits === '*' ? fraction.replace(/0+$/, '') : fraction.slice(0, Number(digits));
  return shown === '' ? second : `${second}.${shown}`;
}

function fieldOf(local: Int64, unit: TimeUnit): number {
  return extractPart(local, { name: unit, unit, weekStart: 0 });
}

function field(local: Int64, unit: TimeUnit, width: number): string {
  return pad(fieldOf(local, unit), width);
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

function monthName(local: Int64): string {
  return MONTHS[fieldOf(local, 'MONTH') - 1] as string;
}

function weekdayName(local: Int64): string {
  return WEEKDAYS[dayOfWeek(splitUs(local).dayNumber)] as string;
}

function offsetText(offsetUs: number, separator: string): string {
  const minutes = Math.floor(Math.abs(offsetUs) / (60 * US_PER_SECOND));
  const sign = offsetUs < 0 ? '-' : '+';
  return `${sign}${pad(Math.floor(minutes / 60), 2)}${separator}${pad(minutes % 60, 2)}`;
}

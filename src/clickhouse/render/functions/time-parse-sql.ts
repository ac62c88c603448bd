import { QueryError } from '../../../../engine/columns.ts';
import {
  checkCivilElements,
  MONTHS,
  type Token,
  tokensOf,
  WEEKDAYS,
} from '../../../../engine/index.ts';
import { nullOf } from '../sql-type.ts';
import type { StatementParts } from '../statement-parts.ts';
import {
  DAY_MAX,
  DAY_MIN,
  dayOf,
  dayOfWeek,
  isLeapYear,
  modulo,
  startOfIsoYear,
  startOfYear,
  US_PER_DAY,
} from '../time-sql.ts';
import {
  type Clock,
  clockUs,
  isClock,
  knownDay,
  microseconds,
  number,
  zoneOffset,
} from '../time-text-sql.ts';
import { instantUs, inYears, type ZoneSql } from '../zone-sql.ts';
import { type CallSql, constantOf, type FunctionSql, failing, orFailure } from './function-sql.ts';
import { inZone, orError } from './time-argument.ts';

/** Texts that are read by a format that is a constant. */
export const timeParseSql: Readonly<Record<string, FunctionSql>> = {
  parse_timestamp: parsing('TIMESTAMP'),
  parse_datetime: parsing('DATETIME'),
  parse_date: parsing('DATE'),
  parse_time: parsing('TIME'),
};

type Kind = 'TIMESTAMP' | 'DATETIME' | 'DATE' | 'TIME';

/** What the format's elements say, as SQL: which of them count is known from their order. */
type Reading = {
  year?: string | undefined;
  yearOfCentury?: string;
  century?: string;
  month: string;
  day: string;
  dayOfYear: string | undefined;
  week: { readonly number: string; readonly start: 0 | 1 } | undefined;
  weekday?: string;
  isoYear: string | undefined;
  isoWeek?: string;
  isoDayOfYear?: string;
  hour: string;
  minute: string;
  second: string;
  microsecond: string;
  isAfternoon?: string;
  isHalfDay: boolean;
  epochSecond?: string;
  zone?: string;
  /** Conditions under which the text is none. */
  readonly bad: string[];
};

type Reader = {
  readonly pattern: string;
  readonly read: (text: string, reading: Reading, call: CallSql) => void;
};

const TWO_DIGITS = '[0-9]{1,2}';
const HALF_DAY_HOUR = ' ?(?:1[0-2]|0?[1-9])';
const NAME = '[A-Za-z]{3,9}';
const SPACES = '[\\x00-\\x20]*';

/** By the readers of the engine: `time-parse.ts`. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['Y', field('[0-9]{1,4}', 'year')],
  ['E4Y', field('[0-9]{4}', 'year')],
  ['y', reader(TWO_DIGITS, readYearOfCentury)],
  ['C', reader('[0-9]{2}', readCentury)],
  ['Q', reader('[1-4]', (text, reading) => readMonth(`(${number(text)} * 3 - 2)`, reading))],
  ['m', reader(TWO_DIGITS, (text, reading) => readMonth(number(text), reading))],
  ['d', reader(TWO_DIGITS, readDay)],
  ['e', reader(' ?[0-9]{1,2}', readDay)],
  ['j', reader('[0-9]{1,3}', readDayOfYear)],
  ['U', reader(TWO_DIGITS, (text, reading) => readWeek(text, 0, reading))],
  ['W', reader(TWO_DIGITS, (text, reading) => readWeek(text, 1, reading))],
  ['G', field('[0-9]{1,4}', 'isoYear')],
  ['g', reader(TWO_DIGITS, readShortIsoYear)],
  ['V', field('5[0-3]|[1-4][0-9]|0?[1-9]', 'isoWeek')],
  ['J', field('[0-9]{1,3}', 'isoDayOfYear')],
  ['u', reader('[1-7]', readWeekday)],
  ['w', field('[0-6]', 'weekday')],
  ['H', reader(TWO_DIGITS, readHour)],
  ['k', reader(' ?[0-9]{1,2}', readHour)],
  ['I', reader(HALF_DAY_HOUR, readHalfDayHour)],
  ['l', reader(HALF_DAY_HOUR, readHalfDayHour)],
  ['p', reader('[AaPp][Mm]', readHalfDay)],
  ['P', reader('[AaPp][Mm]', readHalfDay)],
  ['M', field(TWO_DIGITS, 'minute')],
  ['S', field(TWO_DIGITS, 'second')],
  ['E0S', field(TWO_DIGITS, 'second')],
  ['E*S', reader('[0-9]{1,2}(?:\\.[0-9]{1,100})?', readSeconds)],
  ...[1, 2, 3, 4, 5, 6].map((digits): [string, Reader] => [
    `E${digits}S`,
    reader(`[0-9]{1,2}(?:\\.[0-9]{1,${digits}})?`, readSeconds),
  ]),
  ...['B', 'b', 'h'].map((name): [string, Reader] => [
    name,
    reader(NAME, (text, reading) => readMonth(placeOf(text, MONTHS), reading)),
  ]),
  ...['A', 'a'].map((name): [string, Reader] => [name, reader(NAME, readWeekdayName)]),
  ['s', field('-?[0-9]{1,15}', 'epochSecond')],
  ['z', reader('[+-][0-9]{2}(?:[0-9]{2})?', readZone)],
  ['Ez', reader('[zZ]|[+-][0-9]{2}(?::?[0-9]{2})?', readZone)],
  ['Z', reader('[A-Za-z+-][A-Za-z0-9_+/:-]{0,63}', readZone)],
  ['n', reader(SPACES, () => {})],
  ['t', reader(SPACES, () => {})],
]);

function reader(pattern: string, read: Reader['read']): Reader {
  return { pattern, read };
}

/** An element that is a number, kept as it is. */
function field(
  pattern: string,
  name:
    | 'year'
    | 'isoYear'
    | 'isoWeek'
    | 'isoDayOfYear'
    | 'weekday'
    | 'minute'
    | 'second'
    | 'epochSecond',
): Reader {
  return reader(pattern, (text, reading) => {
    reading[name] = number(text);
  });
}

function readShortIsoYear(text: string, reading: Reading): void {
  reading.isoYear = fullYear(number(text));
}

/** Monday is 1, Sunday 7. */
function readWeekday(text: string, reading: Reading): void {
  reading.weekday = `(${number(text)} % 7)`;
}

function digitsOf(text: string): string {
  return number(`replaceAll(${text}, ' ', '')`);
}

function forgetOtherDays(reading: Reading): void {
  reading.dayOfYear = undefined;
  reading.week = undefined;
  reading.isoYear = undefined;
}

function readYearOfCentury(text: string, reading: Reading): void {
  reading.year = undefined;
  reading.yearOfCentury = number(text);
}

function readCentury(text: string, reading: Reading): void {
  reading.year = undefined;
  reading.century = number(text);
}

function readMonth(month: string, reading: Reading): void {
  forgetOtherDays(reading);
  reading.month = month;
}

function readDay(text: string, reading: Reading): void {
  forgetOtherDays(reading);
  reading.day = digitsOf(text);
}

function readDayOfYear(text: string, reading: Reading): void {
  forgetOtherDays(reading);
  reading.dayOfYear = number(text);
}

function readWeek(text: string, start: 0 | 1, reading: Reading): void {
  forgetOtherDays(reading);
  reading.week = { number: number(text), start };
  reading.bad.push(`${number(text)} > 53`);
}

/** The place of a name in full, or of its first three letters, in any case, from 1; 0 for none. */
function placeOf(text: string, names: readonly string[]): string {
  const list = (all: readonly string[]) => all.map((name) => `'${name.toLowerCase()}'`).join(', ');
  const short = names.map((name) => name.slice(0, 3));
  const place = (all: readonly string[]) => `toInt64(indexOf([${list(all)}], lower(${text})))`;
  return `greatest(${place(names)}, ${place(short)})`;
}

function readWeekdayName(text: string, reading: Reading): void {
  reading.weekday = `(${placeOf(text, WEEKDAYS)} - 1)`;
  reading.bad.push(`${reading.weekday} < 0`);
}

function readHour(text: string, reading: Reading): void {
  reading.hour = digitsOf(text);
  reading.isHalfDay = false;
}

function readHalfDayHour(text: string, reading: Reading): void {
  reading.hour = `(${digitsOf(text)} % 12)`;
  reading.isHalfDay = true;
}

function readHalfDay(text: string, reading: Reading): void {
  reading.isAfternoon = `(lower(${text}) = 'pm')`;
}

function readSeconds(text: string, reading: Reading): void {
  reading.second = number(`substring(${text}, 1, position(concat(${text}, '.'), '.') - 1)`);
  reading.microsecond = microseconds(`substring(${text}, position(concat(${text}, '.'), '.') + 1)`);
}

function readZone(text: string, reading: Reading, call: CallSql): void {
  reading.zone = zoneOffset(text, call);
}

function fullYear(year: string): string {
  return `if(${year} < 69, 2000 + ${year}, 1900 + ${year})`;
}

function parsing(kind: Kind): FunctionSql {
  return (call) => {
    const constant = constantOf(call, 0);
    if (constant === null) return nullOf(call.type);
    const tokens = tokensOf(String(constant));
    const wrong = wrongElement(String(constant), tokens, kind);
    if (wrong !== undefined) return failing(call, wrong);
    return inZone(call, 2, (zone, _, text) => {
      const us = parsedUs(call, { tokens, text: text!, zone });
      const message = `a time must be written as ${JSON.stringify(constant)} says`;
      const time = orError({ ...call, type: { kind: 'TIMESTAMP' } }, us, message);
      if (kind === 'DATE') return dayOf(time, call.parts);
      return kind === 'TIME' ? modulo(time, US_PER_DAY) : time;
    });
  };
}

/** An element that there is none of, or that the type does not have. */
function wrongElement(
  format: string,
  tokens: readonly Token[],
  kind: Kind,
): QueryError | undefined {
  const unknown = tokens.find((token) => 'element' in token && !READERS.has(token.element));
  if (unknown !== undefined) {
    return new QueryError(
      'query_failed',
      `time format ${JSON.stringify(format)} has an unknown element`,
    );
  }
  if (kind === 'TIMESTAMP') return undefined;
  const failure = orFailure(() => checkCivilElements(format, kind, READERS.keys()));
  return failure instanceof QueryError ? failure : undefined;
}

/** A piece of the format: its pattern is matched where the piece before ends. */
type Piece = { readonly pattern: string; readonly reader?: Reader };

/**
 * The engine reads one piece after the other, each as long as it can be. One pattern of all pieces finds the same pieces
 * where each is what its own pattern finds first in the rest of the text.
 */
function parsedUs(
  call: CallSql,
  of: { readonly tokens: readonly Token[]; readonly text: string; readonly zone: ZoneSql },
): string {
  const { parts } = call;
  const pieces = [{ pattern: SPACES }, ...of.tokens.flatMap(piecesOf), { pattern: SPACES }];
  const whole = `^${pieces.map(({ pattern }) => `(${pattern})`).join('')}$`;
  return parts.once(`extractGroups(${of.text}, ${parts.text(whole)})`, (groups) => {
    const group = (index: number) => `${groups}[${index + 1}]`;
    const reading = emptyReading();
    for (const [index, piece] of pieces.entries()) {
      if (piece.reader === undefined) continue;
      piece.reader.read(group(index), reading, call);
      if (isFirstOf(piece, pieces[index + 1]!)) continue;
      const rest = `arrayStringConcat(arraySlice(${groups}, ${index + 1}))`;
      reading.bad.push(`extract(${rest}, ${parts.text(ownPattern(piece))}) != ${group(index)}`);
    }
    const us = usOfReading(reading, of.zone, call);
    const isBad = [`empty(${groups})`, ...reading.bad].join(' OR ');
    return `if(${isBad}, NULL, ${us})`;
  });
}

function piecesOf(token: Token): readonly Piece[] {
  if ('element' in token) {
    const found = READERS.get(token.element)!;
    return [{ pattern: found.pattern, reader: found }];
  }
  // White space stands for any amount of it.
  return (token.text.match(/\s|\S+/g) ?? []).map((text) => ({
    pattern: /\s/.test(text) ? SPACES : quoted(text),
  }));
}

function quoted(text: string): string {
  return Array.from(text, (character) =>
    /^\w$/.test(character) ? character : `\\x{${character.codePointAt(0)!.toString(16)}}`,
  ).join('');
}

/** Signs that no element has: behind a piece they show that it could not be longer. */
const PARTING = /^\\x\{(?:2e|2c|22|27|28|29|5b|5d|23|26|2a|40|3b|7c)\}/;
const PARTING_OF_DIGITS = /^(?:[A-Za-z_]|\\x\{)/;

/** Whether the whole pattern finds no other piece than the piece's own pattern finds. */
function isFirstOf({ reader }: Piece, next: Piece): boolean {
  if (next.reader !== undefined || next.pattern === SPACES) return false;
  const isOfDigits = /^\[0-9\]\{[\d,]+\}$/.test(reader!.pattern);
  return isOfDigits ? PARTING_OF_DIGITS.test(next.pattern) : PARTING.test(next.pattern);
}

/** What the piece finds by itself at the start of a text. */
function ownPattern({ pattern }: Piece): string {
  return `^(${pattern})${pattern === HALF_DAY_HOUR ? '(?:[^0-9]|$)' : ''}`;
}

function emptyReading(): Reading {
  return {
    ...{ month: '1', day: '1', dayOfYear: undefined, week: undefined, isoYear: undefined },
    ...{ hour: '0', minute: '0', second: '0', microsecond: '0', isHalfDay: false, bad: [] },
  };
}

function usOfReading(reading: Reading, zone: ZoneSql, call: CallSql): string {
  const { parts } = call;
  const own = reading.zone;
  if (reading.epochSecond !== undefined) {
    const us = parts.once(`${reading.epochSecond} * 1000000`, inYears);
    return own === undefined ? us : `if(isNull(${own}), NULL, ${us})`;
  }
  const { minute, second, microsecond } = reading;
  const isLater = reading.isHalfDay ? reading.isAfternoon : undefined;
  const hour = isLater === undefined ? reading.hour : `(${reading.hour} + if(${isLater}, 12, 0))`;
  const clock: Clock = { hour, minute, second, microsecond };
  const civil = `if(${isClock(clock)}, ${dayOfReading(reading, parts)} * ${US_PER_DAY} + ${clockUs(clock)}, NULL)`;
  return parts.once(parts.once(civil, inYears), (local) =>
    own === undefined ? instantUs(local, zone, call) : parts.once(`${local} - ${own}`, inYears),
  );
}

/** The day number; NULL for a day that is none. By the rules of `dateOfReading` of the engine. */
function dayOfReading(reading: Reading, parts: StatementParts): string {
  const year = yearOfReading(reading);
  if (year === undefined) return isoDay(reading, parts);
  const { dayOfYear, week, month, day } = reading;
  if (dayOfYear !== undefined) return dayInYear(year, `${dayOfYear} - 1`, parts);
  if (week !== undefined) return dayOfWeekIn(year, week, reading.weekday, parts);
  return knownDay({ year, month, day }, parts);
}

function yearOfReading({ year, yearOfCentury, century, isoYear }: Reading): string | undefined {
  if (year !== undefined) return year;
  if (century !== undefined) return `(${century} * 100 + ${yearOfCentury ?? 0})`;
  if (yearOfCentury !== undefined) return fullYear(yearOfCentury);
  return isoYear === undefined ? '1970' : undefined;
}

function dayInYear(year: string, index: string, parts: StatementParts): string {
  return parts.once(year, (theYear) =>
    parts.once(index, (at) => {
      const isYear = `${theYear} BETWEEN 1 AND 9999`;
      const isDay = `${at} >= 0 AND ${at} < if(${isLeapYear(theYear)}, 366, 365)`;
      return `if(${isYear} AND ${isDay}, ${startOfYear(theYear, parts)} + ${at}, NULL)`;
    }),
  );
}

/** The week's day, or its first one in the year. */
function dayOfWeekIn(
  year: string,
  { number: week, start }: { readonly number: string; readonly start: 0 | 1 },
  weekday: string | undefined,
  parts: StatementParts,
): string {
  return parts.once(year, (theYear) => {
    const firstStart = modulo(`${7 + start} - ${dayOfWeek(startOfYear(theYear, parts))}`, 7);
    return parts.once(`${firstStart} + (${week} - 1) * 7`, (first) => {
      if (weekday !== undefined) {
        return dayInYear(theYear, `${first} + ${modulo(`${weekday} - ${start} + 7`, 7)}`, parts);
      }
      const inside = dayInYear(theYear, `greatest(0, ${first})`, parts);
      return `if(${first} > -7, ${inside}, NULL)`;
    });
  });
}

function isoDay(reading: Reading, parts: StatementParts): string {
  const { isoYear, isoWeek = '1', isoDayOfYear, weekday = '1' } = reading;
  const ofWeek = `((${isoWeek} - 1) * 7 + (${weekday} + 6) % 7 + 1)`;
  return parts.once(isoYear!, (year) =>
    parts.once(isoDayOfYear ?? ofWeek, (index) =>
      parts.once(`${startOfIsoYear(year, parts)} + ${index} - 1`, (day) => {
        const next = parts.once(`${year} + 1`, (later) => startOfIsoYear(later, parts));
        const isInside = `${year} BETWEEN 1 AND 9999 AND ${index} >= 1 AND ${day} < ${next}`;
        return `if(${isInside} AND ${day} BETWEEN ${DAY_MIN} AND ${DAY_MAX}, ${day}, NULL)`;
      }),
    ),
  );
}

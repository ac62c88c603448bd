import { mustTimeZone, type Span, type TimeZone } from '../../../engine/columns.ts';
import { UNSUPPORTED } from './refusal.ts';
import type { StatementParts } from './statement-parts.ts';
import { floorDivide, TIME_US_MAX, TIME_US_MIN, US_PER_DAY } from './time-sql.ts';

/** A time zone that is a constant of the text. Its rules are those of the embedded engine, bound to the statement. */
export type ZoneSql = {
  readonly isUtc: boolean;
  /** Microseconds ahead of UTC at an instant that is a name. */
  readonly offset: (us: string, context: ZoneContext) => string;
};

export type ZoneContext = { readonly parts: StatementParts; readonly span: Span | undefined };

export const UTC_ZONE: ZoneSql = { isUtc: true, offset: () => 'toInt64(0)' };

/** @throws QueryError for what is no time zone. */
export function zoneSql(name: string): ZoneSql {
  const zone = mustTimeZone(name);
  if (zone.isUtc) return UTC_ZONE;
  const table = tableOf(name, zone);
  const [first] = table.offsets;
  if (table.columns.length === 0) {
    return { isUtc: false, offset: () => `toInt64(${first! * 1_000_000})` };
  }
  return { isUtc: false, offset: (us, context) => offsetAt(us, table, context) };
}

/** What clocks of the zone show at an instant; NULL beyond the years 0001 to 9999. */
export function localUs(us: string, zone: ZoneSql, context: ZoneContext): string {
  if (zone.isUtc) return us;
  const { parts } = context;
  return parts.once(us, (instant) =>
    parts.once(`${instant} + ${zone.offset(instant, context)}`, inYears),
  );
}

/** The instant at which clocks show a time, by the rules of `instantUs` of the engine; NULL beyond the years. */
export function instantUs(local: string, zone: ZoneSql, context: ZoneContext): string {
  if (zone.isUtc) return local;
  const { parts } = context;
  const offset = (us: string) => parts.once(us, (name) => zone.offset(name, context));
  return parts.once(local, (shown) =>
    parts.once(offset(`${shown} - ${US_PER_DAY}`), (before) =>
      parts.once(offset(`${shown} + ${US_PER_DAY}`), (after) => {
        const [first, second] = [`(${shown} - ${before})`, `(${shown} - ${after})`];
        const isFirst = `${offset(first)} = ${before} OR ${offset(second)} != ${after}`;
        return parts.once(`if(${isFirst}, ${first}, ${second})`, inYears);
      }),
    ),
  );
}

/** The time, or NULL beyond the years 0001 to 9999. */
export function inYears(us: string): string {
  return `if(${us} BETWEEN ${TIME_US_MIN} AND ${TIME_US_MAX}, ${us}, NULL)`;
}

/** An offset without its seconds. */
export function wholeMinutes(offset: string): string {
  return `(${offset} - ${offset} % 60000000)`;
}

/** The years whose rules are bound, in seconds. Before them the offset is the first. */
const START = Date.UTC(1800, 0, 1) / 1000;
const END = Date.UTC(2100, 0, 1) / 1000;

/** A year of the calendar on average, in seconds: 146,097 days of 400 years. */
const YEAR = 31_556_952;
const YEAR_COUNT = Math.ceil((END - START) / YEAR);

/** No zone changed its clocks and changed them back within so many seconds: Africa/Freetown did in four days, in 1939. */
const STEP = 3 * 86_400;

/** A second that never comes. */
const NEVER = 400_000_000_000;

type Change = { readonly second: number; readonly offset: number };

/** Of each year the offset at its start, and the changes in it: second and offset, in columns. */
type ZoneTable = {
  readonly offsets: readonly number[];
  readonly columns: readonly {
    readonly seconds: readonly number[];
    readonly offsets: readonly number[];
  }[];
  /** Whether clocks change to the end of the table, and on. */
  readonly isOpen: boolean;
};

/** Tables kept, by the name of the zone: 36,500 texts of offsets are made for one. */
const TABLES_MAX = 64;
const tables = new Map<string, ZoneTable>();

function tableOf(name: string, zone: TimeZone): ZoneTable {
  const known = tables.get(name);
  if (known !== undefined) return known;
  if (tables.size >= TABLES_MAX) tables.clear();
  const table = makeTable(name, zone);
  tables.set(name, table);
  return table;
}

function makeTable(name: string, zone: TimeZone): ZoneTable {
  const changes = isPlace(name) ? changesOf(name, zone) : [];
  const ofYears = Array.from({ length: YEAR_COUNT }, (_, year) =>
    changes.filter(({ second }) => Math.floor((second - START) / YEAR) === year),
  );
  const offsets = Array.from({ length: YEAR_COUNT }, (_, year) =>
    offsetSeconds(zone, START + year * YEAR),
  );
  const columnCount = Math.max(...ofYears.map(({ length }) => length));
  const columns = Array.from({ length: columnCount }, (_, column) => ({
    seconds: ofYears.map((year) => year[column]?.second ?? NEVER),
    offsets: ofYears.map((year) => year[column]?.offset ?? 0),
  }));
  return { offsets, columns, isOpen: (changes.at(-1)?.second ?? START) > END - 2 * YEAR };
}

/** Whether a zone is a place, whose clocks may change. Others are UTC and offsets from it. */
function isPlace(name: string): boolean {
  return !/^(?:UTC)?[+-]/.test(name);
}

function changesOf(name: string, zone: TimeZone): readonly Change[] {
  // The text of an offset is asked for: the engine, which reads it, takes four times as long.
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  const offsetText = (second: number) => {
    const text = format.format(second * 1000);
    return text.slice(text.indexOf('GMT'));
  };
  const changes: Change[] = [];
  let known = offsetText(START);
  let second = START;
  while (second < END) {
    if (offsetText(second + STEP) === known) {
      second += STEP;
      continue;
    }
    // The change lies behind `before`, and at or before `after`.
    let [before, after] = [second, second + STEP];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetText(middle) === known) before = middle;
      else after = middle;
    }
    known = offsetText(after);
    changes.push({ second: after, offset: offsetSeconds(zone, after) });
    second = after;
  }
  return changes;
}

function offsetSeconds(zone: TimeZone, second: number): number {
  return zone.offsetUs(second * 1_000_000) / 1_000_000;
}

function offsetAt(us: string, table: ZoneTable, { parts, span }: ZoneContext): string {
  const all = [
    table.offsets,
    ...table.columns.flatMap(({ seconds, offsets }) => [seconds, offsets]),
  ];
  const bound = `JSONExtract(${parts.text(JSON.stringify(all))}, 'Array(Array(Int64))')`;
  return parts.once(floorDivide(us, 1_000_000, parts), (second) => {
    const year = floorDivide(`${second} - (${START})`, YEAR, parts);
    const offset = parts.once(`greatest(least(${year}, ${YEAR_COUNT - 1}), 0) + 1`, (row) => {
      const changed = table.columns
        .map((_, column) => 2 * column + 2)
        .toReversed()
        .map(
          (column) => `${second} >= ${bound}[${column}][${row}], ${bound}[${column + 1}][${row}]`,
        );
      return `(multiIf(${changed.join(', ')}, ${bound}[1][${row}]) * 1000000)`;
    });
    if (!table.isOpen) return offset;
    const message = `${UNSUPPORTED} times of a zone beyond the year 2099`;
    const raised = parts.raise(`${second} >= ${END}`, { code: 'query_failed', message, span });
    return `if(${raised} = 0, ${offset}, 0)`;
  });
}

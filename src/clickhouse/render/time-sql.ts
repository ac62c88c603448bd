import type { StatementParts } from './statement-parts.ts';

/** Times are microseconds, and days are numbers of days since the epoch: `engine/function/time/calendar.ts`. */
export const US_PER_DAY = 86_400_000_000;

/** 0001-01-01 and 9999-12-31 23:59:59.999999 UTC. */
export const TIME_US_MIN = '-62135596800000000';
export const TIME_US_MAX = '253402300799999999';

/** The day number of a time. */
export function dayOf(us: string, parts: StatementParts): string {
  return floorDivide(us, US_PER_DAY, parts);
}

/** The remainder of floor division. Beside an unsigned divisor ClickHouse takes the number for unsigned, too. */
export function modulo(value: string, divisor: number): string {
  return `toInt64(positiveModulo(toInt64(${value}), toInt64(${divisor})))`;
}

/** Floor division of integers: ClickHouse's own is toward zero. */
export function floorDivide(value: string, divisor: number, parts: StatementParts): string {
  return parts.once(
    value,
    (number) => `intDiv(${number} - ${modulo(number, divisor)}, toInt64(${divisor}))`,
  );
}

type Civil = { readonly year: string; readonly month: string; readonly day: string };

/**
 * Year, month and day of a day number, handed to `body` as names. The days are counted from 1 March of year 0, so that
 * leap days end years, in cycles of 400 years: "chrono-Compatible Low-Level Date Algorithms" by H. Hinnant. Days of
 * the years 0001 to 9999 are positive there.
 */
export function civilDate(
  dayNumber: string,
  parts: StatementParts,
  body: (date: Civil) => string,
): string {
  return parts.once(`${dayNumber} + 719468`, (days) =>
    parts.once(`${days} % 146097`, (ofEra) =>
      parts.once(
        `intDiv(${ofEra} - intDiv(${ofEra}, 1460) + intDiv(${ofEra}, 36524) - intDiv(${ofEra}, 146096), 365)`,
        (yearOfEra) =>
          parts.once(
            `${ofEra} - (365 * ${yearOfEra} + intDiv(${yearOfEra}, 4) - intDiv(${yearOfEra}, 100))`,
            (ofYear) =>
              parts.once(`intDiv(5 * ${ofYear} + 2, 153)`, (shiftedMonth) =>
                parts.once(
                  `if(${shiftedMonth} < 10, ${shiftedMonth} + 3, ${shiftedMonth} - 9)`,
                  (month) =>
                    body({
                      year: `(${yearOfEra} + intDiv(${days}, 146097) * 400 + (${month} <= 2))`,
                      month,
                      day: `(${ofYear} - intDiv(153 * ${shiftedMonth} + 2, 5) + 1)`,
                    }),
                ),
              ),
          ),
      ),
    ),
  );
}

/** The day number of a day of the years 0001 to 9999. */
export function dayNumber({ year, month, day }: Civil, parts: StatementParts): string {
  return parts.once(`${year} - (${month} <= 2)`, (shiftedYear) => {
    const ofYear = `intDiv(153 * (${month} + if(${month} > 2, -3, 9)) + 2, 5) + ${day} - 1`;
    const leapDays = `intDiv(${shiftedYear}, 4) - intDiv(${shiftedYear}, 100) + intDiv(${shiftedYear}, 400)`;
    return `(${shiftedYear} * 365 + ${leapDays} + ${ofYear} - 719468)`;
  });
}

/** 0 is Sunday. */
export function dayOfWeek(dayNumber: string): string {
  return modulo(`${dayNumber} + 4`, 7);
}

/** `2026-01-15`. */
export function dateText(dayNumber: string, parts: StatementParts): string {
  return civilDate(dayNumber, parts, ({ year, month, day }) => {
    const fields = [padded(year, 4), padded(month, 2), padded(day, 2)];
    return `concat(${fields.join(", '-', ")})`;
  });
}

/** `11:55:00`, with 3 or 6 digits of a fraction if any. */
export function timeOfDayText(us: string, parts: StatementParts): string {
  return parts.once(modulo(us, US_PER_DAY), (ofDay) => {
    const part = (lengthUs: number, count: number) =>
      padded(`intDiv(${ofDay}, toInt64(${lengthUs})) % ${count}`, 2);
    const clock = [part(3_600_000_000, 24), part(60_000_000, 60), part(1_000_000, 60)].join(
      ", ':', ",
    );
    const micros = `${ofDay} % 1000000`;
    const fraction = `multiIf(${micros} = 0, '', ${micros} % 1000 = 0, concat('.', ${padded(`intDiv(${micros}, 1000)`, 3)}), concat('.', ${padded(micros, 6)}))`;
    return `concat(${clock}, ${fraction})`;
  });
}

/** `2026-01-15 11:55:00.123`. */
export function datetimeText(us: string, parts: StatementParts): string {
  return parts.once(us, (time) => {
    const [date, clock] = [dateText(dayOf(time, parts), parts), timeOfDayText(time, parts)];
    return `concat(${date}, ' ', ${clock})`;
  });
}

/** Digits with zeros before them; ClickHouse would cut longer ones. */
export function padded(value: string, width: number): string {
  if (width === 1) return `toString(${value})`;
  return `leftPad(toString(${value}), ${width}, '0')`;
}

/** The days 0001-01-01 and 9999-12-31. */
export const DAY_MIN = '-719162';
export const DAY_MAX = '2932896';

/** `month` from 1. */
export function daysInMonth(year: string, month: string): string {
  const length = `[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][toInt64(${month})]`;
  return `toInt64(if(${month} = 2 AND ${isLeapYear(year)}, 29, ${length}))`;
}

export function isLeapYear(year: string): string {
  return `(${year} % 4 = 0 AND (${year} % 100 != 0 OR ${year} % 400 = 0))`;
}

/** The day number of 1 January. */
export function startOfYear(year: string, parts: StatementParts): string {
  return dayNumber({ year, month: '1', day: '1' }, parts);
}

/** ISO 8601: a week belongs to the year of its Thursday. */
export function isoThursday(dayNumber: string): string {
  return `(${dayNumber} - ${modulo(`${dayNumber} + 3`, 7)} + 3)`;
}

export function isoYearOf(dayNumber: string, parts: StatementParts): string {
  return parts.once(dayNumber, (day) => civilDate(isoThursday(day), parts, ({ year }) => year));
}

/** The Monday of the week that 4 January lies in. */
export function startOfIsoYear(year: string, parts: StatementParts): string {
  return parts.once(`${startOfYear(year, parts)} + 3`, (fourth) => {
    return `(${fourth} - ${modulo(`${fourth} + 3`, 7)})`;
  });
}

/** A day so many months later, or the last of a month that has no such day; NULL beyond the years 0001 to 9999. */
export function addMonths(day: string, months: string, parts: StatementParts): string {
  return civilDate(day, parts, (date) =>
    parts.once(`toInt128(${date.year}) * 12 + ${date.month} - 1 + ${months}`, (index) =>
      parts.once(`toInt64(if(${index} BETWEEN 12 AND 119999, ${index}, 12))`, (known) =>
        parts.once(`intDiv(${known}, 12)`, (year) =>
          parts.once(`${known} % 12 + 1`, (month) => {
            const last = `least(${date.day}, ${daysInMonth(year, month)})`;
            const shifted = dayNumber({ year, month, day: last }, parts);
            return `if(${index} BETWEEN 12 AND 119999, ${shifted}, NULL)`;
          }),
        ),
      ),
    ),
  );
}

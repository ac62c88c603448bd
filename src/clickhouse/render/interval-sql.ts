import type { StatementParts } from './statement-parts.ts';
import { US_PER_DAY } from './time-sql.ts';

/** An INTERVAL that is no NULL is a tuple of months, days and microseconds. */
export type Amounts = Readonly<Record<'months' | 'days' | 'us', string>>;

export function amountsOf(interval: string): Amounts {
  return { months: `${interval}.1`, days: `${interval}.2`, us: `${interval}.3` };
}

/** Ten thousand years, in each of the three amounts. */
export const INTERVAL_BOUNDS = ['120000', '3660000', `${3_660_000n * BigInt(US_PER_DAY)}`] as const;

/** Months of 30 days, days of 24 hours: what comparisons go by. It fits 64 bits. */
export function totalUs({ months, days, us }: Amounts): string {
  return `((${months} * 30 + ${days}) * ${US_PER_DAY} + ${us})`;
}

/** An INTERVAL column's value as a number that compares as the INTERVAL does; NULL for NULL. `value` is a name. */
export function intervalKey(value: string): string {
  return `if(empty(${value}), NULL, ${totalUs(amountsOf(`${value}[1]`))})`;
}

/** The canonical text, `1-2 3 4:5:6.789`: `formatInterval` of the engine. `interval` is a name of a tuple. */
export function intervalText(interval: string, parts: StatementParts): string {
  const { months, days, us } = amountsOf(interval);
  const month = `abs(${months})`;
  const date = `if(${months} < 0, '-', ''), intDiv(${month}, 12), '-', ${month} % 12, ' ', ${days}, ' '`;
  return parts.once(`abs(${us})`, (time) => {
    const clock = `intDiv(${time}, 3600000000), ':', intDiv(${time}, 60000000) % 60, ':', intDiv(${time}, 1000000) % 60`;
    const micros = `${time} % 1000000`;
    const fraction = `multiIf(${micros} = 0, '', ${micros} % 1000 = 0, concat('.', leftPad(toString(intDiv(${micros}, 1000)), 3, '0')), concat('.', leftPad(toString(${micros}), 6, '0')))`;
    return `concat(${date}, if(${us} < 0, '-', ''), ${clock}, ${fraction})`;
  });
}

import type { Operation } from './operation.ts';
import { strict } from './operation-maker.ts';

const UNITS_US = {
  SECOND: 1_000_000n,
  MINUTE: 60_000_000n,
  HOUR: 3_600_000_000n,
  DAY: 86_400_000_000n,
} as const;

type Unit = keyof typeof UNITS_US;
const UNITS = Object.keys(UNITS_US) as readonly Unit[];

export function times(): readonly Operation[] {
  return [
    ...UNITS.map((unit) =>
      strict(`TIMESTAMP_TRUNC(?, ${unit})`, ['TIMESTAMP'], 'TIMESTAMP', (time: bigint) =>
        floorTo(time, UNITS_US[unit]),
      ),
    ),
    ...truncations(),
    ...(['HOUR', 'DAY'] as const).flatMap((unit) => [
      strict(
        `TIMESTAMP_ADD(?, INTERVAL ? ${unit})`,
        ['TIMESTAMP', 'INT64'],
        'TIMESTAMP',
        (time: bigint, count: bigint) => time + count * UNITS_US[unit],
      ),
      strict(
        `TIMESTAMP_SUB(?, INTERVAL ? ${unit})`,
        ['TIMESTAMP', 'INT64'],
        'TIMESTAMP',
        (time: bigint, count: bigint) => time - count * UNITS_US[unit],
      ),
      strict(
        `TIMESTAMP_DIFF(?, ?, ${unit})`,
        ['TIMESTAMP', 'TIMESTAMP'],
        'INT64',
        (end: bigint, start: bigint) => (end - start) / UNITS_US[unit],
      ),
      strict(
        `GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL 6 ${unit})`,
        ['TIMESTAMP', 'TIMESTAMP'],
        'TIMESTAMP[]',
        (start: bigint, end: bigint) => series(start, end, 6n * UNITS_US[unit]),
      ),
    ]),
    strict(
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL -1 DAY)',
      ['TIMESTAMP', 'TIMESTAMP'],
      'TIMESTAMP[]',
      (start: bigint, end: bigint) => series(start, end, -UNITS_US.DAY),
    ),
    ...extractions(),
    strict(
      'MOD(UNIX_SECONDS(?), 60)',
      ['TIMESTAMP'],
      'INT64',
      (time: bigint) => (floorTo(time, UNITS_US.SECOND) / UNITS_US.SECOND) % 60n,
    ),
    strict(
      'TIMESTAMP_SECONDS(?)',
      ['INT64'],
      'TIMESTAMP',
      (count: bigint) => count * UNITS_US.SECOND,
    ),
  ];
}

/** The calendar's own units, by way of `Date`; a week begins on Sunday. */
function truncations(): readonly Operation[] {
  const starts: Readonly<Record<string, (date: Date) => number>> = {
    WEEK: (date) => date.getTime() - date.getUTCDay() * 86_400_000,
    MONTH: (date) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
    YEAR: (date) => Date.UTC(date.getUTCFullYear(), 0),
  };
  return Object.entries(starts).map(([unit, start]) =>
    strict(
      `TIMESTAMP_TRUNC(?, ${unit})`,
      ['TIMESTAMP'],
      'TIMESTAMP',
      (time: bigint) => BigInt(start(dateOf(floorTo(time, UNITS_US.DAY)))) * 1000n,
    ),
  );
}

function extractions(): readonly Operation[] {
  const parts: Readonly<Record<string, (date: Date) => number>> = {
    YEAR: (date) => date.getUTCFullYear(),
    MONTH: (date) => date.getUTCMonth() + 1,
    DAY: (date) => date.getUTCDate(),
    DAYOFWEEK: (date) => date.getUTCDay() + 1,
    HOUR: (date) => date.getUTCHours(),
    MINUTE: (date) => date.getUTCMinutes(),
    SECOND: (date) => date.getUTCSeconds(),
  };
  return Object.entries(parts).map(([part, read]) =>
    strict(`EXTRACT(${part} FROM ?)`, ['TIMESTAMP'], 'INT64', (time: bigint) =>
      BigInt(read(dateOf(time))),
    ),
  );
}

function dateOf(time: bigint): Date {
  return new Date(Number(floorTo(time, 1000n) / 1000n));
}

function floorTo(time: bigint, unit: bigint): bigint {
  return time - (((time % unit) + unit) % unit);
}

function series(start: bigint, end: bigint, step: bigint): readonly bigint[] {
  const list: bigint[] = [];
  for (let time = start; step > 0n ? time <= end : time >= end; time += step) list.push(time);
  return list;
}

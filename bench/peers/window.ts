import { NOW_US } from '../workload/clock.ts';
import type { Question } from './question.ts';

/** Since when a query looks at events, and how wide its buckets are, all in microseconds. */
export type Window = {
  readonly startUs: number;
  readonly unit: Unit;
};

export type Unit = 'second' | 'minute' | 'hour' | 'day';

export const UNIT_US: Readonly<Record<Unit, number>> = {
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
  day: 86_400_000_000,
};

/** What `logs.all` looks back for the highest tier. */
const RETENTION_DAYS = 90;

export function logsStartUs(): number {
  return NOW_US - RETENTION_DAYS * UNIT_US.day;
}

/** The window of `functions.invocation-stats` begins with a whole bucket. */
export function statsWindow(
  interval: Extract<Question, { kind: 'invocation-stats' }>['interval'],
): Window {
  const [count, step, unit] = STATS_WINDOWS[interval];
  const startUs = NOW_US - count * UNIT_US[step];
  return { startUs: startUs - (startUs % UNIT_US[unit]), unit };
}

const STATS_WINDOWS = {
  '5min': [5, 'minute', 'second'],
  '15min': [15, 'minute', 'minute'],
  '1hr': [1, 'hour', 'minute'],
  '1day': [1, 'day', 'hour'],
  '7day': [7, 'day', 'day'],
} as const;

/** That of `usage.api-counts` begins anywhere. */
export function countsWindow(
  interval: Extract<Question, { kind: 'api-counts' }>['interval'],
): Window {
  switch (interval) {
    case 'minutely':
      return { startUs: NOW_US - UNIT_US.hour, unit: 'minute' };
    case 'hourly':
      return { startUs: NOW_US - UNIT_US.hour, unit: 'hour' };
    case 'daily':
      return { startUs: NOW_US - 7 * UNIT_US.day, unit: 'day' };
  }
}

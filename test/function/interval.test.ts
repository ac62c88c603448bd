import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Interval } from '../../engine/column/value.ts';
import { compareValues } from '../../engine/function/comparison.ts';
import {
  compareIntervals,
  formatInterval,
  intervalOf,
  justifyInterval,
  parseInterval,
  totalUs,
} from '../../engine/function/time/interval.ts';
import { formatDate, parseDatetime } from '../../engine/function/time/timestamp-text.ts';
import { call, callAs } from './call.ts';

const intervals = fc
  .tuple(
    fc.integer({ min: -120_000, max: 120_000 }),
    fc.integer({ min: -3_660_000, max: 3_660_000 }),
    fc.bigInt({ min: -316_224_000_000_000_000n, max: 316_224_000_000_000_000n }),
  )
  .map(([months, days, us]) => intervalOf({ months: BigInt(months), days: BigInt(days), us }));

test('an INTERVAL read from its text is the same', () => {
  fc.assert(
    fc.property(intervals, (interval) => {
      assert.deepEqual(parseInterval(formatInterval(interval)), interval);
    }),
  );
});

test('an INTERVAL is as long as the one of equal time with whole months and days', () => {
  const withinYears = intervals.filter((each) => {
    const total = totalUs(each);
    return total > -3_600_000n * 86_400_000_000n && total < 3_600_000n * 86_400_000_000n;
  });
  fc.assert(
    fc.property(withinYears, (interval) => {
      const justified = justifyInterval(interval);
      assert.equal(compareIntervals(interval, justified), 0);
      assert.equal(compareValues(interval, justified), 0);
      assert.ok(Math.abs(justified.days) < 30);
    }),
  );
});

test('a bucket holds the time, and begins a whole number of widths after the origin', () => {
  const time = fc.integer({ min: -1e15, max: 4e15 });
  const width = fc.integer({ min: 1, max: 1e12 });
  fc.assert(
    fc.property(time, width, time, (us, widthUs, originUs) => {
      const interval: Interval = { months: 0, days: 0, us: widthUs };
      const start = call('timestamp_bucket', us, interval, originUs) as number;
      assert.ok(start <= us && us - start < widthUs);
      assert.equal(Math.abs((start - originUs) % widthUs), 0);
    }),
  );
});

test('buckets of months keep the day of the origin, or the last of the month', () => {
  const months = (count: number): Interval => ({ months: count, days: 0, us: 0 });
  const bucketOf = (text: string, width: Interval, origin: string) =>
    formatDate(call('date_bucket', day(text), width, day(origin)) as number);
  assert.equal(bucketOf('2026-01-30', months(1), '2025-10-31'), '2025-12-31');
  assert.equal(bucketOf('2026-01-31', months(1), '2025-10-31'), '2026-01-31');
  assert.equal(bucketOf('2026-02-28', months(1), '2025-10-31'), '2026-02-28');
  assert.equal(bucketOf('2025-09-01', months(3), '2025-10-31'), '2025-07-31');
  assert.equal(formatDate(call('date_bucket', day('1949-12-29'), days(2)) as number), '1949-12-28');
});

test('a bucket wants a width of one kind', () => {
  const refused = (name: string, width: Interval) => () => call(name, 0, width);
  assert.throws(refused('timestamp_bucket', { months: 1, days: 0, us: 0 }), /of days and time/);
  assert.throws(refused('date_bucket', { months: 0, days: 0, us: 1 }), /of months, or of days;/);
  assert.throws(refused('datetime_bucket', { months: 1, days: 1, us: 0 }), /got 0-1 1 0:0:0/);
  assert.throws(refused('datetime_bucket', days(-1)), /takes a positive INTERVAL/);
  assert.throws(refused('datetime_bucket', days(0)), /takes a positive INTERVAL/);
});

test('weeks and days of ISO 8601 are read with their weekday', () => {
  const parse = (format: string, text: string) =>
    formatDate(callAs('parse_date', 'STRING,STRING', format, text) as number);
  assert.equal(parse('%U %Y %w', '2 2026 1'), '2026-01-12');
  assert.equal(parse('%W %Y %a', '2 2026 Tue'), '2026-01-13');
  assert.equal(parse('%G-W%V-%u', '2026-W03-2'), '2026-01-13');
  assert.equal(parse('%G-W%V', '2020-W53'), '2020-12-28');
  assert.throws(() => parse('%G-W%V', '2026-W54'), /must be written as/);
  assert.throws(() => parse('%G-W%V', '2025-W53'), /must be written as/);
});

function day(text: string): number {
  return Number(parseDatetime(text)) / 86_400_000_000;
}

function days(count: number): Interval {
  return { months: 0, days: count, us: 0 };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SqlValue } from '../../engine/column/value.ts';
import { canonicalInteger, type Int64 } from '../../engine/function/number/int64.ts';
import { TIMESTAMP_US_MAX, TIMESTAMP_US_MIN } from '../../engine/function/time/calendar.ts';
import { CALENDAR_PARTS } from '../../engine/function/time/time-part.ts';
import {
  datetimeIsoText,
  formatDatetime,
  formatTimestamp,
  parseDatetime,
  parseTimestamp,
} from '../../engine/function/time/timestamp-text.ts';
import { call, callAs } from './call.ts';

const at = parseTimestamp;
/** Times in and out as text, so that tables can be read. */
const shown = (us: SqlValue): string => formatTimestamp(us as Int64).replace('+00', '');

const anyTime = fc
  .oneof(
    fc.bigInt({ min: TIMESTAMP_US_MIN, max: TIMESTAMP_US_MAX }),
    fc.bigInt({ min: 1_700_000_000_000_000n, max: 1_800_000_000_000_000n }),
  )
  .map(canonicalInteger);

test('timestamps are read in the forms of GoogleSQL', () => {
  const noon = Date.UTC(2026, 0, 15, 12) * 1000;
  const table: readonly [string, number][] = [
    ['2026-01-15', noon - 43_200_000_000],
    ['2026-1-15 12:00:00', noon],
    ['2026-01-15T12:00:00Z', noon],
    ['2026-01-15t12:00:00.000z', noon],
    ['2026-01-15 13:00:00+01', noon],
    ['2026-01-15 13:00:00.000001+01:00', noon + 1],
    ['2026-01-15 11:30:00-0030', noon],
    ['2026-01-15 17:30:00 UTC+05:30', noon],
    ['2026-01-15 -12:00', noon],
    ['2026-01-15 12:00:00 UTC', noon],
    ['2026-01-15 07:00:00 America/New_York', noon],
    ['2026-01-15 12:00:00.5', noon + 500_000],
    ['2026-01-15 11:59:60', noon],
  ];
  for (const [text, us] of table) assert.equal(parseTimestamp(text), us, text);
});

test('other texts are no timestamps, and the error says what one looks like', () => {
  const wrong = [
    '',
    'yesterday',
    '2026-01-15 12:00',
    '2026-01-15 12:00:00.',
    '2026-01-15 12:00:00 +01',
    '2026-01-15 12:00:00 Z',
    '2026-01-15 12:00:00+14:01',
    '2026-01-15+01',
    '2026-01-15Z',
    '2026-01-15 Europe/Paris',
    '26-01-15',
    '2026-02-29',
    '2026-13-01',
    '0000-01-01',
    '2026-01-15 24:00:00',
    '2026-01-15 12:60:00',
    '2026-01-15 12:00:00.1234567',
    '2026-01-15 12:00:00 01:00',
    '2026-01-15 12:00:00+15:00',
    '2026-01-15 12:00:00 Nowhere/City',
    ' 2026-01-15',
    '1768478400',
  ];
  for (const text of wrong)
    assert.throws(() => parseTimestamp(text), { code: 'query_failed' }, text);
  assert.throws(
    () => parseTimestamp('soon'),
    /written like 2026-01-15T11:55:00.123456Z; got "soon"/,
  );
  assert.throws(() => parseDatetime('2026-01-15T00:00:00Z'), /DATETIME must be written like/);
});

test('a time prints with no, three or six digits of a fraction', () => {
  assert.equal(formatTimestamp(at('2026-01-15 11:55:00')), '2026-01-15 11:55:00+00');
  assert.equal(formatTimestamp(at('2026-01-15 11:55:00.12')), '2026-01-15 11:55:00.120+00');
  assert.equal(formatTimestamp(at('2026-01-15 11:55:00.00001')), '2026-01-15 11:55:00.000010+00');
  assert.equal(formatTimestamp(at('0001-01-01')), '0001-01-01 00:00:00+00');
  assert.equal(formatDatetime(at('2026-01-15 11:55:00.5')), '2026-01-15 11:55:00.500');
  assert.equal(datetimeIsoText(at('2026-01-15 11:55:00')), '2026-01-15T11:55:00');
});

test('a time that prints is read back as the same time', () => {
  fc.assert(
    fc.property(anyTime, (us) => {
      assert.ok(Object.is(parseTimestamp(formatTimestamp(us)), us));
      assert.ok(Object.is(parseDatetime(datetimeIsoText(us)), us));
    }),
  );
});

test('truncation gives the start of each part', () => {
  // A Thursday.
  const time = at('2026-01-15 11:55:42.123456');
  const table: readonly [string, string][] = [
    ['MICROSECOND', '2026-01-15 11:55:42.123456'],
    ['MILLISECOND', '2026-01-15 11:55:42.123'],
    ['SECOND', '2026-01-15 11:55:42'],
    ['MINUTE', '2026-01-15 11:55:00'],
    ['HOUR', '2026-01-15 11:00:00'],
    ['DAY', '2026-01-15 00:00:00'],
    ['WEEK', '2026-01-11 00:00:00'],
    ['WEEK(MONDAY)', '2026-01-12 00:00:00'],
    ['WEEK(THURSDAY)', '2026-01-15 00:00:00'],
    ['WEEK(FRIDAY)', '2026-01-09 00:00:00'],
    ['ISOWEEK', '2026-01-12 00:00:00'],
    ['MONTH', '2026-01-01 00:00:00'],
    ['QUARTER', '2026-01-01 00:00:00'],
    ['YEAR', '2026-01-01 00:00:00'],
    ['ISOYEAR', '2025-12-29 00:00:00'],
  ];
  for (const [part, start] of table) {
    assert.equal(shown(call('timestamp_trunc', time, part)), start, part);
    assert.equal(shown(call('datetime_trunc', time, part)), start, part);
  }
  assert.equal(shown(call('timestamp_trunc', at('2026-11-30'), 'QUARTER')), '2026-10-01 00:00:00');
  assert.equal(shown(call('timestamp_trunc', -1, 'SECOND')), '1969-12-31 23:59:59');
});

test('truncation in a zone starts days where its clocks do', () => {
  const time = at('2026-01-15 02:20:00');
  const trunc = (part: string, zone: string) => shown(call('timestamp_trunc', time, part, zone));
  assert.equal(trunc('DAY', '+05:30'), '2026-01-14 18:30:00');
  assert.equal(trunc('HOUR', '+05:30'), '2026-01-15 01:30:00');
  assert.equal(trunc('DAY', 'America/New_York'), '2026-01-14 05:00:00');
  assert.equal(trunc('DAY', 'UTC'), '2026-01-15 00:00:00');
  assert.throws(() => trunc('DAY', 'Mars'), /time zone must be UTC, an offset .* got "Mars"/);
});

test('truncation is idempotent and never later than the time', () => {
  fc.assert(
    fc.property(anyTime, fc.constantFrom(...CALENDAR_PARTS), (us, part) => {
      if (us < TIMESTAMP_US_MIN + 7n * 86_400_000_000n) return;
      const start = call('timestamp_trunc', us, part) as Int64;
      assert.ok(start <= us);
      assert.equal(call('timestamp_trunc', start, part), start);
      assert.equal(callAs('datetime_diff', 'DATETIME', us, start, part), 0);
      assert.equal(
        callAs('datetime_diff', 'DATETIME', start, canonicalInteger(BigInt(start) - 1n), part),
        1,
      );
    }),
    { numRuns: 1000 },
  );
});

test('weeks begin on Sunday and ISO weeks on Monday', () => {
  const table: readonly [string, string, number][] = [
    ['WEEK', '2026-01-03', 0],
    ['WEEK', '2026-01-04', 1],
    ['WEEK', '2026-12-31', 52],
    ['WEEK', '2023-01-01', 1],
    ['WEEK(MONDAY)', '2026-01-04', 0],
    ['WEEK(MONDAY)', '2026-01-05', 1],
    ['ISOWEEK', '2026-01-01', 1],
    ['ISOWEEK', '2025-12-28', 52],
    ['ISOWEEK', '2025-12-29', 1],
    ['ISOWEEK', '2027-01-01', 53],
    ['ISOYEAR', '2025-12-29', 2026],
    ['ISOYEAR', '2027-01-01', 2026],
    ['DAYOFWEEK', '2026-01-04', 1],
    ['DAYOFWEEK', '2026-01-03', 7],
    ['DAYOFYEAR', '2024-12-31', 366],
    ['QUARTER', '2026-04-01', 2],
    ['QUARTER', '2026-03-31', 1],
  ];
  for (const [part, text, wanted] of table) {
    assert.equal(callAs('extract', 'part,TIMESTAMP', part, at(text)), wanted, `${part} ${text}`);
  }
});

test('EXTRACT gives the fields of the clock, in a zone where one is named', () => {
  const time = at('2026-01-15 23:55:42.123456');
  const parts = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND'];
  const fields = parts.map((part) => call('extract', part, time));
  assert.deepEqual(fields, [2026, 1, 15, 23, 55, 42, 123, 123_456]);
  assert.equal(call('extract', 'DAY', time, '+01:00'), 16);
  assert.throws(
    () => call('extract', 'FORTNIGHT', time),
    /EXTRACT takes one of the parts .* got "FORTNIGHT"/,
  );
});

test('TIMESTAMP_ADD and _SUB shift by parts of one length', () => {
  const time = at('2026-01-15 12:00:00');
  assert.equal(shown(call('timestamp_add', time, 90, 'MINUTE')), '2026-01-15 13:30:00');
  assert.equal(shown(call('timestamp_sub', time, 7, 'DAY')), '2026-01-08 12:00:00');
  assert.throws(
    () => call('timestamp_add', time, 1, 'MONTH'),
    /TIMESTAMP_ADD takes one of the parts/,
  );
  assert.throws(() => call('timestamp_add', time, 2n ** 62n, 'DAY'), /time out of range/);
  assert.throws(() => call('timestamp_sub', time, -(2n ** 63n), 'DAY'), /time out of range/);
});

test('DATETIME_ADD keeps the day of the month or takes the last', () => {
  const table: readonly [string, number, string, string][] = [
    ['2026-01-31', 1, 'MONTH', '2026-02-28 00:00:00'],
    ['2024-01-31', 1, 'MONTH', '2024-02-29 00:00:00'],
    ['2024-02-29', 1, 'YEAR', '2025-02-28 00:00:00'],
    ['2026-01-31', -2, 'MONTH', '2025-11-30 00:00:00'],
    ['2026-11-30', 1, 'QUARTER', '2027-02-28 00:00:00'],
    ['2026-01-01', 2, 'WEEK', '2026-01-15 00:00:00'],
  ];
  for (const [from, amount, part, wanted] of table) {
    assert.equal(shown(call('datetime_add', at(from), amount, part)), wanted);
  }
  assert.throws(() => call('datetime_add', at('9999-12-01'), 1, 'MONTH'), /time out of range/);
  assert.throws(() => call('datetime_sub', at('0001-01-01'), 1, 'MONTH'), /time out of range/);
});

test('TIMESTAMP_DIFF counts whole parts and DATETIME_DIFF the boundaries between', () => {
  const [late, early] = [at('2026-01-16 00:30:00'), at('2026-01-15 23:45:00')];
  assert.equal(call('timestamp_diff', late, early, 'HOUR'), 0);
  assert.equal(call('timestamp_diff', early, late, 'MINUTE'), -45);
  assert.equal(call('timestamp_diff', late, early, 'DAY'), 0);
  assert.equal(call('datetime_diff', late, early, 'HOUR'), 1);
  assert.equal(call('datetime_diff', late, early, 'DAY'), 1);
  assert.equal(call('datetime_diff', early, late, 'DAY'), -1);
  // From a Saturday to a Sunday, then to a Monday.
  assert.equal(call('datetime_diff', at('2026-01-11'), at('2026-01-10'), 'WEEK'), 1);
  assert.equal(call('datetime_diff', at('2026-01-11'), at('2026-01-10'), 'ISOWEEK'), 0);
  assert.equal(call('datetime_diff', at('2026-01-12'), at('2026-01-11'), 'ISOWEEK'), 1);
  assert.equal(call('datetime_diff', at('2026-01-01'), at('2025-12-31'), 'YEAR'), 1);
  assert.equal(call('datetime_diff', at('2026-01-01'), at('2025-12-31'), 'ISOYEAR'), 0);
  assert.equal(
    call('timestamp_diff', TIMESTAMP_US_MAX, TIMESTAMP_US_MIN, 'MICROSECOND'),
    TIMESTAMP_US_MAX - TIMESTAMP_US_MIN,
  );
});

test('clocks that are set forward skip an hour, and set back show one twice', () => {
  const paris = (text: string) => shown(parseTimestamp(`${text} Europe/Paris`));
  assert.equal(paris('2026-03-29 01:59:59'), '2026-03-29 00:59:59');
  assert.equal(paris('2026-03-29 02:30:00'), '2026-03-29 01:30:00');
  assert.equal(paris('2026-03-29 03:00:00'), '2026-03-29 01:00:00');
  assert.equal(paris('2026-10-25 02:30:00'), '2026-10-25 00:30:00');
  assert.equal(paris('2026-10-25 03:00:00'), '2026-10-25 02:00:00');
  const local = (text: string) => shown(callAs('datetime', 'TIMESTAMP', at(text), 'Europe/Paris'));
  assert.equal(local('2026-03-29 00:59:59'), '2026-03-29 01:59:59');
  assert.equal(local('2026-03-29 01:00:00'), '2026-03-29 03:00:00');
});

test('a generated array holds both ends and steps either way', () => {
  const [start, end] = [at('2026-01-15 00:00:00'), at('2026-01-15 00:02:00')];
  const make = (from: Int64, to: Int64, step: Int64, part: string) =>
    (call('generate_timestamp_array', from, to, step, part) as Int64[]).map((us) =>
      shown(us).slice(11),
    );
  assert.deepEqual(make(start, end, 1, 'MINUTE'), ['00:00:00', '00:01:00', '00:02:00']);
  assert.deepEqual(make(start, end, 90, 'SECOND'), ['00:00:00', '00:01:30']);
  assert.deepEqual(make(end, start, -1, 'MINUTE'), ['00:02:00', '00:01:00', '00:00:00']);
  assert.deepEqual(make(end, start, 1, 'MINUTE'), []);
  assert.deepEqual(make(start, start, 5, 'DAY'), ['00:00:00']);
  assert.throws(() => make(start, end, 0, 'MINUTE'), /step other than 0/);
});

test('a generated array has at most 1,048,575 elements', () => {
  const make = (end: number) =>
    call('generate_timestamp_array', 0, end, 1, 'MICROSECOND') as Int64[];
  assert.equal(make(1_048_574).length, 1_048_575);
  assert.throws(() => make(1_048_575), {
    code: 'query_limit',
    message: /at most 1048575 .* got 1048576/,
  });
});

test('the bucket list of each interval has the counts of the contract', () => {
  const now = at('2026-01-15 12:34:56.789');
  const list = (count: number, window: string) =>
    call('generate_timestamp_trunc_array', count, window, now) as Int64[];
  const table: readonly [number, string, number, string, string][] = [
    [5, 'minute_second', 301, '2026-01-15 12:29:56', '2026-01-15 12:34:56'],
    [15, 'minute_minute', 16, '2026-01-15 12:19:00', '2026-01-15 12:34:00'],
    [1, 'hour_minute', 61, '2026-01-15 11:34:00', '2026-01-15 12:34:00'],
    [1, 'day_hour', 25, '2026-01-14 12:00:00', '2026-01-15 12:00:00'],
    [7, 'day_day', 8, '2026-01-08 00:00:00', '2026-01-15 00:00:00'],
  ];
  for (const [count, window, length, first, last] of table) {
    const times = list(count, window);
    assert.equal(times.length, length);
    assert.equal(shown(times[0] as Int64), first);
    assert.equal(shown(times.at(-1) as Int64), last);
  }
  assert.equal(list(0, 'hour_hour').length, 1);
  for (const window of ['minute_hour', 'day', 'day_week', 'day_hour_minute', '']) {
    assert.throws(() => list(1, window), /unit_step of the words second, minute, hour, day/);
  }
  assert.throws(() => list(-1, 'day_day'), /count of at least 0; got -1/);
});

test('TIMESTAMP, DATETIME and STRING convert into each other', () => {
  const noon = at('2026-01-15 12:00:00');
  assert.equal(call('timestamp', '2026-01-15 13:00:00', '+01:00'), noon);
  assert.equal(call('timestamp', '2026-01-15 13:00:00+01:00'), noon);
  assert.throws(
    () => call('timestamp', '2026-01-15 13:00:00+01:00', 'UTC'),
    /its own time zone cannot be given another one; got "2026-01-15 13:00:00\+01:00"/,
  );
  assert.equal(callAs('timestamp', 'DATETIME', at('2026-01-15 13:00:00'), '+01:00'), noon);
  assert.equal(shown(call('datetime', noon, 'Asia/Kolkata')), '2026-01-15 17:30:00');
  assert.equal(shown(callAs('datetime', 'INT64', 2026, 1, 15, 12, 0, 0)), '2026-01-15 12:00:00');
  assert.throws(
    () => callAs('datetime', 'INT64', 2026, 2, 29, 0, 0, 0),
    /got \(2026, 2, 29, 0, 0, 0\)/,
  );
  assert.equal(callAs('string', 'TIMESTAMP', noon, 'Asia/Kolkata'), '2026-01-15 17:30:00+05:30');
});

test('units since 1970 round down, and come back within the years', () => {
  assert.equal(call('unix_seconds', -1), -1);
  assert.equal(call('unix_millis', 1_999), 1);
  assert.equal(call('unix_micros', TIMESTAMP_US_MIN), TIMESTAMP_US_MIN);
  assert.equal(call('timestamp_seconds', 1), 1_000_000);
  assert.equal(call('timestamp_micros', TIMESTAMP_US_MAX), TIMESTAMP_US_MAX);
  assert.throws(() => call('timestamp_seconds', 253_402_300_800), /time out of range/);
  assert.throws(() => call('timestamp_seconds', 2n ** 62n), /integer overflow/);
});

test('times are formatted and parsed by elements', () => {
  const time = at('2026-01-05 15:04:05.123400');
  const table: readonly [string, string][] = [
    ['%Y-%m-%dT%H:%M:%E*S%Ez', '2026-01-05T15:04:05.1234+00:00'],
    ['%F %T.%%', '2026-01-05 15:04:05.%'],
    ['%e %b %y, %I %p (%A, day %j)', ' 5 Jan 26, 03 PM (Monday, day 005)'],
    ['%E3S', '05.123'],
    ['%s %z %Z', '1767625445 +0000 UTC'],
    ['%k|%l|%P|%r', '15| 3|pm|03:04:05 PM'],
    ['%C %G %g %V %U %W %u %w', '20 2026 26 02 01 01 1 1'],
    ['%c, %x %X', 'Mon Jan  5 15:04:05 2026, 01/05/26 15:04:05'],
  ];
  for (const [format, text] of table) assert.equal(call('format_timestamp', format, time), text);
  assert.equal(call('format_timestamp', '%R %Ez', time, '+05:30'), '20:34 +05:30');
  const zones = ['Europe/Berlin', 'America/New_York', '-03:30'].map((zone) =>
    call('format_timestamp', '%Z', time, zone),
  );
  assert.deepEqual(zones, ['UTC+1', 'UTC-5', 'UTC-0330']);
  assert.throws(() => call('format_datetime', '%F %Ez', time), /got "%Ez"/);
  assert.throws(() => call('format_timestamp', '%q', time), /takes the elements %F .* got "%q"/);
  const parse = (format: string, text: string, ...zone: string[]) =>
    shown(call('parse_timestamp', format, text, ...zone));
  assert.equal(parse('%Y-%m-%dT%H:%M:%E*S%Ez', '2026-01-15T11:00:00.000Z'), '2026-01-15 11:00:00');
  assert.equal(parse('%d %B %Y %I:%M %p', '5 January 2026 03:04 PM'), '2026-01-05 15:04:00');
  assert.equal(parse('%F %T', '2026-01-05 15:04:05', '+01:00'), '2026-01-05 14:04:05');
  assert.equal(parse('%s', '1'), '1970-01-01 00:00:01');
  assert.equal(parse('%Y', ' 2026 '), '2026-01-01 00:00:00');
  assert.equal(parse('%l %P', ' 4 pm'), '1970-01-01 16:00:00');
  assert.equal(parse('%p %H', 'pm 3'), '1970-01-01 03:00:00');
  assert.throws(() => parse('%I', '13'), /must be written as/);
  assert.throws(() => call('parse_datetime', '%F %z', '2026-01-05 +0000'), /got "%z"/);
  assert.throws(() => parse('%Y', '2026-01'), /must be written as "%Y" says; got "2026-01"/);
  assert.throws(() => parse('%B', 'Thermidor'), /must be written as/);
});

test('zones of old times lose their seconds in texts, so that these name the instant', () => {
  const noon = at('1883-11-18 12:00:00');
  const text = callAs('string', 'TIMESTAMP', noon, 'America/New_York') as string;
  assert.equal(text, '1883-11-18 07:04:00-04:56');
  assert.equal(call('timestamp', text), noon);
  assert.equal(shown(call('datetime', noon, 'America/New_York')), '1883-11-18 07:03:58');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timestampUsOfNumber, timestampUsOfText } from '../../ingest/event-time.ts';

function ofText(text: string): number | undefined {
  const bytes = Buffer.from(`##${text}99`);
  return timestampUsOfText(bytes, 2, bytes.length - 2);
}

/** 2026-01-15T11:55:00Z */
const NOON_US = 1_768_478_100_000_000;

test('ISO times are read with any offset, UTC without one', () => {
  const readings: [string, number][] = [
    ['2026-01-15T11:55:00Z', 0],
    ['2026-01-15t11:55:00z', 0],
    ['2026-01-15T11:55:00', 0],
    ['2026-01-15 11:55:00', 0],
    ['2026-01-15 11:55', 0],
    ['2026-01-15T12:55:00+01:00', 0],
    ['2026-01-15T12:55:00+0100', 0],
    ['2026-01-15T12:55+01', 0],
    ['2026-01-15T06:25:00-05:30', 0],
    ['2026-01-14T23:55:00-12:00', 0],
    ['2026-01-15T11:55:00.1Z', 100_000],
    ['2026-01-15T11:55:00.123456Z', 123_456],
    ['2026-01-15T11:55:00,123', 123_000],
    ['2026-01-15T11:55:00.123456999+00:00', 123_456],
    ['2026-01-15T11:54:60Z', 0],
  ];
  for (const [text, us] of readings) assert.equal(ofText(text), NOON_US + us, text);
  assert.equal(ofText('2026-01-15'), Date.UTC(2026, 0, 15) * 1000);
  assert.equal(ofText('2024-02-29'), Date.UTC(2024, 1, 29) * 1000);
  assert.equal(ofText('0001-01-01'), -62_135_596_800_000_000);
});

test('what is no time is not read', () => {
  const unreadable = [
    '',
    'yesterday',
    '2026',
    '2026-01',
    '2026-1-15',
    '2026-13-01',
    '2026-00-01',
    '2026-01-32',
    '2026-01-00',
    '2023-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-01-15T',
    '2026-01-15T11',
    '2026-01-15T24:00:00Z',
    '2026-01-15T11:60:00Z',
    '2026-01-15T11:55:61Z',
    '2026-01-15T11:55:00.Z',
    '2026-01-15T11:55:00.1234567891Z',
    '2026-01-15T11:55:00+1',
    '2026-01-15T11:55:00+24:00',
    '2026-01-15T11:55:00+01:',
    '2026-01-15T11:55:00Z ',
    ' 2026-01-15',
    '2026-01-15T11:55:00UTC',
    '2026/01/15',
    '-2026-01-15',
    '2026-01-15Z',
    '123',
    '17684781001',
    '-1768478100',
    '.1768478100',
    '1768478100.5.5',
    '176847810.5',
  ];
  for (const text of unreadable) assert.equal(ofText(text), undefined, text);
});

test('digits of a text are read as those of a number, with a point among them or not', () => {
  assert.equal(ofText('1768478100'), NOON_US);
  assert.equal(ofText('1768478100123'), NOON_US + 123_000);
  assert.equal(ofText('1768478100123456789'), NOON_US + 123_456);
  assert.equal(ofText('1768478100.5'), NOON_US + 500_000);
  assert.equal(ofText('1768478100.123456'), NOON_US + 123_456);
  assert.equal(ofText('1768478100123.4'), NOON_US + 123_400);
});

test('numbers are read by their digits, exactly', () => {
  assert.equal(timestampUsOfNumber(1_768_478_100), NOON_US);
  assert.equal(timestampUsOfNumber(1_768_478_100.123456), NOON_US + 123_456);
  assert.equal(timestampUsOfNumber(1_768_478_100_123), NOON_US + 123_000);
  assert.equal(timestampUsOfNumber(1_768_478_100_123.4), NOON_US + 123_400);
  assert.equal(timestampUsOfNumber(1_768_478_100_123_456), NOON_US + 123_456);
  assert.equal(timestampUsOfNumber(1_768_478_100_123_456.8), NOON_US + 123_456);
  assert.equal(ofText('1768478100'), NOON_US);
  assert.equal(ofText('1768478100123'), NOON_US + 123_000);
  assert.equal(ofText('1768478100123456'), NOON_US + 123_456);
  assert.equal(ofText('1768478100123456789'), NOON_US + 123_456);
  assert.equal(ofText('1768478100123456999'), NOON_US + 123_456);
});

test('numbers of other lengths are not read', () => {
  for (const value of [
    0, -1, 999_999_999, 1e10, 17_684_781_001, 999_999_999_999, 1e13, 1e14, 1e17, 1e20,
    -1_768_478_100,
  ]) {
    assert.equal(timestampUsOfNumber(value), undefined, String(value));
  }
  assert.equal(timestampUsOfNumber(1e9), 1e15);
  assert.equal(timestampUsOfNumber(9_999_999_999), 9_999_999_999_000_000);
});

test('every time that JavaScript writes is read back', () => {
  const date = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  fc.assert(fc.property(date, (time) => ofText(time.toISOString()) === time.getTime() * 1000));
});

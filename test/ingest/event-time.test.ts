import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timestampUsOfNumber, timestampUsOfText } from '../../ingest/event-time.ts';
import { runsOf } from '../support/budget.ts';
import { anyCodePoint } from '../support/code-point.ts';

/** 2026-01-15T11:55:00Z */
const NOON_US = 1_768_478_100_000_000;

function ofText(text: string, nowUs = NOON_US): number | undefined {
  const bytes = Buffer.from(`##${text}99`);
  return timestampUsOfText(bytes, 2, bytes.length - 2, nowUs);
}

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
    ['2026-01-15T11:55:00.1234567891Z', 123_456],
    [`2026-01-15T11:55:00.${'9'.repeat(90)}Z`, 999_999],
    ['2026-01-15T11:55:00 +00:00', 0],
    ['2026-01-15 11:55:00.123 UTC', 123_000],
    // A leap second is the same as the next minute's first.
    ['2026-01-15T11:54:60Z', 0],
    ['2026-01-15T11:54:60.25Z', 250_000],
  ];
  for (const [text, us] of readings) assert.equal(ofText(text), NOON_US + us, text);
  assert.equal(ofText('2026-01-15'), Date.UTC(2026, 0, 15) * 1000);
  assert.equal(ofText('2024-02-29'), Date.UTC(2024, 1, 29) * 1000);
  assert.equal(ofText('0001-01-01'), -62_135_596_800_000_000);
});

test('the times of other formats are read', () => {
  const readings: [string, number][] = [
    ['20260115T115500Z', NOON_US],
    ['20260115t1155z', NOON_US],
    ['20260115 125500,5+01', NOON_US + 500_000],
    ['2026/01/15 11:55:00', NOON_US],
    ['2026/01/15 12:55:00.1234567 +0100', NOON_US + 123_456],
    // HTTP's three forms (RFC 9110, §5.6.7).
    ['Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777_000_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777_000_000],
    ['Sun Nov  6 08:49:37 1994', 784_111_777_000_000],
    ['Thu, 15 Jan 2026 12:55:00 +0100', NOON_US],
    ['Thu, 15 Jan 2026 06:55 EST', NOON_US],
    ['15 Jan 2026 11:55:00', NOON_US],
    ['thu, 15 JAN 2026 11:55:00 ut', NOON_US],
    // A day of the week is not compared with the date.
    ['Mon, 15 Jan 2026 11:55:00 GMT', NOON_US],
    ['Thu, 1 Jan 2026 00:00:00 -0000', 1_767_225_600_000_000],
    ['15/Jan/2026:12:55:00 +0100', NOON_US],
    ['15-Jan-2026 11:55:00', NOON_US],
    ['Jan 15 11:55:00', NOON_US],
    ['Jan 15 11:55:00.123', NOON_US + 123_000],
    ['Jan  1 00:00:00', 1_767_225_600_000_000],
    ['Jan 1 00:00:00', 1_767_225_600_000_000],
    ['Jan 01 00:00:00', 1_767_225_600_000_000],
  ];
  for (const [text, us] of readings) assert.equal(ofText(text), us, text);
});

test('a year that is left out, or has two digits, is the nearest one', () => {
  const readings: [now: string, text: string, read: string | undefined][] = [
    ['2026-12-31T23:59:59Z', 'Jan  1 00:00:00', '2027-01-01T00:00:00Z'],
    ['2027-01-01T00:00:00Z', 'Dec 31 23:59:59', '2026-12-31T23:59:59Z'],
    ['2026-07-01T12:00:00Z', 'Jan  1 00:00:00', '2026-01-01T00:00:00Z'],
    ['2026-07-03T12:00:00Z', 'Jan  1 00:00:00', '2027-01-01T00:00:00Z'],
    ['2028-03-01T00:00:00Z', 'Feb 29 12:00:00', '2028-02-29T12:00:00Z'],
    ['2027-03-01T00:00:00Z', 'Feb 29 12:00:00', '2028-02-29T12:00:00Z'],
    ['2026-03-01T00:00:00Z', 'Feb 29 12:00:00', undefined],
    ['2026-01-01T00:00:00Z', 'Friday, 01-Jan-99 00:00:00 GMT', '1999-01-01T00:00:00Z'],
    ['2099-12-31T00:00:00Z', 'Friday, 01-Jan-00 00:00:00 GMT', '2100-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', 'Friday, 01-Jan-75 00:00:00 GMT', '2075-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', 'Friday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
  ];
  for (const [now, text, read] of readings) {
    const us = read === undefined ? undefined : Date.parse(read) * 1000;
    assert.equal(ofText(text, Date.parse(now) * 1000), us, `${text} at ${now}`);
  }
});

test('texts that are no times are not read', () => {
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
    '2026-01-15T11:55:00,Z',
    '2026-01-15T11:55.5Z',
    '2026-01-15T11:55:00 ',
    '2026-01-15T11:55:00  +01:00',
    '2026-01-15T11:55:00 MEZ',
    '2026-01-15T115500Z',
    '20260115',
    '20260115115500',
    '20260115T11Z',
    '20260115T11:55:00Z',
    '20260230T115500Z',
    '2026/01-15 11:55:00',
    '2026/02/30 11:55:00',
    'Feb 30 11:55:00',
    'Feb 29 11:55:00',
    'Jan 15 25:00:00',
    'Jan 15',
    'January 15 11:55:00',
    'Jan 15 11:55:00 2026',
    '32/Jan/2026:11:55:00 +0000',
    '15/Jan/26:11:55:00 +0000',
    '15/01/2026 11:55:00',
    '01/15/2026 11:55:00',
    '15 Jan 26 11:55:00 +0000',
    '15 Jan 2026',
    'Th, 15 Jan 2026 11:55:00 GMT',
    'Thu 15 Jan 2026 11:55:00 GMT',
    'Thu, 30 Feb 2026 11:55:00 GMT',
    'Thu, 15 Jan 2026 11:55:00 GMT+1',
    'Thursday, 29-Feb-26 11:55:00 GMT',
    'Thu Feb 30 11:55:00 2026',
    'Thu Jan 15 11:55:00 GMT 2026',
    'now',
    '+1768478100',
    '1768478100e0',
    '1768478100,5',
    '1768478100s',
    '0x69690b14',
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
  assert.equal(ofText('1768478100.99999999999999'), NOON_US + 999_999);
  assert.equal(ofText('1768478100123456789.9'), NOON_US + 123_456);
});

test('a number and its digits in a text are one time', () => {
  const seconds = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 });
  const fraction = fc.integer({ min: 0, max: 999_999 });
  fc.assert(
    fc.property(seconds, fraction, (whole, us) => {
      const digits = `${whole}.${String(us).padStart(6, '0')}`;
      const wanted = whole * 1e6 + us;
      assert.equal(ofText(digits), wanted);
      assert.equal(timestampUsOfNumber(Number(digits)), wanted);
      assert.equal(timestampUsOfNumber(wanted), wanted);
      assert.equal(ofText(`${wanted}999`), wanted);
    }),
    { numRuns: runsOf(1000) },
  );
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

/** Forms that ECMAScript defines: each is read as Date.parse reads it. */
const ECMASCRIPT_FORMS: readonly ((time: Date, offset: string) => string)[] = [
  (time) => time.toISOString(),
  (time) => time.toISOString().slice(0, 10),
  (time) => time.toUTCString(),
  (time, offset) => time.toISOString().replace('Z', offset),
  (time, offset) => `${time.toISOString().slice(0, 16)}${offset}`,
];

/** Any time from 1970 to 2099, without a fraction. */
const SECONDS = fc
  .integer({ min: 0, max: 4_102_444_799 })
  .map((seconds) => new Date(seconds * 1000));

const OFFSETS = fc
  .tuple(
    fc.constantFrom('+', '-'),
    fc.integer({ min: 0, max: 23 }),
    fc.integer({ min: 0, max: 59 }),
  )
  .map(([sign, hours, minutes]) => `${sign}${padded(hours)}:${padded(minutes)}`);

function padded(value: number): string {
  return String(value).padStart(2, '0');
}

test('the forms that ECMAScript defines are read as Date.parse reads them', () => {
  fc.assert(
    fc.property(SECONDS, OFFSETS, (time, offset) => {
      for (const form of ECMASCRIPT_FORMS) {
        const text = form(time, offset);
        assert.equal(ofText(text), Date.parse(text) * 1000, text);
      }
    }),
    { numRuns: runsOf(1000) },
  );
});

/** The parts of `Thu, 26 Nov 2026 09:00:00 GMT`. */
function partsOf(time: Date): {
  name: string;
  day: string;
  month: string;
  year: string;
  clock: string;
} {
  const [name, day, month, year, clock] = time.toUTCString().replace(',', '').split(' ');
  return { name: name!, day: day!, month: month!, year: year!, clock: clock! };
}

const LONG_NAMES = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** A time as each of the other forms writes it. */
function otherForms(time: Date): readonly string[] {
  const iso = time.toISOString().slice(0, 19);
  const { name, day, month, year, clock } = partsOf(time);
  const spaced = day.replace(/^0/, ' ');
  return [
    iso,
    iso.replace('T', ' '),
    `${iso.toLowerCase()}z`,
    `${iso}.000000000000Z`,
    `${iso},0+0000`,
    `${iso} +00`,
    iso.replaceAll(/[-:]/g, ''),
    `${iso.replaceAll(/[-:]/g, '')}Z`,
    iso.replaceAll('-', '/').replace('T', ' '),
    `${name}, ${day} ${month} ${year} ${clock} +0000`,
    `${Number(day)} ${month} ${year} ${clock} UT`,
    `${LONG_NAMES[time.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${clock} GMT`,
    `${name} ${month} ${spaced} ${clock} ${year}`,
    `${month} ${spaced} ${clock}`,
    `${day}/${month}/${year}:${clock} +0000`,
    String(time.getTime() / 1000),
    `${time.getTime() / 1000}.000`,
    String(time.getTime()),
    `${time.getTime()}000`,
    `${time.getTime()}000000`,
  ];
}

test('a time is read back from each form that it is written in', () => {
  const since2001 = SECONDS.filter((time) => time.getTime() >= 1e12);
  const distanceMs = fc.integer({ min: -15_000_000_000, max: 15_000_000_000 });
  fc.assert(
    fc.property(since2001, distanceMs, (time, distance) => {
      const us = time.getTime() * 1000;
      for (const text of otherForms(time)) {
        assert.equal(ofText(text, us + distance * 1000), us, text);
        assert.equal(ofText(text.toUpperCase(), us + distance * 1000), us, text);
      }
    }),
    { numRuns: runsOf(500) },
  );
});

test('a date or a time of day that does not exist is unreadable in every form', () => {
  const month = fc.integer({ min: 1, max: 12 });
  const fields = fc.tuple(
    fc.integer({ min: 2020, max: 2030 }),
    month,
    fc.integer({ min: 0, max: 32 }),
    fc.integer({ min: 0, max: 25 }),
    fc.integer({ min: 0, max: 61 }),
    fc.integer({ min: 0, max: 62 }),
  );
  fc.assert(
    fc.property(fields, ([year, month, day, hour, minute, second]) => {
      const date = new Date(Date.UTC(year, month - 1, day));
      const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
      const isTime = isDate && hour < 24 && minute < 60 && second <= 60;
      const us = isTime ? Date.UTC(year, month - 1, day, hour, minute, second) * 1000 : undefined;
      const name = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[month - 1]!;
      const clock = `${padded(hour)}:${padded(minute)}:${padded(second)}`;
      const digits = [year, padded(month), padded(day)];
      for (const text of [
        `${digits.join('-')}T${clock}Z`,
        `${digits.join('/')} ${clock}`,
        `${digits.join('')}T${clock.replaceAll(':', '')}Z`,
        `Mon, ${padded(day)} ${name} ${year} ${clock} GMT`,
        `Monday, ${padded(day)}-${name}-${String(year).slice(2)} ${clock} GMT`,
        `Mon ${name} ${String(day).padStart(2)} ${clock} ${year}`,
        `${padded(day)}/${name}/${year}:${clock} +0000`,
      ]) {
        assert.equal(ofText(text), us, text);
      }
    }),
    { numRuns: runsOf(2000) },
  );
});

/** Texts that come near to times: pieces of such, in any order. */
const NEAR_TIMES = fc
  .array(
    fc.constantFrom(
      ...['2026', '11', '26', '9', '0', '60', '-', '/', ':', '.', ',', ' ', 'T', 'Z', '+', '+01'],
      ...['Nov', 'Thu', 'Sunday', 'GMT', '1764147600', '999999999', 'é', '\u0000'],
    ),
    { maxLength: 24 },
  )
  .map((pieces) => pieces.join(''));

/** Bytes of which each look is counted. */
function countingLooks(bytes: Uint8Array): {
  readonly bytes: Uint8Array;
  readonly count: () => number;
} {
  let count = 0;
  const counting = new Proxy(bytes, {
    get: (target, key) => {
      count++;
      return Reflect.get(target, key, target) as unknown;
    },
  });
  return { bytes: counting, count: () => count };
}

test('any text is read as a time or as none, with few reads of each byte', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.string({ unit: anyCodePoint }),
    NEAR_TIMES,
  );
  const looksMax = (size: number): number => 8 * size + 16;
  fc.assert(
    fc.property(text, (text) => {
      const bytes = Buffer.from(text);
      const looks = countingLooks(bytes);
      const us = timestampUsOfText(looks.bytes, 0, bytes.length, NOON_US);
      assert.ok(us === undefined || Number.isInteger(us), text);
      assert.ok(looks.count() <= looksMax(bytes.length), `${looks.count()} looks at ${text}`);
    }),
    { numRuns: runsOf(5000) },
  );
  for (const unit of ['0', '9.', 'Jan ', '2026-01-15T11:55:00.', ' ', '\n', 'Thu, ', '+']) {
    for (const size of [1, 100, 1_000, 1_000_000]) {
      const looks = countingLooks(Buffer.from(unit.repeat(size)));
      timestampUsOfText(looks.bytes, 0, unit.length * size, NOON_US);
      assert.ok(looks.count() <= looksMax(128), `${looks.count()} looks at ${unit} × ${size}`);
    }
  }
});

test('any number is a time or none', () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      const us = timestampUsOfNumber(value);
      assert.ok(us === undefined || Number.isInteger(us), String(value));
    }),
    { numRuns: runsOf(1000) },
  );
});

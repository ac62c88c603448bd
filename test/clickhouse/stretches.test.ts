import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type StretchedRecord, Stretches } from '../../src/clickhouse/stretches.ts';

function recordOf(sequence: number, rowCount: number): StretchedRecord {
  const times = { timestampUsMin: sequence, timestampUsMax: sequence + 5, receivedUs: -sequence };
  return { sequence, rowCount, source: sequence % 2 === 0 ? 'even' : 'odd', ...times };
}

function stretchesOf(records: readonly StretchedRecord[]): ReturnType<Stretches['list']> {
  const stretches = new Stretches();
  for (const record of records) stretches.add(record);
  return stretches.list();
}

test('records of about one size are one stretch, which has what is in any of them', () => {
  deepEqual(stretchesOf([recordOf(7, 3), recordOf(8, 1), recordOf(10, 2)]), [
    {
      ...{ sequenceStart: 7, sequenceEnd: 11, stride: 3, rowCount: 6, sources: ['even', 'odd'] },
      ...{ timestampUsMin: 7, timestampUsMax: 15, receivedUsMin: -10, receivedUsMax: -7 },
    },
  ]);
});

test('a large record among small ones does not use up numbers, nor do records that are missing', () => {
  const small = Array.from({ length: 1_000 }, (_, index) => recordOf(index, 1));
  const large = stretchesOf([...small, recordOf(1_000, 1_000_000), recordOf(1_001, 1)]);
  deepEqual(
    large.map(({ sequenceEnd, stride }) => [sequenceEnd, stride]),
    [
      [1_000, 1],
      [1_002, 1_000_000],
    ],
  );
  equal(stretchesOf([recordOf(0, 1), recordOf(1e9, 1)]).length, 2);
});

test('law: each event has a number of its own, in the order of the log, and few are left out', () => {
  const counts = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9_999 })),
    {
      minLength: 1,
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(counts, (rowCounts) => {
      const records = rowCounts.map((rowCount, sequence) => recordOf(sequence, rowCount));
      const stretches = stretchesOf(records);
      let numberStart = 0;
      let lastNumber = -1;
      for (const { sequenceStart, sequenceEnd, stride, rowCount } of stretches) {
        const own = records.slice(sequenceStart, sequenceEnd);
        equal(
          own.reduce((sum, record) => sum + record.rowCount, 0),
          rowCount,
        );
        for (const record of own) {
          const first = numberStart + (record.sequence - sequenceStart) * stride;
          ok(first > lastNumber);
          lastNumber = first + record.rowCount - 1;
        }
        numberStart += (sequenceEnd - sequenceStart) * stride;
        ok(lastNumber < numberStart);
      }
      const rowCount = rowCounts.reduce((sum, count) => sum + count, 0);
      ok(numberStart <= 4 * rowCount + 4_096 * stretches.length);
      equal(stretches.at(-1)?.sequenceEnd, records.length);
    }),
  );
});

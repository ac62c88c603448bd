import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { UnsentRecords } from '../../src/clickhouse/unsent-records.ts';

const SECOND_US = 1_000_000;

/** Records of one event of ten bytes, one a second, from sequence 1 on. */
function recordsOf(count: number): UnsentRecords {
  const records = new UnsentRecords();
  for (let sequence = 1; sequence <= count; sequence++) {
    records.add({ sequence, events: 1, bytes: 10, nowUs: sequence * SECOND_US }, 1);
  }
  return records;
}

test('what is unsent is counted from the first record that ClickHouse may not have', () => {
  for (const shippedBefore of [1, 2, 3]) {
    const unsent = recordsOf(3).unsent(shippedBefore, 10 * SECOND_US);
    const events = 4 - shippedBefore;
    const ageUs = (10 - shippedBefore) * SECOND_US;
    deepEqual(unsent, { events, bytes: 10 * events, ageUs });
  }
  deepEqual(recordsOf(3).unsent(4, 10 * SECOND_US), { events: 0, bytes: 0, ageUs: 0 });
});

test('all events that were acknowledged before the oldest unsent one are there', () => {
  const nowUs = 10 * SECOND_US;
  equal(recordsOf(3).completeUntilUs(1, nowUs), SECOND_US);
  equal(recordsOf(3).completeUntilUs(3, nowUs), 3 * SECOND_US);
  equal(recordsOf(3).completeUntilUs(4, nowUs), nowUs);
  equal(new UnsentRecords().completeUntilUs(0, nowUs), nowUs);
});

test('records of a moment share a mark, and count until all of them are sent', () => {
  const records = new UnsentRecords();
  for (const sequence of [1, 2, 3]) {
    records.add({ sequence, events: 1, bytes: 1, nowUs: SECOND_US + sequence }, 1);
  }
  equal(records.unsent(3, SECOND_US).events, 3);
  equal(records.completeUntilUs(3, 2 * SECOND_US), SECOND_US + 1);
  equal(records.unsent(4, SECOND_US).events, 0);
});

test('a clock that is set back makes no promise too early', () => {
  const records = recordsOf(3);
  records.add({ sequence: 4, events: 1, bytes: 1, nowUs: 2 * SECOND_US }, 1);
  // The second record was acknowledged at two seconds, and so was the fourth.
  equal(records.completeUntilUs(1, 2 * SECOND_US), SECOND_US);
  equal(records.completeUntilUs(3, 9 * SECOND_US), 2 * SECOND_US);
  equal(records.completeUntilUs(5, 2 * SECOND_US), 2 * SECOND_US);
});

test('after a long outage the numbers are a bit too high, and never too low', () => {
  const count = 30_000;
  const nowUs = (count + 1) * SECOND_US;
  const shippedBefore = 20_001;
  const records = recordsOf(count);
  const { events } = records.unsent(shippedBefore, nowUs);
  ok(events >= 10_000 && events < 10_100, `${events} events`);
  const untilUs = records.completeUntilUs(shippedBefore, nowUs);
  ok(untilUs <= shippedBefore * SECOND_US && untilUs > (shippedBefore - 100) * SECOND_US);
});

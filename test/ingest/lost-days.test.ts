import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LostDays } from '../../ingest/lost-days.ts';
import { PARTITION_US } from '../../ingest/partition.ts';

test('a lost day belongs to each scope that overlaps it', () => {
  const days = new LostDays();
  const within = (timestampUsStart: number, timestampUsEnd: number) =>
    days.within({ timestampUsStart, timestampUsEnd });
  assert.deepEqual(within(-Infinity, Infinity), []);
  days.add(7);
  days.add(7);
  const [start, end] = [7 * PARTITION_US, 8 * PARTITION_US];
  assert.deepEqual(within(-Infinity, Infinity), [7]);
  assert.deepEqual(within(-Infinity, start), []);
  assert.deepEqual(within(-Infinity, start + 1), [7]);
  assert.deepEqual(within(end - 1, Infinity), [7]);
  assert.deepEqual(within(end, Infinity), []);
});

test('a lost day is forgotten when the retention has dropped all of it', () => {
  const days = new LostDays();
  for (const day of [7, 8]) days.add(day);
  const all = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
  days.forgetBefore(8 * PARTITION_US - 1);
  assert.deepEqual(days.within(all), [7, 8]);
  days.forgetBefore(8 * PARTITION_US);
  assert.deepEqual(days.within(all), [8]);
});

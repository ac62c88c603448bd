import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lostDaysWarnings } from '../../../src/http/lost-days-warning.ts';

test('a warning lists the days, only the newest if there are many', () => {
  const beginning = 'rows or values are missing, because stored logs were damaged, of';
  assert.deepEqual(lostDaysWarnings([]), []);
  assert.deepEqual(lostDaysWarnings([0, 20_468]), [`${beginning} 1970-01-01, 2026-01-15`]);
  const days = Array.from({ length: 22 }, (_, day) => day);
  const [many] = lostDaysWarnings(days);
  assert.match(many!, /of 1970-01-03, .*, 1970-01-22 and 2 earlier days$/);
});

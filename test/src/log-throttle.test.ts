import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOG_REPEAT_MS } from '../../src/limits.ts';
import { LogThrottle } from '../../src/log-throttle.ts';

test('of a flood one entry of each kind is let through in a while, with the number left out', () => {
  const throttle = new LogThrottle();
  assert.equal(throttle.admit('overloaded', 0), 0);
  assert.equal(throttle.admit('overloaded', 1), undefined);
  assert.equal(throttle.admit('overloaded', LOG_REPEAT_MS - 1), undefined);
  assert.equal(throttle.admit('draining', 1), 0);
  assert.equal(throttle.admit('overloaded', LOG_REPEAT_MS), 2);
  assert.equal(throttle.admit('overloaded', LOG_REPEAT_MS + 1), undefined);
  assert.equal(throttle.admit('overloaded', 10 * LOG_REPEAT_MS), 1);
});

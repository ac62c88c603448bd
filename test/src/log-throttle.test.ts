import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOG_REPEAT_MS, STACK_REPEAT_MS } from '../../src/limits.ts';
import { LogThrottle, StackThrottle } from '../../src/log-throttle.ts';

test('a flood logs one entry of each kind at intervals, with the number left out', () => {
  const throttle = new LogThrottle();
  assert.equal(throttle.admit('overloaded', 0), 0);
  assert.equal(throttle.admit('overloaded', 1), undefined);
  assert.equal(throttle.admit('overloaded', LOG_REPEAT_MS - 1), undefined);
  assert.equal(throttle.admit('draining', 1), 0);
  assert.equal(throttle.admit('overloaded', LOG_REPEAT_MS), 2);
  assert.equal(throttle.admit('overloaded', LOG_REPEAT_MS + 1), undefined);
  assert.equal(throttle.admit('overloaded', 10 * LOG_REPEAT_MS), 1);
});

test('an error is logged with its stack once a minute for each place, else by its first line', () => {
  let nowMs = 0;
  const stacks = new StackThrottle(() => nowMs);
  const fail = (message: string) => new Error(message);
  assert.match(stacks.describe(fail('first')), /^Error: first\n +at fail /);
  assert.equal(stacks.describe(fail('second\nline')), 'Error: second');
  assert.match(stacks.describe(new Error('of another place')), /\n +at /);
  nowMs = STACK_REPEAT_MS;
  assert.match(stacks.describe(fail('third')), /^Error: third\n +at fail /);
  assert.equal(stacks.describe('no error'), 'no error');
});

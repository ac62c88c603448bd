import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CallTimes } from '../../../src/watch/call-times.ts';

/** As CallTimes says. */
const ERROR_MAX = 0.1;

test('quantiles are those of the times, to a tenth, also after counts were added up', () => {
  const times = fc.array(fc.double({ min: 0.06, max: 1e6, noNaN: true }), { minLength: 1 });
  const share = fc.constantFrom(0.01, 0.5, 0.95, 1);
  fc.assert(
    fc.property(times, times, share, (some, more, wanted) => {
      const all = new CallTimes();
      for (const list of [some, more]) {
        const part = new CallTimes();
        for (const ms of list) part.add(ms, false);
        all.addAll(part);
      }
      const sorted = [...some, ...more].sort((a, b) => a - b);
      const exact = sorted[Math.max(1, Math.ceil(wanted * sorted.length)) - 1]!;
      const found = all.quantileMs(wanted)!;
      assert(Math.abs(found / exact - 1) <= ERROR_MAX, `${found} for ${exact}`);
    }),
  );
});

test('calls and failures are counted, and without calls there is no quantile', () => {
  const times = new CallTimes();
  assert.equal(times.quantileMs(0.5), undefined);
  for (const isFailure of [true, false, true]) times.add(1, isFailure);
  assert.deepEqual([times.calls, times.failures], [3, 2]);
});

test('times beyond the buckets are in the first and in the last', () => {
  const times = new CallTimes();
  for (const ms of [0, 1e12]) times.add(ms, false);
  assert(times.quantileMs(0.01)! < 0.06);
  assert(times.quantileMs(1)! > 1e6);
});

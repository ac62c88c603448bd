import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairBudget } from '../../../src/http/fair-budget.ts';

test('a tenant alone holds half, and the next one half of the rest', () => {
  const budget = new FairBudget(() => 100);
  for (let held = 0; held < 50; held += 10) ok(budget.hold(10, 'a'));
  equal(budget.hold(10, 'a'), false);
  ok(budget.hold(20, 'b'));
  equal(budget.hold(20, 'b'), false);
  equal(budget.heldBytes, 70);
  equal(budget.freeBytes, 30);
});

test('released bytes are available to all', () => {
  const budget = new FairBudget(() => 100);
  ok(budget.hold(100, 'a'));
  equal(budget.hold(1, 'b'), false);
  budget.release(60, 'a');
  ok(budget.hold(60, 'b'));
  budget.release(40, 'a');
  budget.release(60, 'b');
  equal(budget.heldBytes, 0);
  ok(budget.hold(100, 'c'));
});

test('a smaller total keeps held bytes and admits no more', () => {
  let bytesMax = 100;
  const budget = new FairBudget(() => bytesMax);
  ok(budget.hold(50, 'a'));
  bytesMax = 40;
  equal(budget.freeBytes, 0);
  equal(budget.hold(1, 'b'), false);
  budget.release(50, 'a');
  ok(budget.hold(20, 'b'));
});

const STEPS = fc.array(
  fc.record({
    tenant: fc.constantFrom('a', 'b', 'c', 'd'),
    bytes: fc.integer({ min: 0, max: 20 }),
    isRelease: fc.boolean(),
  }),
  { maxLength: 200 },
);

test('whatever tenants hold and release, the total is never exceeded and a newcomer finds room', () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const budget = new FairBudget(() => 1000);
      const held = new Map<string, number[]>();
      for (const { tenant, bytes, isRelease } of steps) {
        const own = held.get(tenant) ?? [];
        held.set(tenant, own);
        const given = isRelease ? own.shift() : undefined;
        if (given !== undefined) budget.release(given, tenant);
        else if (budget.hold(bytes, tenant)) own.push(bytes);
        const all = [...held.values()].flat().reduce((sum, size) => sum + size, 0);
        equal(budget.heldBytes, all);
        // Each of four leaves half of what it finds, give or take one body.
        ok(budget.freeBytes >= 1000 / 16 - 20, `${budget.freeBytes} bytes are free`);
      }
      ok(budget.hold(20, 'new'));
    }),
  );
});

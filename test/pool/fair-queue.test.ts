import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairQueue } from '../../engine/pool/fair-queue.ts';

/** `ab` is the second item of tenant a, `c` the first of tenant c. */
function queueOf(...items: readonly string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const item of items) queue.add(item, item[0]);
  return queue;
}

function takeAll(queue: FairQueue<string>): readonly string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

test('tenants take turns, and the items of one keep their order', () => {
  deepEqual(takeAll(queueOf('a1', 'a2', 'a3', 'b1', 'b2', 'c1')), [
    ...['a1', 'b1', 'c1'],
    ...['a2', 'b2'],
    'a3',
  ]);
});

test('a tenant alone has every turn, whatever it has had', () => {
  const queue = queueOf('a1', 'a2');
  queue.take();
  queue.charge(1000, 'a');
  equal(queue.take(), 'a2');
  equal(queue.take(), undefined);
});

test('who has had more waits until the others have had as much', () => {
  const queue = queueOf('a1', 'a2', 'b1', 'b2', 'b3', 'b4');
  equal(queue.take(), 'a1');
  queue.charge(3, 'a');
  deepEqual(takeAll(queue), ['b1', 'b2', 'b3', 'a2', 'b4']);
});

test('who comes back has no claim on the turns it left to others', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'a4');
  queue.take();
  queue.charge(100, 'a');
  queue.take();
  queue.add('b1', 'b');
  queue.add('b2', 'b');
  queue.add('b3', 'b');
  // The second of a counts one by now; b begins where it began.
  deepEqual(takeAll(queue), ['b1', 'a3', 'b2', 'a4', 'b3']);
});

test('what a tenant had while nobody waited is not held against it', () => {
  const queue = new FairQueue<string>();
  for (let turn = 0; turn < 10; turn++) {
    queue.pass('a');
    queue.charge(10, 'a');
  }
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'b4']) queue.add(item, item[0]);
  // Only its last turn counts, whose end b was there to see.
  deepEqual(takeAll(queue), ['b1', 'b2', 'b3', 'b4', 'a1', 'a2', 'a3']);
});

test('an item that was removed is not given out', () => {
  const queue = queueOf('a1', 'a2', 'b1');
  queue.remove('a1', 'a');
  equal(queue.size, 2);
  equal(queue.sizeOf('a'), 1);
  deepEqual(takeAll(queue), ['a2', 'b1']);
});

test('an item that was put back has the next turn of its tenant', () => {
  const queue = queueOf('a1', 'a2', 'b1');
  equal(queue.take(), 'a1');
  queue.putBack('a1', 'a');
  deepEqual(takeAll(queue), ['b1', 'a1', 'a2']);
});

test('a turn that is charged in parts costs what it costs at once', () => {
  const [parts, whole] = [queueOf('a1'), queueOf('a1')];
  for (const queue of [parts, whole]) queue.take();
  parts.charge(0.5, 'a');
  parts.charge(3, 'a', 0.5);
  parts.charge(7, 'a', 3);
  whole.charge(7, 'a');
  deepEqual([parts.spentOf('a'), whole.spentOf('a')], [7, 7]);
});

test('who comes while turns last begins level with whoever has had least', () => {
  const queue = queueOf('a1', 'b1', 'c1');
  takeAll(queue);
  queue.charge(20, 'a');
  queue.charge(10, 'b');
  queue.charge(5, 'c');
  queue.add('c2', 'c');
  queue.advance(['a', 'b']);
  equal(queue.spentOf('new'), 5, 'c waits');
  queue.remove('c2', 'c');
  queue.advance(['a', 'b']);
  equal(queue.spentOf('new'), 10, 'c does not take part any more');
  queue.advance([]);
  equal(queue.spentOf('new'), 10);
});

const TENANTS = ['a', 'b', 'c', 'd', 'e'] as const;

type Step =
  | { readonly kind: 'add'; readonly tenant: string }
  | { readonly kind: 'take'; readonly cost: number };

const STEPS: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const), tenant: fc.constantFrom(...TENANTS) }),
    fc.record({ kind: fc.constant('take' as const), cost: fc.integer({ min: 0, max: 50 }) }),
  ),
  { maxLength: 120 },
);

/** Whatever happened before, as far as the tenants named take part. */
function afterSteps(steps: readonly Step[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'add') queue.add(`${step.tenant}${index}`, step.tenant);
    else {
      const item = queue.take();
      if (item !== undefined) queue.charge(step.cost, item[0]);
    }
  }
  return queue;
}

test('however many wait of others, a newcomer waits for one turn of each of them at most', () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const queue = afterSteps(steps);
      const others = TENANTS.filter((tenant) => queue.sizeOf(tenant) > 0).length;
      queue.add('new', 'new');
      let turns = 0;
      while (queue.take() !== 'new') turns += 1;
      ok(turns <= others, `${turns} turns of ${others} others went before`);
    }),
  );
});

test('tenants that always wait have had as much as each other, but for one turn', () => {
  fc.assert(
    fc.property(
      STEPS,
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 200 }),
      (steps, costs) => {
        const queue = afterSteps(steps);
        // Those that have items of before may still owe for them.
        takeAll(queue);
        const had = new Map([
          ['x', 0],
          ['y', 0],
        ]);
        for (const [index] of [...costs, 0].entries()) {
          for (const tenant of had.keys()) queue.add(`${tenant}${index}`, tenant);
        }
        for (const cost of costs) {
          const [tenant] = queue.take()!;
          queue.charge(cost, tenant);
          had.set(tenant!, had.get(tenant!)! + cost);
        }
        ok(
          Math.abs(had.get('x')! - had.get('y')!) <= 50,
          `x had ${had.get('x')}, y ${had.get('y')}`,
        );
      },
    ),
  );
});

test('a tenant whose turn lasts keeps its claim, though the next turn goes to one that has had more', () => {
  const queue = queueOf('a1', 'b1', 'c1', 'b2', 'c2');
  const begin = (served: string): string => queue.take((item) => item[0] !== 'a', served)!;
  equal(queue.take(), 'a1');
  equal(begin('a'), 'b1');
  queue.charge(100, 'b');
  equal(begin('ab'), 'c1');
  queue.charge(100, 'c');
  equal(begin('abc'), 'b2');
  ok(queue.spentOf('a') <= 1, `a has had ${queue.spentOf('a')}`);
});

test('every item that was added is given out once, or was removed', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...TENANTS)), fc.func(fc.boolean()), (tenants, isGone) => {
      const items = tenants.map((tenant, index) => `${tenant}${index}`);
      const queue = queueOf(...items);
      const gone = items.filter((item) => isGone(item));
      for (const item of gone) queue.remove(item, item[0]);
      const left = items.filter((item) => !gone.includes(item));
      equal(queue.size, left.length);
      deepEqual([...takeAll(queue)].sort(), left.sort());
      equal(queue.size, 0);
    }),
  );
});

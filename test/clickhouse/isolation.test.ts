// In a process of its own: chDB has one folder open at a time.
import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkIsolation } from '../isolation/isolation-law.ts';
import type { Outcome } from '../isolation/tenant-desk.ts';
import { type Answer, areSame } from '../random-sql/answer.ts';
import { budgetOf } from '../support/budget.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { ClickHouseStall } from './clickhouse-stall.ts';
import { HttpDoor } from './http-door.ts';

const skip = missingChdb();

/** `npm run test:isolation` checks 2,000. */
const CALLS = budgetOf('WEIR_STORE_ISOLATION_CALLS', { fast: 10, all: 30 });
const TENANTS = 8;

let chdb: ChdbUnderTest;
let door: HttpDoor;

before(async () => {
  if (skip !== false) return;
  chdb = ChdbUnderTest.start();
  door = await HttpDoor.open(chdb);
});

after(async () => {
  await door?.close();
  await chdb?.close();
});

test(
  'a caller bound to projects is answered as if there were no others in ClickHouse',
  {
    skip,
  },
  (context) =>
    checkIsolation(context, {
      ...{ callCount: CALLS, tenantCount: TENANTS, expectSame },
      open: (folder, cacheBytesMax) => ClickHouseStall.open({ chdb, door }, folder, cacheBytesMax),
    }),
);

/** Sums of fractions may differ in their last digits: ClickHouse adds them up as they lie in its parts. */
function expectSame(outcome: Outcome, expected: Outcome, what: string): void {
  if ('code' in outcome || 'code' in expected) deepEqual(outcome, expected, what);
  else if (outcome.json !== expected.json) {
    const [one, other] = [rowsOf(outcome.json), rowsOf(expected.json)];
    ok(areSame(one, other, true), `${what}: ${outcome.json}, expected ${expected.json}`);
  }
}

function rowsOf(json: string): Answer {
  const { result } = JSON.parse(json) as { readonly result: readonly object[] };
  return result.map((row) => Object.values(row));
}

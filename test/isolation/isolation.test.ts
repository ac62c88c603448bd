import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { budgetOf } from '../support/budget.ts';
import { checkIsolation } from './isolation-law.ts';
import { Stall } from './stall.ts';

const CALLS = budgetOf('WEIR_ISOLATION_CALLS', { fast: 15, all: 300 });
const TENANTS = budgetOf('WEIR_ISOLATION_TENANTS', { fast: 16, all: 16 });

test('a caller bound to projects is answered as if there were no others', (context) =>
  checkIsolation(context, {
    ...{ callCount: CALLS, tenantCount: TENANTS, open: Stall.open },
    expectSame: (outcome, expected, what) => deepEqual(outcome, expected, what),
  }));

import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { INT64 } from '../../engine/column/type.ts';
import type { LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { nameQuantileOffsets } from '../../engine/plan/optimize/prune-columns.ts';
import type { PhysicalPlan } from '../../engine/plan/physical-plan.ts';
import { operatorsOf } from '../../engine/plan/physical-walk.ts';

/**
 * More than a stack has frames: what lists the operators of such a plan has neither a call for each level, nor a list or
 * a generator for each, which pass on every operator once for each level above it. No text comes to so many.
 */
const LEVELS = 50_000;

test('the operators of a plan are listed iteratively, however deep it is', () => {
  let plan: PhysicalPlan = { op: 'one-row' };
  for (let level = 0; level < LEVELS; level++) {
    plan = { op: 'limit', input: plan, count: level, offset: 0 };
  }
  const operators = operatorsOf(plan);
  equal(operators.length, LEVELS + 1);
  equal(operators[0], plan);
  equal(operators.at(-1)?.op, 'one-row');
});

test('a plan is searched for quantiles iteratively, however deep it is', () => {
  let plan: LogicalPlan = { op: 'one-row' };
  for (let level = 0; level < LEVELS; level++) {
    plan = { op: 'limit', input: plan, count: { op: 'literal', type: INT64, value: level } };
  }
  equal(nameQuantileOffsets(plan, new Set()), plan);
});

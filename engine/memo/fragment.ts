import { createHash } from 'node:crypto';
import { must } from '../assert.ts';
import type { Expression } from '../plan/expression.ts';
import { substitute } from '../plan/expression-walk.ts';
import { type TimeSteps, timeStepsOf } from '../plan/optimize/time-steps.ts';
import {
  type Breaker,
  breakerOf,
  type PhysicalPlan,
  type PhysicalScan,
  scansOf,
} from '../plan/physical-plan.ts';
import { canonicalText } from './canonical-plan.ts';

/** The part of a plan up to the grouping it may be cut at: what partial states are remembered of. */
export type Fragment = {
  /**
   * Only fragments share it that give the same partial state over the same rows: it stands for all of
   * the fragment, the project and every parameter included, but for the window of its scan.
   */
  readonly key: string;
  /** Under this key the first segment of a run over few rows has the state of all of them. */
  readonly smallKey: string;
  readonly breaker: Breaker;
  readonly scan: PhysicalScan;
  /** A key of the grouping that never falls while time goes on, where there is one. */
  readonly timeKey?: TimeKey | undefined;
};

export type TimeKey = { readonly index: number; readonly steps: TimeSteps };

const known = new WeakMap<PhysicalPlan, Fragment | 'none'>();

/** The fragment of a plan; `undefined` where it cannot be cut, or holds what cannot be compared. */
export function fragmentOf(plan: PhysicalPlan): Fragment | undefined {
  let fragment = known.get(plan);
  if (fragment === undefined) {
    fragment = findFragment(plan) ?? 'none';
    known.set(plan, fragment);
  }
  return fragment === 'none' ? undefined : fragment;
}

function findFragment(plan: PhysicalPlan): Fragment | undefined {
  const breaker = breakerOf(plan);
  const key = breaker && fragmentKey(breaker);
  if (breaker === undefined || key === undefined) return undefined;
  const scan = must(scansOf(breaker)[0], 'a fragment has one scan');
  return { key, smallKey: `${key} small`, breaker, scan, timeKey: timeKeyOf(breaker, scan) };
}

/** With `projectKey`: what it has in common with the same fragment of other projects. */
export function fragmentKey(breaker: Breaker, projectKey?: string | undefined): string | undefined {
  const text = canonicalText(breaker, projectKey);
  return text && createHash('sha256').update(text).digest('base64url');
}

function timeKeyOf(breaker: Breaker, scan: PhysicalScan): TimeKey | undefined {
  const timestamp = scan.columns[scan.fields.indexOf('timestamp')]?.id;
  if (timestamp === undefined) return undefined;
  for (const [index, { expression }] of breaker.keys.entries()) {
    const steps = timeStepsOf(inTermsOfScan(expression, breaker.input));
    if (steps?.column === timestamp) return { index, steps };
  }
  return undefined;
}

/** An expression above some operators as it reads below them, as far as they pass rows on. */
function inTermsOfScan(expression: Expression, plan: PhysicalPlan): Expression {
  switch (plan.op) {
    case 'project': {
      const computed = new Map(plan.columns.map((item) => [item.column.id, item.expression]));
      return inTermsOfScan(substitute(expression, computed), plan.input);
    }
    case 'filter':
    case 'unnest':
      return inTermsOfScan(expression, plan.input);
    case 'join':
      return inTermsOfScan(expression, plan.left);
    default:
      return expression;
  }
}

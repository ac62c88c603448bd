import { createHash } from 'node:crypto';
import { must } from '../assert.ts';
import type { Expression } from '../plan/expression.ts';
import { substitute } from '../plan/expression-walk.ts';
import { type LateTexts, NO_TEXTS } from '../plan/late-texts.ts';
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
  /** What the keys of all calls begin with that share the plan. */
  readonly planKey: string;
  readonly breaker: Breaker;
  /** As calls with the same key run it, but for the window. */
  readonly scan: PhysicalScan;
  /** There when the plan is one that calls share: what they put in. */
  readonly texts?: LateTexts;
  /** A key of the grouping that never falls while time goes on, where there is one. */
  readonly timeKey?: TimeKey | undefined;
};

export type TimeKey = { readonly index: number; readonly steps: TimeSteps };

/** A plan, and what a call puts in where it is one that calls share. */
export type FragmentCall = {
  readonly plan: PhysicalPlan;
  /** With what the call says of them. */
  readonly scans: readonly PhysicalScan[];
  readonly template?: { readonly texts: LateTexts } | undefined;
};

/** What is known of a plan: its own fragment, and that of each call whose reach is everything. */
type Known = { readonly own: Fragment; readonly ofTexts: WeakMap<LateTexts, Fragment> };

const known = new WeakMap<PhysicalPlan, Known | 'none'>();

/** The fragment of a call; `undefined` where its plan cannot be cut, or holds what cannot be compared. */
export function fragmentOf({ plan, scans, template }: FragmentCall): Fragment | undefined {
  let found = known.get(plan);
  if (found === undefined) {
    const own = findFragment(plan);
    found = own === undefined ? 'none' : { own, ofTexts: new WeakMap() };
    known.set(plan, found);
  }
  if (found === 'none') return undefined;
  if (template === undefined) return found.own;
  const { texts } = template;
  const scan = must(scans[0], 'a fragment has one scan');
  const before = scan.reach === undefined ? found.ofTexts.get(texts) : undefined;
  if (before !== undefined) return before;
  const { own } = found;
  const key = callKey(own.planKey, texts, scan.reach);
  const fragment = { ...own, key, smallKey: smallKeyOf(key), scan, texts };
  if (scan.reach === undefined) found.ofTexts.set(texts, fragment);
  return fragment;
}

function findFragment(plan: PhysicalPlan): Fragment | undefined {
  const breaker = breakerOf(plan);
  const text = breaker && canonicalText(breaker);
  if (breaker === undefined || text === undefined) return undefined;
  const planKey = createHash('sha256').update(text).digest('base64url');
  const scan = must(scansOf(breaker)[0], 'a fragment has one scan');
  const key = callKey(planKey, NO_TEXTS, undefined);
  const timeKey = timeKeyOf(breaker, scan);
  return { key, smallKey: smallKeyOf(key), planKey, breaker, scan, timeKey };
}

/** The key of a call with these texts, whose scan has this reach. */
export function callKey(planKey: string, texts: LateTexts, reach: PhysicalScan['reach']): string {
  const within = reach === undefined ? '' : JSON.stringify(reach);
  return `${planKey} ${texts.key} ${within}`;
}

function smallKeyOf(key: string): string {
  return `${key} small`;
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

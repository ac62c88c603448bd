import { createHash } from 'node:crypto';
import { must } from '../assert.ts';
import { findOnce } from '../column/caches.ts';
import { type Expression, substitute } from '../plan/expression.ts';
import { type CalledPlan, type LateTexts, NO_TEXTS } from '../plan/late-texts.ts';
import { type TimeSteps, timeStepsOf } from '../plan/optimize/scan-scope.ts';
import {
  type Breaker,
  breakerOf,
  type PhysicalPlan,
  type PhysicalScan,
  scansOf,
} from '../plan/physical-plan.ts';

/** The part of a plan up to the grouping it may be cut at: what partial states are remembered of. */
export type Fragment = {
  /**
   * Only fragments share it that give the same partial state over the same rows: it stands for all of
   * the fragment, the project and every parameter included, but for the window of its scan.
   */
  readonly key: string;
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

/** `scans`: of the plan, with what the call says of them. */
export type ScannedPlan = CalledPlan & { readonly scans: readonly PhysicalScan[] };

/** What is known of a plan: its own fragment, and that of each call whose reach is everything. */
type Known = { readonly own: Fragment; readonly ofTexts: WeakMap<LateTexts, Fragment> };

const knownOf = findOnce((plan: PhysicalPlan): Known | undefined => {
  const own = findFragment(plan);
  return own && { own, ofTexts: new WeakMap() };
});

/** The fragment of a call; `undefined` where its plan cannot be cut, or holds what cannot be compared. */
export function fragmentOf({ plan, scans, template }: ScannedPlan): Fragment | undefined {
  const found = knownOf(plan);
  if (found === undefined) return undefined;
  if (template === undefined) return found.own;
  const { texts } = template;
  const scan = must(scans[0], 'a fragment has one scan');
  const before = scan.reach === undefined ? found.ofTexts.get(texts) : undefined;
  if (before !== undefined) return before;
  const { own } = found;
  const key = callKey(own.planKey, texts, scan.reach);
  const fragment = { ...own, key, scan, texts };
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
  return { key, planKey, breaker, scan, timeKey };
}

/** The key of a call with these texts, whose scan has this reach. */
export function callKey(planKey: string, texts: LateTexts, reach: PhysicalScan['reach']): string {
  const within = reach === undefined ? '' : JSON.stringify(reach);
  return `${planKey} ${texts.key} ${within}`;
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

/**
 * A text that only plans share that give the same rows over the same segments: windows of scans, the
 * names of columns, the places in the text they came from and the numbers that columns happen to have
 * are left out. `undefined` when the plan holds what is no plain value.
 */
function canonicalText(plan: PhysicalPlan): string | undefined {
  const writer = new CanonicalWriter();
  return writer.write(plan, false) ? writer.text : undefined;
}

/** Under these names plans have the ids of columns. */
const COLUMN_NAMES: ReadonlySet<string> = new Set(['id', 'per', 'capture', 'from']);

class CanonicalWriter {
  text = '';
  /** Columns by the order in which they are met. */
  readonly #columns = new Map<number, number>();

  /** False when the value is no plain one. `isColumn`: its numbers are the ids of columns. */
  write(value: unknown, isColumn: boolean): boolean {
    switch (typeof value) {
      case 'string':
        this.text += JSON.stringify(value);
        return true;
      case 'number':
        this.text += isColumn ? `#${this.#column(value)}` : numberText(value);
        return true;
      case 'bigint':
        this.text += `${value}n`;
        return true;
      case 'boolean':
        this.text += value ? 'true' : 'false';
        return true;
      case 'object':
        return this.#writeObject(value, isColumn);
      default:
        return false;
    }
  }

  #writeObject(value: object | null, areColumns: boolean): boolean {
    if (value === null) {
      this.text += 'null';
      return true;
    }
    if (Array.isArray(value)) return this.#writeAll(value, areColumns);
    if (!isPlainObject(value)) return false;
    this.text += '{';
    const isColumn = !('op' in value) && 'id' in value && 'name' in value;
    const isScan = value['op'] === 'scan';
    for (const name of Object.keys(value).sort()) {
      const part = value[name];
      if (part === undefined || name === 'span') continue;
      if ((isColumn && name === 'name') || (isScan && name === 'window')) continue;
      this.text += `${name}:`;
      if (!this.write(part, COLUMN_NAMES.has(name))) return false;
      this.text += ',';
    }
    this.text += '}';
    return true;
  }

  #writeAll(values: readonly unknown[], areColumns: boolean): boolean {
    this.text += '[';
    for (const value of values) {
      if (!this.write(value, areColumns)) return false;
      this.text += ',';
    }
    this.text += ']';
    return true;
  }

  #column(id: number): number {
    const known = this.#columns.get(id);
    if (known !== undefined) return known;
    this.#columns.set(id, this.#columns.size);
    return this.#columns.size - 1;
  }
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

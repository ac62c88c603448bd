import { VectorChunk } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import { constantVector, type Vector, valueAt } from '../column/vector.ts';
import { QueryError } from '../query-error.ts';
import { compileExpression } from './evaluate.ts';
import type { Expression } from './expression.ts';
import {
  columnsOf,
  conjunctionOf,
  conjunctsOf,
  rewrite,
  someNode,
  subqueriesIn,
} from './expression-walk.ts';
import { lateNumberOf } from './late-number.ts';
import { boundsOf, type LateTexts, type ScanBounds } from './late-texts.ts';
import type { BoundQuery, LogicalPlan, Scan, TimeWindow } from './logical-plan.ts';
import { generatesArrays, patternOf } from './optimize/fold.ts';
import {
  type CallContext,
  optimizeInPieces,
  PASSES,
  type Pass,
  type PlanContext,
  SCOPE_SCANS,
} from './optimize/optimize.ts';
import {
  expressionsOf,
  inputsOf,
  plansWithin,
  rewritePlan,
  subqueriesOf,
} from './optimize/plan-walk.ts';
import { FLIPPED, narrow, timeBoundOf } from './optimize/scan-scope.ts';
import { timeStepsOf } from './optimize/time-steps.ts';
import { type PhysicalPlan, type PhysicalScan, physicalPlanOf, scansOf } from './physical-plan.ts';
import type { Pieces } from './pieces.ts';
import { EVERYTHING } from './reach.ts';

/**
 * What calls have in common that differ in times, in late texts and in reach only: a physical plan in which
 * the windows of its scans wait for the *late values*, the clock and the parameters that are TIMESTAMPs
 * and not NULL, and its scans and expressions for the texts. With all of these put in it is the plan that
 * the optimiser makes.
 */
export type PlanTemplate = {
  /** Its windows are as narrow as they are at any time. */
  readonly plan: PhysicalPlan;
  /** The scans of the plan, by their index. */
  readonly scans: readonly PhysicalScan[];
  readonly bounds: readonly LateBounds[];
  /** Names of the parameters among the late values, in lower case. */
  readonly lateNames: readonly string[];
};

/** Conditions on one scan's timestamp that late values decide. */
type LateBounds = {
  /** The scan's index in the plan. */
  readonly index: number;
  readonly conditions: readonly LateCondition[];
};

/**
 * The window that a condition comes to; `undefined` where none says it. Throws a QueryError where the condition
 * has no value.
 */
type LateCondition = (late: LateValues) => TimeWindow | undefined;

/** The clock, then the parameters. */
type LateValues = {
  /** NaN for what is none. */
  readonly numbers: Float64Array;
  /** The same, as one row. */
  readonly row: () => VectorChunk;
};

/**
 * The template of a query without late patterns, all of it folded but its late values; `undefined`
 * where those decide on more than windows. Throws a QueryError that the query may throw for some late values and not for
 * others: then it has no template either.
 */
export function* templateInPieces(
  folded: BoundQuery,
  context: PlanContext,
): Pieces<PlanTemplate | undefined> {
  if (!readsLateInConditions(folded.plan)) return undefined;
  const lateNames = [...timestampParameters(folded.plan)];
  const bounds: LateBounds[] = [];
  // What the windows of scans would take of late values is taken out before them.
  const take: Pass = {
    name: 'take late bounds',
    apply: (plan) => takeLateBounds(plan, lateNames, bounds),
  };
  const passes = PASSES.flatMap((pass) => (pass === SCOPE_SCANS ? [take, pass] : [pass]));
  const unclocked = { ...context, nowUs: undefined };
  const optimized = yield* optimizeInPieces(folded, unclocked, passes);
  if (someExpression(optimized, isLate)) return undefined;
  const plan = physicalPlanOf(optimized, EVERYTHING);
  return { plan, scans: scansOf(plan), bounds, lateNames };
}

/** Names of the parameters that a plan reads as TIMESTAMPs, in lower case. */
export function timestampParameters(plan: LogicalPlan): ReadonlySet<string> {
  const names = new Set<string>();
  someExpression(plan, (node) => {
    if (isLate(node) && node.op === 'parameter') names.add(node.name.toLowerCase());
    return false;
  });
  return names;
}

/**
 * Whether a bound plan has a regular expression that a late value may decide on. A wrong one is an
 * error of the query as soon as it is known, even where nothing needs it; so all of the plan has to be
 * folded for each call.
 */
export function hasLatePattern(plan: LogicalPlan): boolean {
  return someExpression(plan, (node) => {
    const pattern = node.op === 'call' ? patternOf(node) : undefined;
    return pattern !== undefined && someNode(pattern, isLate);
  });
}

function isLate(node: Expression): boolean {
  return node.op === 'now' || (node.op === 'parameter' && node.type.kind === 'TIMESTAMP');
}

/** Whether some expression of a plan or of its subqueries, or a part of one, is such. */
function someExpression(plan: LogicalPlan, isSuch: (node: Expression) => boolean): boolean {
  for (const node of plansWithin(plan)) {
    if (expressionsOf(node).some((expression) => someNode(expression, isSuch))) return true;
  }
  return false;
}

function readsLate(expression: Expression): boolean {
  return someNode(expression, isLate);
}

/**
 * What one call says of a template's scans; `undefined` where a late value makes a bound that no window can
 * take.
 */
export function scanBoundsAt(
  template: PlanTemplate,
  context: CallContext,
  texts: LateTexts,
): readonly ScanBounds[] | undefined {
  const reach = context.reach ?? EVERYTHING;
  return windowsAt(template, context)?.map((window, index) =>
    boundsOf(template.scans[index]!, { window, texts, reach }),
  );
}

function windowsAt(
  { scans, bounds, lateNames }: PlanTemplate,
  { nowUs, parameters }: CallContext,
): readonly TimeWindow[] | undefined {
  const windows = scans.map((scan) => scan.window);
  const values = [nowUs, ...lateNames.map((name) => parameters.get(name) ?? null)];
  const late = {
    numbers: numbersOf(values),
    row: () => new VectorChunk(values.map(toConstant), 1),
  };
  try {
    for (const { index, conditions } of bounds) {
      for (const condition of conditions) {
        const bound = condition(late);
        if (bound === undefined) return undefined;
        windows[index] = narrow(windows[index]!, bound);
      }
    }
    return windows;
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

/** `Float64Array.from` takes ten times as long for so few. */
function numbersOf(values: readonly (SqlValue | undefined)[]): Float64Array {
  const numbers = new Float64Array(values.length);
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    numbers[index] = typeof value === 'number' ? value : Number.NaN;
  }
  return numbers;
}

function toConstant(value: SqlValue): Vector {
  return constantVector(value, 1);
}

/**
 * Whether late values are read in conditions only, from where no rewrite carries them elsewhere: what
 * a projection reads may come to stand anywhere.
 */
function readsLateInConditions(plan: LogicalPlan): boolean {
  if (plan.op !== 'filter' && expressionsOf(plan).some(readsLate)) return false;
  if (subqueriesOf(plan).some((subquery) => someExpression(subquery.plan, isLate))) return false;
  return inputsOf(plan).every(readsLateInConditions);
}

/** Takes the conditions out, into `bounds`, that a scan's window can stand for in a call. */
function takeLateBounds(
  plan: LogicalPlan,
  lateNames: readonly string[],
  bounds: LateBounds[],
): LogicalPlan {
  let scanCount = 0;
  return rewritePlan(plan, (node) => {
    if (node.op === 'scan') scanCount++;
    if (node.op !== 'filter' || node.input.op !== 'scan') return node;
    const scan = node.input;
    const kept: Expression[] = [];
    const conditions: LateCondition[] = [];
    for (const term of conjunctsOf(node.predicate)) {
      const condition = lateConditionOf(term, scan, lateNames);
      if (condition === undefined) kept.push(term);
      else conditions.push(condition);
    }
    if (conditions.length === 0) return node;
    // Scans are numbered from left to right, and this one is the last of those seen so far.
    bounds.push({ index: scanCount - 1, conditions });
    return kept.length === 0 ? scan : { ...node, predicate: conjunctionOf(kept) };
  });
}

/** A condition that compares the scan's timestamp, or what never falls while it rises, with what late values alone decide. */
function lateConditionOf(
  term: Expression,
  scan: Scan,
  lateNames: readonly string[],
): LateCondition | undefined {
  if (term.op !== 'call' || term.arguments.length !== 2) return undefined;
  const timestamp = scan.columns.find((item) => item.field === 'timestamp')?.column.id;
  const stepsOf = (side: Expression) => {
    const steps = timeStepsOf(side);
    return steps?.column === timestamp ? steps : undefined;
  };
  const [left, right] = term.arguments as readonly [Expression, Expression];
  const rightSteps = stepsOf(right);
  const steps = rightSteps ?? stepsOf(left);
  const value = rightSteps === undefined ? right : left;
  if (steps === undefined) return undefined;
  const comparison = rightSteps === undefined ? term.name : FLIPPED.get(term.name);
  if (!readsLate(value) || columnsOf(value).size > 0) return undefined;
  // What may take long to compute is left to a worker.
  if (generatesArrays(value) || subqueriesIn(value).length > 0) return undefined;
  const columns = rewrite(value, (node) => asColumn(node, lateNames));
  const evaluate = compileExpression(columns, (id) => id);
  const number = lateNumberOf(columns, (node) => (node.op === 'column' ? node.id : undefined));
  // Times cut down to a unit are the same for as long as it lasts.
  let last: { readonly value: number; readonly bound: TimeWindow | undefined } | undefined;
  return ({ numbers, row }) => {
    let known: SqlValue = number === undefined ? Number.NaN : number(numbers);
    if (Number.isNaN(known)) known = valueAt(evaluate(row()), 0);
    if (typeof known !== 'number' || comparison === undefined) return undefined;
    if (last?.value !== known) {
      last = { value: known, bound: timeBoundOf(steps, comparison, known) };
    }
    return last.bound;
  };
}

/** A late value as the column it has in the row of all of them. */
function asColumn(node: Expression, lateNames: readonly string[]): Expression {
  if (node.op === 'now') return { op: 'column', type: node.type, id: 0 };
  if (node.op !== 'parameter') return node;
  return { op: 'column', type: node.type, id: 1 + lateNames.indexOf(node.name.toLowerCase()) };
}

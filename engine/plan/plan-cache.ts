import { serialize } from 'node:v8';
import { must } from '../assert.ts';
import { SizedCache } from '../column/caches.ts';
import { VectorChunk } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import { constantVector, type Vector, valueAt } from '../column/vector.ts';
import { US_PER_DAY } from '../function/time/calendar.ts';
import { WorkBudget } from '../function/work-meter.ts';
import { FOLDING_STEPS_MAX, REMEMBERED_PLANS_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { constantsOf, factsOf } from './call-facts.ts';
import { compileExpression } from './evaluate.ts';
import {
  type Column,
  columnsOf,
  conjunctionOf,
  conjunctsOf,
  type Expression,
  rewrite,
  someNode,
  subqueriesIn,
} from './expression.ts';
import {
  boundsOf,
  type LateTexts,
  type LateTextUse,
  lateTextKind,
  lateTexts,
  lateTextUses,
  NO_TEXTS,
  type ScanBounds,
} from './late-texts.ts';
import {
  type BoundQuery,
  expressionsOf,
  inputsOf,
  type LogicalPlan,
  plansWithin,
  rewritePlan,
  type Scan,
  subqueriesOf,
  type TimeWindow,
} from './logical-plan.ts';
import { foldPlan, generatesArrays, patternOf } from './optimize/fold.ts';
import {
  type CallContext,
  optimizeInPieces,
  PASSES,
  type Pass,
  type PlanContext,
  SCOPE_SCANS,
} from './optimize/optimize.ts';
import { FLIPPED, narrow, timeBoundOf, timeStepsOf } from './optimize/scan-scope.ts';
import { lateBucketsAsBounds } from './optimize/time-buckets.ts';
import { type PhysicalPlan, type PhysicalScan, physicalPlanOf, scansOf } from './physical-plan.ts';
import { type Pieces, runPieces } from './pieces.ts';
import { EVERYTHING } from './reach.ts';

/** Bytes of the texts that calls put into such plans: those of some thousand projects. */
const REMEMBERED_TEXTS_BYTES_MAX = 1024 * 1024;

/** The plan of one call. */
export type CallPlan = {
  /** Its scans are as they are to be run only where there is no `template`. */
  readonly plan: PhysicalPlan;
  /** The scans as they are to be run, by their index. */
  readonly scans: readonly PhysicalScan[];
  /** There when the same plan serves other calls too. */
  readonly template?: SentTemplate;
};

/** A plan as another thread gets it, that knows it by its number once it has read it. */
export type SentTemplate = {
  readonly number: number;
  /** A `TemplateContent`, as `v8.serialize` writes it. */
  readonly bytes: Uint8Array;
  /** What to put in: what this call says of each scan, by its index. */
  readonly bounds: readonly ScanBounds[];
  /** The texts of this call: one object for all calls of the template with the same texts, while it is kept. */
  readonly texts: LateTexts;
};

export type TemplateContent = {
  readonly plan: PhysicalPlan;
  readonly output: readonly Column[];
  /** Rows of an answer at most; the plan gives one more where there are more. */
  readonly rowsMax: number;
};

/**
 * What is remembered of a query with certain parameters. `seen`: that it was asked for, for most
 * parameters come once only and a template costs more than a plan. `template`: all is done but what a call
 * puts in. `folded`: the parameters are put in, and the late values decide what the rest comes to. `closed`:
 * no text may be left open. `none`: there is nothing to be gained.
 */
type Remembered =
  | { readonly kind: 'seen' | 'closed' | 'none' }
  | { readonly kind: 'template'; readonly template: PlanTemplate; readonly sent: Content }
  | { readonly kind: 'folded'; readonly query: BoundQuery };

type Content = Omit<SentTemplate, 'bounds' | 'texts'>;

type QueryIdentity = {
  readonly number: number;
  /** Names of its parameters that are late values where they are not NULL. */
  readonly timestamps: ReadonlySet<string>;
  /** Names of its parameters that may be late texts. */
  readonly texts: ReadonlyMap<string, LateTextUse>;
  readonly hasLatePattern: boolean;
};

/** What a key costs beside its text. */
const ENTRY_BYTES = 128;

/**
 * Makes the plans of calls, and remembers what it can of them by the values of their parameters: the
 * plan is the one that `optimize` makes, whatever was remembered, or better: what a text asks of its
 * list of buckets is asked of the rows in a template.
 */
export class PlanCache {
  readonly #remembered = new SizedCache<string, Remembered>(REMEMBERED_PLANS_BYTES_MAX);
  readonly #texts = new SizedCache<string, LateTexts>(REMEMBERED_TEXTS_BYTES_MAX);
  readonly #identities = new WeakMap<BoundQuery, QueryIdentity>();
  #queryCount = 0;
  #templateCount = 0;

  /** Throws a QueryError as `optimize` does. */
  planOf(query: BoundQuery, context: CallContext): CallPlan {
    return runPieces(this.planInPieces(query, context));
  }

  /** As `planOf`. */
  *planInPieces(query: BoundQuery, context: CallContext): Pieces<CallPlan> {
    const identity = this.#identityOf(query);
    if (identity.hasLatePattern) return yield* planWhole(query, context);
    const texts = textsOf(identity, context);
    const open = texts.key === NO_TEXTS.key ? 'closed' : yield* this.#plan(query, context, texts);
    const plan = open === 'closed' ? yield* this.#plan(query, context, NO_TEXTS) : open;
    return plan === 'closed' ? yield* planWhole(query, context) : plan;
  }

  /** With these texts left open; `closed`: that may not be done, or nothing may be remembered. */
  *#plan(query: BoundQuery, context: CallContext, texts: LateTexts): Pieces<CallPlan | 'closed'> {
    const key = this.#keyOf(query, context, texts);
    if (key === undefined) return 'closed';
    let known = this.#remembered.find(key);
    if (known === undefined) {
      this.#remembered.set(key, { kind: 'seen' }, ENTRY_BYTES + 2 * key.length);
      return yield* planWhole(query, context);
    }
    if (known.kind === 'seen') known = yield* this.#remember(key, query, { context, texts });
    if (known.kind === 'closed') return known.kind;
    if (known.kind === 'folded') return yield* planWhole(known.query, context);
    if (known.kind !== 'template') return yield* planWhole(query, context);
    return this.#filled(known, context, texts) ?? (yield* planWhole(query, context));
  }

  /** A template as one call runs it; `undefined` where it is none for the call. */
  #filled(
    { template, sent }: Extract<Remembered, { kind: 'template' }>,
    context: CallContext,
    given: LateTexts,
  ): CallPlan | undefined {
    const { number, bytes } = sent;
    const texts = this.#sameTexts(number, given);
    const budget = new WorkBudget(FOLDING_STEPS_MAX);
    const bounds = budget.run(() => scanBoundsAt(template, context, texts));
    if (bounds === undefined) return undefined;
    const scans = template.scans.map((scan, index) => ({ ...scan, ...bounds[index]! }));
    return { plan: template.plan, scans, template: { number, bytes, bounds, texts } };
  }

  /** The object that calls of a template with the same texts share. */
  #sameTexts(number: number, texts: LateTexts): LateTexts {
    const key = `${number} ${texts.key}`;
    const known = this.#texts.find(key);
    if (known !== undefined) return known;
    this.#texts.set(key, texts, ENTRY_BYTES + 4 * key.length);
    return texts;
  }

  *#remember(
    key: string,
    query: BoundQuery,
    call: { readonly context: CallContext; readonly texts: LateTexts },
  ): Pieces<Remembered> {
    const remembered = yield* this.#prepare(query, call);
    const size = ENTRY_BYTES + 2 * key.length + sizeOf(remembered);
    this.#remembered.set(key, remembered, size);
    return remembered;
  }

  *#prepare(
    query: BoundQuery,
    { context, texts }: { readonly context: CallContext; readonly texts: LateTexts },
  ): Pieces<Remembered> {
    try {
      const budget = new WorkBudget(FOLDING_STEPS_MAX);
      const unclocked = { ...context, nowUs: undefined, lateTexts: texts, budget };
      const folded = { ...query, plan: foldPlan(query.plan, unclocked) };
      yield;
      const bounded = { ...query, plan: lateBucketsAsBounds(folded.plan) };
      const template = yield* templateInPieces(bounded, unclocked);
      if (template === undefined) {
        return texts.values.size > 0 ? { kind: 'closed' } : { kind: 'folded', query: folded };
      }
      yield;
      const content: TemplateContent = {
        plan: template.plan,
        output: query.output,
        rowsMax: context.rowsMax,
      };
      this.#templateCount += 1;
      const sent = { number: this.#templateCount, bytes: serialize(content) };
      return { kind: 'template', template, sent };
    } catch (error) {
      // It fails in some calls and not in others, or in all; the plan of the call will tell.
      if (error instanceof QueryError) return { kind: 'none' };
      throw error;
    }
  }

  /**
   * A text that calls share when all but their late values and texts is the same; `undefined` where a value
   * is none that is compared so.
   */
  #keyOf(
    query: BoundQuery,
    { parameters, rowsMax }: CallContext,
    { values, patterns }: LateTexts,
  ): string | undefined {
    const { number, timestamps } = this.#identityOf(query);
    let key = `${number} ${rowsMax}`;
    for (const [name, value] of parameters) {
      const isLate = values.has(name) || (value !== null && timestamps.has(name));
      const text = patterns.has(name) ? 'late pattern' : isLate ? 'late' : valueText(value);
      if (text === undefined) return undefined;
      key += ` ${name}=${text}`;
    }
    return key;
  }

  #identityOf(query: BoundQuery): QueryIdentity {
    const known = this.#identities.get(query);
    if (known !== undefined) return known;
    this.#queryCount += 1;
    const identity = {
      number: this.#queryCount,
      timestamps: timestampParameters(query.plan),
      texts: lateTextUses(query.plan),
      hasLatePattern: hasLatePattern(query.plan),
    };
    this.#identities.set(query, identity);
    return identity;
  }
}

/** The texts that a call leaves open, as far as its values let it. */
function textsOf({ texts }: QueryIdentity, { parameters }: CallContext): LateTexts {
  if (texts.size === 0) return NO_TEXTS;
  const values = new Map<string, string>();
  const patterns = new Set<string>();
  for (const [name, use] of texts) {
    const value = parameters.get(name) ?? null;
    const kind = lateTextKind(value, use);
    if (kind === undefined) continue;
    values.set(name, value as string); // Nothing else has a kind.
    if (kind === 'pattern') patterns.add(name);
  }
  return lateTexts(values, patterns);
}

function* planWhole(query: BoundQuery, context: CallContext): Pieces<CallPlan> {
  const optimized = yield* optimizeInPieces(query, context);
  const plan = physicalPlanOf(optimized, context.reach ?? EVERYTHING);
  return { plan, scans: scansOf(plan) };
}

/** Told apart by type and content; a string by its length too, since it may hold what looks like others. */
function valueText(value: SqlValue): string | undefined {
  switch (typeof value) {
    case 'string':
      return `${value.length}:${value}`;
    case 'number':
      // CAST(-0.0 AS STRING) is "-0", so the two zeros are two values.
      return Object.is(value, -0) ? '-0' : `${value}`;
    case 'bigint':
      return `${value}n`;
    case 'boolean':
      return `${value}`;
    default:
      return value === null ? 'null' : undefined;
  }
}

function sizeOf(remembered: Remembered): number {
  switch (remembered.kind) {
    case 'template':
      return remembered.sent.bytes.length;
    case 'folded':
      return serialize(remembered.query.plan).length;
    default:
      return 0;
  }
}

/**
 * What calls have in common that differ in times, in late texts and in reach only: a physical plan in which
 * the windows of its scans wait for the *late values*, the clock and the parameters that are TIMESTAMPs
 * and not NULL, and its scans and expressions for the texts. With all of these put in it is the plan that
 * the optimiser makes.
 */
type PlanTemplate = {
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
function* templateInPieces(
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
function timestampParameters(plan: LogicalPlan): ReadonlySet<string> {
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
function hasLatePattern(plan: LogicalPlan): boolean {
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
function scanBoundsAt(
  template: PlanTemplate,
  context: CallContext,
  texts: LateTexts,
): readonly ScanBounds[] | undefined {
  const reach = context.reach ?? EVERYTHING;
  return windowsAt(template, context)?.map((window, index) =>
    boundsOf(must(template.scans[index]), { window, texts, reach }),
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
        windows[index] = narrow(must(windows[index]), bound);
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

/** Of the late values, as numbers: an expression's value, or NaN where that is to be computed in the plain way. */
type LateNumber = (late: Float64Array) => number;

/**
 * Times as queries compute them of the clock, in plain arithmetic: `TIMESTAMP_SUB`, `TIMESTAMP_ADD` and
 * `TIMESTAMP_TRUNC` by parts of one length, in UTC. It stands in for `compileExpression`, which takes some µs for
 * each function of one row. `undefined` for anything else. `indexOf` says which late value an expression is.
 */
export function lateNumberOf(
  expression: Expression,
  indexOf: (expression: Expression) => number | undefined,
): LateNumber | undefined {
  const index = indexOf(expression);
  if (index !== undefined) return (late) => usual(late[index]!);
  if (expression.op !== 'call') return undefined;
  const [time] = expression.arguments;
  const input = time && lateNumberOf(time, indexOf);
  if (input === undefined) return undefined;
  const { addedUs, timeStep } = factsOf(expression);
  const constants = constantsOf(expression);
  const shiftUs = addedUs?.(constants);
  if (shiftUs !== undefined) return (late) => usual(input(late) + shiftUs);
  const widthUs = timeStep?.(constants)?.widthUs;
  if (widthUs !== undefined) return (late) => usual(Math.floor(input(late) / widthUs) * widthUs);
  return undefined;
}

/** Years around 1970 in which no time is out of range, and all arithmetic here is exact. */
const USUAL_US_MAX = 100 * 365 * US_PER_DAY;

function usual(us: number): number {
  return Math.abs(us) <= USUAL_US_MAX ? us + 0 : Number.NaN;
}

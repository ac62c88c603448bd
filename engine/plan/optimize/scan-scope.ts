import type { NeededText, SourceSchema } from '../../column/segment.ts';
import type { SqlValue } from '../../column/value.ts';
import type { Int64 } from '../../function/number/int64.ts';
import type { TimeStep } from '../../function/scalar-function.ts';
import { DATE_STEP, DATETIME_STEP } from '../../function/time/time-conversion-functions.ts';
import { QueryError } from '../../query-error.ts';
import { type Call, constantsOf, factsOf } from '../call-facts.ts';
import { knownTest, matcherOf } from '../evaluator/text-search.ts';
import {
  type ColumnId,
  childrenOf,
  conjunctionOf,
  conjunctsOf,
  type Expression,
  substitute,
} from '../expression.ts';
import {
  isLateText,
  isOfUse,
  type LateTest,
  latePatternTest,
  lateTest,
  neededText,
  type WantedText,
} from '../late-texts.ts';
import {
  columnsInInput,
  type Filter,
  inputsOf,
  type LogicalPlan,
  outputIds,
  type Scan,
  type TimeWindow,
  type Union,
  withInputs,
} from '../logical-plan.ts';
import { canFail } from './can-fail.ts';
import { Substitution } from './prune-columns.ts';

/**
 * Tells each scan what its filters imply: a window of time, which replaces the comparisons it is
 * made of, and one project, by which segments and rows are skipped. The project's own condition
 * stays, for rows of mixed projects need it; its filter is told where the others do not.
 */
export function scopeScans(plan: LogicalPlan, sources: readonly SourceSchema[]): LogicalPlan {
  return scope(plan, {
    sources,
    terms: [],
    elements: new Map(),
    implied: new Set(),
    substitution: new Substitution(),
  });
}

type Context = {
  readonly substitution: Substitution;
  readonly sources: readonly SourceSchema[];
  /** Conditions every row of the plan has to meet. */
  readonly terms: readonly Term[];
  /** What the columns made by unnesting on the way down stand for. */
  readonly elements: ReadonlyMap<ColumnId, Expression>;
  /** Where a scan puts the origins that its project implies. */
  readonly implied: Set<Expression>;
};

/**
 * A condition as the plan at hand sees it. `origin` is the conjunct it was above, as long as each
 * row of an event comes to that conjunct as it is, one by one or multiplied.
 */
type Term = { readonly expression: Expression; readonly origin?: Expression };

function ownTerms(conjuncts: readonly Expression[]): readonly Term[] {
  return conjuncts.map((expression) => ({ expression, origin: expression }));
}

/** Behind an operator that holds rows back, or makes rows of NULLs. */
function withoutOrigins(terms: readonly Term[]): readonly Term[] {
  return terms.map(({ expression }) => ({ expression }));
}

/** A filter that knows which of its conjuncts the scan's project implies. */
function filterOf(input: LogicalPlan, conjuncts: readonly Expression[], context: Context): Filter {
  const implied = conjuncts.filter((term) => context.implied.has(term));
  const predicate = conjunctionOf(conjuncts);
  const filter: Filter = { op: 'filter', input, predicate };
  return implied.length === 0 ? filter : { ...filter, impliedByProject: implied };
}

function scope(plan: LogicalPlan, context: Context): LogicalPlan {
  switch (plan.op) {
    case 'filter': {
      const terms = conjunctsOf(plan.predicate);
      if (plan.input.op === 'scan') {
        return scopeFilteredScan(plan.input, terms, context);
      }
      const all = [...context.terms, ...ownTerms(terms)];
      return filterOf(scope(plan.input, { ...context, terms: all }), terms, context);
    }
    case 'unnest': {
      const elements = new Map(context.elements).set(plan.element.id, plan.array);
      const terms = plan.outer ? withoutOrigins(context.terms) : context.terms;
      return { ...plan, input: scope(plan.input, { ...context, terms, elements }) };
    }
    case 'sort': {
      const terms = withoutOrigins(context.terms);
      return { ...plan, input: scope(plan.input, { ...context, terms }) };
    }
    case 'project': {
      const expressions = new Map(plan.columns.map((item) => [item.column.id, item.expression]));
      const arrays = context.substitution.within(
        [...context.elements],
        expressions,
        ([, array]) => array,
      );
      const elements = new Map(
        arrays.within.map(({ term: [id], expression }) => [id, expression] as const),
      );
      const terms = context.substitution
        .within(context.terms, expressions, ({ expression }) => expression)
        // What would grow too large is not known below.
        .within.map(({ term, expression }) => ({ ...term, expression }));
      return { ...plan, input: scope(plan.input, { ...context, terms, elements }) };
    }
    case 'union':
      return withInputs(
        plan,
        plan.inputs.map((input, index) => scope(input, contextInInput(plan, index, context))),
      );
    case 'join': {
      // What holds for the rows of an outer join need not hold for each row of the side it fills up.
      const open = { ...context, terms: [] };
      const both = { ...context, terms: withoutOrigins(context.terms) };
      const left = scope(plan.left, plan.kind === 'full' ? open : both);
      const isInner = plan.kind === 'inner' || plan.kind === 'cross';
      return { ...plan, left, right: scope(plan.right, isInner ? both : open) };
    }
    case 'scan':
      return withProject(plan, context);
    default:
      return withInputs(
        plan,
        inputsOf(plan).map((input) => scope(input, { ...context, terms: [] })),
      );
  }
}

/** What is known of a union's rows as one input sees it; that input alone implies nothing of all rows. */
function contextInInput(plan: Union, index: number, context: Context): Context {
  const columns = columnsInInput(plan, index);
  const seen = (expression: Expression) => substitute(expression, columns);
  const { within } = context.substitution.within(
    context.terms,
    columns,
    ({ expression }) => expression,
  );
  return {
    ...context,
    // What is more than the pass may write is not known below.
    terms: within.map(({ expression }) => ({ expression })),
    elements: new Map(Array.from(context.elements, ([id, array]) => [id, seen(array)] as const)),
  };
}

function scopeFilteredScan(
  scan: Scan,
  terms: readonly Expression[],
  context: Context,
): LogicalPlan {
  const timestamp = scan.columns.find((item) => item.field === 'timestamp')?.column.id;
  let window = scan.window;
  const kept: Expression[] = [];
  for (const term of terms) {
    const bound = timestamp === undefined ? undefined : boundOf(term, timestamp);
    if (bound === undefined) kept.push(term);
    else window = narrow(window, bound);
  }
  const scoped = withProject(
    { ...scan, window },
    { ...context, terms: [...context.terms, ...ownTerms(kept)] },
  );
  return kept.length === 0 ? scoped : filterOf(scoped, kept, context);
}

/**
 * `timestamp OP constant` as a half-open window in microseconds; `DATE(timestamp) OP constant` and its
 * kin, too, whose values are whole numbers: to be above one is to be at least the next.
 */
function boundOf(term: Expression, timestamp: ColumnId): TimeWindow | undefined {
  if (term.op !== 'call' || term.arguments.length !== 2) return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  const isFlipped = left.op === 'literal';
  const constant = isFlipped ? left : right;
  if (constant.op !== 'literal' || typeof constant.value !== 'number') return undefined;
  const steps = timeStepsOf(isFlipped ? right : left);
  if (steps === undefined || steps.column !== timestamp) return undefined;
  const comparison = isFlipped ? FLIPPED.get(term.name) : term.name;
  return comparison === undefined ? undefined : timeBoundOf(steps, comparison, constant.value);
}

/** The window of the times that compare so, `steps` on the left; `undefined` where no window says it. */
export function timeBoundOf(
  steps: TimeSteps,
  comparison: string,
  value: number,
): TimeWindow | undefined {
  const firstUs = steps.firstUs(value);
  const beyondUs = steps.firstUs(value + 1);
  if (firstUs === undefined || beyondUs === undefined) return undefined;
  switch (comparison) {
    case '>':
      return { startUs: beyondUs, endUs: Infinity };
    case '>=':
      return { startUs: firstUs, endUs: Infinity };
    case '<':
      return { startUs: -Infinity, endUs: firstUs };
    case '<=':
      return { startUs: -Infinity, endUs: beyondUs };
    case '=':
      return { startUs: firstUs, endUs: beyondUs };
    default:
      return undefined;
  }
}

/** What a comparison is with its sides changed. */
export const FLIPPED: ReadonlyMap<string, string> = new Map([
  ['>', '<'],
  ['>=', '<='],
  ['<', '>'],
  ['<=', '>='],
  ['=', '='],
]);

/** What two windows have in common. */
export function narrow(window: TimeWindow, bound: TimeWindow): TimeWindow {
  return {
    startUs: Math.max(window.startUs, bound.startUs),
    endUs: Math.min(window.endUs, bound.endUs),
  };
}

function withProject(scan: Scan, context: Context): Scan {
  const schema = context.sources.find((source) => source.name === scan.source);
  if (schema === undefined || hasProject(scan)) return scan;
  const own = outputIds(scan);
  for (const term of context.terms) {
    const project = projectOf(term.expression, scan, schema, { ...context, own });
    if (project === undefined) continue;
    if (term.origin !== undefined && isImplied(term.expression, scan, context)) {
      context.implied.add(term.origin);
    }
    return { ...scan, ...project };
  }
  return scan;
}

function hasProject({ projectKey, late }: Scan): boolean {
  return projectKey !== undefined || late?.project !== undefined;
}

/**
 * Whether a comparison with the project holds for each row of an event that has it as its key: by
 * the declared column, or in an element of metadata, all of which agree. Of a list of several
 * elements a comparison without UNNEST sees none.
 */
function isImplied(term: Expression, scan: Scan, { elements }: Context): boolean {
  let node = sidesOf(term).tested;
  if (node.op === 'read-as') node = node.input;
  if (node.op === 'column') return true;
  while (node.op === 'dynamic-field') node = node.input;
  const list = node.op === 'column' ? elements.get(node.id) : undefined;
  if (list?.op !== 'dynamic-field' || list.input.op !== 'column') return false;
  const { id } = list.input;
  return scan.columns.some(({ column, field }) => column.id === id && field === 'root');
}

/** The two sides of an equality, the constant told from what it is compared with. */
function sidesOf(term: Expression): { readonly tested: Expression; readonly constant: Expression } {
  const [left, right] = (term as Extract<Expression, { op: 'call' }>).arguments as readonly [
    Expression,
    Expression,
  ];
  return left.op === 'literal' || isLateText(left)
    ? { tested: right, constant: left }
    : { tested: left, constant: right };
}

/** What `project = constant` says of a scan, where `project` is what the source's rule says it is. */
function projectOf(
  term: Expression,
  scan: Scan,
  schema: SourceSchema,
  context: Context & { readonly own: ReadonlySet<ColumnId> },
): Pick<Scan, 'projectKey' | 'late'> | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const { tested, constant } = sidesOf(term);
  const project = constantProject(constant);
  if (project === undefined) return undefined;
  const value = tested.op === 'read-as' ? tested.input : tested;
  // An element compared itself is one of a list, and a list where the project stands names none.
  const isElement = value.op === 'column' && context.elements.has(value.id);
  const path = eventPathOf(tested, scan, context.elements, true);
  const isRule =
    path !== undefined &&
    !isElement &&
    path.length === schema.projectPath.length &&
    path.every((name, index) => name === schema.projectPath[index]);
  return isRule ? project : undefined;
}

function constantProject(constant: Expression): Pick<Scan, 'projectKey' | 'late'> | undefined {
  if (isLateText(constant)) return { late: { project: constant.name.toLowerCase() } };
  if (constant.op !== 'literal' || typeof constant.value !== 'string') return undefined;
  return { projectKey: constant.value };
}

/**
 * Tells each scan which texts a value of its events must hold for any of their rows to pass the
 * filters above, so that whole blocks of rows are skipped. The conditions stay: blocks only may hold
 * a text.
 *
 * A row that is skipped is not evaluated by what stands before its condition either. So that an
 * answer does not hang on how rows lie in blocks, nothing that can fail may stand there. A condition that
 * needs a text is false without it, and fails for none: a pattern may be refused for a long text that
 * holds what it needs.
 */
export function needTexts(plan: LogicalPlan): LogicalPlan {
  return need(plan, NOTHING_NEEDED);
}

/**
 * A string, and the texts of which it has to hold at least one, or the parameter that is the only one, or that as a
 * pattern tells which.
 */
type Need =
  | { readonly input: Expression; readonly texts: readonly string[] }
  | (LateTest & { readonly isPattern?: true });

type NeedContext = {
  /** What every row of the plan has to hold. */
  readonly tests: readonly Need[];
  /** The arrays of the elements made by unnesting on the way down. */
  readonly elements: ReadonlyMap<ColumnId, Expression>;
};

const NOTHING_NEEDED: NeedContext = { tests: [], elements: new Map() };

function need(plan: LogicalPlan, context: NeedContext): LogicalPlan {
  switch (plan.op) {
    case 'filter': {
      const conjuncts = conjunctsOf(plan.predicate);
      const failing = conjuncts.findIndex(canFail);
      const own = conjuncts
        .slice(0, failing < 0 ? undefined : failing + 1)
        .filter((conjunct) => !childrenOf(conjunct).some(canFail))
        .flatMap(needsOf);
      const tests = failing < 0 ? [...context.tests, ...own] : own;
      return { ...plan, input: need(plan.input, { ...context, tests }) };
    }
    case 'unnest': {
      const isSure = !plan.outer && !canFail(plan.array);
      const elements = new Map(context.elements).set(plan.element.id, plan.array);
      const tests = isSure ? context.tests : [];
      return { ...plan, input: need(plan.input, { tests, elements }) };
    }
    case 'scan':
      return withTexts(plan, context);
    default:
      return withInputs(
        plan,
        inputsOf(plan).map((input) => need(input, NOTHING_NEEDED)),
      );
  }
}

function withTexts(scan: Scan, context: NeedContext): Scan {
  const { late, projectKey } = scan;
  const wanted: WantedText[] = [];
  const messageTexts: (readonly string[])[] = [];
  for (const need of context.tests) {
    if ('parameter' in need && need.isPattern !== true && need.parameter === late?.project)
      continue;
    if ('texts' in need && !isOfUse(need.texts, projectKey)) continue;
    if ('texts' in need && isMessage(need.input, scan)) messageTexts.push(need.texts);
    const path = eventPathOf(need.input, scan, context.elements, false);
    if (path === undefined || path.length === 0) continue;
    if ('texts' in need) wanted.push(neededText(path, need.texts));
    else wanted.push({ path, parameter: need.parameter, isPattern: need.isPattern });
  }
  const told = messageTexts.length === 0 ? scan : { ...scan, messageTexts };
  if (wanted.length === 0) return told;
  const areLate = late?.project !== undefined || wanted.some((item) => 'parameter' in item);
  if (areLate) return { ...told, late: { ...late, texts: wanted } };
  return { ...told, texts: wanted as readonly NeededText[] };
}

function isMessage(expression: Expression, scan: Scan): boolean {
  if (expression.op !== 'column') return false;
  const item = scan.columns.find(({ column }) => column.id === expression.id);
  return item?.field === 'event_message';
}

/** What is somewhere in a string whenever a condition holds; a string without it does not make it fail. */
function needsOf(term: Expression): readonly Need[] {
  if (term.op !== 'call') return [];
  const late = lateTest(term);
  if (late !== undefined) return canFail(term) ? [] : [late];
  const pattern = latePatternTest(term);
  if (pattern !== undefined) return [{ ...pattern, isPattern: true }];
  const known = knownTest(term);
  if (known === undefined) return equalTexts(term);
  const { input, test } = known;
  if (test.kind !== 'general') return canFail(term) ? [] : [{ input, texts: [test.text] }];
  return matcherOf(test)?.needed.map((texts) => ({ input, texts })) ?? [];
}

/** Of `input = 'text'`. */
function equalTexts({ name, arguments: [left, right] }: Call): readonly Need[] {
  if (name !== '=' || left === undefined || right === undefined) return [];
  const [input, text] = left.op === 'literal' ? [right, left] : [left, right];
  if (text.op !== 'literal' || typeof text.value !== 'string') return [];
  return canFail(input) ? [] : [{ input, texts: [text.value] }];
}

/**
 * Where in the events of a scan an expression reads a string: names of fields from the root record
 * down, unnested records (`elements`: what the columns made by unnesting stand for) and single elements followed to
 * their lists. `['project']` for the declared column, where that is asked for. `undefined`: elsewhere.
 */
function eventPathOf(
  expression: Expression,
  scan: Scan,
  elements: ReadonlyMap<ColumnId, Expression>,
  isProjectMeant: boolean,
): readonly string[] | undefined {
  const pathOf = (inner: Expression) => eventPathOf(inner, scan, elements, isProjectMeant);
  switch (expression.op) {
    case 'read-as':
      return expression.type.kind === 'STRING' ? pathOf(expression.input) : undefined;
    case 'dynamic-field': {
      const path = pathOf(listOf(expression.input));
      return path === undefined ? undefined : [...path, expression.name];
    }
    case 'column': {
      const item = scan.columns.find(({ column }) => column.id === expression.id);
      if (item?.field === 'root') return [];
      if (item?.field === 'project' && isProjectMeant) return ['project'];
      const array = item === undefined ? elements.get(expression.id) : undefined;
      return array === undefined ? undefined : pathOf(array);
    }
    default:
      return undefined;
  }
}

/** The list that a record is taken from by its position, or the expression itself. */
function listOf(expression: Expression): Expression {
  if (expression.op !== 'call' || expression.name !== 'array_safe_offset') return expression;
  return expression.arguments[0]!;
}

/**
 * A function of a column of times that never falls: the column itself, DATE(t) or
 * TIMESTAMP_TRUNC(t, HOUR). Whether it is at least some value is told by the time alone.
 */
export type TimeSteps = {
  readonly column: ColumnId;
  /** The first time at which it is at least `value`; `undefined` where no double holds that. */
  readonly firstUs: (value: number) => number | undefined;
};

/** `undefined` for an expression that is no such function, or not known to be one. */
export function timeStepsOf(expression: Expression): TimeSteps | undefined {
  if (expression.op === 'column') return { column: expression.id, firstUs: safeUs };
  const time = timeIn(expression);
  if (time?.op !== 'column' || time.type.kind !== 'TIMESTAMP') return undefined;
  const step = stepOf(expression);
  if (step === undefined) return undefined;
  return { column: time.id, firstUs: (value) => safely(() => step.firstUs(value)) };
}

function timeIn(expression: Expression): Expression | undefined {
  if (expression.op === 'cast') return expression.input;
  return expression.op === 'call' ? expression.arguments[0] : undefined;
}

function stepOf(expression: Expression): TimeStep | undefined {
  if (expression.op === 'call') return factsOf(expression).timeStep?.(constantsOf(expression));
  if (expression.type.kind === 'DATE') return DATE_STEP;
  return expression.type.kind === 'DATETIME' ? DATETIME_STEP : undefined;
}

function safeUs(us: SqlValue): number | undefined {
  return typeof us === 'number' && Number.isSafeInteger(us) ? us : undefined;
}

/** Where there is no such time within the years, rows are asked one by one. */
function safely(compute: () => Int64): number | undefined {
  try {
    return safeUs(compute());
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

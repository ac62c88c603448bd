import { BOOL, TIMESTAMP } from '../../column/type.ts';
import { isNested, type SqlValue } from '../../column/value.ts';
import { compileRegex } from '../../function/text/regular-expression.ts';
import { spendSteps, type WorkBudget } from '../../function/work-meter.ts';
import { FOLDED_ELEMENTS_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { boundOverload, type Call, factsOf } from '../call-facts.ts';
import { evaluateConstant } from '../evaluate.ts';
import { evaluateRelation } from '../execute.ts';
import {
  childrenOf,
  columnReference,
  columnsOf,
  type Expression,
  isLiteral,
  isUnsettled,
  substitute,
  withChildren,
} from '../expression.ts';
import type { LateTexts } from '../late-texts.ts';
import {
  expressionsOf,
  inputsOf,
  type Join,
  type LogicalPlan,
  mapExpressions,
  outputOf,
  type Rows,
  rewritePlan,
  subqueriesOf,
} from '../logical-plan.ts';
import { physicalPlanOf } from '../physical-plan.ts';
import { NOTHING } from '../reach.ts';

/**
 * Most characters and elements of a value with which planning may replace its expression. Plans are made on the main
 * thread, and all callers share its heap: workers compute larger values.
 */
export const FOLDED_VALUE_SIZE_MAX = 16_384;

/** What a call brings: a value for each parameter the text names, and the run's clock. */
export type CallValues = {
  readonly parameters: ReadonlyMap<string, SqlValue>;
  /**
   * Microseconds since the epoch; `undefined`: not known yet, nor are parameters that are TIMESTAMPs,
   * but that they are not NULL. What reads them stays as it is.
   */
  readonly nowUs: number | undefined;
  /** Parameters that are left open beside. */
  readonly lateTexts?: LateTexts;
  /** For all that is computed while the call is planned. */
  readonly budget?: WorkBudget;
};

/** Puts the call's values in place of parameters and computes all that needs no row. */
export function foldPlan(plan: LogicalPlan, values: CallValues): LogicalPlan {
  return rewritePlan(plan, (node) =>
    withCheckedCounts(mapExpressions(node, (root) => fold(root, values))),
  );
}

/** A number of rows that a parameter gives is known only now. */
function withCheckedCounts(node: LogicalPlan): LogicalPlan {
  if (node.op !== 'limit') return node;
  for (const [clause, count] of [
    ['LIMIT', node.count],
    ['OFFSET', node.offset],
  ] as const) {
    if (count?.op !== 'literal' || (count.value !== null && Number(count.value) >= 0)) continue;
    const sentence = `${clause} takes a number of rows, at least 0; got ${count.value}`;
    throw new QueryError('query_failed', sentence);
  }
  return node;
}

/** Folds from the leaves up, but a CASE from its conditions: a branch not taken is not computed. */
function fold(expression: Expression, values: CallValues): Expression {
  if (expression.op === 'case') return foldCase(expression, values);
  const children = childrenOf(expression);
  if (children.length === 0) return foldNode(expression, values);
  const folded = children.map((child) => fold(child, values));
  const isChanged = folded.some((child, index) => child !== children[index]);
  const node = isChanged ? withChildren(expression, folded) : expression;
  if (node.op === 'call' && expression.op === 'call') checkPattern(node, expression, values);
  return foldNode(node, values);
}

/** Folds one node whose children are folded already. */
function foldNode(expression: Expression, values: CallValues): Expression {
  switch (expression.op) {
    case 'parameter': {
      const name = expression.name.toLowerCase();
      const { lateTexts } = values;
      if (lateTexts?.patterns.has(name) === true) return { ...expression, isPattern: true };
      if (lateTexts?.values.has(name) === true) return expression;
      const value = values.parameters.get(name) ?? null;
      const isLate = values.nowUs === undefined && expression.type.kind === 'TIMESTAMP';
      if (isLate && value !== null) return expression;
      return { op: 'literal', type: expression.type, value };
    }
    case 'now':
      if (values.nowUs === undefined) return expression;
      return { op: 'literal', type: TIMESTAMP, value: values.nowUs };
    case 'coalesce':
      return foldCoalesce(expression);
    case 'literal':
    case 'column':
    case 'apply':
      return expression;
    case 'subquery':
      if (expression.isOptimized === true) return expression;
      return { ...expression, plan: foldPlan(expression.plan, values) };
    case 'call':
      if (expression.name === 'and' || expression.name === 'or') return foldLogic(expression);
      // A parameter that is left is known not to be NULL.
      if (expression.name === 'is_null' && expression.arguments[0]?.op === 'parameter') {
        return { op: 'literal', type: BOOL, value: false };
      }
      return foldConstant(expression, values);
    default:
      return foldConstant(expression, values);
  }
}

/** A value that fails stays as it is: it fails when, and only when, a row needs it. */
function foldConstant(expression: Expression, { budget }: CallValues): Expression {
  if (!childrenOf(expression).every(isLiteral)) return expression;
  try {
    if (isLargeArray(expression)) return expression;
    const compute = () => evaluateConstant(expression);
    const value = budget === undefined ? compute() : budget.run(compute);
    if (value === undefined || sizeOfValue(value) > FOLDED_VALUE_SIZE_MAX) return expression;
    // A plan travels between threads, and a record that a text was parsed to cannot.
    return holdsNested(value) ? expression : { op: 'literal', type: expression.type, value };
  } catch (error) {
    if (error instanceof QueryError) return expression;
    throw error;
  }
}

function holdsNested(value: SqlValue): boolean {
  return Array.isArray(value) ? value.some(holdsNested) : isNested(value);
}

/** Characters and elements, counted no further than is too many. */
function sizeOfValue(value: SqlValue): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 1;
  let size = value.length;
  for (const element of value) {
    if (size > FOLDED_VALUE_SIZE_MAX) break;
    size += sizeOfValue(element);
  }
  return size;
}

/** Planning happens on the main thread: what takes long to compute is left to a worker. */
function isLargeArray(expression: Expression): boolean {
  const countElements = elementCounter(expression);
  if (countElements === undefined) return false;
  const values = childrenOf(expression).map((child) => (isLiteral(child) ? child.value : null));
  return !values.includes(null) && countElements(...values) > FOLDED_ELEMENTS_MAX;
}

/**
 * Whether a folded expression makes arrays out of numbers: of more elements than are computed while
 * planning, or as many as rows will say.
 */
export function generatesArrays(expression: Expression): boolean {
  return elementCounter(expression) !== undefined || childrenOf(expression).some(generatesArrays);
}

function elementCounter(
  expression: Expression,
): ((...values: readonly SqlValue[]) => number) | undefined {
  if (expression.op !== 'call' || expression.type.kind !== 'ARRAY') return undefined;
  const types = expression.arguments.map((argument) => argument.type);
  return boundOverload(expression.name, types).elementCount;
}

/**
 * A pattern known before the first row is refused before the first row, where there is time to look at it;
 * with its place where it stands in the text and no parameter brought it.
 */
function checkPattern(call: Call, written: Call, { budget }: CallValues): void {
  const pattern = patternOf(call);
  if (pattern?.op !== 'literal' || typeof pattern.value !== 'string') return;
  const text = pattern.value;
  try {
    if (budget === undefined) compileRegex(text);
    else budget.run(() => compileRegex(text));
  } catch (error) {
    if (!(error instanceof QueryError) || readsParameter(patternOf(written)!)) throw error;
    throw new QueryError(error.code, error.message, call.span);
  }
}

function readsParameter(expression: Expression): boolean {
  return expression.op === 'parameter' || childrenOf(expression).some(readsParameter);
}

/** The regular expression that a call looks for. */
export function patternOf(call: Call): Expression | undefined {
  const [, pattern] = call.arguments;
  return pattern === undefined || factsOf(call).regex === undefined ? undefined : pattern;
}

function foldLogic(call: Call): Expression {
  const decisive = call.name === 'or';
  const kept: Expression[] = [];
  for (const term of call.arguments) {
    if (isLiteral(term) && term.value === decisive) {
      return { op: 'literal', type: BOOL, value: decisive };
    }
    if (!(isLiteral(term) && term.value === !decisive)) kept.push(term);
  }
  if (kept.length === 0) return { op: 'literal', type: BOOL, value: !decisive };
  if (kept.length === 1) return kept[0]!;
  if (kept.every(isLiteral)) return { op: 'literal', type: BOOL, value: null };
  return kept.length === call.arguments.length ? call : { ...call, arguments: kept };
}

function foldCase(expression: Extract<Expression, { op: 'case' }>, values: CallValues): Expression {
  const branches: { when: Expression; then: Expression }[] = [];
  for (const branch of expression.branches) {
    const when = fold(branch.when, values);
    if (!isLiteral(when)) {
      branches.push({ when, then: fold(branch.then, values) });
    } else if (when.value === true) {
      const taken = fold(branch.then, values);
      return branches.length === 0 ? taken : { ...expression, branches, otherwise: taken };
    }
  }
  const otherwise = fold(expression.otherwise, values);
  return branches.length === 0 ? otherwise : { ...expression, branches, otherwise };
}

function foldCoalesce(expression: Extract<Expression, { op: 'coalesce' }>): Expression {
  const kept: Expression[] = [];
  for (const argument of expression.arguments) {
    if (isLiteral(argument) && argument.value === null) continue;
    kept.push(argument);
    if (isLiteral(argument) || argument.op === 'parameter') break;
  }
  if (kept.length === 0) return { op: 'literal', type: expression.type, value: null };
  if (kept.length === 1) return kept[0]!;
  return kept.length === expression.arguments.length
    ? expression
    : { ...expression, arguments: kept };
}

/** Rows of a constant relation computed while planning; longer ones are left to a worker. */
const FOLDED_ROWS_MAX = 10_000;

/** Steps (`work-meter.ts`) that a relation takes beside its values, and each of its columns: it is planned and run as a query is. */
export const CONSTANT_RELATION_STEPS = 500;

/**
 * Computes every relation that reads no source, now that the parameters are known: a generated list
 * of buckets becomes its rows, a one-row relation of settings becomes literals.
 */
export function computeConstantRelations(plan: LogicalPlan, values: CallValues): LogicalPlan {
  return rewritePlan(plan, (node) => inlineOneRow(unnestAsJoin(computeRelation(node, values))));
}

/** Bottom-up, so a relation over constants only has `rows` or `one-row` below it. */
function computeRelation(plan: LogicalPlan, { budget }: CallValues): LogicalPlan {
  const inputs = inputsOf(plan);
  if (inputs.length === 0 || !inputs.every(isConstant)) return plan;
  // What a subquery comes to is for a worker to find out, unless it has become a constant.
  if (subqueriesOf(plan).length > 0) return plan;
  if (expressionsOf(plan).some(isUnsettled) || isLong(plan)) return plan;
  const columns = outputOf(plan);
  try {
    const compute = () => {
      spendSteps(CONSTANT_RELATION_STEPS * (1 + columns.length));
      return evaluateRelation(physicalPlanOf(plan, NOTHING), columns);
    };
    const rows = budget === undefined ? compute() : budget.run(compute);
    return rows === undefined ? plan : { op: 'rows', columns, rows };
  } catch (error) {
    // It may never be needed; if it is, it fails where it runs.
    if (error instanceof QueryError) return plan;
    throw error;
  }
}

/**
 * Whether computing the relation would hold the main thread or fill its memory: a long product, a large
 * array, or a call whose values may each be much longer than what they are made of.
 */
function isLong(plan: LogicalPlan): boolean {
  if (plan.op === 'unnest' && plan.array.op !== 'literal') {
    return columnsOf(plan.array).size === 0;
  }
  if (expressionsOf(plan).some((each) => generatesArrays(each) || makesLongValues(each)))
    return true;
  const rowCounts = inputsOf(plan).map((input) => (input.op === 'rows' ? input.rows.length : 1));
  if (plan.op === 'union')
    return rowCounts.reduce((sum, count) => sum + count, 0) > FOLDED_ROWS_MAX;
  const elementCount = plan.op === 'unnest' ? elementCountOf(plan.array) : 1;
  return rowCounts.reduce((product, count) => product * count, elementCount) > FOLDED_ROWS_MAX;
}

/** Elements of a constant array. */
function elementCountOf(array: Expression): number {
  return array.op === 'literal' && Array.isArray(array.value) ? array.value.length : 1;
}

function makesLongValues(expression: Expression): boolean {
  const isLongCall = expression.op === 'call' && TYPES_LONG.has(expression.type.kind);
  return isLongCall || childrenOf(expression).some(makesLongValues);
}

/** Types whose values may be of any length. */
const TYPES_LONG: ReadonlySet<string> = new Set(['STRING', 'BYTES', 'ARRAY', 'DYNAMIC', 'JSON']);

function isConstant(plan: LogicalPlan): boolean {
  return plan.op === 'rows' || plan.op === 'one-row';
}

/** `FROM t, UNNEST([1, 2])`: an array that does not depend on the row is a relation of its own. */
function unnestAsJoin(plan: LogicalPlan): LogicalPlan {
  if (plan.op !== 'unnest' || plan.outer || plan.array.op !== 'literal') return plan;
  const elements = plan.array.value;
  if (elements !== null && !Array.isArray(elements)) return plan;
  const right: Rows = {
    op: 'rows',
    columns: plan.offset === undefined ? [plan.element] : [plan.element, plan.offset],
    rows: ((elements ?? []) as readonly SqlValue[]).map((value, index) =>
      plan.offset === undefined ? [value] : [value, index],
    ),
  };
  return { op: 'join', kind: 'cross', left: plan.input, right };
}

/** A join with exactly one constant row is a projection that adds its values. */
function inlineOneRow(plan: LogicalPlan): LogicalPlan {
  if (plan.op !== 'join' || plan.kind === 'left' || plan.kind === 'full') return plan;
  const side = oneRowSide(plan);
  if (side === undefined) return plan;
  const literals = new Map(
    side.rows.columns.map((column, index) => [
      column.id,
      { op: 'literal', type: column.type, value: side.rows.rows[0]![index]! } as Expression,
    ]),
  );
  const input: LogicalPlan =
    plan.on === undefined
      ? side.other
      : { op: 'filter', input: side.other, predicate: substitute(plan.on, literals) };
  return {
    op: 'project',
    input,
    columns: outputOf(plan).map((column) => ({
      column,
      expression: literals.get(column.id) ?? columnReference(column),
    })),
  };
}

function oneRowSide(plan: Join): { rows: Rows; other: LogicalPlan } | undefined {
  const left = asOneRow(plan.left);
  if (left !== undefined) return { rows: left, other: plan.right };
  const right = asOneRow(plan.right);
  return right === undefined ? undefined : { rows: right, other: plan.left };
}

function asOneRow(plan: LogicalPlan): Rows | undefined {
  if (plan.op === 'one-row') return { op: 'rows', columns: [], rows: [[]] };
  return plan.op === 'rows' && plan.rows.length === 1 ? plan : undefined;
}

import { BOOL, TIMESTAMP } from '../../column/type.ts';
import { isNested, type SqlValue } from '../../column/value.ts';
import { compileRegex } from '../../function/text/regular-expression.ts';
import type { WorkBudget } from '../../function/work-meter.ts';
import { FOLDED_ELEMENTS_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { type Call, factsOf } from '../call-facts.ts';
import { evaluateConstant } from '../evaluate.ts';
import { boundOverload } from '../evaluator/overload.ts';
import type { Expression } from '../expression.ts';
import { childrenOf, isLiteral, withChildren } from '../expression-walk.ts';
import type { LateTexts } from '../late-texts.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import { mapExpressions, rewritePlan } from './plan-walk.ts';

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

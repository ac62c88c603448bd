import { findAggregateFunction } from '../../aggregate/registry.ts';
import type { SqlType } from '../../column/type.ts';
import type { Failure } from '../../function/scalar-function.ts';
import { type Call, failureOf } from '../call-facts.ts';
import {
  childrenOf,
  columnsOf,
  type Expression,
  isLiteral,
  isUnsettled,
  type Subquery,
  subqueriesIn,
} from '../expression.ts';
import { latePatternTest, lateTest } from '../late-texts.ts';
import { type AggregateCall, expressionsOf, inputsOf, type LogicalPlan } from '../logical-plan.ts';

/** Whether the evaluation of some row might raise an error; true when in doubt. */
export function canFail(expression: Expression): boolean {
  return someCanFail(expression, 'never');
}

/**
 * Whether some row might hold values that the expression has none for; true when in doubt. Unlike with
 * `canFail`, a regular expression that is right does not fail: only one too large for an automaton is
 * refused, for a text of a length that no event has by chance.
 */
export function canFailByValue(expression: Expression): boolean {
  return someCanFail(expression, 'by size');
}

/** The worst failure that is none. */
type Worst = Exclude<Failure, 'by value'>;

function someCanFail(expression: Expression, worst: Worst): boolean {
  switch (expression.op) {
    case 'apply':
    case 'deferred-value':
      return true;
    case 'subquery':
      return subqueryCanFail(expression, worst);
    case 'cast':
      if (!expression.safe && !takesAll(expression.input.type, expression.type)) return true;
      break;
    case 'call':
      if (isBeyond(lateFailureOf(expression), worst)) return !isLateConstant(expression);
      break;
    default:
  }
  return childrenOf(expression).some((child) => someCanFail(child, worst));
}

/**
 * An expression of late values alone. It either becomes a bound of a scan, or the plan is made anew when
 * the values are known; so it is where it has no value (`plan-cache.ts`).
 */
function isLateConstant(call: Call): boolean {
  return isUnsettled(call) && columnsOf(call).size === 0 && subqueriesIn(call).length === 0;
}

/** A late text takes part in tests that do not fail, or for an expression that is right (`lateTextKind`). */
function lateFailureOf(call: Call): Failure {
  if (lateTest(call) !== undefined) return 'never';
  return latePatternTest(call) === undefined ? failureOf(call) : 'by size';
}

function isBeyond(failure: Failure, worst: Worst): boolean {
  return failure === 'by value' || (failure === 'by size' && worst === 'never');
}

const IS_TIME: ReadonlySet<string> = new Set(['TIMESTAMP', 'DATETIME', 'DATE', 'TIME']);

const NESTED: ReadonlySet<string> = new Set(['ARRAY', 'STRUCT']);

/** Whether CAST has a counterpart for each value of a type. */
function takesAll(from: SqlType, to: SqlType): boolean {
  if (from.kind === to.kind) return !NESTED.has(from.kind);
  switch (to.kind) {
    case 'DYNAMIC':
    case 'NUMBER':
      return true;
    case 'STRING':
      return from.kind !== 'BYTES';
    case 'BOOL':
      return from.kind === 'INT64';
    case 'FLOAT64':
      return from.kind === 'INT64' || from.kind === 'NUMBER';
    case 'INT64':
      return from.kind === 'BOOL';
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return IS_TIME.has(from.kind);
    default:
      return from.kind === 'NULL';
  }
}

function subqueryCanFail(subquery: Subquery, worst: Worst): boolean {
  const { form, input, captures, plan } = subquery;
  if (form === 'scalar' && !hasOneRowAtMost(plan)) return true;
  const outside = [...captures.map(({ expression }) => expression), ...(input ? [input] : [])];
  return outside.some((each) => someCanFail(each, worst)) || planCanFail(plan, worst);
}

function planCanFail(plan: LogicalPlan, worst: Worst): boolean {
  if (plan.op === 'window') return true;
  if (plan.op === 'aggregate' && !plan.aggregates.every(({ call }) => hasValue(call))) return true;
  if (expressionsOf(plan).some((each) => someCanFail(each, worst))) return true;
  return inputsOf(plan).some((input) => planCanFail(input, worst));
}

/** For each group. */
function hasValue({ name }: AggregateCall): boolean {
  return findAggregateFunction(name)?.fails === 'never';
}

/** For each row outside. */
function hasOneRowAtMost(plan: LogicalPlan): boolean {
  switch (plan.op) {
    case 'aggregate':
      return plan.keys.length === 0;
    case 'limit':
      return plan.count !== undefined && isLiteral(plan.count) && Number(plan.count.value) <= 1;
    case 'project':
    case 'filter':
    case 'sort':
      return hasOneRowAtMost(plan.input);
    default:
      return false;
  }
}

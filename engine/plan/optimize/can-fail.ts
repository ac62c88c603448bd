import type { SqlType } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { containedText, validLike } from '../evaluator/contains.ts';
import type { Expression, Subquery } from '../expression.ts';
import { childrenOf, columnsOf, isLiteral, isUnsettled, subqueriesIn } from '../expression-walk.ts';
import { latePatternTest, lateTest } from '../late-texts.ts';
import type { AggregateCall, LogicalPlan } from '../logical-plan.ts';
import { expressionsOf, inputsOf } from './plan-walk.ts';
import { isUtc } from './time-steps.ts';

type Call = Expression & { op: 'call' };

/** Functions that give a value, or NULL, for whatever they are called with. */
const NEVER_FAILING: ReadonlySet<string> = new Set([
  ...['and', 'or', 'not', 'is_null', 'is_true', 'is_false'],
  ...['=', '!=', '<', '<=', '>', '>=', 'is_distinct', 'in', 'in_array'],
  ...['strpos', 'starts_with', 'ends_with', 'lower', 'upper', 'length', '||', 'concat'],
  ...['array_length', 'array_safe_offset', 'array_safe_ordinal'],
  ...['safe_divide', 'safe_add', 'safe_subtract', 'safe_multiply', 'safe_negate'],
]);

/** Whether the evaluation of some row might raise an error; true when in doubt. */
export function canFail(expression: Expression): boolean {
  return someCanFail(expression, isKnownTest);
}

/**
 * Whether some row might hold values that the expression has none for; true when in doubt. Unlike with
 * `canFail`, a regular expression that is right does not fail: only one too large for an automaton is
 * refused, for a text of a length that no event has by chance.
 */
export function canFailByValue(expression: Expression): boolean {
  return someCanFail(expression, (call) => isKnownTest(call) || isRightPattern(call));
}

function someCanFail(expression: Expression, isSure: (call: Call) => boolean): boolean {
  switch (expression.op) {
    case 'apply':
    case 'deferred-value':
      return true;
    case 'subquery':
      return subqueryCanFail(expression, isSure);
    case 'cast':
      if (!expression.safe && !takesAll(expression.input.type, expression.type)) return true;
      break;
    case 'call':
      if (!neverFails(expression) && !isSure(expression)) return !isLateConstant(expression);
      break;
    default:
  }
  return childrenOf(expression).some((child) => someCanFail(child, isSure));
}

/**
 * An expression of late values alone. It either becomes a bound of a scan, or the plan is made anew when
 * the values are known; so it is where it has no value (`plan-template.ts`).
 */
function isLateConstant(call: Call): boolean {
  return isUnsettled(call) && columnsOf(call).size === 0 && subqueriesIn(call).length === 0;
}

function isKnownTest(call: Call): boolean {
  const isLike = call.name === 'like' && isRightLike(call.arguments[1]);
  return isLike || containedText(call) !== undefined || lateTest(call) !== undefined;
}

function isRightLike(pattern: Expression | undefined): boolean {
  const isText = pattern?.op === 'literal' && typeof pattern.value === 'string';
  return isText && validLike(pattern.value as string) !== undefined;
}

/** `REGEXP_CONTAINS(input, 'pattern')`: folding has refused the wrong ones. */
function isRightPattern(call: Call): boolean {
  if (latePatternTest(call) !== undefined) return true;
  const [input, pattern] = call.arguments;
  const isText = input?.type.kind === 'STRING' && pattern?.op === 'literal';
  return call.name === 'regexp_contains' && isText;
}

function neverFails({ name, arguments: [first, second, third] }: Call): boolean {
  switch (name) {
    case 'date':
    case 'datetime':
    case 'time':
      return first !== undefined && IS_TIME.has(first.type.kind) && isUtc(second);
    case 'timestamp_trunc':
    case 'datetime_trunc':
    case 'date_trunc':
      return isStartWithinYears(second) && isUtc(third);
    case 'extract':
      return first?.op === 'literal' && third === undefined;
    default:
      return NEVER_FAILING.has(name) || name.startsWith('safe.');
  }
}

/** Years begin with such a part, so that a time cut down to it is never before the first of them. */
const STARTING_PARTS: ReadonlySet<SqlValue> = new Set([
  ...['MICROSECOND', 'MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'QUARTER', 'YEAR'],
]);

function isStartWithinYears(part: Expression | undefined): boolean {
  return part?.op === 'literal' && STARTING_PARTS.has(part.value);
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

/** Aggregates that have a value for every group. */
const NEVER_FAILING_AGGREGATES: ReadonlySet<string> = new Set([
  ...['count', 'countif', 'min', 'max', 'any_value', 'logical_and', 'logical_or'],
]);

function subqueryCanFail(subquery: Subquery, isSure: (call: Call) => boolean): boolean {
  const { form, input, captures, plan } = subquery;
  if (form === 'scalar' && !hasOneRowAtMost(plan)) return true;
  const outside = [...captures.map(({ expression }) => expression), ...(input ? [input] : [])];
  return outside.some((each) => someCanFail(each, isSure)) || planCanFail(plan, isSure);
}

function planCanFail(plan: LogicalPlan, isSure: (call: Call) => boolean): boolean {
  if (plan.op === 'window') return true;
  if (plan.op === 'aggregate' && !plan.aggregates.every(({ call }) => hasValue(call))) return true;
  if (expressionsOf(plan).some((each) => someCanFail(each, isSure))) return true;
  return inputsOf(plan).some((input) => planCanFail(input, isSure));
}

function hasValue({ name }: AggregateCall): boolean {
  return NEVER_FAILING_AGGREGATES.has(name);
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

import { containedText, validLike } from '../evaluator/contains.ts';
import type { Expression } from '../expression.ts';
import { childrenOf } from '../expression-walk.ts';
import { lateTest } from '../late-texts.ts';

/** Functions that give a value, or NULL, for whatever they are called with. */
const NEVER_FAILING: ReadonlySet<string> = new Set([
  ...['and', 'or', 'not', 'is_null', 'is_true', 'is_false'],
  ...['=', '!=', '<', '<=', '>', '>=', 'in', 'in_array'],
  ...['strpos', 'starts_with', 'ends_with', 'lower', 'upper', 'length', '||', 'concat'],
]);

/** Whether the evaluation of some row might raise an error; true when in doubt. */
export function canFail(expression: Expression): boolean {
  if (expression.op === 'subquery' || expression.op === 'apply') return true;
  if (expression.op === 'cast' && !expression.safe) return true;
  if (expression.op === 'call' && !NEVER_FAILING.has(expression.name)) {
    const isKnown = containedText(expression) !== undefined || isLikePattern(expression);
    if (!isKnown && lateTest(expression) === undefined) return true;
  }
  return childrenOf(expression).some(canFail);
}

/** `input LIKE 'pattern'`, the pattern a right one. */
function isLikePattern({ name, arguments: [, pattern] }: Expression & { op: 'call' }): boolean {
  const isText = pattern?.op === 'literal' && typeof pattern.value === 'string';
  return name === 'like' && isText && validLike(pattern.value as string) !== undefined;
}

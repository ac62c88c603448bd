import { isNullWhenNull } from '../call-facts.ts';
import type { ColumnId, Expression } from '../expression.ts';

/**
 * Whether a condition holds for no row in which these columns are NULL, so that it undoes what an
 * outer join adds. False when in doubt.
 */
export function rejectsNulls(condition: Expression, columns: ReadonlySet<ColumnId>): boolean {
  if (isNullOf(condition, columns)) return true;
  if (condition.op !== 'call') return false;
  const { name, arguments: inputs } = condition;
  const [input] = inputs;
  switch (name) {
    case 'and':
      return inputs.some((each) => rejectsNulls(each, columns));
    case 'or':
      return inputs.every((each) => rejectsNulls(each, columns));
    case 'not':
      return input?.op === 'call' && input.name === 'is_null'
        ? isNullOf(input.arguments[0]!, columns)
        : false;
    case 'is_true':
    case 'is_false':
      return isNullOf(input!, columns);
    default:
      return false;
  }
}

/** Whether an expression is NULL in each row in which the columns are. */
function isNullOf(expression: Expression, columns: ReadonlySet<ColumnId>): boolean {
  switch (expression.op) {
    case 'column':
      return columns.has(expression.id);
    case 'dynamic-field':
    case 'struct-field':
    case 'read-as':
    case 'cast':
      return isNullOf(expression.input, columns);
    case 'call':
      if (expression.name === 'in') return isNullOf(expression.arguments[0]!, columns);
      return (
        expression.arguments.some((each) => isNullOf(each, columns)) && isNullWhenNull(expression)
      );
    default:
      return false;
  }
}

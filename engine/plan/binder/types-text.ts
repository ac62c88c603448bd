import { typeName } from '../../column/type.ts';
import type { Expression } from '../expression.ts';

/** The types of expressions, for messages: `STRING, INT64`. */
export function typesText(expressions: readonly Expression[]): string {
  return expressions.map((expression) => typeName(expression.type)).join(', ');
}

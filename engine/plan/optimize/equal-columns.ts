import type { ColumnId, Expression } from '../expression.ts';
import { columnsOf, isLiteral, substitute } from '../expression-walk.ts';

/**
 * What else holds of rows for which all of `terms` do, where columns are equal and one of them is
 * compared with constants: the same of the other. Only comparisons are copied, which cost next to
 * nothing and never fail.
 */
export function impliedByEquality(terms: readonly Expression[]): readonly Expression[] {
  const equalities = terms.flatMap((term) => equalColumns(term) ?? []);
  const bounds = terms.filter(isBound);
  return equalities.flatMap(({ left, right }) =>
    bounds.flatMap((bound) => {
      const [id] = columnsOf(bound);
      if (id === left.id) return [substitute(bound, new Map([[left.id, right]]))];
      return id === right.id ? [substitute(bound, new Map([[right.id, left]]))] : [];
    }),
  );
}

type ColumnExpression = Extract<Expression, { op: 'column' }>;

/** Types whose equal values no comparison tells apart: of DYNAMIC values only the data knows. */
const PLAIN_TYPES: ReadonlySet<string> = new Set([
  ...['BOOL', 'INT64', 'STRING', 'TIMESTAMP', 'DATETIME', 'DATE', 'TIME'],
]);

function equalColumns(
  term: Expression,
): { readonly left: ColumnExpression; readonly right: ColumnExpression } | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  if (left.op !== 'column' || right.op !== 'column') return undefined;
  const { kind } = left.type;
  return kind === right.type.kind && PLAIN_TYPES.has(kind) ? { left, right } : undefined;
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>=', 'in']);

/** `column < constant` and its like. */
function isBound(term: Expression): boolean {
  if (term.op !== 'call' || !COMPARISONS.has(term.name)) return false;
  const columns = new Set<ColumnId>();
  for (const side of term.arguments) {
    if (side.op === 'column') columns.add(side.id);
    else if (!isLiteral(side)) return false;
  }
  return columns.size === 1;
}

import type { ColumnId, Expression } from '../expression.ts';
import type { Scan } from '../logical-plan.ts';

/**
 * Where in the events of a scan an expression reads a string: names of fields from the root record
 * down, unnested records (`elements`: what the columns made by unnesting stand for) and single elements followed to
 * their lists. `['project']` for the declared column, where that is asked for. `undefined`: elsewhere.
 */
export function eventPathOf(
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

import { INT64 } from '../../column/type.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { collectColumns, columnReference } from '../expression-walk.ts';
import type { Join, LogicalPlan } from '../logical-plan.ts';
import { expressionsOf, inputsOf, outputOf } from './plan-walk.ts';

/**
 * A plan that gives each row at least once where it is given more often. Where a row outside only asks
 * whether it has a partner, that has a partner's values once in its table: a key that a million events
 * share is one row then, and not a million for each row outside. `required`: the columns that are read.
 */
export function onceEach(plan: LogicalPlan, required: ReadonlySet<ColumnId>): LogicalPlan {
  switch (plan.op) {
    case 'project': {
      const read = plan.columns.filter(({ column }) => required.has(column.id));
      const below = reading(
        new Set(),
        read.map(({ expression }) => expression),
      );
      return { ...plan, input: onceEach(plan.input, below) };
    }
    case 'filter':
    case 'unnest': {
      const below = reading(required, expressionsOf(plan));
      return { ...plan, input: onceEach(plan.input, below) };
    }
    case 'join':
      return plan.kind === 'inner' || plan.kind === 'cross' ? onceEachJoin(plan, required) : plan;
    default:
      return plan;
  }
}

function onceEachJoin(join: Join, required: ReadonlySet<ColumnId>): LogicalPlan {
  const read = reading(required, expressionsOf(join));
  const left = onceEach(join.left, read);
  const columns = outputOf(join.right);
  const isAsked = !columns.some(({ id }) => required.has(id)) && !readsOuter(join.right);
  const keys = columns.filter(({ id }) => read.has(id));
  const isGroupable = keys.every(({ type }) => type.kind !== 'ARRAY' && type.kind !== 'STRUCT');
  if (!isAsked || !isGroupable) return { ...join, left };
  if (keys.length === 0) {
    const count: Expression = { op: 'literal', type: INT64, value: 1 };
    return { ...join, left, right: { op: 'limit', input: join.right, count } };
  }
  const grouped = keys.map((column) => ({ column, expression: columnReference(column) }));
  const right = { op: 'aggregate' as const, input: join.right, keys: grouped, aggregates: [] };
  return { ...join, left, right };
}

function readsOuter(plan: LogicalPlan): boolean {
  return plan.op === 'outer' || inputsOf(plan).some(readsOuter);
}

function reading(
  required: ReadonlySet<ColumnId>,
  expressions: readonly Expression[],
): ReadonlySet<ColumnId> {
  const all = new Set(required);
  for (const expression of expressions) collectColumns(expression, all);
  return all;
}

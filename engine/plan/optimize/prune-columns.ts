import { unreachable } from '../../assert.ts';
import { rowExpressionsOf } from '../aggregate-call.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { collectColumns } from '../expression-walk.ts';
import type { LogicalPlan, Window } from '../logical-plan.ts';
import { expressionsOf } from './plan-walk.ts';

/**
 * Leaves out every column that nothing above reads: scans read only what is used, projections and
 * groupings compute only what is used. The number of rows never changes.
 */
export function pruneColumns(plan: LogicalPlan, required: ReadonlySet<ColumnId>): LogicalPlan {
  switch (plan.op) {
    case 'scan':
      return { ...plan, columns: plan.columns.filter((item) => required.has(item.column.id)) };
    case 'outer':
      return { ...plan, columns: plan.columns.filter((item) => required.has(item.column.id)) };
    case 'one-row':
      return plan;
    case 'rows': {
      const kept = plan.columns.flatMap((column, index) =>
        required.has(column.id) ? [index] : [],
      );
      return {
        ...plan,
        columns: kept.map((index) => plan.columns[index]!),
        rows: plan.rows.map((row) => kept.map((index) => row[index]!)),
      };
    }
    case 'filter':
      return { ...plan, input: pruneColumns(plan.input, reading(required, [plan.predicate])) };
    case 'project': {
      const columns = plan.columns.filter((item) => required.has(item.column.id));
      const below = reading(
        new Set(),
        columns.map((item) => item.expression),
      );
      return { ...plan, columns, input: pruneColumns(plan.input, below) };
    }
    case 'unnest': {
      const read = plan.on === undefined ? [plan.array] : [plan.array, plan.on];
      const below = reading(required, read);
      const offset =
        plan.offset !== undefined && below.has(plan.offset.id) ? plan.offset : undefined;
      return { ...plan, offset, input: pruneColumns(plan.input, below) };
    }
    case 'join': {
      const below = reading(required, plan.on === undefined ? [] : [plan.on]);
      const left = pruneColumns(plan.left, below);
      return { ...plan, left, right: pruneColumns(plan.right, below) };
    }
    case 'union': {
      const columns = plan.columns.filter(({ column }) => required.has(column.id));
      const inputs = plan.inputs.map((input, index) =>
        pruneColumns(input, new Set(columns.map(({ from }) => from[index]!))),
      );
      return { ...plan, columns, inputs };
    }
    case 'aggregate': {
      const aggregates = plan.aggregates.filter((item) => required.has(item.column.id));
      const read = [
        ...plan.keys.map((item) => item.expression),
        ...aggregates.flatMap((item) => rowExpressionsOf(item.call)),
      ];
      return { ...plan, aggregates, input: pruneColumns(plan.input, reading(new Set(), read)) };
    }
    case 'window':
      return pruneWindow(plan, required);
    case 'sort': {
      const read = plan.keys.map((key) => key.expression);
      return { ...plan, input: pruneColumns(plan.input, reading(required, read)) };
    }
    case 'limit': {
      const below = plan.per === undefined ? required : new Set(required).add(plan.per.id);
      return { ...plan, input: pruneColumns(plan.input, below) };
    }
    default:
      return unreachable(plan);
  }
}

function pruneWindow(plan: Window, required: ReadonlySet<ColumnId>): LogicalPlan {
  const calls = plan.calls.filter((item) => required.has(item.column.id));
  if (calls.length === 0) return pruneColumns(plan.input, required);
  const kept = { ...plan, calls };
  return { ...kept, input: pruneColumns(plan.input, reading(required, expressionsOf(kept))) };
}

function reading(
  required: ReadonlySet<ColumnId>,
  expressions: readonly Expression[],
): Set<ColumnId> {
  const all = new Set(required);
  for (const expression of expressions) collectColumns(expression, all);
  return all;
}

import { columnsOf } from '../expression-walk.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import { canFailByValue } from './can-fail.ts';
import { outputIds, rewritePlan } from './plan-walk.ts';

type Unnest = Extract<LogicalPlan, { op: 'unnest' }>;

/**
 * Moves the unnest of one table's list from above a cross join to that table. A condition that equates
 * an element with the other table can then make the join one by equality, where all pairs were made
 * before. Joins by condition stay below: they let fewer rows through to be unnested.
 */
export function sinkUnnests(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, (node) => (node.op === 'unnest' ? sunk(node) : node));
}

function sunk(unnest: Unnest): LogicalPlan {
  const join = unnest.input;
  if (join.op !== 'join' || join.kind !== 'cross') return unnest;
  // The other table may be empty, and then no list is looked at.
  if ([unnest.array, ...(unnest.on ? [unnest.on] : [])].some(canFailByValue)) return unnest;
  const needed = columnsOf(unnest.array);
  if (unnest.on !== undefined) for (const id of columnsOf(unnest.on)) needed.add(id);
  needed.delete(unnest.element.id);
  if (unnest.offset !== undefined) needed.delete(unnest.offset.id);
  if (needed.size === 0) return unnest;
  for (const side of ['left', 'right'] as const) {
    const ids = outputIds(join[side]);
    if ([...needed].every((id) => ids.has(id))) {
      return { ...join, [side]: sunk({ ...unnest, input: join[side] }) };
    }
  }
  return unnest;
}

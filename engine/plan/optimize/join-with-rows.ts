import { BOOL } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type { Column, ColumnId, Expression } from '../expression.ts';
import {
  columnReference,
  columnsOf,
  conjunctionOf,
  conjunctsOf,
  substitute,
} from '../expression-walk.ts';
import type { Join, LogicalPlan, Rows } from '../logical-plan.ts';
import { canFailByValue } from './can-fail.ts';
import { outputOf, rewritePlan } from './plan-walk.ts';

/**
 * Turns an inner join with a constant, duplicate-free list `c` on `e = c` into a filter: a row finds
 * its partner exactly when `e` is in the list, and the partner's value is `e` itself.
 */
export function joinsAsFilters(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, (node) =>
    node.op === 'join' && node.kind === 'inner' ? joinAsFilter(node) : node,
  );
}

function joinAsFilter(join: Join): LogicalPlan {
  const list =
    join.left.op === 'rows' ? join.left : join.right.op === 'rows' ? join.right : undefined;
  if (list === undefined || list.columns.length !== 1) return join;
  const other = list === join.left ? join.right : join.left;
  const element = list.columns[0]!;
  const values = distinctValues(list);
  if (values === undefined) return join;
  const filtered = joinAsConditions(join, { other, element }, (partner) =>
    membership(partner, values, element),
  );
  return filtered ?? join;
}

/**
 * An inner join of `other` with a duplicate-free list of `element` on `e = element`, as a filter:
 * `isMember` gives the conditions that tell whether `e` is in the list. `undefined` where there is no
 * such equality, or where it gives none.
 */
export function joinAsConditions(
  join: Join,
  { other, element }: { readonly other: LogicalPlan; readonly element: Column },
  isMember: (partner: Expression) => readonly Expression[] | undefined,
): LogicalPlan | undefined {
  if (join.on === undefined) return undefined;
  const terms = conjunctsOf(join.on);
  const match = terms.findIndex((term) => partnerOf(term, element.id) !== undefined);
  if (match < 0) return undefined;
  const partner = partnerOf(terms[match]!, element.id)!;
  if (partner.type.kind !== element.type.kind) return undefined;
  // What can fail stays behind the conditions before it.
  if (match > 0 && canFailByValue(partner)) return undefined;
  const members = isMember(partner);
  if (members === undefined) return undefined;
  const others = terms.filter((_, index) => index !== match);
  const conditions = [
    ...members,
    ...others.map((term) => substitute(term, new Map([[element.id, partner]]))),
  ];
  return {
    op: 'project',
    input: { op: 'filter', input: other, predicate: conjunctionOf(conditions) },
    columns: outputOf(join).map((column) => ({
      column,
      expression: column.id === element.id ? partner : columnReference(column),
    })),
  };
}

/** The other side of `e = element` or `element = e`, when it does not read the element itself. */
function partnerOf(term: Expression, element: ColumnId): Expression | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  if (left.op === 'column' && left.id === element && !columnsOf(right).has(element)) return right;
  if (right.op === 'column' && right.id === element && !columnsOf(left).has(element)) return left;
  return undefined;
}

/** Ascending, NULLs left out (they equal nothing); undefined when a value repeats or is no scalar. */
function distinctValues(list: Rows): readonly (number | string)[] | undefined {
  const values: (number | string)[] = [];
  for (const [value] of list.rows) {
    if (value === null) continue;
    if (typeof value !== 'number' && typeof value !== 'string') return undefined;
    if (Number.isNaN(value)) continue;
    values.push(value);
  }
  if (new Set(values).size !== values.length) return undefined;
  return values.sort((left, right) => (left < right ? -1 : 1));
}

function membership(
  partner: Expression,
  values: readonly (number | string)[],
  element: Column,
): readonly Expression[] {
  if (values.length === 0) return [{ op: 'literal', type: BOOL, value: false }];
  const literals = values.map((value) => literalOf(value, element));
  return [{ op: 'call', type: BOOL, name: 'in', arguments: [partner, ...literals] }];
}

function literalOf(value: SqlValue, element: Column): Expression {
  return { op: 'literal', type: element.type, value };
}

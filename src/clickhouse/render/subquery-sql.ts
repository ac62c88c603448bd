import { must } from '../../../engine/assert.ts';
import { type SqlType, typeName } from '../../../engine/column/type.ts';
import type { Subquery } from '../../../engine/plan/expression.ts';
import type { LogicalPlan } from '../../../engine/plan/logical-plan.ts';
import type { RelationSql } from './plan-sql.ts';
import { refuse } from './refusal.ts';
import { orderText } from './sort-sql.ts';
import { isScalar, storedType } from './sql-type.ts';
import { canRaise, type StatementParts } from './statement-parts.ts';

type Context = {
  readonly input: { readonly sql: string; readonly type: SqlType } | undefined;
  readonly parts: StatementParts;
};

/** A subquery that is the same for all rows. ClickHouse computes it once, before all else. */
export function subquerySql(
  { form, type, value, span, plan }: Subquery,
  relation: RelationSql,
  { input, parts }: Context,
): string {
  const { sql, columns, order } = relation;
  // It is computed also where no row needs it.
  if (canRaiseByItself(sql)) return refuse('a subquery that may fail', span);
  if (form === 'exists')
    return `(SELECT toUInt8(count() > 0) FROM (SELECT 1 FROM (${sql}) LIMIT 1))`;
  const column = must(value, 'a subquery of this form has a value');
  const name = must(columns.get(column.id), 'the plan gives the value').sql;
  switch (form) {
    case 'scalar': {
      if (!isAtMostOneRow(plan))
        return refuse('a scalar subquery that may give several rows', span);
      // Of no row it is the default of the type, which is NULL.
      return `(SELECT groupArray(tuple(${name}))[1].1 FROM (${sql}))`;
    }
    case 'array': {
      const by =
        order.length === 0
          ? '0'
          : `row_number() OVER (ORDER BY ${order.map(orderText).join(', ')})`;
      const [entry, values, position] = [parts.variable(), parts.variable(), parts.variable()];
      const rows = `SELECT ${by} AS ${position}, ${name} AS ${values} FROM (${sql})`;
      const sorted = `arraySort(${entry} -> ${entry}.1, groupArray(tuple(${position}, ${values})))`;
      return `(SELECT CAST([arrayMap(${entry} -> ${entry}.2, ${sorted})], '${storedType(type)}') FROM (${rows}))`;
    }
    case 'in':
      return memberSql(
        must(input, 'there is something to look for'),
        { name, sql, type: column.type, span },
        parts,
      );
    case 'any':
      return `(SELECT multiIf(countIf(${name}) > 0, 1, countIf(isNull(${name})) > 0, NULL, 0) FROM (${sql}))`;
  }
}

/** Whether the values that it computes may have no answer, apart from events that ClickHouse cannot read. */
function canRaiseByItself(sql: string): boolean {
  return canRaise(sql.replaceAll('throwIf(ifNull(NOT is_readable', ''));
}

function isAtMostOneRow(plan: LogicalPlan): boolean {
  switch (plan.op) {
    case 'one-row':
      return true;
    case 'rows':
      return plan.rows.length <= 1;
    case 'aggregate':
      return plan.keys.length === 0;
    case 'limit':
      return (
        (plan.count?.op === 'literal' && Number(plan.count.value) <= 1) ||
        isAtMostOneRow(plan.input)
      );
    case 'filter':
    case 'project':
    case 'sort':
    case 'window':
      return isAtMostOneRow(plan.input);
    default:
      return false;
  }
}

/** NULL where nothing equals and something may. */
function memberSql(
  input: { readonly sql: string; readonly type: SqlType },
  list: Pick<RelationSql, 'sql'> & {
    readonly name: string;
    readonly type: SqlType;
    readonly span: Subquery['span'];
  },
  parts: StatementParts,
): string {
  const { name, sql, type, span } = list;
  if (
    !isScalar(type) ||
    type.kind !== input.type.kind ||
    type.kind === 'FLOAT64' ||
    type.kind === 'JSON'
  ) {
    return refuse(`IN of ${typeName(type)}`, span);
  }
  const values = `(SELECT tuple(groupUniqArray(${name}), countIf(isNull(${name})), count()) FROM (${sql}))`;
  return parts.once(input.sql, (sought) =>
    parts.once(values, (found) => {
      const isMember = `has(${found}.1, assumeNotNull(${sought}))`;
      return `multiIf(${found}.3 = 0, 0, isNull(${sought}), NULL, ${isMember}, 1, ${found}.2 > 0, NULL, 0)`;
    }),
  );
}

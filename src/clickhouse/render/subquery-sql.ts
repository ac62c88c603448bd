import { BOOL, must, type SqlType } from '../../../engine/columns.ts';
import type { LogicalPlan, Subquery } from '../../../engine/index.ts';
import { functionSql } from './functions/registry.ts';
import type { RelationSql } from './relation-sql.ts';
import { orderText } from './sort-sql.ts';
import { isScalar, nullOf, storedType } from './sql-type.ts';
import { type StatementParts, withinExpression } from './statement-parts.ts';

type Sought = { readonly sql: string; readonly type: SqlType };

type SearchedList = Pick<RelationSql, 'sql'> & {
  readonly name: string;
  readonly type: SqlType;
  readonly span: Subquery['span'];
};

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
  const { columns, order } = relation;
  const sql = withinExpression(relation.sql);
  if (form === 'exists')
    return `(SELECT toUInt8(count() > 0) FROM (SELECT 1 FROM (${sql}) LIMIT 1))`;
  const column = must(value, 'a subquery of this form has a value');
  const name = must(columns.get(column.id), 'the plan gives the value').sql;
  switch (form) {
    case 'scalar': {
      // Of no row it is the default of the type, which is NULL.
      if (isAtMostOneRow(plan)) return `(SELECT groupArray(tuple(${name}))[1].1 FROM (${sql}))`;
      // A constant would be tested before there is a row.
      const rows = `materialize((SELECT groupArray(2)(tuple(${name})) FROM (${sql})))`;
      return parts.once(rows, (list) =>
        onlyValue(`length(${list})`, `${list}[1].1`, { type, span, parts }),
      );
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

/** The value of the only row. It fails where it is read and there are more. */
export function onlyValue(
  count: string,
  value: string,
  {
    type,
    span,
    parts,
  }: { readonly type: SqlType; readonly span: Subquery['span']; readonly parts: StatementParts },
): string {
  const message =
    'a subquery used as a value returned more than one row; LIMIT 1 would keep the first';
  const failure = { code: 'query_failed', message, span, isExpected: true } as const;
  const raised = parts.raise(`${count} > 1`, failure);
  return `if(${raised} = 0, ${value}, ${nullOf(type)})`;
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
function memberSql(input: Sought, list: SearchedList, parts: StatementParts): string {
  const { name, sql, type } = list;
  if (
    !isScalar(type) ||
    type.kind !== input.type.kind ||
    type.kind === 'FLOAT64' ||
    type.kind === 'JSON'
  ) {
    return memberByEquality(input, list, parts);
  }
  const values = `(SELECT tuple(groupUniqArray(${name}), countIf(isNull(${name})), count()) FROM (${sql}))`;
  return parts.once(input.sql, (sought) =>
    parts.once(values, (found) => {
      const isMember = `has(${found}.1, assumeNotNull(${sought}))`;
      return `multiIf(${found}.3 = 0, 0, isNull(${sought}), NULL, ${isMember}, 1, ${found}.2 > 0, NULL, 0)`;
    }),
  );
}

/** As `=` has it with each value. */
function memberByEquality(
  input: Sought,
  { name, sql, type, span }: SearchedList,
  parts: StatementParts,
): string {
  const values = `(SELECT groupArray(tuple(${name})) FROM (${sql}))`;
  return parts.once(input.sql, (sought) => {
    const entry = parts.variable();
    const equal = functionSql({
      name: '=',
      type: BOOL,
      span,
      // It is constants that some functions need to see, and equality does not.
      ...{ expressions: [], facts: [] },
      arguments: [sought, `${entry}.1`],
      types: [input.type, type],
      parts,
    });
    const tests = `arrayMap(${entry} -> CAST(${equal}, 'Nullable(UInt8)'), ${values})`;
    return parts.once(
      tests,
      (list) =>
        `multiIf(has(${list}, 1), 1, arrayExists(${entry} -> isNull(${entry}), ${list}), NULL, 0)`,
    );
  });
}

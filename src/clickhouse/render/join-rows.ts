import { isNumber, type SqlType } from '../../../engine/columns.ts';
import {
  type ColumnId,
  columnsOf,
  conjunctsOf,
  type Expression,
  inputsOf,
  type Join,
  type LogicalPlan,
  someNode,
} from '../../../engine/index.ts';
import type { RenderContext } from './aggregate-rows.ts';
import { withAnswers } from './correlated-sql.ts';
import { type ColumnSql, type Columns, ExpressionSql } from './expression-sql.ts';
import { refuse } from './refusal.ts';
import { madeOf, type RelationSql, SqlColumns, selectOf } from './relation-sql.ts';
import { isScalar } from './sql-type.ts';
import { canRaise, type StatementParts } from './statement-parts.ts';

type Sides = {
  readonly left: RelationSql;
  readonly right: RelationSql;
  readonly equalities: readonly Equality[];
};

/** Pairs of rows of two relations. */
export function joinRows(
  join: Join,
  left: RelationSql,
  right: RelationSql,
  context: RenderContext,
): RelationSql {
  const { kind, on } = join;
  if (on === undefined) return crossJoin(left, right);
  if (kind === 'left') return outerJoin({ kind, on, left, right: withNulls(right) }, context);
  if (kind === 'full') {
    const first = withNulls(marked(left, context.parts));
    return outerJoin({ kind, on, left: first, right: withNulls(right) }, context);
  }
  const { equalities, rest } = splitCondition(on, idsOf(left), idsOf(right));
  const joined =
    equalities.length === 0
      ? crossJoin(left, right)
      : innerJoin(join, { left, right, equalities }, context);
  const asked = withAnswers(joined, rest, context);
  const conditions = rest.map((term) =>
    new ExpressionSql(asked, context.parts, context.plans).of(term),
  );
  return conditions.length === 0 ? asked : { ...asked, ...filtered(asked, conditions) };
}

/** ClickHouse keeps the right side in memory: that is the one without events, if any. */
function innerJoin(join: Join, sides: Sides, context: RenderContext): RelationSql {
  if (holdsEvents(join.left) || !holdsEvents(join.right)) {
    return joinByKeys('INNER JOIN', sides, context);
  }
  const { left, right } = sides;
  const equalities = sides.equalities.map((pair) => ({ left: pair.right, right: pair.left }));
  const swapped = joinByKeys('INNER JOIN', { left: right, right: left, equalities }, context);
  return { ...swapped, order: [...left.order, ...right.order] };
}

function holdsEvents(plan: LogicalPlan): boolean {
  return plan.op === 'scan' || inputsOf(plan).some(holdsEvents);
}

/** The left side of a FULL JOIN: rows of the right side alone, beside the default 0, come after all others. */
function marked(left: RelationSql, parts: StatementParts): RelationSql {
  const mark = parts.variable();
  return {
    ...left,
    sql: `SELECT *, materialize(1) AS ${mark} FROM (${left.sql})`,
    order: [{ sql: mark, descending: true, nullsFirst: false }, ...left.order],
  };
}

/** A side of which there may be no row. */
function withNulls(side: RelationSql): RelationSql {
  const columns = Array.from(side.columns, ([id, { isKnown, ...column }]) => [id, column] as const);
  return { ...side, columns: new Map(columns) };
}

/**
 * Conditions that may raise an error stay in their order: taken apart, ClickHouse may test them in another. They name the
 * places of elements in joined lists: without any, it would test them also for a list that is empty.
 */
export function filtered(below: RelationSql, conditions: readonly string[]) {
  const all = conditions.join(' AND ');
  const places = below.order.map(({ sql }) => sql).filter((sql) => PLACE.test(sql));
  const named = places.length === 0 ? all : `ignore(${places.join(', ')}) OR (${all})`;
  return madeOf(selectOf(below).where(canRaise(all) ? `if(${named}, 1, 0)` : all));
}

/** A column of the statement that is none of the plan. */
const PLACE = /^x\d+$/;

function idsOf({ columns }: RelationSql): ReadonlySet<ColumnId> {
  return new Set(columns.keys());
}

function crossJoin(left: RelationSql, right: RelationSql): RelationSql {
  return joinedAs('CROSS JOIN', left, right, '');
}

function joinedAs(words: string, left: RelationSql, right: RelationSql, on: string): RelationSql {
  const items = [...namesOf(left), ...namesOf(right)];
  const list = items.length === 0 ? '1 AS one' : items.join(', ');
  return {
    sql: `SELECT ${list} FROM (${left.sql}) AS l ${words} (${right.sql}) AS r${on}`,
    columns: new Map([...left.columns, ...right.columns]),
    order: [...left.order, ...right.order],
  };
}

/** The columns of a relation, and those that it is ordered by. */
function namesOf({ columns, order }: RelationSql): readonly string[] {
  const names = [...columns.values(), ...order].map(({ sql }) => sql);
  return [...new Set(names)];
}

function outerJoin(
  {
    kind,
    on,
    left,
    right,
  }: {
    readonly kind: 'left' | 'full';
    readonly on: Expression;
    readonly left: RelationSql;
    readonly right: RelationSql;
  },
  context: RenderContext,
): RelationSql {
  const { equalities, rest } = splitCondition(on, idsOf(left), idsOf(right));
  if (rest.length === 0) {
    const words = kind === 'left' ? 'LEFT JOIN' : 'FULL JOIN';
    return joinByKeys(words, { left, right, equalities }, context);
  }
  const asked = withAnswers(left, leftSubqueries(on, left), context);
  const matched = leftJoinOfLists(on, asked, right, context);
  if (kind === 'left') return matched;
  const alone = rightRowsAlone(on, asked, right, context);
  const names = namesOf(matched).join(', ');
  const list = names === '' ? '1 AS one' : names;
  return {
    ...matched,
    sql: `SELECT ${list} FROM (${matched.sql}) UNION ALL SELECT ${list} FROM (${alone})`,
  };
}

/** The subqueries of a condition that read the left side, if any. */
function leftSubqueries(on: Expression, left: RelationSql): readonly Expression[] {
  const ids = idsOf(left);
  const found: Expression[] = [];
  someNode(on, (node) => {
    if (node.op === 'subquery' && [...columnsOf(node)].every((id) => ids.has(id))) found.push(node);
    return false;
  });
  return found;
}

/** A relation as one value: a list of its rows, and its columns as parts of `row`, one of them. */
function listOfRows(relation: RelationSql, row: string) {
  const names = namesOf(relation);
  const partOf = (name: string) => `${row}.${names.indexOf(name) + 1}`;
  const columns = Array.from(relation.columns, ([id, column]): [ColumnId, ColumnSql] => [
    id,
    { ...column, sql: partOf(column.sql) },
  ]);
  const list = names.length === 0 ? '1' : names.join(', ');
  return {
    list: `(SELECT groupArray(tuple(${list})) FROM (${relation.sql}))`,
    columns: new Map(columns),
    items: names.map((name) => `${partOf(name)} AS ${name}`),
  };
}

/** For each row of the left side those of the right side for which the condition holds, else one of NULLs. */
function leftJoinOfLists(
  on: Expression,
  left: RelationSql,
  right: RelationSql,
  { parts, plans }: RenderContext,
): RelationSql {
  const [row, matches] = [parts.variable(), parts.variable()];
  const { list, columns, items } = listOfRows(right, row);
  const both: Columns = new Map([...left.columns, ...columns]);
  const scope = { columns: both, ...(left.answers && { answers: left.answers }) };
  const holds = new ExpressionSql(scope, parts, plans).of(on);
  const rows = `SELECT *, arrayFilter(${row} -> ifNull(${holds}, 0), ${list}) AS ${matches} FROM (${left.sql})`;
  const all = [...namesOf(left), ...items];
  const shown = all.length === 0 ? '1 AS one' : all.join(', ');
  return {
    sql: `SELECT ${shown} FROM (${rows}) LEFT ARRAY JOIN ${matches} AS ${row}`,
    columns: new Map([...left.columns, ...right.columns]),
    order: [...left.order, ...right.order],
  };
}

/** The rows of the right side for which the condition holds with no row of the left side, beside NULLs. */
function rightRowsAlone(
  on: Expression,
  left: RelationSql,
  right: RelationSql,
  { parts, plans }: RenderContext,
): string {
  if (someNode(on, ({ op }) => op === 'subquery')) {
    return refuse('a FULL JOIN on a condition with a subquery', undefined);
  }
  const row = parts.variable();
  const { list, columns } = listOfRows(left, row);
  const both: Columns = new Map([...columns, ...right.columns]);
  const holds = new ExpressionSql({ columns: both }, parts, plans).of(on);
  const rows = `SELECT *, materialize(1) AS ${row}r FROM (${right.sql}) WHERE NOT arrayExists(${row} -> ifNull(${holds}, 0), ${list})`;
  // A join with no rows gives the defaults of all columns.
  const none = `SELECT *, materialize(0) AS ${row}l FROM (${left.sql}) WHERE 0`;
  const all = [...namesOf(left), ...namesOf(right)];
  const shown = all.length === 0 ? '1 AS one' : all.join(', ');
  return `SELECT ${shown} FROM (${rows}) AS r LEFT JOIN (${none}) AS l ON ${row}r = ${row}l`;
}

type Equality = { readonly left: Expression; readonly right: Expression };

type Condition = { readonly equalities: readonly Equality[]; readonly rest: readonly Expression[] };

/** Joins by equalities, whose sides become columns in forms that ClickHouse compares, NULL for NULL. */
function joinByKeys(
  words: string,
  { left, right, equalities }: Sides,
  { parts, plans }: RenderContext,
): RelationSql {
  const withKeys = (relation: RelationSql, expressions: readonly Expression[]) => {
    const columns = new SqlColumns(parts);
    const over = new ExpressionSql(relation, parts, plans);
    const keys = expressions.map((each) => columns.add(keySql(over.of(each), each.type, parts)));
    return { sql: columns.beside(relation.sql), keys };
  };
  const [one, other] = [
    withKeys(
      left,
      equalities.map((pair) => pair.left),
    ),
    withKeys(
      right,
      equalities.map((pair) => pair.right),
    ),
  ];
  const on = one.keys.map((key, index) => `${key} = ${other.keys[index]}`).join(' AND ');
  return joinedAs(words, { ...left, sql: one.sql }, { ...right, sql: other.sql }, ` ON ${on}`);
}

/** A join compares bits, while NaN equals nothing, and -0 equals 0; and it finds no key in a constant. */
function keySql(value: string, type: SqlType, parts: StatementParts): string {
  const isFloat = isNumber(type) && type.kind !== 'INT64';
  const key = isFloat
    ? parts.once(value, (name) => `if(isNaN(${name}), NULL, ${name} + 0)`)
    : value;
  return `materialize(${key})`;
}

/** The terms of a condition that are equalities of an expression over either side, and all others. */
function splitCondition(
  on: Expression,
  leftIds: ReadonlySet<ColumnId>,
  rightIds: ReadonlySet<ColumnId>,
): Condition {
  const equalities: Equality[] = [];
  const rest: Expression[] = [];
  for (const term of conjunctsOf(on)) {
    const pair = equalityOf(term, leftIds, rightIds);
    if (pair === undefined) rest.push(term);
    else equalities.push(pair);
  }
  return { equalities, rest };
}

function equalityOf(
  term: Expression,
  leftIds: ReadonlySet<ColumnId>,
  rightIds: ReadonlySet<ColumnId>,
): Equality | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [first, second] = term.arguments as [Expression, Expression];
  const isOver = (expression: Expression, ids: ReadonlySet<ColumnId>) => {
    const columns = columnsOf(expression);
    return columns.size > 0 && [...columns].every((id) => ids.has(id));
  };
  if (!isKey(first) || !isKey(second) || first.type.kind !== second.type.kind) return undefined;
  if (isOver(first, leftIds) && isOver(second, rightIds)) return { left: first, right: second };
  if (isOver(first, rightIds) && isOver(second, leftIds)) return { left: second, right: first };
  return undefined;
}

/** Whether ClickHouse can join by the values of an expression. */
function isKey(expression: Expression): boolean {
  const { type } = expression;
  return (
    isScalar(type) &&
    type.kind !== 'JSON' &&
    type.kind !== 'INTERVAL' &&
    !someNode(expression, ({ op }) => op === 'subquery')
  );
}

import { must, unreachable } from '../../../engine/columns.ts';
import {
  type ColumnId,
  childrenOf,
  columnsOf,
  type Expression,
  type Subquery,
} from '../../../engine/index.ts';
import type { RenderContext } from './aggregate-rows.ts';
import { ExpressionSql } from './expression-sql.ts';
import { refuse } from './refusal.ts';
import { ComputedColumns, type RelationSql, SqlColumns } from './relation-sql.ts';
import { orderText } from './sort-sql.ts';
import { storedType } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';
import { findAnswer, meaningOf, type SubqueryAnswer } from './subquery-answer.ts';
import { onlyValue, subquerySql } from './subquery-sql.ts';

/** Adds to a relation what the subqueries in some expressions over it come to in each row. */
export function withAnswers(
  below: RelationSql,
  expressions: readonly Expression[],
  context: RenderContext,
): RelationSql {
  const found = expressions.flatMap((each) => [...subqueriesIn(each, false)]);
  let relation = below;
  // Those whose captures hold others come after these.
  for (let depth = 1; found.some((one) => one.depth >= depth); depth++) {
    relation = withEqualDepth(
      relation,
      found.filter((one) => one.depth === depth),
      context,
    );
  }
  return relation;
}

type Found = {
  readonly subquery: Subquery;
  /** The value may not be wanted in each row. */
  readonly isConditional: boolean;
  /** How many subqueries stand within each other, in what it reads of the row outside, and this is the outermost. */
  readonly depth: number;
};

function* subqueriesIn(expression: Expression, isConditional: boolean): Generator<Found> {
  const isBranching =
    expression.op === 'case' ||
    expression.op === 'coalesce' ||
    (expression.op === 'call' && (expression.name === 'and' || expression.name === 'or'));
  let depth = 0;
  for (const [index, child] of childrenOf(expression).entries()) {
    for (const found of subqueriesIn(child, isConditional || (isBranching && index > 0))) {
      depth = Math.max(depth, found.depth);
      yield found;
    }
  }
  if (expression.op === 'subquery') {
    yield { subquery: expression, isConditional, depth: depth + 1 };
  }
}

/** Subqueries that are captured together: all of them read the same rows, a shared SELECT. */
function withEqualDepth(
  relation: RelationSql,
  found: readonly Found[],
  context: RenderContext,
): RelationSql {
  const { parts, plans } = context;
  const computed = new ComputedColumns(relation, parts, plans);
  const ordinals = new SqlColumns(parts);
  const captured = askedOf(relation, found).map((one): CapturedSubquery => {
    const captures = inBranch(one, parts, () =>
      one.subquery.captures.map(
        ({ column, expression }) => [column.id, computed.addValues(expression)] as const,
      ),
    );
    return {
      ...one,
      captures,
      ordinal: captures.length === 0 ? undefined : ordinals.add(ordinalOf(captures)),
    };
  });
  let shared: string | undefined;
  const rows = () => {
    shared ??= parts.shared(ordinals.beside(computed.beside(relation.sql)));
    return shared;
  };
  const joins: string[] = [];
  const answers = captured.map((one): SubqueryAnswer => {
    const { sql, join = '' } = inBranch(one, parts, () =>
      one.ordinal === undefined
        ? constantAnswer(one, rows, relation, context)
        : correlatedAnswer({ ...one, ordinal: one.ordinal }, rows(), context),
    );
    joins.push(join);
    return { subquery: one.subquery, meaning: meaningOf(one.subquery), sql };
  });
  return {
    ...relation,
    sql: shared === undefined ? relation.sql : `SELECT * FROM ${shared}${joins.join('')}`,
    answers: [...(relation.answers ?? []), ...answers],
  };
}

/** Those that read only what the relation has, each once. */
function askedOf(relation: RelationSql, found: readonly Found[]): readonly Found[] {
  return found.filter(({ subquery }, index) => {
    const isOver = [...columnsOf(subquery)].every((id) => relation.columns.has(id));
    if (!isOver || findAnswer(relation.answers, subquery) !== undefined) return false;
    const meaning = meaningOf(subquery);
    return !found.slice(0, index).some((other) => meaningOf(other.subquery) === meaning);
  });
}

/** Refuses what may fail where the value may not be wanted. */
function inBranch<Part>(
  { subquery, isConditional }: Found,
  parts: StatementParts,
  render: () => Part,
): Part {
  if (!isConditional) return render();
  return parts.withoutFailures(render, () =>
    refuse('a subquery in a branch that may fail', subquery.span),
  );
}

type CapturedSubquery = Found & {
  /** The columns that hold the captures, by the ids of these. */
  readonly captures: readonly (readonly [ColumnId, string])[];
  /** The column that numbers combinations of captures; absent without any. */
  readonly ordinal: string | undefined;
};

/** The same for rows whose captures have the same text. */
function ordinalOf(captures: CapturedSubquery['captures']): string {
  const text = `toString(tuple(${captures.map(([, name]) => name).join(', ')}))`;
  return `toNullable(toInt64(dense_rank() OVER (ORDER BY ${text})))`;
}

type JoinedAnswer = { readonly sql: string; readonly join?: string };

/** The same for all rows. An error counts where there is a row. */
function constantAnswer(
  { subquery }: CapturedSubquery,
  rows: () => string,
  relation: RelationSql,
  { parts, plans }: RenderContext,
): JoinedAnswer {
  const isWanted = () => `(SELECT count() > 0 FROM ${rows()})`;
  const inner = parts.guarded(isWanted, () => plans.of(subquery.plan));
  const input = subquery.input && {
    sql: new ExpressionSql(relation, parts, plans).of(subquery.input),
    type: subquery.input.type,
  };
  return { sql: subquerySql(subquery, inner, { input, parts }) };
}

/**
 * After Neumann and Kemper, "Unnesting Arbitrary Queries" (BTW 2015): the plan of the subquery is one for all rows outside
 * at once. It is run for each combination of captures; an answer is joined by its ordinal.
 */
function correlatedAnswer(
  { subquery, captures, ordinal }: CapturedSubquery & { readonly ordinal: string },
  rows: string,
  { parts, plans }: RenderContext,
): JoinedAnswer {
  const own = captures.map(([id, name]) => ({ id, name, sql: parts.variable() }));
  const items = [ordinal, ...own.map(({ name, sql }) => `any(${name}) AS ${sql}`)];
  const outer = parts.shared(`SELECT ${items.join(', ')} FROM ${rows} GROUP BY ${ordinal}`);
  const isWanted = () => `(SELECT count() > 0 FROM ${rows})`;
  const inner = parts.guarded(isWanted, () => {
    const names = new Map(own.map(({ id, sql }) => [id, sql]));
    return plans.within({ name: outer, ordinal, captures: names }).of(subquery.plan);
  });
  const { sql, answer, ordinalOfAnswer } = answersByOrdinal(subquery, inner, parts);
  return {
    sql: answer,
    join: ` LEFT JOIN (${sql}) AS ${parts.variable()} ON ${ordinal} = ${ordinalOfAnswer}`,
  };
}

/** A row for each ordinal of which the subquery has rows, and the answer over its columns, which are defaults where there is none. */
function answersByOrdinal(
  { form, type, value, ordinal, span }: Subquery,
  { sql, columns, order }: RelationSql,
  parts: StatementParts,
): { readonly sql: string; readonly ordinalOfAnswer: string; readonly answer: string } {
  const own = must(columns.get(must(ordinal, 'a subquery with captures has ordinals').id)).sql;
  const name =
    value === undefined ? '' : must(columns.get(value.id), 'the plan gives the value').sql;
  const [ordinalOfAnswer, one, other] = [parts.variable(), parts.variable(), parts.variable()];
  const grouped = (items: readonly string[], rows = sql) => ({
    sql: `SELECT ${[`${own} AS ${ordinalOfAnswer}`, ...items].join(', ')} FROM (${rows}) GROUP BY ${own}`,
    ordinalOfAnswer,
  });
  switch (form) {
    case 'exists':
      return { ...grouped([]), answer: `toUInt8(isNotNull(${ordinalOfAnswer}))` };
    case 'scalar':
      return {
        ...grouped([`count() AS ${one}`, `any(tuple(${name})) AS ${other}`]),
        answer: onlyValue(one, `${other}.1`, { type, span, parts }),
      };
    case 'array': {
      const by = order.map(orderText).join(', ');
      const position = by === '' ? '0' : `row_number() OVER (ORDER BY ${by})`;
      const rows = `SELECT ${own}, ${name}, ${position} AS ${one} FROM (${sql})`;
      const entry = parts.variable();
      const list = `arrayMap(${entry} -> ${entry}.2, arraySort(${entry} -> ${entry}.1, ${other}))`;
      return {
        ...grouped([`groupArray(tuple(${one}, ${name})) AS ${other}`], rows),
        answer: `CAST([${list}], '${storedType(type)}')`,
      };
    }
    case 'in':
    case 'any':
      return {
        ...grouped([`countIf(${name}) AS ${one}`, `countIf(isNull(${name})) AS ${other}`]),
        answer: `multiIf(${one} > 0, 1, ${other} > 0, NULL, 0)`,
      };
    default:
      return unreachable(form);
  }
}

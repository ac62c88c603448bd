import { unreachable } from '../assert.ts';
import { SQL_TOKENS_WITHIN_MAX } from '../limits.ts';
import { refuse } from '../query-error.ts';
import { type CommonTable, findOutputStar, type Query, type QueryBody } from '../sql/ast.ts';
import { parseQuery } from '../sql/query-parser.ts';
import { bindSelect } from './binder/bind-select.ts';
import { bindSetOperation } from './binder/bind-set-operation.ts';
import { CommonTables, TableBinder } from './binder/bind-table.ts';
import { type BindEnvironment, Binding, isNamedTables, type Relation } from './binder/binding.ts';
import { type OuterScope, relationVariable, structField } from './binder/scope.ts';
import { bindOrder, bindRowCount, sorted } from './binder/select-list.ts';
import { columnReference } from './expression.ts';
import type { BoundQuery } from './logical-plan.ts';
import { type Pieces, runPieces } from './pieces.ts';

/** A query that has been parsed and bound; a plain value, valid as long as the sources are. */
export type PreparedQuery = {
  readonly text: string;
  readonly bound: BoundQuery;
  /** Its WITH, for texts that may name these tables and no others. */
  readonly commonTables: readonly CommonTable[];
};

/** Parses and binds without an engine. Throws a QueryError `invalid_sql` with its place in the text. */
export function prepareQuery(text: string, environment: BindEnvironment): PreparedQuery {
  return runPieces(prepareInPieces(text, environment));
}

/** As `prepareQuery`, with a pause between parsing and binding. */
export function* prepareInPieces(
  text: string,
  environment: BindEnvironment,
): Pieces<PreparedQuery> {
  const isSent = environment.within !== undefined;
  const query = parseQuery(text, isSent ? SQL_TOKENS_WITHIN_MAX : undefined);
  yield;
  return { text, bound: bindQuery(query, environment), commonTables: query.with };
}

/**
 * Gives a parsed query its meaning: every name resolved against the sources and parameters, every
 * node typed, every coercion written out. Throws a QueryError with a span: `invalid_sql` for a text
 * that means nothing, `query_limit` for one that means too much.
 */
export function bindQuery(query: Query, environment: BindEnvironment): BoundQuery {
  const binding = new Binding(environment);
  const { within } = environment;
  const tables =
    within === undefined || isNamedTables(within)
      ? CommonTables.none(bindRelation)
      : tablesOfTexts(query, within);
  const relation = withFieldsAsColumns(bindRelation(query, tables, binding), binding);
  checkOutput(relation);
  return {
    plan: relation.plan,
    output: relation.columns,
    parameters: binding.parameterNames(),
    views: binding.viewNames(),
  };
}

/** The only tables of a query over those of other texts. */
function tablesOfTexts(query: Query, texts: readonly (readonly CommonTable[])[]): CommonTables {
  checkOutputNamed(query);
  return CommonTables.only(texts, bindRelation);
}

/**
 * What another text's tables give may grow: who stands outside of that text says what leaves. Inside of
 * its subqueries and CTEs more columns change nothing.
 */
function checkOutputNamed(query: Query): void {
  const star = findOutputStar(query);
  if (star === undefined) return;
  refuse('the result cannot have the wildcard * here; name its columns', star);
}

/** A query at any level, with the CTEs in scope around it, and the names of the query it is part of. */
function bindRelation(
  query: Query,
  around: CommonTables,
  binding: Binding,
  outer?: OuterScope,
): Relation {
  const tables = new TableBinder(binding, around.with(query.with, binding), outer);
  const ordered =
    query.body.kind === 'select'
      ? bindSelect(query.body, query.orderBy, tables, binding)
      : orderedOutput(bindBody(query.body, tables, binding), query, tables, binding);
  const count = bindRowCount('LIMIT', query.limit, binding);
  const offset = bindRowCount('OFFSET', query.offset, binding);
  if (count === undefined && offset === undefined) return ordered;
  const plan = binding.plan({ op: 'limit', input: ordered.plan, count, offset }, query.span);
  return { ...ordered, plan };
}

/** A body whose own ORDER BY, if it has one, stands inside of it. */
function bindBody(body: QueryBody, tables: TableBinder, binding: Binding): Relation {
  switch (body.kind) {
    case 'select':
      return bindSelect(body, [], tables, binding);
    case 'query':
      return binding.nested(body.span, () => tables.query(body.query));
    case 'set-operation':
      return binding.nested(body.span, () =>
        bindSetOperation(body, (input) => bindBody(input, tables, binding), binding),
      );
    default:
      return unreachable(body);
  }
}

/** `(SELECT …) ORDER BY …`: the order sees nothing but the columns of what stands before it. */
function orderedOutput(
  relation: Relation,
  query: Query,
  tables: TableBinder,
  binding: Binding,
): Relation {
  if (query.orderBy.length === 0) return relation;
  const { span } = query.body;
  const scope = tables.scopeOf([relationVariable(undefined, relation.columns)]);
  const list = relation.columns.map((column) => ({
    name: column.name,
    isAnonymous: false,
    expression: columnReference(column),
    span,
  }));
  const context = tables.expressionsAt({ text: 'ORDER BY', scope });
  const plan = sorted(relation.plan, bindOrder(query.orderBy, list, context), binding);
  const columns = relation.columns.map((column) => ({
    column,
    expression: columnReference(column),
  }));
  const project = binding.plan({ op: 'project', input: plan, columns }, query.span);
  return { ...relation, plan: project };
}

/** The records of SELECT AS STRUCT leave as rows. */
function withFieldsAsColumns(relation: Relation, binding: Binding): Relation {
  const [value] = relation.columns;
  if (relation.isValue !== true || value?.type.kind !== 'STRUCT') return relation;
  const span = relation.spans[0]!;
  const columns = value.type.fields.map((field, index) => ({
    column: binding.newColumn(field.name ?? `f${index}_`, field.type),
    expression: structField(columnReference(value), field.type, index),
  }));
  const plan = binding.plan({ op: 'project', input: relation.plan, columns }, span);
  return { plan, columns: columns.map(({ column }) => column), spans: columns.map(() => span) };
}

/** Rows leave as JSON objects: each column needs a key of its own. */
function checkOutput(relation: Relation): void {
  const names = new Set<string>();
  for (const [index, { name }] of relation.columns.entries()) {
    if (names.has(name.toLowerCase())) {
      refuse(
        `duplicate column name ${name} in the result; give one of them another alias`,
        relation.spans[index],
      );
    }
    names.add(name.toLowerCase());
  }
}

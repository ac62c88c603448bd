import type { Query } from '../sql/ast.ts';
import { findStar } from '../sql/star.ts';
import { ExpressionBinder } from './binder/bind-expression.ts';
import { bindOrder, bindRowCount, sorted } from './binder/bind-order.ts';
import { bindSelect } from './binder/bind-select.ts';
import { TableBinder } from './binder/bind-table.ts';
import { type BindEnvironment, Binding } from './binder/binding.ts';
import { CommonTables } from './binder/common-tables.ts';
import { refuse } from './binder/refusal.ts';
import type { Relation } from './binder/relation.ts';
import { FromScope, relationVariable } from './binder/scope.ts';
import { columnReference } from './expression-walk.ts';
import type { BoundQuery } from './logical-plan.ts';

/**
 * Gives a parsed query its meaning: every name resolved against the sources and parameters, every
 * node typed, every coercion written out. The plan's top is a Project, or a Limit on one, whose
 * columns are the output. Throws a QueryError with a span: `invalid_sql` for a text that means
 * nothing, `query_limit` for one that means too much.
 */
export function bindQuery(query: Query, environment: BindEnvironment): BoundQuery {
  const binding = new Binding(environment);
  const { within } = environment;
  if (within !== undefined) checkNoStar(query);
  const tables =
    within === undefined
      ? CommonTables.none(bindRelation)
      : CommonTables.only(within, bindRelation);
  const relation = bindRelation(query, tables, binding);
  checkOutput(relation);
  return {
    plan: relation.plan,
    output: relation.columns,
    parameters: binding.parameterNames(),
  };
}

/** What another text's tables give may grow; who stands outside of that text says what it wants. */
function checkNoStar(query: Query): void {
  const star = findStar(query);
  if (star === undefined) return;
  refuse('a select list cannot have the wildcard * here; name the columns', star);
}

/** A query at any level, with the CTEs in scope around it. */
function bindRelation(query: Query, outer: CommonTables, binding: Binding): Relation {
  const tables = outer.with(query.with, binding);
  if (query.body.kind === 'set-operation') {
    refuse(`${query.body.operator.toUpperCase()} is not supported`, query.body.span);
  }
  const ordered =
    query.body.kind === 'select'
      ? bindSelect(
          query.body,
          query.orderBy,
          new TableBinder(binding, tables, bindRelation),
          binding,
        )
      : bindParenthesized(query, query.body.query, tables, binding);
  const count = bindRowCount('LIMIT', query.limit, binding);
  const offset = bindRowCount('OFFSET', query.offset, binding);
  if (count === undefined && offset === undefined) return ordered;
  const plan = binding.plan({ op: 'limit', input: ordered.plan, count, offset }, query.span);
  return { ...ordered, plan };
}

/** `(SELECT …) ORDER BY …`: the order sees nothing but the inner query's columns. */
function bindParenthesized(
  query: Query,
  inner: Query,
  tables: CommonTables,
  binding: Binding,
): Relation {
  const relation = binding.nested(inner.span, () => bindRelation(inner, tables, binding));
  if (query.orderBy.length === 0) return relation;
  const scope = new FromScope([relationVariable(undefined, relation.columns)]);
  const list = relation.columns.map((column) => ({
    name: column.name,
    isAnonymous: false,
    expression: columnReference(column),
    span: inner.span,
  }));
  const context = new ExpressionBinder(binding, { text: 'ORDER BY', scope });
  const plan = sorted(relation.plan, bindOrder(query.orderBy, list, context), binding);
  const columns = relation.columns.map((column) => ({
    column,
    expression: columnReference(column),
  }));
  const project = binding.plan({ op: 'project', input: plan, columns }, query.span);
  return { ...relation, plan: project };
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

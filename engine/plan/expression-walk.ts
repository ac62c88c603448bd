import { BOOL } from '../column/type.ts';
import type { Apply, Column, ColumnId, Expression, Subquery } from './expression.ts';

/** The expressions directly inside one, in order of evaluation; not those of a subquery's plan. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.op) {
    case 'literal':
    case 'parameter':
    case 'now':
    case 'column':
      return NO_CHILDREN;
    case 'call':
    case 'coalesce':
      return expression.arguments;
    case 'dynamic-field':
    case 'struct-field':
    case 'read-as':
    case 'cast':
    case 'deferred-value':
      return [expression.input];
    case 'struct':
      return expression.fields;
    case 'array':
      return expression.elements;
    case 'case':
      return [
        ...expression.branches.flatMap((branch) => [branch.when, branch.then]),
        expression.otherwise,
      ];
    case 'subquery':
    case 'apply': {
      const captured = expression.captures.map((capture) => capture.expression);
      return expression.input === undefined ? captured : [...captured, expression.input];
    }
  }
}

const NO_CHILDREN: readonly Expression[] = [];

/** Whether an expression or a part of it is such, not those of a subquery's plan. */
export function someNode(expression: Expression, isSuch: (node: Expression) => boolean): boolean {
  return isSuch(expression) || childrenOf(expression).some((child) => someNode(child, isSuch));
}

/** The same expression with other children; as many as `childrenOf` gave. */
export function withChildren(expression: Expression, children: readonly Expression[]): Expression {
  switch (expression.op) {
    case 'literal':
    case 'parameter':
    case 'now':
    case 'column':
      return expression;
    case 'call':
    case 'coalesce':
      return { ...expression, arguments: children };
    case 'dynamic-field':
    case 'struct-field':
    case 'read-as':
    case 'cast':
    case 'deferred-value':
      return { ...expression, input: children[0]! };
    case 'struct':
      return { ...expression, fields: children };
    case 'array':
      return { ...expression, elements: children };
    case 'case': {
      const branches = expression.branches.map((_, index) => ({
        when: children[2 * index]!,
        then: children[2 * index + 1]!,
      }));
      return { ...expression, branches, otherwise: children.at(-1)! };
    }
    case 'subquery':
    case 'apply': {
      const captures = expression.captures.map(({ column }, index) => ({
        column,
        expression: children[index]!,
      }));
      const input = expression.input === undefined ? undefined : children.at(-1)!;
      return { ...expression, captures, input };
    }
  }
}

/** Rebuilds an expression from its leaves up; keeps the object where nothing changes. */
export function rewrite(
  expression: Expression,
  change: (expression: Expression) => Expression,
): Expression {
  const children = childrenOf(expression);
  if (children.length === 0) return change(expression);
  let isChanged = false;
  const rewritten = children.map((child) => {
    const next = rewrite(child, change);
    if (next !== child) isChanged = true;
    return next;
  });
  return change(isChanged ? withChildren(expression, rewritten) : expression);
}

/** The expression that reads a column. */
export function columnReference(column: Column): Expression {
  return { op: 'column', type: column.type, id: column.id };
}

/** Adds the columns an expression reads to `into`. */
export function collectColumns(expression: Expression, into: Set<ColumnId>): void {
  if (expression.op === 'column') into.add(expression.id);
  for (const child of childrenOf(expression)) collectColumns(child, into);
}

export function columnsOf(expression: Expression): Set<ColumnId> {
  const columns = new Set<ColumnId>();
  collectColumns(expression, columns);
  return columns;
}

/** Whether an expression reads any of these columns. */
export function readsAny(expression: Expression, ids: ReadonlySet<ColumnId>): boolean {
  if (ids.size === 0) return false;
  if (expression.op === 'column') return ids.has(expression.id);
  return childrenOf(expression).some((child) => readsAny(child, ids));
}

/** The subqueries of an expression, those in the plans of others left out. */
export function subqueriesIn(expression: Expression): readonly Subquery[] {
  const found: Subquery[] = [];
  collectSubqueries(expression, found);
  return found;
}

/** Each behind those within it. */
function collectSubqueries(expression: Expression, into: Subquery[]): void {
  for (const child of childrenOf(expression)) collectSubqueries(child, into);
  if (expression.op === 'subquery') into.push(expression);
}

/** The same of a physical plan. */
export function appliesIn(expression: Expression): readonly Apply[] {
  const found: Apply[] = [];
  collectApplies(expression, found);
  return found;
}

function collectApplies(expression: Expression, into: Apply[]): void {
  for (const child of childrenOf(expression)) collectApplies(child, into);
  if (expression.op === 'apply') into.push(expression);
}

/** Whether an expression depends on the run's clock or on a parameter, not put in yet. */
export function isUnsettled(expression: Expression): boolean {
  if (expression.op === 'now' || expression.op === 'parameter') return true;
  return childrenOf(expression).some(isUnsettled);
}

/** Puts expressions in place of columns; columns not in the map stay. */
export function substitute(
  expression: Expression,
  replacements: ReadonlyMap<ColumnId, Expression>,
): Expression {
  if (replacements.size === 0) return expression;
  return rewrite(expression, (node) =>
    node.op === 'column' ? (replacements.get(node.id) ?? node) : node,
  );
}

/** The terms of a conjunction, nested ANDs flattened, in order. */
export function conjunctsOf(predicate: Expression): readonly Expression[] {
  if (predicate.op === 'call' && predicate.name === 'and') {
    return predicate.arguments.flatMap(conjunctsOf);
  }
  return [predicate];
}

/** The conjunction of at least one term. */
export function conjunctionOf(terms: readonly Expression[]): Expression {
  if (terms.length === 1) return terms[0]!;
  return { op: 'call', type: BOOL, name: 'and', arguments: terms };
}

export function isLiteral(
  expression: Expression,
): expression is Extract<Expression, { op: 'literal' }> {
  return expression.op === 'literal';
}

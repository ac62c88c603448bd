import { BOOL, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Span } from '../query-error.ts';
import type { LogicalPlan } from './logical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';

/** Names one column of one plan; unique within it, never reused by a rewrite for other values. */
export type ColumnId = number;

export type Column = { readonly id: ColumnId; readonly name: string; readonly type: SqlType };

/**
 * A bound expression: every name resolved, every coercion written out, every node typed. A plain
 * value (it crosses threads), free of parameters once folded, but for the late ones of plans that calls share.
 */
export type Expression =
  | { readonly op: 'literal'; readonly type: SqlType; readonly value: SqlValue }
  /** A parameter of the call; `now` is the run's clock, read by CURRENT_TIMESTAMP. */
  | {
      readonly op: 'parameter';
      readonly type: SqlType;
      readonly name: string;
      /** Said once the call's values are: a late text that is a regular expression with operators. */
      readonly isPattern?: true;
    }
  | { readonly op: 'now'; readonly type: SqlType }
  | { readonly op: 'column'; readonly type: SqlType; readonly id: ColumnId }
  /** A scalar function or operator, by its name in the registry (`engine/function`). */
  | {
      readonly op: 'call';
      readonly type: SqlType;
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly span?: Span | undefined;
    }
  /** `input` is DYNAMIC: the field of a record, by the rules of `Nested.field`. */
  | {
      readonly op: 'dynamic-field';
      readonly type: SqlType;
      readonly input: Expression;
      readonly name: string;
    }
  /** `input` is a STRUCT: field by position. */
  | {
      readonly op: 'struct-field';
      readonly type: SqlType;
      readonly input: Expression;
      readonly index: number;
    }
  /** A STRUCT from its fields; a table alias used as a value is one. */
  | { readonly op: 'struct'; readonly type: SqlType; readonly fields: readonly Expression[] }
  | { readonly op: 'array'; readonly type: SqlType; readonly elements: readonly Expression[] }
  /**
   * A DYNAMIC value read by use: values of other kinds become NULL. To FLOAT64 a number stays
   * exact (an integer beyond 2^53 stays a bigint); to INT64 a number with a fraction is NULL.
   */
  | { readonly op: 'read-as'; readonly type: SqlType; readonly input: Expression }
  | {
      readonly op: 'cast';
      readonly type: SqlType;
      readonly input: Expression;
      readonly safe: boolean;
      readonly span?: Span | undefined;
    }
  /** Both CASE forms and IF. Branches after the first that holds are not evaluated for a row. */
  | {
      readonly op: 'case';
      readonly type: SqlType;
      readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
      readonly otherwise: Expression;
    }
  /** COALESCE and IFNULL: arguments after the first non-NULL are not evaluated for a row. */
  | { readonly op: 'coalesce'; readonly type: SqlType; readonly arguments: readonly Expression[] }
  /** `input` is the answer of a deferred call: its value, or the error raised here. */
  | {
      readonly op: 'deferred-value';
      readonly type: SqlType;
      readonly input: Expression;
      readonly span?: Span | undefined;
    }
  | Subquery
  | Apply;

/**
 * What the rows of a subquery come to, as one value. `scalar`: the only row's, NULL without a row, an
 * error with several. `array`: those of all rows, in their order. `exists`: whether there is a row.
 * `in`: whether the input equals one; NULL when it equals none, but may equal a NULL. `any`: the same
 * for rows that say so themselves, by a BOOL.
 */
type SubqueryForm = 'scalar' | 'array' | 'exists' | 'in' | 'any';

/** What a subquery reads of the row it is computed for: inside it is the column. */
export type Capture = { readonly column: Column; readonly expression: Expression };

type SubqueryOf<Op, Plan> = {
  readonly op: Op;
  readonly type: SqlType;
  readonly form: SubqueryForm;
  /** Of `in` alone: what is looked for. */
  readonly input?: Expression | undefined;
  /** None: the subquery is the same for all rows. */
  readonly captures: readonly Capture[];
  readonly plan: Plan;
  /** The column of `plan` that counts; absent when `exists`, which counts rows. */
  readonly value?: Column;
  /**
   * The column of `plan` that tells which row outside a row is of, as the plan's `outer` leaves number
   * them. Absent without captures, and in a bound plan, which reads captures as if they were given.
   */
  readonly ordinal?: Column;
  /** Whether the optimiser has been through `plan`. */
  readonly isOptimized?: boolean;
  readonly span?: Span | undefined;
};

/** A query as a value. What it reads of the query around it is in its captures alone. */
export type Subquery = SubqueryOf<'subquery', LogicalPlan>;

/** A subquery of a physical plan. It is computed for all rows of a chunk at once. */
export type Apply = SubqueryOf<'apply', PhysicalPlan>;

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
  const [first, second] = terms;
  if (first !== undefined && second === undefined) return first;
  return { op: 'call', type: BOOL, name: 'and', arguments: terms };
}

export function isLiteral(
  expression: Expression,
): expression is Extract<Expression, { op: 'literal' }> {
  return expression.op === 'literal';
}

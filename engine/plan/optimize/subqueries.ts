import { BOOL } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { FOLDED_ELEMENTS_MAX } from '../../limits.ts';
import {
  type ColumnId,
  childrenOf,
  columnReference,
  type Expression,
  isLiteral,
  type Subquery,
  substitute,
  withChildren,
} from '../expression.ts';
import {
  type BoundQuery,
  ColumnIds,
  collectReads,
  expressionsOf,
  inputsOf,
  type LogicalPlan,
  mapExpressions,
  type Rows,
  subqueriesOf,
  substituteInPlan,
  withInputs,
} from '../logical-plan.ts';
import type { Pieces } from '../pieces.ts';
import { decorrelated, onceEach } from './decorrelate.ts';
import { type CallValues, computeConstantRelations } from './fold.ts';

/** Applies all passes to the plan of a subquery; `isOrdered`: whether the order of its rows counts. */
export type OptimizeInner = (
  query: BoundQuery,
  ids: ColumnIds,
  isOrdered: boolean,
) => Pieces<LogicalPlan>;

/**
 * Brings the plan of each subquery into the form it is run in, for many rows outside at once, and
 * applies all passes to it. One that comes to a constant becomes it, so that what follows can use it
 * as a bound of a scan, say.
 */
export function* settleSubqueries(
  plan: LogicalPlan,
  values: CallValues,
  optimizeInner: OptimizeInner,
): Pieces<LogicalPlan> {
  const ids = new ColumnIds(plan);
  const settled = yield* settleIn(plan, (subquery) => settle(subquery, ids, optimizeInner));
  return settled === plan ? plan : computeConstantRelations(settled, values);
}

type Settle = (subquery: Subquery) => Pieces<Expression>;

/** The plan from its leaves up, each subquery settled; the same object where there is none. */
function* settleIn(plan: LogicalPlan, settleOne: Settle): Pieces<LogicalPlan> {
  const inputs: LogicalPlan[] = [];
  for (const input of inputsOf(plan)) inputs.push(yield* settleIn(input, settleOne));
  const isChanged = inputsOf(plan).some((input, index) => input !== inputs[index]);
  const node = isChanged ? withInputs(plan, inputs) : plan;
  if (subqueriesOf(node).length === 0) return node;
  const constants = new Map(inputs.flatMap((input) => [...constantsOf(input)]));
  const settled: Expression[] = [];
  for (const root of expressionsOf(node)) {
    settled.push(yield* settleWithin(substitute(root, constants), settleOne));
  }
  let next = 0;
  return mapExpressions(node, () => settled[next++]!);
}

/** An expression from its leaves up, each subquery settled. */
function* settleWithin(expression: Expression, settleOne: Settle): Pieces<Expression> {
  const children: Expression[] = [];
  for (const child of childrenOf(expression)) children.push(yield* settleWithin(child, settleOne));
  const isChanged = childrenOf(expression).some((child, index) => child !== children[index]);
  const node = isChanged ? withChildren(expression, children) : expression;
  return node.op === 'subquery' ? yield* settleOne(node) : node;
}

function* settle(
  subquery: Subquery,
  ids: ColumnIds,
  optimizeInner: OptimizeInner,
): Pieces<Expression> {
  if (subquery.isOptimized === true) return subquery;
  const own = decorrelated(withFewerRows(withFewerCaptures(subquery)), ids);
  const output = [own.value, own.ordinal].filter((column) => column !== undefined);
  const query = { plan: own.plan, output, parameters: [], views: [] };
  const optimized = yield* optimizeInner(query, ids, own.form === 'array');
  const isAsked = own.form === 'exists' || own.form === 'any';
  const read = new Set(output.map(({ id }) => id));
  const plan = isAsked ? onceEach(optimized, read) : optimized;
  const settled: Subquery = { ...own, plan, isOptimized: true };
  return constantOf(settled) ?? settled;
}

/** Constants are put in, and what is not read is not captured. */
function withFewerCaptures(subquery: Subquery): Subquery {
  const constants = subquery.captures.filter(({ expression }) => isLiteral(expression));
  const values = new Map(constants.map(({ column, expression }) => [column.id, expression]));
  const plan = substituteInPlan(subquery.plan, values);
  const read = new Set<ColumnId>();
  collectReads(plan, read);
  const captures = subquery.captures.filter(({ column }) => read.has(column.id));
  return { ...subquery, plan, captures };
}

/** What a value is looked for in need have each value once only. */
function withFewerRows(subquery: Subquery): Subquery {
  const { form, plan, value, captures } = subquery;
  if (form !== 'in' || value === undefined || captures.length > 0) return subquery;
  const key = { column: value, expression: columnReference(value) };
  return { ...subquery, plan: { op: 'aggregate', input: plan, keys: [key], aggregates: [] } };
}

/** The columns of a plan that are the same constant in all of its rows. */
function constantsOf(plan: LogicalPlan): ReadonlyMap<ColumnId, Expression> {
  switch (plan.op) {
    case 'rows':
      return plan.rows.length === 1 ? valuesOf(plan) : new Map();
    case 'project': {
      const below = constantsOf(plan.input);
      const constants = plan.columns.map(
        ({ column, expression }) => [column.id, substitute(expression, below)] as const,
      );
      return new Map(constants.filter(([, expression]) => isLiteral(expression)));
    }
    case 'join':
      return new Map([
        ...(plan.kind === 'full' ? [] : constantsOf(plan.left)),
        ...(plan.kind === 'left' || plan.kind === 'full' ? [] : constantsOf(plan.right)),
      ]);
    case 'filter':
    case 'sort':
    case 'limit':
    case 'unnest':
      return constantsOf(plan.input);
    default:
      return new Map();
  }
}

function valuesOf({ columns, rows }: Rows): ReadonlyMap<ColumnId, Expression> {
  const literals = columns.map(
    ({ id, type }, index) =>
      [id, { op: 'literal' as const, type, value: rows[0]![index]! }] as const,
  );
  return new Map(literals);
}

/** What a subquery over constants comes to; `undefined` for others, and where the run has an error. */
function constantOf(subquery: Subquery): Expression | undefined {
  const { form, plan, type, value, captures, input } = subquery;
  const literal = (constant: SqlValue): Expression => ({ op: 'literal', type, value: constant });
  if (plan.op === 'one-row') return form === 'exists' ? literal(true) : undefined;
  if (plan.op !== 'rows' || (captures.length > 0 && plan.rows.length > 0)) return undefined;
  const index = plan.columns.findIndex((column) => column.id === value?.id);
  const values = plan.rows.map((row) => row[index]!);
  switch (form) {
    case 'exists':
      return literal(values.length > 0);
    case 'scalar':
      return values.length > 1 ? undefined : literal(values[0] ?? null);
    case 'array':
      return values.length > FOLDED_ELEMENTS_MAX ? undefined : literal(values);
    case 'any':
    case 'in': {
      if (values.length === 0) return literal(false);
      if (input === undefined || values.length > FOLDED_ELEMENTS_MAX) return undefined;
      const items = values.map((item) => ({ ...literal(item), type: value!.type }));
      return { op: 'call', type: BOOL, name: 'in', arguments: [input, ...items] };
    }
  }
}

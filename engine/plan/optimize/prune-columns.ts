import { unreachable } from '../../assert.ts';
import {
  type ColumnId,
  childrenOf,
  collectColumns,
  columnReference,
  type Expression,
  substitute,
} from '../expression.ts';
import {
  expressionsOf,
  type LogicalPlan,
  mapExpressions,
  outputOf,
  type Project,
  rewritePlan,
  rowExpressionsOf,
  type Window,
  withInputs,
} from '../logical-plan.ts';

/**
 * Leaves out every column that nothing above reads: scans read only what is used, projections and
 * groupings compute only what is used. The number of rows never changes.
 */
export function pruneColumns(plan: LogicalPlan, required: ReadonlySet<ColumnId>): LogicalPlan {
  switch (plan.op) {
    case 'scan':
      return { ...plan, columns: plan.columns.filter((item) => required.has(item.column.id)) };
    case 'outer':
      return { ...plan, columns: plan.columns.filter((item) => required.has(item.column.id)) };
    case 'one-row':
      return plan;
    case 'rows': {
      const kept = plan.columns.flatMap((column, index) =>
        required.has(column.id) ? [index] : [],
      );
      return {
        ...plan,
        columns: kept.map((index) => plan.columns[index]!),
        rows: plan.rows.map((row) => kept.map((index) => row[index]!)),
      };
    }
    case 'filter':
      return { ...plan, input: pruneColumns(plan.input, reading(required, [plan.predicate])) };
    case 'project': {
      const columns = plan.columns.filter((item) => required.has(item.column.id));
      const below = reading(
        new Set(),
        columns.map((item) => item.expression),
      );
      return { ...plan, columns, input: pruneColumns(plan.input, below) };
    }
    case 'unnest': {
      const read = plan.on === undefined ? [plan.array] : [plan.array, plan.on];
      const below = reading(required, read);
      const offset =
        plan.offset !== undefined && below.has(plan.offset.id) ? plan.offset : undefined;
      return { ...plan, offset, input: pruneColumns(plan.input, below) };
    }
    case 'join': {
      const below = reading(required, plan.on === undefined ? [] : [plan.on]);
      const left = pruneColumns(plan.left, below);
      return { ...plan, left, right: pruneColumns(plan.right, below) };
    }
    case 'union': {
      const columns = plan.columns.filter(({ column }) => required.has(column.id));
      const inputs = plan.inputs.map((input, index) =>
        pruneColumns(input, new Set(columns.map(({ from }) => from[index]!))),
      );
      return { ...plan, columns, inputs };
    }
    case 'aggregate': {
      const aggregates = plan.aggregates.filter((item) => required.has(item.column.id));
      const read = [
        ...plan.keys.map((item) => item.expression),
        ...aggregates.flatMap((item) => rowExpressionsOf(item.call)),
      ];
      return { ...plan, aggregates, input: pruneColumns(plan.input, reading(new Set(), read)) };
    }
    case 'window':
      return pruneWindow(plan, required);
    case 'sort': {
      const read = plan.keys.map((key) => key.expression);
      return { ...plan, input: pruneColumns(plan.input, reading(required, read)) };
    }
    case 'limit': {
      const below = plan.per === undefined ? required : new Set(required).add(plan.per.id);
      return { ...plan, input: pruneColumns(plan.input, below) };
    }
    default:
      return unreachable(plan);
  }
}

function pruneWindow(plan: Window, required: ReadonlySet<ColumnId>): LogicalPlan {
  const calls = plan.calls.filter((item) => required.has(item.column.id));
  if (calls.length === 0) return pruneColumns(plan.input, required);
  const kept = { ...plan, calls };
  return { ...kept, input: pruneColumns(plan.input, reading(required, expressionsOf(kept))) };
}

function reading(
  required: ReadonlySet<ColumnId>,
  expressions: readonly Expression[],
): Set<ColumnId> {
  const all = new Set(required);
  for (const expression of expressions) collectColumns(expression, all);
  return all;
}

/**
 * Lifts projections that merely pick and name above unnests and filters, so that what stands between
 * two of them comes together: a sort below a projection below an unnest can then meet the limit above.
 * Those that compute stay where they are, for there are more rows above an unnest than below it.
 */
export function liftProjections(plan: LogicalPlan): LogicalPlan {
  const substitution = new Substitution();
  return rewritePlan(plan, (node) => lift(node, substitution));
}

function lift(plan: LogicalPlan, substitution: Substitution): LogicalPlan {
  if (plan.op !== 'unnest' && plan.op !== 'filter') return plan;
  const project = plan.input;
  if (project.op !== 'project' || !project.columns.every((item) => isPick(item.expression))) {
    return plan;
  }
  const expressions = new Map(project.columns.map((item) => [item.column.id, item.expression]));
  const { within, beyond } = substitution.within(expressionsOf(plan), expressions, (term) => term);
  if (beyond.length > 0) return plan;
  const below = new Map(within.map(({ term, expression }) => [term, expression]));
  const lifted = mapExpressions(withInputs(plan, [project.input]), (term) => below.get(term)!);
  const input = lift(lifted, substitution);
  if (plan.op === 'filter') return { ...project, input };
  return { ...project, columns: [...project.columns, ...added(plan)], input };
}

/** The columns that an unnest has and its input has not, passed on. */
function added(unnest: Extract<LogicalPlan, { op: 'unnest' }>): Project['columns'] {
  const known = new Set(outputOf(unnest.input).map((column) => column.id));
  return outputOf(unnest)
    .filter((column) => !known.has(column.id))
    .map((column) => ({ column, expression: columnReference(column) }));
}

/** A column, a constant, or a field of one: nothing that costs more where it is done for more rows. */
function isPick(expression: Expression): boolean {
  switch (expression.op) {
    case 'column':
    case 'literal':
      return true;
    case 'dynamic-field':
      return isPick(expression.input);
    default:
      return false;
  }
}

/**
 * Nodes that the conditions above a projection, or the keys of a sort, may come to once its expressions are put in
 * the place of its columns; beyond, they stay above it. Those of log pages have some tens.
 */
const SUBSTITUTED_NODES_MAX = 8_192;

/**
 * Nodes that one pass of the optimiser may write so, at all projections and unions. All later passes look at them: with
 * 30,000 a text of 5,500 characters took 8,000,000 steps.
 */
const SUBSTITUTION_NODES_MAX = 12_000;

/** Nodes of the conditions above one union, in all of its inputs: each input has scans that look at all of them. */
const UNION_NODES_MAX = 3_000;

/** Some of a plan's terms with expressions in place of columns, and those that stay as they are. */
type Substituted<T> = {
  readonly within: readonly { readonly term: T; readonly expression: Expression }[];
  readonly beyond: readonly T[];
};

/**
 * Puts expressions in place of columns, as one pass of the optimiser carries its terms down through a plan. Plans are
 * made on the main thread: a column that stands twice in each of many projections would be written out two to that
 * power times, and a long condition is written anew at each of hundreds. So what there is of both is bounded.
 */
export class Substitution {
  #nodesLeft = SUBSTITUTION_NODES_MAX;

  /**
   * Of the terms as many as may grow to SUBSTITUTED_NODES_MAX together, or do not grow, and as the pass has
   * nodes left for; the others are `beyond`.
   */
  within<T>(
    terms: readonly T[],
    replacements: ReadonlyMap<ColumnId, Expression>,
    expressionOf: (term: T) => Expression,
  ): Substituted<T> {
    const within: { term: T; expression: Expression }[] = [];
    const beyond: T[] = [];
    let grownLeft = SUBSTITUTED_NODES_MAX;
    for (const term of terms) {
      const expression = expressionOf(term);
      const addedCount = nodesAddedBy(expression, replacements);
      const count = nodeCountOf(expression) + addedCount;
      const grownCount = addedCount === 0 ? 0 : count;
      if (grownCount > grownLeft || count > this.#nodesLeft) {
        beyond.push(term);
        continue;
      }
      grownLeft -= grownCount;
      this.#nodesLeft -= count;
      within.push({ term, expression: substitute(expression, replacements) });
    }
    return { within, beyond };
  }

  /** Of the terms as many as a union may write, each so many times, and as the pass has nodes left for. */
  spendCopies(
    terms: readonly Expression[],
    copyCount: number,
  ): { readonly within: readonly Expression[]; readonly beyond: readonly Expression[] } {
    const within: Expression[] = [];
    const beyond: Expression[] = [];
    let copiesLeft = UNION_NODES_MAX;
    for (const term of terms) {
      const count = copyCount * nodeCountOf(term);
      if (count > Math.min(copiesLeft, this.#nodesLeft)) {
        beyond.push(term);
        continue;
      }
      copiesLeft -= count;
      this.#nodesLeft -= count;
      within.push(term);
    }
    return { within, beyond };
  }
}

/** By how many nodes an expression grows where others are put in place of its columns. */
function nodesAddedBy(
  expression: Expression,
  replacements: ReadonlyMap<ColumnId, Expression>,
): number {
  if (expression.op === 'column') {
    const replacement = replacements.get(expression.id);
    return replacement === undefined ? 0 : nodeCountOf(replacement) - 1;
  }
  return childrenOf(expression).reduce((sum, child) => sum + nodesAddedBy(child, replacements), 0);
}

/** Of expressions looked at: they never change, and may stand within one another in many places. */
const nodeCounts = new WeakMap<Expression, number>();

/** The nodes of an expression as it is written out, one that stands in several places as often. */
function nodeCountOf(expression: Expression): number {
  const children = childrenOf(expression);
  if (children.length === 0) return 1;
  let count = nodeCounts.get(expression);
  if (count === undefined) {
    count = children.reduce((sum, child) => sum + nodeCountOf(child), 1);
    nodeCounts.set(expression, count);
  }
  return count;
}

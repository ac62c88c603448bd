import type { AggregateFunction } from '../../aggregate/aggregate-function.ts';
import { findAggregateFunction } from '../../aggregate/registry.ts';
import { unreachable } from '../../assert.ts';
import type { Call } from '../call-facts.ts';
import {
  type ColumnId,
  childrenOf,
  collectColumns,
  columnReference,
  type Expression,
  isLiteral,
  substitute,
} from '../expression.ts';
import {
  type Aggregate,
  type AggregateCall,
  expressionsOf,
  inputsOf,
  type LogicalPlan,
  mapExpressions,
  outputOf,
  type Project,
  rewriteExpressions,
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

/** How a column is read: at some offsets only, by itself or under other names; or in any way at all. */
type Use =
  | { readonly offsets: ReadonlySet<number>; readonly names: ReadonlySet<ColumnId> }
  | 'whole';

/**
 * Makes lists, such as quantiles, of which only elements at constant offsets are read, lists of these alone: a hundred
 * others of each group need not be there. `output`: columns that leave.
 */
export function nameQuantileOffsets(plan: LogicalPlan, output: ReadonlySet<ColumnId>): LogicalPlan {
  const plans = operatorsOf(plan);
  const hasLists = plans.some((one) => one.op === 'aggregate' && one.aggregates.some(isList));
  if (!hasLists) return plan;
  const uses = usesOf(plans, output);
  /** The offsets that lists have elements of, by each name of theirs. */
  const named = new Map<ColumnId, readonly number[]>();
  const shortened = rewritePlan(plan, (one) => {
    if (one.op !== 'aggregate') return one;
    const aggregates = one.aggregates.map((item) => {
      const use = isList(item) ? uses(item.column.id) : 'whole';
      if (use === 'whole' || !hasElements(item, use.offsets)) return item;
      const offsets = [...use.offsets].sort((left, right) => left - right);
      for (const name of use.names) named.set(name, offsets);
      return { ...item, call: { ...item.call, elements: offsets } };
    });
    return { ...one, aggregates };
  });
  return rewriteExpressions(shortened, (expression) => {
    const element = constantElement(expression);
    const offsets = element && named.get(element.id);
    if (element === undefined || offsets === undefined) return expression;
    return elementAt(element.call, offsets.indexOf(element.offset));
  });
}

/** A plan and all below it. A generator within a generator would pass each on once for each level. */
function operatorsOf(plan: LogicalPlan): readonly LogicalPlan[] {
  const operators = [plan];
  // The list grows meanwhile.
  for (const operator of operators) operators.push(...inputsOf(operator));
  return operators;
}

type AggregateItem = Aggregate['aggregates'][number];

/** A list that may have some of its elements alone, of which none are named yet. */
function isList({ call }: AggregateItem): boolean {
  return call.elements === undefined && elementCounter(call) !== undefined;
}

function elementCounter({ name }: AggregateCall): AggregateFunction['elementCount'] {
  return findAggregateFunction(name)?.elementCount;
}

/** Whether a list, where there is one, has all these elements: else to read them is an error. */
function hasElements({ call }: AggregateItem, offsets: ReadonlySet<number>): boolean {
  const constants = call.constants.map((each) => (isLiteral(each) ? each.value : null));
  const count = elementCounter(call)?.(constants) ?? 0;
  return [...offsets].every((offset) => offset >= 0 && offset < count);
}

function elementAt(element: Call, value: number): Expression {
  const [list, offset] = element.arguments;
  return { ...element, arguments: [list!, { op: 'literal', type: offset!.type, value }] };
}

/** How a column is read by one name. */
type DirectUse = Set<number> | 'whole';

/** How each column is read, by itself and under the other names that projections give it. */
function usesOf(
  plans: readonly LogicalPlan[],
  output: ReadonlySet<ColumnId>,
): (id: ColumnId) => Use {
  const direct = new Map<ColumnId, DirectUse>();
  const names = new Map<ColumnId, ColumnId[]>();
  for (const id of output) direct.set(id, 'whole');
  for (const plan of plans) {
    if (plan.op === 'union') {
      for (const { from } of plan.columns) for (const id of from) direct.set(id, 'whole');
    } else if (plan.op === 'project') {
      for (const { column, expression } of plan.columns) {
        if (expression.op !== 'column') noteUses(expression, direct);
        else names.set(expression.id, [...(names.get(expression.id) ?? []), column.id]);
      }
    } else {
      for (const expression of expressionsOf(plan)) noteUses(expression, direct);
    }
  }
  return (id) => {
    const offsets = new Set<number>();
    // A projection may pass a column on under its own name.
    const met = new Set([id]);
    for (const name of met) {
      const use = direct.get(name) ?? [];
      if (use === 'whole') return use;
      for (const offset of use) offsets.add(offset);
      for (const further of names.get(name) ?? []) met.add(further);
    }
    return { offsets, names: met };
  };
}

function noteUses(expression: Expression, uses: Map<ColumnId, DirectUse>): void {
  const element = constantElement(expression);
  if (element !== undefined) {
    const use = uses.get(element.id);
    if (use !== 'whole') uses.set(element.id, (use ?? new Set()).add(element.offset));
    return;
  }
  if (expression.op === 'column') uses.set(expression.id, 'whole');
  for (const child of childrenOf(expression)) noteUses(child, uses);
}

type ConstantElement = { readonly call: Call; readonly id: ColumnId; readonly offset: number };

/** The column and the offset of an element that is read at a constant one. */
function constantElement(expression: Expression): ConstantElement | undefined {
  if (expression.op !== 'call' || expression.name !== 'array_offset') return undefined;
  const [list, offset] = expression.arguments;
  if (list?.op !== 'column' || offset?.op !== 'literal') return undefined;
  const { value } = offset;
  return typeof value === 'number' ? { call: expression, id: list.id, offset: value } : undefined;
}

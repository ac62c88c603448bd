import { unreachable } from '../../assert.ts';
import { isNullWhenNull } from '../call-facts.ts';
import {
  type ColumnId,
  columnsOf,
  conjunctionOf,
  conjunctsOf,
  type Expression,
  isLiteral,
  substitute,
} from '../expression.ts';
import {
  type Aggregate,
  columnsInInput,
  type Join,
  type Limit,
  type LogicalPlan,
  outputIds,
  outputOf,
  rewritePlan,
  type Union,
  type Unnest,
  type Window,
  withInputs,
  withUnionInputs,
} from '../logical-plan.ts';
import { canFailByValue } from './can-fail.ts';
import { Substitution } from './prune-columns.ts';

/**
 * Brings every condition as near to its scan as its columns allow: through projections (their
 * expressions put in place of their columns), unions, sorts, unnests, groupings and windows (keys
 * only) and joins. A condition over both sides of a cross join makes it an inner one. A plan whose
 * condition can never hold becomes no rows.
 *
 * A condition that can fail is never tested for a row that it would not have been tested for where it
 * stood: it goes nowhere where a row may get lost above it, and stays behind the conditions before it.
 */
export function pushFilters(plan: LogicalPlan): LogicalPlan {
  return push(plan, [], new Substitution());
}

function push(
  plan: LogicalPlan,
  above: readonly Expression[],
  substitution: Substitution,
): LogicalPlan {
  const conditions = above.filter((term) => !(isLiteral(term) && term.value === true));
  if (conditions.some(isNeverTrue)) return { op: 'rows', columns: outputOf(plan), rows: [] };
  switch (plan.op) {
    case 'filter':
      return push(plan.input, [...conjunctsOf(plan.predicate), ...conditions], substitution);
    case 'project': {
      const expressions = new Map(plan.columns.map((item) => [item.column.id, item.expression]));
      const { below, kept } = putInPlace(conditions, expressions, substitution);
      return filtered({ ...plan, input: push(plan.input, below, substitution) }, kept);
    }
    case 'sort':
      return { ...plan, input: push(plan.input, conditions, substitution) };
    case 'unnest':
      return pushThroughUnnest(plan, conditions, substitution);
    case 'join':
      return pushThroughJoin(plan, conditions, substitution);
    case 'union':
      return pushThroughUnion(plan, conditions, substitution);
    case 'aggregate':
      return pushThroughAggregate(plan, conditions, substitution);
    case 'window':
      return pushThroughWindow(plan, conditions, substitution);
    case 'limit':
      return filtered({ ...plan, input: push(plan.input, [], substitution) }, conditions);
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
      return filtered(plan, conditions);
    default:
      return unreachable(plan);
  }
}

type Placed = { readonly below: readonly Expression[]; readonly kept: readonly Expression[] };

/** The conditions as they read below, and those that would grow too large there. */
function putInPlace(
  conditions: readonly Expression[],
  expressions: ReadonlyMap<ColumnId, Expression>,
  substitution: Substitution,
): Placed {
  const { within } = substitution.within(conditions, expressions, (term) => term);
  return inOrder(conditions, new Map(within.map(({ term, expression }) => [term, expression])));
}

/** Of conditions those that are `placed`, but for those that can fail behind one that is not. */
function inOrder(
  conditions: readonly Expression[],
  placed: ReadonlyMap<Expression, Expression>,
): Placed {
  const below: Expression[] = [];
  const kept: Expression[] = [];
  for (const term of conditions) {
    const expression = placed.get(term);
    const isPlaced = expression !== undefined && (kept.length === 0 || !canFailByValue(expression));
    if (isPlaced) below.push(expression);
    else kept.push(term);
  }
  return { below, kept };
}

function isNeverTrue(term: Expression): boolean {
  return isLiteral(term) && term.value !== true;
}

function filtered(plan: LogicalPlan, conditions: readonly Expression[]): LogicalPlan {
  if (conditions.length === 0) return plan;
  return { op: 'filter', input: plan, predicate: conjunctionOf(conditions) };
}

function pushThroughUnion(
  plan: Union,
  conditions: readonly Expression[],
  substitution: Substitution,
): LogicalPlan {
  const { within } = substitution.spendCopies(conditions, plan.inputs.length);
  const { below, kept } = inOrder(conditions, new Map(within.map((term) => [term, term])));
  const inputs = plan.inputs.map((input, index) => {
    const columns = columnsInInput(plan, index);
    return push(
      input,
      below.map((term) => substitute(term, columns)),
      substitution,
    );
  });
  return filtered(withInputs(plan, inputs), kept);
}

function pushThroughUnnest(
  plan: Unnest,
  conditions: readonly Expression[],
  substitution: Substitution,
): LogicalPlan {
  const ids = outputIds(plan.input);
  // A row without elements is lost, unless the unnest keeps it.
  const { within, beyond } = divide(conditions, { columns: ids, keepsRows: plan.outer });
  return filtered({ ...plan, input: push(plan.input, within, substitution) }, beyond);
}

function pushThroughAggregate(
  plan: Aggregate,
  conditions: readonly Expression[],
  substitution: Substitution,
): LogicalPlan {
  const keys = new Map(plan.keys.map((item) => [item.column.id, item.expression]));
  const { within, beyond } = divideByKeys(conditions, new Set(keys.keys()));
  const { below, kept } = putInPlace(within, keys, substitution);
  return filtered({ ...plan, input: push(plan.input, below, substitution) }, [...kept, ...beyond]);
}

/** A partition is left out as a whole, by its keys, or not at all. */
function pushThroughWindow(
  plan: Window,
  conditions: readonly Expression[],
  substitution: Substitution,
): LogicalPlan {
  const keys = new Set(plan.partitionBy.flatMap((key) => (key.op === 'column' ? [key.id] : [])));
  const { within, beyond } = divideByKeys(conditions, keys);
  return filtered({ ...plan, input: push(plan.input, within, substitution) }, beyond);
}

function pushThroughJoin(
  join: Join,
  conditions: readonly Expression[],
  substitution: Substitution,
): LogicalPlan {
  const plan = withoutUndoneRows(join, conditions);
  const leftIds = outputIds(plan.left);
  const rightIds = outputIds(plan.right);
  const onTerms = plan.on === undefined ? [] : conjunctsOf(plan.on);
  if (plan.kind === 'full') {
    return filtered(
      {
        ...plan,
        left: push(plan.left, [], substitution),
        right: push(plan.right, [], substitution),
      },
      conditions,
    );
  }
  if (plan.kind === 'left') {
    const ofLeft = divide(conditions, { columns: leftIds, keepsRows: true });
    const ofRight = divide(onTerms, { columns: rightIds, keepsRows: false });
    // Rows of the right that equal none of the rows left over on the left are partners of none.
    const implied = impliedByEquality([...ofLeft.within, ...ofRight.beyond]);
    return filtered(
      {
        ...plan,
        left: push(plan.left, ofLeft.within, substitution),
        right: push(
          plan.right,
          [...ofRight.within, ...implied.filter((term) => readsOnly(term, rightIds))],
          substitution,
        ),
        on: conjunctionOf(ofRight.beyond.length === 0 ? [TRUE_LITERAL] : ofRight.beyond),
      },
      ofLeft.beyond,
    );
  }
  const terms = [...onTerms, ...conditions];
  const all = [...terms, ...impliedByEquality(terms)];
  const ofLeft = divide(all, { columns: leftIds, keepsRows: isNeverEmpty(plan.right) });
  // What went to the left before a condition has been tested for fewer rows of it since.
  const keepsRight = ofLeft.within.length === 0 && isNeverEmpty(plan.left);
  const ofRight = divide(ofLeft.beyond, { columns: rightIds, keepsRows: keepsRight });
  const left = push(plan.left, ofLeft.within, substitution);
  const right = push(plan.right, ofRight.within, substitution);
  if (ofRight.beyond.length === 0) return { op: 'join', kind: 'cross', left, right };
  return { op: 'join', kind: 'inner', left, right, on: conjunctionOf(ofRight.beyond) };
}

/** An outer join does without the rows that a condition above it drops in any case. */
function withoutUndoneRows(join: Join, conditions: readonly Expression[]): Join {
  if (join.kind !== 'left' && join.kind !== 'full') return join;
  const drops = (side: LogicalPlan) => {
    const ids = outputIds(side);
    return conditions.some((term) => rejectsNulls(term, ids));
  };
  const keepsLeft = !drops(join.right);
  const keepsRight = join.kind === 'full' && !drops(join.left);
  if (keepsLeft) return keepsRight ? join : { ...join, kind: 'left' };
  if (!keepsRight) return { ...join, kind: 'inner' };
  return { ...join, kind: 'left', left: join.right, right: join.left };
}

const TRUE_LITERAL: Expression = { op: 'literal', type: { kind: 'BOOL' }, value: true };

/** Whether a plan has a row, whatever the events. */
function isNeverEmpty(plan: LogicalPlan): boolean {
  switch (plan.op) {
    case 'one-row':
    // A subquery runs for the rows outside that there are.
    case 'outer':
      return true;
    case 'rows':
      return plan.rows.length > 0;
    case 'aggregate':
      return plan.keys.length === 0;
    case 'project':
    case 'sort':
      return isNeverEmpty(plan.input);
    default:
      return false;
  }
}

type Divided = { readonly within: readonly Expression[]; readonly beyond: readonly Expression[] };

/** Conditions that can be tested on keys: those that read no column hold for no rows at all, too. */
function divideByKeys(conditions: readonly Expression[], keys: ReadonlySet<ColumnId>): Divided {
  return divideBy(conditions, (term) => readsOnly(term, keys) && columnsOf(term).size > 0);
}

/**
 * Conditions that read only `columns`, those of an input, and the others; the order within each is kept.
 * Those that can fail are among the others unless the operator `keepsRows`: has a row for each of the input.
 */
function divide(
  conditions: readonly Expression[],
  { columns, keepsRows }: { readonly columns: ReadonlySet<ColumnId>; readonly keepsRows: boolean },
): Divided {
  return divideBy(
    conditions,
    (term) => readsOnly(term, columns) && (keepsRows || !canFailByValue(term)),
  );
}

/** Those that can fail stay behind one that stays. */
function divideBy(
  conditions: readonly Expression[],
  isWithin: (term: Expression) => boolean,
): Divided {
  const placed = conditions.filter(isWithin).map((term) => [term, term] as const);
  const { below, kept } = inOrder(conditions, new Map(placed));
  return { within: below, beyond: kept };
}

function readsOnly(term: Expression, columns: ReadonlySet<ColumnId>): boolean {
  return [...columnsOf(term)].every((id) => columns.has(id));
}

/**
 * Spreads emptiness: LIMIT 0 gives no rows, and an operator over none gives none, save a grouping without keys; a union
 * does without the inputs that have none.
 */
export function spreadEmptiness(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, (node) => {
    if (hasNoRows(node)) return emptyLike(node);
    return node.op === 'union' ? withoutEmptyInputs(node) : node;
  });
}

function withoutEmptyInputs(union: Union): LogicalPlan {
  const kept = union.inputs.flatMap((input, position) =>
    isEmpty(input) ? [] : [{ input, position }],
  );
  if (kept.length === union.inputs.length) return union;
  const [only, ...others] = kept;
  if (only === undefined || others.length > 0) return withUnionInputs(union, kept);
  const expressions = columnsInInput(union, only.position);
  return {
    op: 'project',
    input: only.input,
    columns: union.columns.map(({ column }) => ({
      column,
      expression: expressions.get(column.id)!,
    })),
  };
}

function hasNoRows(plan: LogicalPlan): boolean {
  switch (plan.op) {
    case 'filter':
    case 'project':
    case 'sort':
    case 'unnest':
    case 'window':
      return isEmpty(plan.input);
    case 'limit':
      return isEmpty(plan.input) || takesNone(plan);
    case 'aggregate':
      return plan.keys.length > 0 && isEmpty(plan.input);
    case 'union':
      return plan.inputs.every(isEmpty);
    case 'join':
      return isEmptyJoin(plan);
    default:
      return false;
  }
}

function takesNone({ count }: Limit): boolean {
  return count?.op === 'literal' && Number(count.value) === 0;
}

function isEmptyJoin({ kind, left, right }: Join): boolean {
  if (kind === 'full') return isEmpty(left) && isEmpty(right);
  return isEmpty(left) || (kind !== 'left' && isEmpty(right));
}

function isEmpty(plan: LogicalPlan): boolean {
  return plan.op === 'rows' && plan.rows.length === 0;
}

function emptyLike(plan: LogicalPlan): LogicalPlan {
  return { op: 'rows', columns: outputOf(plan), rows: [] };
}

/**
 * What else holds of rows for which all of `terms` do, where columns are equal and one of them is
 * compared with constants: the same of the other. Only comparisons are copied, which cost next to
 * nothing and never fail.
 */
function impliedByEquality(terms: readonly Expression[]): readonly Expression[] {
  const equalities = terms.flatMap((term) => equalColumns(term) ?? []);
  const bounds = terms.filter(isBound);
  return equalities.flatMap(({ left, right }) =>
    bounds.flatMap((bound) => {
      const [id] = columnsOf(bound);
      if (id === left.id) return [substitute(bound, new Map([[left.id, right]]))];
      return id === right.id ? [substitute(bound, new Map([[right.id, left]]))] : [];
    }),
  );
}

type ColumnExpression = Extract<Expression, { op: 'column' }>;

/** Types whose equal values no comparison tells apart: of DYNAMIC values only the data knows. */
const PLAIN_TYPES: ReadonlySet<string> = new Set([
  ...['BOOL', 'INT64', 'STRING', 'TIMESTAMP', 'DATETIME', 'DATE', 'TIME'],
]);

function equalColumns(
  term: Expression,
): { readonly left: ColumnExpression; readonly right: ColumnExpression } | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  if (left.op !== 'column' || right.op !== 'column') return undefined;
  const { kind } = left.type;
  return kind === right.type.kind && PLAIN_TYPES.has(kind) ? { left, right } : undefined;
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>=', 'in']);

/** `column < constant` and its like. */
function isBound(term: Expression): boolean {
  if (term.op !== 'call' || !COMPARISONS.has(term.name)) return false;
  const columns = new Set<ColumnId>();
  for (const side of term.arguments) {
    if (side.op === 'column') columns.add(side.id);
    else if (!isLiteral(side)) return false;
  }
  return columns.size === 1;
}

/**
 * Whether a condition holds for no row in which these columns are NULL, so that it undoes what an
 * outer join adds. False when in doubt.
 */
function rejectsNulls(condition: Expression, columns: ReadonlySet<ColumnId>): boolean {
  if (isNullOf(condition, columns)) return true;
  if (condition.op !== 'call') return false;
  const { name, arguments: inputs } = condition;
  const [input] = inputs;
  switch (name) {
    case 'and':
      return inputs.some((each) => rejectsNulls(each, columns));
    case 'or':
      return inputs.every((each) => rejectsNulls(each, columns));
    case 'not':
      return input?.op === 'call' && input.name === 'is_null'
        ? isNullOf(input.arguments[0]!, columns)
        : false;
    case 'is_true':
    case 'is_false':
      return isNullOf(input!, columns);
    default:
      return false;
  }
}

/** Whether an expression is NULL in each row in which the columns are. */
function isNullOf(expression: Expression, columns: ReadonlySet<ColumnId>): boolean {
  switch (expression.op) {
    case 'column':
      return columns.has(expression.id);
    case 'dynamic-field':
    case 'struct-field':
    case 'read-as':
    case 'cast':
      return isNullOf(expression.input, columns);
    case 'call':
      if (expression.name === 'in') return isNullOf(expression.arguments[0]!, columns);
      return (
        expression.arguments.some((each) => isNullOf(each, columns)) && isNullWhenNull(expression)
      );
    default:
      return false;
  }
}

/**
 * Moves the unnest of one table's list from above a cross join to that table. A condition that equates
 * an element with the other table can then make the join one by equality, where all pairs were made
 * before. Joins by condition stay below: they let fewer rows through to be unnested.
 */
export function sinkUnnests(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, (node) => (node.op === 'unnest' ? sunk(node) : node));
}

function sunk(unnest: Unnest): LogicalPlan {
  const join = unnest.input;
  if (join.op !== 'join' || join.kind !== 'cross') return unnest;
  // The other table may be empty, and then no list is looked at.
  if ([unnest.array, ...(unnest.on ? [unnest.on] : [])].some(canFailByValue)) return unnest;
  const needed = columnsOf(unnest.array);
  if (unnest.on !== undefined) for (const id of columnsOf(unnest.on)) needed.add(id);
  needed.delete(unnest.element.id);
  if (unnest.offset !== undefined) needed.delete(unnest.offset.id);
  if (needed.size === 0) return unnest;
  for (const side of ['left', 'right'] as const) {
    const ids = outputIds(join[side]);
    if ([...needed].every((id) => ids.has(id))) {
      return { ...join, [side]: sunk({ ...unnest, input: join[side] }) };
    }
  }
  return unnest;
}

import { assert, unreachable } from '../assert.ts';
import { findOnce } from '../column/caches.ts';
import type { NeededText } from '../column/segment.ts';
import type { SqlValue } from '../column/value.ts';
import {
  type Apply,
  appliesIn,
  type Column,
  type ColumnId,
  columnsOf,
  conjunctionOf,
  conjunctsOf,
  type Expression,
  rewrite,
  type Subquery,
} from './expression.ts';
import type { LateScan } from './late-texts.ts';
import {
  type AggregateCall,
  ColumnIds,
  inputsOf,
  type Join,
  type LogicalPlan,
  mapExpressions,
  type OuterColumn,
  type ScanField,
  type Sort,
  type SortKey,
  type TimeWindow,
  type UnionColumn,
  type WindowColumn,
} from './logical-plan.ts';
import { canFailByValue } from './optimize/can-fail.ts';
import { decorrelated } from './optimize/decorrelate.ts';
import { rowInputsOf, visit } from './physical-walk.ts';
import { type Reach, withinReach } from './reach.ts';

/**
 * How a plan is run: each operator with its algorithm chosen, no parameter left but late texts. A plain
 * value; a worker turns it into closures. Rows of an operator hold the columns of `layoutOf`, in that order.
 */
export type PhysicalPlan =
  | PhysicalScan
  | { readonly op: 'one-row' }
  /** The rows that a subquery is computed for. */
  | { readonly op: 'outer'; readonly columns: readonly OuterColumn[] }
  | {
      readonly op: 'rows';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly SqlValue[])[];
    }
  /** Conjuncts in order: later ones see only rows that passed the earlier. */
  | {
      readonly op: 'filter';
      readonly input: PhysicalPlan;
      readonly conjuncts: readonly Expression[];
      /**
       * Indices of those that hold for each row of an event known to be of the scan's project: they
       * are tested for the others only. Only row-wise operators lie between filter and scan.
       */
      readonly impliedByProject: readonly number[];
    }
  | {
      readonly op: 'project';
      readonly input: PhysicalPlan;
      readonly columns: readonly ComputedColumn[];
    }
  | {
      readonly op: 'unnest';
      readonly input: PhysicalPlan;
      readonly array: Expression;
      readonly element: Column;
      readonly offset?: Column | undefined;
      readonly outer: boolean;
      readonly on?: Expression | undefined;
    }
  | HashJoin
  /** The inputs one after the other, `columns` in this order. */
  | {
      readonly op: 'union';
      readonly inputs: readonly PhysicalPlan[];
      readonly columns: readonly UnionColumn[];
    }
  | {
      readonly op: 'aggregate';
      readonly input: PhysicalPlan;
      readonly keys: readonly ComputedColumn[];
      readonly aggregates: readonly { readonly column: Column; readonly call: AggregateCall }[];
    }
  | PhysicalWindow
  | { readonly op: 'sort'; readonly input: PhysicalPlan; readonly keys: readonly SortKey[] }
  | PhysicalTop
  | {
      readonly op: 'limit';
      readonly input: PhysicalPlan;
      readonly count: number;
      readonly offset: number;
      /** Counts the rows of each value of this column apart. */
      readonly per?: ColumnId | undefined;
    };

/** The first `count` rows by the keys; keeps no others. */
export type PhysicalTop = {
  readonly op: 'top';
  readonly input: PhysicalPlan;
  readonly keys: readonly SortKey[];
  readonly count: number;
};

/** Keeps all rows, then computes the calls over them. */
export type PhysicalWindow = {
  readonly op: 'window';
  readonly input: PhysicalPlan;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  readonly ties?: readonly SortKey[] | undefined;
  readonly calls: readonly WindowColumn[];
};

type ComputedColumn = { readonly column: Column; readonly expression: Expression };

export type PhysicalScan = {
  readonly op: 'scan';
  /** Which of the run's scans this is, from 0: its segments are handed over by this number. */
  readonly index: number;
  readonly source: string;
  readonly columns: readonly Column[];
  /** Parallel to `columns`. */
  readonly fields: readonly ScanField[];
  readonly window: TimeWindow;
  readonly projectKey?: string | undefined;
  /** Project keys that the run may read; `undefined`: all, and rows of mixed projects and of none. */
  readonly reach: readonly string[] | undefined;
  /** Only events that may hold all of these; absent: all. */
  readonly texts?: readonly NeededText[] | undefined;
  /** Of a plan that calls share: what the texts of a call make of project and texts. */
  readonly late?: LateScan;
  /** Reads from the newest segment's end, and stops when the top rows above cannot change. */
  readonly newestFirst: boolean;
};

/**
 * The right side is read whole into a table; equalities pair `left[i] = right[i]`. A full join gives
 * the rows of the right side without a partner at the end.
 */
export type HashJoin = {
  readonly op: 'join';
  readonly kind: Join['kind'];
  readonly left: PhysicalPlan;
  readonly right: PhysicalPlan;
  readonly equalities: readonly { readonly left: Expression; readonly right: Expression }[];
  readonly residual?: Expression | undefined;
};

/** Every scan of the plan, those of subqueries too, is kept within the reach. */
export function physicalPlanOf(plan: LogicalPlan, reach: Reach): PhysicalPlan {
  const subqueries = new Conversion(scanCountOf(plan), { ids: new ColumnIds(plan), reach });
  return convert(plan, { scanCount: 0, subqueries, reach });
}

/** Scans of a plan are numbered first, in their order; those of its subqueries after them. */
type Numbering = { scanCount: number; readonly subqueries: Conversion; readonly reach: Reach };

/** Turns subqueries into what is applied to chunks; one that the plan holds twice is still one. */
class Conversion {
  readonly #ids: ColumnIds;
  readonly #reach: Reach;
  readonly #applied = new Map<LogicalPlan, Apply>();
  #scanCount: number;

  constructor(
    scanCount: number,
    { ids, reach }: { readonly ids: ColumnIds; readonly reach: Reach },
  ) {
    this.#scanCount = scanCount;
    this.#ids = ids;
    this.#reach = reach;
  }

  convert(expression: Expression): Expression {
    return rewrite(expression, (node) => (node.op === 'subquery' ? this.#apply(node) : node));
  }

  #apply(subquery: Subquery): Apply {
    const known = this.#applied.get(subquery.plan) ?? this.#convert(subquery);
    this.#applied.set(subquery.plan, known);
    const captured = new Map(subquery.captures.map((item) => [item.column.id, item.expression]));
    const captures = known.captures.map(({ column, expression }) => ({
      column,
      expression: captured.get(column.id) ?? expression,
    }));
    // Each place that it stands in may look for a value of its own.
    return { ...known, captures, input: known.input && subquery.input };
  }

  #convert(subquery: Subquery): Apply {
    const { plan, isOptimized: _, ...rest } = decorrelated(subquery, this.#ids);
    const numbering = { scanCount: this.#scanCount, subqueries: this, reach: this.#reach };
    this.#scanCount += scanCountOf(plan);
    return { ...rest, op: 'apply', plan: convert(plan, numbering) };
  }
}

/** The same operator, the subqueries in its expressions converted. */
function withApplies<P extends LogicalPlan>(plan: P, { subqueries }: Numbering): P {
  return mapExpressions(plan, (each) => subqueries.convert(each)) as P;
}

function scanCountOf(plan: LogicalPlan): number {
  const below = inputsOf(plan).reduce((sum, input) => sum + scanCountOf(input), 0);
  return plan.op === 'scan' ? below + 1 : below;
}

function convert(logical: LogicalPlan, numbering: Numbering): PhysicalPlan {
  const plan = withApplies(logical, numbering);
  switch (plan.op) {
    case 'scan':
      return {
        op: 'scan',
        index: numbering.scanCount++,
        source: plan.source,
        columns: plan.columns.map((item) => item.column),
        fields: plan.columns.map((item) => item.field),
        window: plan.window,
        ...withinReach(plan.projectKey, numbering.reach),
        texts: plan.texts,
        ...(plan.late === undefined ? {} : { late: plan.late }),
        newestFirst: false,
      };
    case 'one-row':
    case 'outer':
    case 'rows':
      // Of its own, so that each operator of the tree can be told apart: a text may use one twice.
      return { ...plan };
    case 'filter': {
      const conjuncts = cheapFirst(conjunctsOf(plan.predicate));
      const implied = plan.impliedByProject ?? [];
      return {
        op: 'filter',
        input: convert(plan.input, numbering),
        conjuncts,
        impliedByProject: implied.map((term) => conjuncts.indexOf(term)),
      };
    }
    case 'project':
    case 'unnest':
    case 'aggregate':
    case 'window':
    case 'sort':
      return { ...plan, input: convert(plan.input, numbering) };
    case 'join':
      return convertJoin(plan, numbering);
    case 'union':
      return { ...plan, inputs: plan.inputs.map((input) => convert(input, numbering)) };
    case 'limit':
      return convertLimit(plan, numbering);
    default:
      return unreachable(plan);
  }
}

/**
 * Subqueries last, so that they are computed for fewer rows; else in the order they are in. What can fail
 * stays behind the subqueries before it.
 */
function cheapFirst(conjuncts: readonly Expression[]): readonly Expression[] {
  const ordered: Expression[] = [];
  const dear: Expression[] = [];
  for (const term of conjuncts) {
    if (appliesIn(term).length > 0) {
      dear.push(term);
      continue;
    }
    if (dear.length > 0 && canFailByValue(term)) ordered.push(...dear.splice(0));
    ordered.push(term);
  }
  return [...ordered, ...dear];
}

function convertLimit(
  plan: Extract<LogicalPlan, { op: 'limit' }>,
  numbering: Numbering,
): PhysicalPlan {
  const count = plan.count === undefined ? Infinity : limitValue(plan.count);
  const offset = plan.offset === undefined ? 0 : limitValue(plan.offset);
  if (plan.input.op !== 'sort' || count === Infinity || plan.per !== undefined) {
    const input = convert(plan.input, numbering);
    return { op: 'limit', input, count, offset, per: plan.per?.id };
  }
  const top = convertTop(plan.input, count + offset, numbering);
  return offset === 0 ? top : { op: 'limit', input: top, count, offset };
}

function limitValue(expression: Expression): number {
  assert(expression.op === 'literal', 'a limit is a constant');
  const value = expression.value;
  if (value === null) return 0;
  return Math.max(0, Number(value));
}

function convertTop(logical: Sort, count: number, numbering: Numbering): PhysicalPlan {
  const sort = withApplies(logical, numbering);
  const input = convert(sort.input, numbering);
  const first = sort.keys[0];
  const isNewest = first?.descending && first.expression.op === 'column';
  return {
    op: 'top',
    input: isNewest ? readNewestFirst(input, (first.expression as { id: ColumnId }).id) : input,
    keys: sort.keys,
    count,
  };
}

/**
 * Turns the scans that `timestamp` comes from around, where each row above them is of one of their
 * rows: no row older than what is wanted above is made of a newer one.
 */
function readNewestFirst(plan: PhysicalPlan, timestamp: ColumnId): PhysicalPlan {
  switch (plan.op) {
    case 'filter':
    case 'unnest':
      return { ...plan, input: readNewestFirst(plan.input, timestamp) };
    case 'project': {
      const item = plan.columns.find(({ column }) => column.id === timestamp);
      if (item?.expression.op !== 'column') return plan;
      return { ...plan, input: readNewestFirst(plan.input, item.expression.id) };
    }
    case 'union': {
      const item = plan.columns.find(({ column }) => column.id === timestamp);
      if (item === undefined) return plan;
      const inputs = plan.inputs.map((input, index) => readNewestFirst(input, item.from[index]!));
      return { ...plan, inputs };
    }
    case 'join':
      // Which rows of the right side a full join has left is known only when all of the left are.
      if (plan.kind === 'full') return plan;
      return { ...plan, left: readNewestFirst(plan.left, timestamp) };
    case 'scan': {
      const column = plan.columns.findIndex((candidate) => candidate.id === timestamp);
      return plan.fields[column] === 'timestamp' ? { ...plan, newestFirst: true } : plan;
    }
    default:
      return plan;
  }
}

/**
 * The side that is read into the table is the right one, as the text has it, unless only the left one
 * is known to be short.
 */
function convertJoin(plan: Join, numbering: Numbering): PhysicalPlan {
  // Before the sides change places: scans are numbered as the text has them.
  const sides = [convert(plan.left, numbering), convert(plan.right, numbering)] as const;
  const isEither = plan.kind === 'inner' || plan.kind === 'cross';
  const isSwapped = isEither && isShort(plan.left) && !isShort(plan.right);
  const [left, right] = isSwapped ? [sides[1], sides[0]] : sides;
  const leftIds = new Set(layoutOf(left));
  const rightIds = new Set(layoutOf(right));
  const equalities: { left: Expression; right: Expression }[] = [];
  const residual: Expression[] = [];
  for (const term of plan.on === undefined ? [] : conjunctsOf(plan.on)) {
    const pair = equalityOf(term, leftIds, rightIds);
    // Keys are computed of all rows: one that can fail must not have a condition before it.
    const isBehind = equalities.length + residual.length > 0;
    if (pair === undefined || (isBehind && canFailByValue(term))) residual.push(term);
    else equalities.push(pair);
  }
  const rest = residual.length === 0 ? undefined : conjunctionOf(residual);
  return { op: 'join', kind: plan.kind, left, right, equalities, residual: rest };
}

/** Whether a plan gives a number of rows that the text bounds, whatever the events. */
function isShort(plan: LogicalPlan): boolean {
  switch (plan.op) {
    case 'one-row':
    case 'rows':
      return true;
    case 'limit':
      return plan.count !== undefined || isShort(plan.input);
    case 'aggregate':
      return plan.keys.length === 0 || isShort(plan.input);
    case 'filter':
    case 'project':
    case 'sort':
      return isShort(plan.input);
    case 'union':
      return plan.inputs.every(isShort);
    case 'join':
      return isShort(plan.left) && isShort(plan.right);
    default:
      return false;
  }
}

function equalityOf(
  term: Expression,
  leftIds: ReadonlySet<ColumnId>,
  rightIds: ReadonlySet<ColumnId>,
): { left: Expression; right: Expression } | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [first, second] = term.arguments as readonly [Expression, Expression];
  if (readsOnly(first, leftIds) && readsOnly(second, rightIds))
    return { left: first, right: second };
  if (readsOnly(second, leftIds) && readsOnly(first, rightIds))
    return { left: second, right: first };
  return undefined;
}

function readsOnly(expression: Expression, ids: ReadonlySet<ColumnId>): boolean {
  const columns = columnsOf(expression);
  return columns.size > 0 && [...columns].every((id) => ids.has(id));
}

/** The column ids of an operator's rows, by position. */
export const layoutOf = findOnce(findLayout);

function findLayout(plan: PhysicalPlan): readonly ColumnId[] {
  switch (plan.op) {
    case 'scan':
    case 'rows':
      return plan.columns.map((column) => column.id);
    case 'one-row':
      return [];
    case 'outer':
    case 'project':
    case 'union':
      return plan.columns.map((item) => item.column.id);
    case 'unnest': {
      const own = plan.offset === undefined ? [plan.element.id] : [plan.element.id, plan.offset.id];
      return [...layoutOf(plan.input), ...own];
    }
    case 'join':
      return [...layoutOf(plan.left), ...layoutOf(plan.right)];
    case 'aggregate':
      return [...plan.keys, ...plan.aggregates].map((item) => item.column.id);
    case 'window':
      return [...layoutOf(plan.input), ...plan.calls.map((item) => item.column.id)];
    default:
      return layoutOf(plan.input);
  }
}

/** All scans of a plan and of its subqueries, by their index. */
export function scansOf(plan: PhysicalPlan): readonly PhysicalScan[] {
  const scans: PhysicalScan[] = [];
  visit(plan, (node) => {
    if (node.op === 'scan') scans[node.index] = node;
  });
  return Object.values(scans);
}

/**
 * The grouping at which a plan may be cut: below it lie one scan and row-wise operators only, so its
 * partial states over any division of the segments combine to the same answer.
 */
export const breakerOf = findOnce(findBreaker);

function findBreaker(plan: PhysicalPlan): Breaker | undefined {
  if (scansOf(plan).length !== 1) return undefined;
  let found: Breaker | undefined;
  let node = plan;
  while (node.op !== 'scan') {
    if (node.op === 'aggregate') found = node;
    // A sort or a limit below the cut would see only a part of its rows.
    else if (!isRowWise(node)) found = undefined;
    const next = inputWithScan(node);
    if (next === undefined) return undefined;
    node = next;
  }
  return found;
}

function isRowWise(plan: PhysicalPlan): boolean {
  // The end of a full join is known when all rows of the left have been seen.
  if (plan.op === 'join') return plan.kind !== 'full';
  return plan.op === 'filter' || plan.op === 'project' || plan.op === 'unnest';
}

export type Breaker = Extract<PhysicalPlan, { op: 'aggregate' }>;

/** The input that leads to the scan, when rows of the scan are what flows through the operator. */
function inputWithScan(plan: PhysicalPlan): PhysicalPlan | undefined {
  if (plan.op === 'join') return scansOf(plan.left).length === 1 ? plan.left : undefined;
  const [input, ...others] = rowInputsOf(plan);
  return others.length === 0 ? input : undefined;
}

import type { Extreme } from '../aggregate/aggregate-function.ts';
import { unreachable } from '../assert.ts';
import type { NeededText } from '../column/segment.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import {
  type Column,
  type ColumnId,
  collectColumns,
  columnReference,
  type Expression,
  rewrite,
  type Subquery,
  subqueriesIn,
  substitute,
} from './expression.ts';
import type { LateScan } from './late-texts.ts';

/**
 * What a query means, apart from how it is run: relational operators over typed columns. A plain
 * value that knows nothing of segments, so that another engine could render it as its own SQL.
 *
 * Row order: a Sort orders; Filter, Project, Limit, Unnest and Window keep the order of their input;
 * a Union gives the rows of its first input before those of the second, and so on; all others leave
 * it open.
 */
export type LogicalPlan =
  | Scan
  | { readonly op: 'one-row' }
  | Outer
  | Rows
  | Filter
  | Project
  | Unnest
  | Join
  | Union
  | Aggregate
  | Window
  | Sort
  | Limit;

/** All events of one source. Each column it may give is one of the five declared, or the root. */
export type Scan = {
  readonly op: 'scan';
  /** The source's name, as the catalogue of sources spells it. */
  readonly source: string;
  readonly columns: readonly ScanColumn[];
  /** Only events in this window; the binder leaves it open, the optimiser narrows it. */
  readonly window: TimeWindow;
  /**
   * Only events that may be of this project, by the source's own rule. A hint to skip by: events of
   * mixed projects pass, so the condition it came from stays in the plan.
   */
  readonly projectKey?: string;
  /**
   * Only events that may hold all of these texts. A hint to skip by, as is the project; absent: all
   * events.
   */
  readonly texts?: readonly NeededText[];
  /**
   * Lists of texts: rows pass only if the message of their event contains at least one text of each list. A hint for stores
   * with an index of messages; others ignore it.
   */
  readonly messageTexts?: readonly (readonly string[])[];
  /** Of a plan that leaves texts open: what they make of project and texts. */
  readonly late?: LateScan;
};

/** Microseconds since the epoch, [startUs, endUs); infinite where open. */
export type TimeWindow = { readonly startUs: number; readonly endUs: number };

export const ALL_TIME: TimeWindow = { startUs: -Infinity, endUs: Infinity };

export type ScanField =
  | 'id'
  | 'timestamp'
  | 'event_message'
  | 'project'
  /** DYNAMIC: the record that holds `metadata` and the further top-level keys. */
  | 'root'
  /** INT64: the order in which the source took the events in. Never named in SQL. */
  | 'arrival';

export type ScanColumn = { readonly column: Column; readonly field: ScanField };

/**
 * The rows that a subquery is computed for, one by one in order: a number of each, from 0, and what
 * the subquery captured of it. Stands in plans of subqueries only.
 */
export type Outer = {
  readonly op: 'outer';
  readonly columns: readonly OuterColumn[];
};

export type OuterColumn = {
  readonly column: Column;
  /** The capture, by the id of its column; absent: the row's number. */
  readonly capture?: ColumnId;
};

/** Constants: what a relation without a scan came to when the parameters were known. */
export type Rows = {
  readonly op: 'rows';
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly SqlValue[])[];
};

export type Filter = {
  readonly op: 'filter';
  readonly input: LogicalPlan;
  readonly predicate: Expression;
  /**
   * Conjuncts, the same objects, that hold for each row of an event known to be of the project of the
   * scan below. Only row-wise operators lie between; the optimiser finds out last of all.
   */
  readonly impliedByProject?: readonly Expression[];
};

/** Computes columns; only these are in its output. A column may be passed on under its own id. */
export type Project = {
  readonly op: 'project';
  readonly input: LogicalPlan;
  readonly columns: readonly { readonly column: Column; readonly expression: Expression }[];
};

/**
 * For each input row, one row for each element of `array` (an ARRAY, or DYNAMIC: a list, or a
 * record as a list of itself). `outer`: a row without elements is kept, with NULLs.
 */
export type Unnest = {
  readonly op: 'unnest';
  readonly input: LogicalPlan;
  readonly array: Expression;
  readonly element: Column;
  readonly offset?: Column | undefined;
  readonly outer: boolean;
  /**
   * LEFT JOIN UNNEST(…) ON condition: elements for which it does not hold are no elements. Always
   * absent when not `outer`; the binder makes it a Filter.
   */
  readonly on?: Expression | undefined;
};

/**
 * `left` keeps rows of the left without a partner, `full` those of both sides. A RIGHT JOIN is bound
 * as the LEFT JOIN it is from the other side.
 */
export type Join = {
  readonly op: 'join';
  readonly kind: 'inner' | 'left' | 'full' | 'cross';
  readonly left: LogicalPlan;
  readonly right: LogicalPlan;
  /** Absent for 'cross' only. */
  readonly on?: Expression | undefined;
};

/** The rows of all inputs, one input after the other: UNION ALL. */
export type Union = {
  readonly op: 'union';
  readonly inputs: readonly LogicalPlan[];
  /** Columns of its own, all of the inputs' columns that fill one having its type. */
  readonly columns: readonly UnionColumn[];
};

/** `from[i]` names the column of input i whose values these are. */
export type UnionColumn = { readonly column: Column; readonly from: readonly ColumnId[] };

/** Groups by the keys (none: one group, even of no rows). Also DISTINCT, with no aggregates. */
export type Aggregate = {
  readonly op: 'aggregate';
  readonly input: LogicalPlan;
  readonly keys: readonly { readonly column: Column; readonly expression: Expression }[];
  readonly aggregates: readonly { readonly column: Column; readonly call: AggregateCall }[];
};

export type AggregateCall = {
  /** Name in the registry of aggregates (`engine/aggregate`): lower case. */
  readonly name: string;
  /** The arguments evaluated per row. COUNT(*) has none. */
  readonly arguments: readonly Expression[];
  /** Arguments that are constants of the query, such as the 100 of APPROX_QUANTILES(x, 100). */
  readonly constants: readonly Expression[];
  readonly distinct: boolean;
  /** IGNORE NULLS or RESPECT NULLS; absent: as the function has it. */
  readonly nulls?: 'ignore' | 'respect' | undefined;
  /**
   * The order in which rows are taken, for a function whose answer depends on it; absent for all
   * others. What it leaves open is settled by the optimiser.
   */
  readonly orderBy?: readonly SortKey[] | undefined;
  /** At most so many rows, the first of the order: an INT64 constant or parameter. */
  readonly limit?: Expression | undefined;
  /** HAVING MAX or MIN: only the rows of a group where the expression is greatest, or least. */
  readonly having?: { readonly extreme: Extreme; readonly expression: Expression } | undefined;
  /** Offsets of the elements of a list that are read, ascending: it has these alone. Said by the optimiser. */
  readonly elements?: readonly number[] | undefined;
  /**
   * Its answers are read in branches alone, and errors are among them: the column holds what `deferred-value` reads,
   * and the arguments have no places in the text.
   */
  readonly isDeferred?: true;
};

/**
 * Adds a column for each call, computed over the rows of the same partition. All rows stay. Without
 * an order all rows of a partition are peers.
 */
export type Window = {
  readonly op: 'window';
  readonly input: LogicalPlan;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  /**
   * What decides between peers where an answer hangs on their order, such as a row's number: the
   * order of the input where there are none.
   */
  readonly ties?: readonly SortKey[] | undefined;
  readonly calls: readonly WindowColumn[];
};

export type WindowColumn = { readonly column: Column; readonly call: WindowCall };

export type WindowCall = {
  /** An aggregate, or by its name one of the functions that are only called over windows. */
  readonly function: AggregateCall;
  /** Of the latter that can leave NULLs out. */
  readonly ignoresNulls: boolean;
  /** Absent in the text: RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW. */
  readonly frame?: WindowFrame | undefined;
};

export type WindowFrame = {
  readonly unit: 'rows' | 'range';
  readonly start: FrameBound;
  readonly end: FrameBound;
};

/** Amounts are constants or parameters; of a RANGE they are of the type of the order's one key. */
export type FrameBound =
  | { readonly kind: 'unbounded-preceding' | 'current-row' | 'unbounded-following' }
  | { readonly kind: 'preceding' | 'following'; readonly amount: Expression };

export type Sort = {
  readonly op: 'sort';
  readonly input: LogicalPlan;
  readonly keys: readonly SortKey[];
};

export type SortKey = {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
};

export type Limit = {
  readonly op: 'limit';
  readonly input: LogicalPlan;
  /** INT64 constants or parameters. */
  readonly count?: Expression | undefined;
  readonly offset?: Expression | undefined;
  /** Counts the rows of each value of this column apart: the ordinal of the rows outside. */
  readonly per?: Column | undefined;
};

/** A parameter of a saved query, as its definition declares it. */
export type ParameterDeclaration = { readonly name: string; readonly type: SqlType };

/** A bound query: its plan and what its rows are called, in order. */
export type BoundQuery = {
  readonly plan: LogicalPlan;
  readonly output: readonly Column[];
  /** Parameters the text and its views name, each once, in the spelling of their first use. */
  readonly parameters: readonly string[];
  /** Views the text itself selects from, each once. */
  readonly views: readonly string[];
};

/** A query with a name, which other texts may select from as from a table. */
export type View = {
  readonly name: string;
  readonly text: string;
  /** All that the text may name, those of its own views among them. */
  readonly parameters: readonly ParameterDeclaration[];
};

/** The views a text may name. */
export interface Views {
  /** The name of the text that is bound, so that it is known when it comes to itself. */
  readonly name: string;
  /** The view of this name, as it is written in FROM with dots between its words. */
  find(name: string): View | undefined;
  /** Names there are, for hints. */
  names(): readonly string[];
}

/** The plans directly below one. */
export function inputsOf(plan: LogicalPlan): readonly LogicalPlan[] {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
      return [];
    case 'join':
      return [plan.left, plan.right];
    case 'union':
      return plan.inputs;
    default:
      return [plan.input];
  }
}

/** The same operator over other inputs; as many as `inputsOf` gave. */
export function withInputs(plan: LogicalPlan, inputs: readonly LogicalPlan[]): LogicalPlan {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
      return plan;
    case 'join':
      return { ...plan, left: inputs[0]!, right: inputs[1]! };
    case 'union':
      return { ...plan, inputs };
    default:
      return { ...plan, input: inputs[0]! };
  }
}

/** Rebuilds a plan from its leaves up. */
export function rewritePlan(
  plan: LogicalPlan,
  change: (plan: LogicalPlan) => LogicalPlan,
): LogicalPlan {
  const inputs = inputsOf(plan);
  if (inputs.length === 0) return change(plan);
  const rewritten = inputs.map((input) => rewritePlan(input, change));
  const isChanged = rewritten.some((input, index) => input !== inputs[index]);
  return change(isChanged ? withInputs(plan, rewritten) : plan);
}

/** Changes every expression of one operator (not of its inputs). */
export function mapExpressions(
  plan: LogicalPlan,
  change: (expression: Expression) => Expression,
): LogicalPlan {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
    case 'union':
      return plan;
    case 'filter':
      return { ...plan, predicate: change(plan.predicate) };
    case 'project':
      return {
        ...plan,
        columns: plan.columns.map((item) => ({ ...item, expression: change(item.expression) })),
      };
    case 'unnest':
      return {
        ...plan,
        array: change(plan.array),
        on: plan.on === undefined ? undefined : change(plan.on),
      };
    case 'join':
      return { ...plan, on: plan.on === undefined ? undefined : change(plan.on) };
    case 'aggregate':
      return {
        ...plan,
        keys: plan.keys.map((item) => ({ ...item, expression: change(item.expression) })),
        aggregates: plan.aggregates.map((item) => ({
          ...item,
          call: mapCall(item.call, change),
        })),
      };
    case 'window':
      return mapWindow(plan, change);
    case 'sort':
      return { ...plan, keys: mapKeys(plan.keys, change) };
    case 'limit':
      return {
        ...plan,
        count: plan.count === undefined ? undefined : change(plan.count),
        offset: plan.offset === undefined ? undefined : change(plan.offset),
      };
    default:
      return unreachable(plan);
  }
}

type Change = (expression: Expression) => Expression;

function mapKeys(keys: readonly SortKey[], change: Change): readonly SortKey[] {
  return keys.map((key) => ({ ...key, expression: change(key.expression) }));
}

function mapWindow(plan: Window, change: Change): Window {
  const mapBound = (bound: FrameBound): FrameBound =>
    'amount' in bound ? { ...bound, amount: change(bound.amount) } : bound;
  return {
    ...plan,
    partitionBy: plan.partitionBy.map(change),
    orderBy: mapKeys(plan.orderBy, change),
    ties: plan.ties === undefined ? undefined : mapKeys(plan.ties, change),
    calls: plan.calls.map(({ column, call }) => ({
      column,
      call: {
        ...call,
        function: mapCall(call.function, change),
        frame: call.frame && {
          ...call.frame,
          start: mapBound(call.frame.start),
          end: mapBound(call.frame.end),
        },
      },
    })),
  };
}

/** Every expression of one operator (not of its inputs). */
export function expressionsOf(plan: LogicalPlan): readonly Expression[] {
  const expressions: Expression[] = [];
  mapExpressions(plan, (expression) => {
    expressions.push(expression);
    return expression;
  });
  return expressions;
}

/** Changes every expression node of a whole plan, leaves first. */
export function rewriteExpressions(
  plan: LogicalPlan,
  change: (expression: Expression) => Expression,
): LogicalPlan {
  return rewritePlan(plan, (node) => mapExpressions(node, (root) => rewrite(root, change)));
}

/** The columns a plan gives. */
export function outputOf(plan: LogicalPlan): readonly Column[] {
  switch (plan.op) {
    case 'scan':
    case 'outer':
      return plan.columns.map((item) => item.column);
    case 'one-row':
      return [];
    case 'rows':
      return plan.columns;
    case 'project':
    case 'union':
      return plan.columns.map((item) => item.column);
    case 'aggregate':
      return [...plan.keys, ...plan.aggregates].map((item) => item.column);
    case 'unnest': {
      const own = plan.offset === undefined ? [plan.element] : [plan.element, plan.offset];
      return [...outputOf(plan.input), ...own];
    }
    case 'join':
      return [...outputOf(plan.left), ...outputOf(plan.right)];
    case 'window':
      return [...outputOf(plan.input), ...plan.calls.map((item) => item.column)];
    default:
      return outputOf(plan.input);
  }
}

/** The columns that an operator makes, and does not pass on from its inputs. */
export function columnsMadeBy(plan: LogicalPlan): readonly Column[] {
  switch (plan.op) {
    case 'unnest':
      return plan.offset === undefined ? [plan.element] : [plan.element, plan.offset];
    case 'window':
      return plan.calls.map((item) => item.column);
    case 'filter':
    case 'join':
    case 'sort':
    case 'limit':
      return [];
    default:
      return outputOf(plan);
  }
}

/** Whether an operator passes on the columns of its inputs. */
export function passesOn({ op }: LogicalPlan): boolean {
  return ['unnest', 'window', 'filter', 'join', 'sort', 'limit'].includes(op);
}

/** What the columns of a union are in one of its inputs. */
export function columnsInInput(plan: Union, input: number): ReadonlyMap<ColumnId, Expression> {
  return new Map(
    plan.columns.map(({ column, from }) => [
      column.id,
      columnReference({ ...column, id: from[input]! }),
    ]),
  );
}

/** The same union over some of its inputs, given by their positions, and perhaps changed. */
export function withUnionInputs(
  plan: Union,
  kept: readonly { readonly position: number; readonly input: LogicalPlan }[],
): Union {
  return {
    op: 'union',
    inputs: kept.map(({ input }) => input),
    columns: plan.columns.map(({ column, from }) => ({
      column,
      from: kept.map(({ position }) => from[position]!),
    })),
  };
}

export function outputIds(plan: LogicalPlan): Set<ColumnId> {
  return new Set(outputOf(plan).map((column) => column.id));
}

/** A plan and all plans below it, those of the subqueries in its expressions among them. */
export function* plansWithin(plan: LogicalPlan): Generator<LogicalPlan> {
  const pending = [plan];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    pending.push(...inputsOf(next), ...subqueriesOf(next).map((subquery) => subquery.plan));
  }
}

/** Names of the sources that a plan reads. */
export function sourcesOf(plan: LogicalPlan): ReadonlySet<string> {
  const scans = Array.from(plansWithin(plan)).filter((node) => node.op === 'scan');
  return new Set(scans.map(({ source }) => source));
}

/** The subqueries in the expressions of one operator (not of its inputs). */
export function subqueriesOf(plan: LogicalPlan): readonly Subquery[] {
  return expressionsOf(plan).flatMap(subqueriesIn);
}

/** Puts expressions in place of columns throughout a plan that does not give these columns itself. */
export function substituteInPlan(
  plan: LogicalPlan,
  replacements: ReadonlyMap<ColumnId, Expression>,
): LogicalPlan {
  if (replacements.size === 0) return plan;
  return rewritePlan(plan, (node) =>
    mapExpressions(node, (expression) => substitute(expression, replacements)),
  );
}

/** Hands out column ids above every one a plan uses. */
export class ColumnIds {
  #next: ColumnId;

  constructor(plan: LogicalPlan) {
    let highest = -1;
    for (const node of plansWithin(plan)) {
      const captured = subqueriesOf(node).flatMap(({ captures }) => captures);
      const columns = [...columnsMadeBy(node), ...captured.map(({ column }) => column)];
      for (const column of columns) highest = Math.max(highest, column.id);
    }
    this.#next = highest + 1;
  }

  next(): ColumnId {
    const id = this.#next;
    this.#next += 1;
    return id;
  }
}

/** What an aggregate is given of each row: arguments, the keys of its order, what HAVING looks at. */
export function rowExpressionsOf(call: AggregateCall): readonly Expression[] {
  const keys = (call.orderBy ?? []).map((key) => key.expression);
  const having = call.having === undefined ? [] : [call.having.expression];
  return [...call.arguments, ...keys, ...having];
}

/** Changes every expression of a call. */
export function mapCall(
  call: AggregateCall,
  change: (expression: Expression) => Expression,
): AggregateCall {
  return {
    ...call,
    arguments: call.arguments.map(change),
    constants: call.constants.map(change),
    orderBy: call.orderBy?.map((key) => ({ ...key, expression: change(key.expression) })),
    limit: call.limit === undefined ? undefined : change(call.limit),
    having:
      call.having === undefined
        ? undefined
        : { ...call.having, expression: change(call.having.expression) },
  };
}

/** Adds the columns that the expressions of a plan, and of all below it, read. */
export function collectReads(plan: LogicalPlan, into: Set<ColumnId>): void {
  for (const expression of expressionsOf(plan)) collectColumns(expression, into);
  for (const input of inputsOf(plan)) collectReads(input, into);
}

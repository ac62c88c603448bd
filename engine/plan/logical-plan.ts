import type { Extreme } from '../aggregate/aggregate-function.ts';
import type { NeededText } from '../column/segment.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Column, ColumnId, Expression } from './expression.ts';
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

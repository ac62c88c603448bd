import type { SpillSpace } from '../aggregate/spilled-pairs.ts';
import { must, unreachable } from '../assert.ts';
import { type Chunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import type { Segment } from '../column/segment.ts';
import type { SqlValue } from '../column/value.ts';
import { numberVector, type Vector, valueAt, valueVector } from '../column/vector.ts';
import {
  type AggregateOptions,
  type AggregatePartial,
  AggregateSink,
} from '../operator/aggregate.ts';
import { JoinOperator, JoinTable } from '../operator/join.ts';
import { type Leading, LeadingGroups } from '../operator/leading-groups.ts';
import {
  ChoosingFilter,
  FilterOperator,
  LimitOperator,
  LimitPerOperator,
  ProjectOperator,
} from '../operator/row-wise.ts';
import {
  addScanCounters,
  newScanCounters,
  type RowSlice,
  type ScanCounters,
  scanSegments,
} from '../operator/scan.ts';
import { type Checkpoint, CollectSink, pushInChunks, type Sink } from '../operator/sink.ts';
import { SortSink, TopSink } from '../operator/sort.ts';
import { UnnestOperator } from '../operator/unnest.ts';
import { WindowSink } from '../operator/window.ts';
import { ConstantSubquery, correlatedFunction } from './apply.ts';
import { aggregateStateOf, frameOf, keysBehind, leadingOf, windowRunOf } from './compiled-calls.ts';
import { compileExpression, ReadFields } from './evaluate.ts';
import {
  type Apply,
  type Column,
  type ColumnId,
  columnReference,
  type Expression,
} from './expression.ts';
import { type LateTexts, NO_TEXTS, readsTexts, type ScanBounds, withTexts } from './late-texts.ts';
import { rowExpressionsOf, type SortKey, type TimeWindow } from './logical-plan.ts';
import {
  type Breaker,
  breakerOf,
  type HashJoin,
  layoutOf,
  type PhysicalPlan,
  type PhysicalScan,
  type PhysicalTop,
  type PhysicalWindow,
} from './physical-plan.ts';
import { makesTexts, rowInputsOf, rowOrderOf, rowWiseScanOf } from './physical-walk.ts';
import type { PlanProfiler } from './plan-profile.ts';
import { type Functions, PreparedPlan, type PreparedTexts } from './prepared-plan.ts';

/**
 * Rows of a chunk on its way from a scan to a grouping, where they are read as they lie: what is done once a
 * chunk comes to little beside what is done once a row, and a run that goes over from one to the next is counted twice.
 * As many as a counter of 16 bits counts, less a few, so that the next begins at a word.
 */
export const GROUPED_CHUNK_ROWS_MAX = 65_520;

/** What a plan runs over. */
export type ExecutionContext = {
  /** Segments by the index of the scan that reads them. */
  readonly segments: readonly (readonly Segment[])[];
  /** The part of the rows of each scan; absent: all of them. */
  readonly slice?: RowSlice | undefined;
  /** Of the same plan, where it is run again and again. */
  readonly prepared?: PreparedPlan | undefined;
  /** What the call says of each scan, by its index, where the plan is one that calls share. */
  readonly bounds?: readonly ScanBounds[] | undefined;
  /** The texts of the call, where the plan is one that calls share. */
  readonly texts?: LateTexts | undefined;
  readonly checkpoint: Checkpoint;
  /** Of a fragment: hears how its grouping grows. */
  readonly onGrowth?: AggregateOptions['onGrowth'];
  /** Where the states of groupings write what does not fit into memory; absent: they hold everything. */
  readonly spill?: SpillSpace | undefined;
  /** What the scans do is added here. */
  readonly counters?: ScanCounters;
  /** Hears of rows that scans are done with. */
  readonly onRows?: ((rowCount: number) => void) | undefined;
  /** Measures the run operator by operator; a run without it pays nothing for that it could. */
  readonly profiler?: PlanProfiler | undefined;
};

/** The same of a plan with one scan, for the rows in a window. */
export function withinWindow(
  context: ExecutionContext,
  scan: PhysicalScan,
  window: TimeWindow,
): ExecutionContext {
  return { ...context, bounds: [{ ...(context.bounds?.[scan.index] ?? scan), window }] };
}

/** Runs a plan and pushes its rows, columns as `layoutOf(plan)` says, into `sink`. */
export function executeQuery(plan: PhysicalPlan, context: ExecutionContext, sink: Sink): void {
  new Execution(context).drive(plan, sink);
}

/**
 * Runs a plan up to the grouping it may be cut at, over these segments only: its partial state. With `base`, that
 * of these and of the rows that `base` is the state of.
 */
export function executeFragment(
  plan: PhysicalPlan,
  context: ExecutionContext,
  base?: AggregatePartial,
): AggregatePartial {
  const breaker = must(breakerOf(plan), 'a plan in fragments has a grouping to cut at');
  const beside = base === undefined ? undefined : { breaker, partials: [base], isBeside: true };
  const execution = new Execution(context, beside);
  const partial = () => execution.group(breaker, undefined, context.onGrowth).partial();
  return context.profiler === undefined ? partial() : context.profiler.within(breaker, partial);
}

/** The partial state of all rows that these are the states of. `prepared`: of the same breaker. */
export function combineFragments(
  breaker: Breaker,
  partials: readonly AggregatePartial[],
  prepared?: PreparedPlan,
): AggregatePartial {
  const context = { segments: [], checkpoint: () => {}, prepared };
  return new Execution(context, { breaker, partials }).group(breaker).partial();
}

/** Runs the rest of a plan over the partial states of all its fragments. */
export function finishQuery(
  plan: PhysicalPlan,
  context: ExecutionContext,
  partials: readonly unknown[],
  sink: Sink,
): void {
  const breaker = must(breakerOf(plan), 'a plan in fragments has a grouping to cut at');
  new Execution(context, { breaker, partials }).drive(plan, sink);
}

/** Runs a plan over its segments, and takes in partial states that stand for more rows beside these. */
export function executeBeside(
  plan: PhysicalPlan,
  context: ExecutionContext,
  partials: readonly unknown[],
  sink: Sink,
): void {
  const breaker = must(breakerOf(plan), 'a plan in fragments has a grouping to cut at');
  new Execution(context, { breaker, partials, isBeside: true }).drive(plan, sink);
}

/** The rows of a plan without scans, as values in the order of `columns`. */
export function evaluateRelation(
  plan: PhysicalPlan,
  columns: readonly Column[],
): readonly (readonly SqlValue[])[] {
  const layout = layoutOf(plan);
  const rows = new CollectSink(layout.length);
  executeQuery(plan, { segments: [], checkpoint: () => {} }, rows);
  return rows.chunks.flatMap((chunk) => {
    const vectors = columns.map((column) => chunk.column(layout.indexOf(column.id)));
    return Array.from({ length: chunk.count }, (_, row) =>
      vectors.map((vector) => valueAt(vector, row)),
    );
  });
}

/** Partial states that stand in for what lies at and below a grouping, or for more of it. */
type Replacement = {
  readonly breaker: Breaker;
  readonly partials: readonly unknown[];
  /** Whether its rows count, too. */
  readonly isBeside?: boolean;
};

/** The rows outside that a subquery runs for; column `i` is the capture `captures[i]`. */
type OuterRows = { readonly rows: Chunk; readonly captures: readonly ColumnId[] };

/** What is kept for the whole of a run, in which a subquery may run many times. */
class RunMemory {
  /** What functions remember is theirs. */
  readonly functions: Functions;
  readonly ofTexts: PreparedTexts;
  #ofRun: RunState | undefined;

  constructor(prepared: PreparedPlan = new PreparedPlan(), texts: LateTexts = NO_TEXTS) {
    this.functions = prepared.functions;
    this.ofTexts = prepared.ofTexts(texts);
  }

  /** Made when it is asked for: a run of a plan that comes again mostly has no need of it. */
  get ofRun(): RunState {
    this.#ofRun ??= { fields: new Map(), tables: new Map(), constants: new Map() };
    return this.#ofRun;
  }
}

/** What one run alone has. */
type RunState = {
  /** By the operator that an expression stands above. */
  readonly fields: Map<PhysicalPlan, ReadFields>;
  /** Of joins in subqueries, when they do not depend on the rows outside. */
  readonly tables: Map<HashJoin, JoinTable>;
  /** Subqueries without captures, by their plans. */
  readonly constants: Map<PhysicalPlan, ConstantSubquery>;
};

/** Groupings whose rows are put in order above: they come as they were first met. */
type OrderedGroups = {
  readonly groupings: readonly Breaker[];
  readonly leading?: Leading | undefined;
};

/** Turns each operator of a plan into closures over chunks and pushes rows through them. */
class Execution {
  readonly #context: ExecutionContext;
  readonly #replacement: Replacement | undefined;
  readonly #counters: ScanCounters;
  readonly #memory: RunMemory;
  /** Of a subquery's run. */
  readonly #outer: OuterRows | undefined;
  /** Set while the rows of a newest-first scan flow to the top rows that bound it. */
  #floorUs: (() => number | undefined) | undefined;
  /** The scan whose rows go to a grouping as they come: in larger chunks, for nobody keeps them, nor makes texts of them. */
  #groupedScan: PhysicalScan | undefined;
  #orderedGroups: OrderedGroups | undefined;
  /** Of the chunk on its way up from a scan with a project: whether all its events are known to be of it. */
  #isKeyed = false;

  constructor(
    context: ExecutionContext,
    replacement?: Replacement,
    memory: RunMemory = new RunMemory(context.prepared, context.texts),
    outer?: OuterRows,
  ) {
    this.#context = context;
    this.#memory = memory;
    this.#outer = outer;
    this.#replacement = replacement;
    this.#counters = context.counters ?? newScanCounters();
  }

  /** Pushes all rows of a plan into a sink; what the sink answered last. */
  drive(plan: PhysicalPlan, sink: Sink): boolean {
    const { profiler } = this.#context;
    if (profiler === undefined) return this.#drive(plan, sink);
    return profiler.drive(plan, sink, (profiled) => this.#drive(plan, profiled));
  }

  #drive(plan: PhysicalPlan, sink: Sink): boolean {
    const { checkpoint } = this.#context;
    switch (plan.op) {
      case 'scan':
        return this.#scan(plan, sink);
      case 'one-row':
        return sink.push(new VectorChunk([], 1));
      case 'outer':
        return this.#outerRows(plan, sink);
      case 'rows':
        return pushInChunks(rowsChunk(plan), sink);
      case 'filter':
        return this.drive(plan.input, this.#filter(plan, sink));
      case 'project': {
        const functions = this.#prepared(plan, () => {
          const expressions = plan.columns.map((item) => item.expression);
          return this.#compileAll(expressions, plan.input);
        });
        return this.drive(plan.input, new ProjectOperator(functions, sink));
      }
      case 'unnest': {
        const { array, inputWidth, withOffset, outer, on } = this.#prepared(plan, () => ({
          array: this.#compile(plan.array, plan.input),
          inputWidth: layoutOf(plan.input).length,
          withOffset: plan.offset !== undefined,
          outer: plan.outer,
          on: plan.on === undefined ? undefined : this.#compile(plan.on, plan),
        }));
        const options = { array, inputWidth, withOffset, outer, on, checkpoint };
        return this.drive(plan.input, new UnnestOperator(options, sink));
      }
      case 'join':
        return this.#join(plan, sink);
      case 'union':
        return this.#union(plan, sink);
      case 'aggregate': {
        const ordered = this.#orderedGroups;
        const isOrdered = ordered?.groupings.includes(plan) === true;
        const groups = this.group(plan, isOrdered ? ordered.leading : undefined);
        return isOrdered ? groups.emitUnordered(sink) : groups.emit(sink);
      }
      case 'window': {
        const window = this.#window(plan);
        this.drive(plan.input, window);
        return window.emit(sink);
      }
      case 'sort': {
        const { keys, ordered } = this.#sortKeys(plan);
        const sort = new SortSink({ keys, width: layoutOf(plan).length });
        this.#driveOrdered(plan.input, sort, ordered);
        return sort.emit(sink);
      }
      case 'top':
        return this.#top(plan).emit(sink);
      case 'limit': {
        if (plan.per === undefined) return this.drive(plan.input, new LimitOperator(plan, sink));
        const per = layoutOf(plan.input).indexOf(plan.per);
        return this.drive(plan.input, new LimitPerOperator({ ...plan, per }, sink));
      }
      default:
        return unreachable(plan);
    }
  }

  /**
   * Runs a grouping: over its input, or over the partial states given for it. With `leading`, groups that are not among
   * the first of that order may be incomplete, or left out.
   */
  group(plan: Breaker, leading?: Leading, onGrowth?: AggregateOptions['onGrowth']): AggregateSink {
    const { keys, aggregates, groupedScan } = this.#prepared(plan, () => ({
      groupedScan: makesTexts(plan) ? undefined : rowWiseScanOf(plan.input),
      keys: plan.keys.map(({ column, expression }) => ({
        expression: this.#compile(expression, plan.input),
        type: column.type,
      })),
      aggregates: plan.aggregates.map(({ column, call }) => ({
        arguments: this.#compileAll(rowExpressionsOf(call), plan.input),
        type: column.type,
        create: () => aggregateStateOf(call),
      })),
    }));
    const { checkpoint, spill } = this.#context;
    const options = { keys, aggregates, checkpoint, spill, onGrowth };
    const replacement = this.#replacement?.breaker === plan ? this.#replacement : undefined;
    const isOfAll = leading === undefined || replacement !== undefined;
    const rows = isOfAll ? new AggregateSink(options) : new LeadingGroups(options, leading);
    if (replacement === undefined || replacement.isBeside === true) {
      this.#groupedScan = groupedScan;
      this.drive(plan.input, rows);
    }
    const groups = rows instanceof LeadingGroups ? rows.groups() : rows;
    if (replacement !== undefined) {
      groups.combineAll(replacement.partials as readonly AggregatePartial[]);
    }
    return groups;
  }

  #window(plan: PhysicalWindow): WindowSink {
    return new WindowSink({
      partitionBy: plan.partitionBy.map((expression) => ({
        expression: this.#compile(expression, plan.input),
        type: expression.type,
      })),
      orderBy: this.#orderKeys(plan.orderBy, plan.input),
      ties: this.#orderKeys(plan.ties ?? [], plan.input),
      calls: plan.calls.map(({ column, call }) => ({
        arguments: this.#compileAll(rowExpressionsOf(call.function), plan.input),
        frame: call.frame && frameOf(call.frame),
        run: windowRunOf(call, column.type),
      })),
      width: layoutOf(plan.input).length,
      checkpoint: this.#context.checkpoint,
    });
  }

  #top(plan: PhysicalTop): TopSink {
    const { keys, ordered } = this.#sortKeys(plan);
    const top = new TopSink({ keys, width: layoutOf(plan).length, count: plan.count });
    // Of a function that stands where it is assigned to a property V8 expects that it stays, and puts it where only
    // a full collection takes it away, with all that it can see.
    const floorUs = (): number | undefined => {
      const floor = top.floor();
      return typeof floor === 'number' ? floor : undefined;
    };
    const outer = this.#floorUs;
    this.#floorUs = floorUs;
    this.#driveOrdered(plan.input, top, ordered);
    this.#floorUs = outer;
    return top;
  }

  /** The keys of a sort, and what orders rows that are equal in all of them: as without ORDER BY. */
  #sortKeys(plan: Extract<PhysicalPlan, { op: 'sort' | 'top' }>) {
    return this.#prepared(plan, () => {
      const { input, keys } = plan;
      const order = rowOrderOf(input);
      const behind = order === undefined ? [] : keysBehind(keys, layoutOf(input), order);
      const leading = plan.op === 'top' ? leadingOf(plan) : undefined;
      const ordered = order && { groupings: order.groupings, leading };
      return { keys: [...this.#orderKeys(keys, input), ...behind], ordered };
    });
  }

  #driveOrdered(plan: PhysicalPlan, sink: Sink, ordered: OrderedGroups | undefined): void {
    const outer = this.#orderedGroups;
    this.#orderedGroups = ordered;
    this.drive(plan, sink);
    this.#orderedGroups = outer;
  }

  #filter(plan: Extract<PhysicalPlan, { op: 'filter' }>, sink: Sink): Sink {
    const { conjuncts, rest } = this.#prepared(plan, () => {
      const compiled = this.#compileAll(plan.conjuncts, plan.input);
      const isLeft = (index: number) => !plan.impliedByProject.includes(index);
      return { conjuncts: compiled, rest: compiled.filter((_, index) => isLeft(index)) };
    });
    const all = new FilterOperator(conjuncts, sink);
    if (plan.impliedByProject.length === 0) return all;
    // The chunk at hand is one of the scan below: between them rows go up as they come.
    return new ChoosingFilter({ all, keyed: new FilterOperator(rest, sink) }, () => this.#isKeyed);
  }

  /** Notes of each chunk, before it goes up, whether all of its events are known to be of the project. */
  #noting(sink: Sink, isKeyed: boolean): Sink {
    return {
      push: (chunk) => {
        this.#isKeyed = isKeyed;
        return sink.push(chunk);
      },
    };
  }

  #scan(scan: PhysicalScan, sink: Sink): boolean {
    const segments = must(this.#context.segments[scan.index], 'each scan has its segments');
    const { projectKey, reach, texts, window } = this.#context.bounds?.[scan.index] ?? scan;
    // Only the scan whose timestamps the top rows are ordered by may be cut short by them.
    const floorUs = scan.newestFirst ? this.#floorUs : undefined;
    const tally = this.#context.profiler?.scan(scan);
    const counters = tally === undefined ? this.#counters : newScanCounters();
    const wantsMore = scanSegments(
      segments,
      {
        fields: scan.fields,
        projectKey,
        reach,
        texts,
        startUs: window.startUs,
        endUs: window.endUs,
        direction: scan.newestFirst ? 'newest-first' : 'forward',
        slice: this.#context.slice,
        floorUs,
        rangeRowsMax: this.#groupedScan === scan ? GROUPED_CHUNK_ROWS_MAX : undefined,
        checkpoint: this.#context.checkpoint,
        counters,
        onRows: this.#context.onRows,
        onSegment: tally === undefined ? undefined : (segment) => tally.addSegment(segment),
      },
      projectKey === undefined
        ? { rows: sink }
        : { rows: this.#noting(sink, false), keyedRows: this.#noting(sink, true) },
    );
    if (tally !== undefined) {
      tally.endAt(counters, floorUs?.());
      addScanCounters(this.#counters, counters);
    }
    return wantsMore;
  }

  #join(plan: HashJoin, sink: Sink): boolean {
    const options = {
      kind: plan.kind,
      table: this.#joinTable(plan),
      leftKeys: plan.equalities.map((pair) => this.#compile(pair.left, plan.left)),
      leftWidth: layoutOf(plan.left).length,
      residual: plan.residual === undefined ? undefined : this.#compile(plan.residual, plan),
      checkpoint: this.#context.checkpoint,
    };
    const join = new JoinOperator(options, sink);
    this.drive(plan.left, join);
    return join.finish();
  }

  /** What an input's own operators answer tells of that input only: it may hold a limit. */
  #union(plan: Extract<PhysicalPlan, { op: 'union' }>, sink: Sink): boolean {
    let wantsMore = true;
    const noting: Sink = {
      push: (chunk) => {
        wantsMore = sink.push(chunk);
        return wantsMore;
      },
    };
    for (const [index, input] of plan.inputs.entries()) {
      const columns = plan.columns.map(({ column, from }) =>
        columnReference({ ...column, id: from[index]! }),
      );
      // Made for this run alone, so not to be remembered.
      const functions = columns.map((column) => this.#newFunction(column, input));
      this.drive(input, new ProjectOperator(functions, noting));
      if (!wantsMore) return false;
    }
    return true;
  }

  /** In a subquery, a table that is the same for all rows outside is made once. */
  #joinTable(plan: HashJoin): JoinTable {
    const { tables } = this.#memory.ofRun;
    const known = tables.get(plan);
    if (known !== undefined) return known;
    const rows = new CollectSink(layoutOf(plan.right).length);
    this.drive(plan.right, rows);
    const keys = plan.equalities.map((pair) => this.#compile(pair.right, plan.right));
    const table = new JoinTable(rows.materialize(), keys, this.#context.checkpoint);
    if (this.#outer !== undefined && !readsOuter(plan.right)) tables.set(plan, table);
    return table;
  }

  /** The rows that this execution, of a subquery, is for. */
  #outerRows({ columns }: Extract<PhysicalPlan, { op: 'outer' }>, sink: Sink): boolean {
    const { rows, captures } = must(this.#outer, 'a subquery runs for rows');
    this.#context.checkpoint();
    const vectors = columns.map(({ capture }) =>
      capture === undefined ? ordinals(rows.count) : rows.column(captures.indexOf(capture)),
    );
    return pushInChunks(new VectorChunk(vectors, rows.count), sink);
  }

  /** A subquery as a function of the rows it is for; the same for each place that it stands in. */
  #apply(apply: Apply, compile: (part: Expression) => VectorFunction): VectorFunction {
    const captures = apply.captures.map(({ column }) => column.id);
    const run = (rows: Chunk, sink: Sink) => {
      const execution = new Execution(this.#context, undefined, this.#memory, { rows, captures });
      execution.drive(apply.plan, sink);
    };
    if (captures.length > 0) return correlatedFunction(apply, compile, run);
    const { constants } = this.#memory.ofRun;
    const known = constants.get(apply.plan) ?? new ConstantSubquery(apply, run);
    constants.set(apply.plan, known);
    return known.compile(apply.input === undefined ? undefined : compile(apply.input));
  }

  #orderKeys(keys: readonly SortKey[], input: PhysicalPlan) {
    return keys.map(({ expression, descending, nullsFirst }) => ({
      expression: this.#compile(expression, input),
      descending,
      nullsFirst,
    }));
  }

  /** What an operator is made of: of the same plan and texts made once. Nothing of one run may be in it. */
  #prepared<T>(plan: PhysicalPlan, make: () => T): T {
    const { parts } = this.#memory.ofTexts;
    // By contract, what this operator made before.
    const known = parts.get(plan) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    parts.set(plan, made);
    return made;
  }

  #compile(expression: Expression, input: PhysicalPlan): VectorFunction {
    const isOpen = readsTexts(expression);
    const all = isOpen ? this.#memory.ofTexts.functions : this.#memory.functions;
    const known = all.get(input)?.get(expression);
    if (known !== undefined) return known;
    const closed = isOpen ? withTexts(expression, this.#context.texts ?? NO_TEXTS) : expression;
    const compiled = this.#newFunction(closed, input);
    const functions = all.get(input) ?? new Map();
    all.set(input, functions.set(expression, compiled));
    return compiled;
  }

  #newFunction(expression: Expression, input: PhysicalPlan): VectorFunction {
    const layout = layoutOf(input);
    const all = this.#memory.ofRun.fields;
    const fields = all.get(input) ?? new ReadFields();
    all.set(input, fields);
    return compileExpression(
      expression,
      (id) => layout.indexOf(id),
      (apply, compile) => this.#apply(apply, compile),
      fields,
    );
  }

  #compileAll(expressions: readonly Expression[], input: PhysicalPlan): readonly VectorFunction[] {
    return expressions.map((expression) => this.#compile(expression, input));
  }
}

/** Whether a plan's rows are not the same for all rows outside. */
function readsOuter(plan: PhysicalPlan): boolean {
  return plan.op === 'outer' || rowInputsOf(plan).some(readsOuter);
}

function ordinals(count: number): Vector {
  return numberVector(
    Float64Array.from({ length: count }, (_, row) => row),
    count,
  );
}

function rowsChunk(plan: Extract<PhysicalPlan, { op: 'rows' }>): VectorChunk {
  const vectors = plan.columns.map((_, index) =>
    valueVector(plan.rows.map((row) => row[index] as SqlValue)),
  );
  return new VectorChunk(vectors, plan.rows.length);
}

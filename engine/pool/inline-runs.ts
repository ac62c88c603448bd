import { beginCacheGeneration, findOnce } from '../column/caches.ts';
import { JsonBuffer } from '../column/json-buffer.ts';
import type { DroppedSegments, Segment } from '../column/segment.ts';
import { NotInMemoryError, withoutLoading } from '../column/segment-image.ts';
import { endReading, forgetDropped, readSegment } from '../column/segment-reader.ts';
import { pausingEvery } from '../function/work-meter.ts';
import { INLINE_PARTIALS_BYTES_MAX } from '../limits.ts';
import { ordersOf } from '../memo/coverage.ts';
import { partialSize, runPieces } from '../memo/run-pieces.ts';
import {
  countScannedRows,
  newScanCounters,
  type ScanCounters,
  type ScanScope,
} from '../operator/scan.ts';
import {
  type ExecutionContext,
  executeBeside,
  executeQuery,
  finishQuery,
  withinWindow,
} from '../plan/execute.ts';
import { ALL_TIME } from '../plan/logical-plan.ts';
import type { PhysicalPlan, PhysicalScan } from '../plan/physical-plan.ts';
import { appliesOf, operatorsOf } from '../plan/physical-walk.ts';
import { PreparedPlan, PreparedPlans } from '../plan/prepared-plan.ts';
import { RowWriter } from '../plan/row-writer.ts';
import {
  isOfAllRows,
  type RunCoverage,
  takePieces,
  triesExpression,
  withRemembered,
} from './fragment-shares.ts';
import type { QueryRun } from './query-pool.ts';
import { callIdentity, RunCosts } from './run-costs.ts';
import { type RunAnswer, type TaskStats, taskStatsOf } from './task.ts';

/**
 * Rows that the scans of a query may look at for it to be run on the main thread: these many take some
 * tenths of a millisecond, and more gain nothing, for the hop to a worker takes 0.05 to 0.1.
 */
const INLINE_ROWS_MAX = 4096;

/**
 * Milliseconds that runs of a shared plan took before, up to which more rows are looked at here: a worker takes the main
 * thread some tenths of a millisecond, too.
 */
const INLINE_EXPECTED_MS_MAX = 1.5;

/** Rows of such a run. */
const INLINE_KNOWN_ROWS_MAX = 131_072;

/** Rows of such a run where this thread has little else to do: two workers take longer for 370,000 rows. */
const INLINE_QUIET_ROWS_MAX = 524_288;

/**
 * Rows inside the window of such a query that may be looked up in the index of texts, so that it is known how many are to
 * be looked at: of ten million rows in 14 segments that takes some 0.35 ms, and the run looks them up no second time.
 * The clock is looked at before each segment. More are left to workers unseen.
 */
const INLINE_INDEXED_ROWS_MAX = 16_777_216;

/**
 * Milliseconds that such a run may take; then a worker begins anew. Whatever else the main thread has
 * to do waits as long, and a chunk more.
 */
const INLINE_MS_MAX = 1;

/**
 * The same of a plan whose runs take less than `INLINE_EXPECTED_MS_MAX`, all of their threads together, or of one that
 * is tried again after it took too long: what it takes longer are code that is not compiled yet and waiting for a
 * processor, and neither would be less if it began anew. Else the first runs would be given up, and with them what
 * the compiler learns of this thread.
 */
const INLINE_LONG_MS_MAX = 4;

/** Milliseconds of a run that takes in states of the memo: to hand it over would cost all of it again. */
const INLINE_COVERED_MS_MAX = 8;

/**
 * Rows that such a run may look at, if it is not known what they take on the main thread: they are what is left of many,
 * and the code for many is seldom compiled for it. 3,600 of them took it more than 8 ms at first, and a worker 2.
 */
const INLINE_COVERED_ROWS_MAX = 2048;

/** Of such runs of a plan with more rows, one in so many is tried all the same, if it took workers little. */
const INLINE_LEARNING_RUNS = 16;

/**
 * Rows that a run may look at here if it tries regular expressions on them: of more it may try them on all that the
 * strings of a segment are made of, and where the code for it is not compiled that took this thread 30 ms.
 */
const INLINE_EXPRESSION_ROWS_MAX = 1024;

/** Such runs of a plan that go to a worker after some were too large: the states may be others soon. */
const INLINE_COVERED_RUNS_APART_MAX = 8;

/** Milliseconds that all runs of one turn of the event loop may take together: posts are taken in between. */
const INLINE_TURN_MS_MAX = 4;

/** Steps (`work-meter.ts`) of functions between two looks at the clock: some tenths of a millisecond. */
const INLINE_STEPS = 50_000;

/**
 * Runs of a plan that go to a worker after many were too large: the time lost on the next stays below a few
 * percent.
 */
export const INLINE_RUNS_APART_MAX = 64;

/** Buffers of answers of the main thread that are kept: as many as there may be callers who read slowly. */
const INLINE_BUFFERS_MAX = 16;

/** Bounds of runs on the calling thread; those of `limits.ts` where left out. */
export type InlineLimits = {
  /** Rows that the scans of one run may look at; with 0 none is run here. */
  readonly rowsMax: number;
  /** Rows of a run that tries regular expressions on them. */
  readonly expressionRowsMax: number;
  /** Rows of a run that is known to take little time. */
  readonly knownRowsMax: number;
  /** Rows of such a run while this thread has little else to do. */
  readonly quietRowsMax: number;
  /** Milliseconds that one run may take. */
  readonly runMsMax: number;
  /** Milliseconds that those of one turn of the event loop may take together. */
  readonly turnMsMax: number;
};

const LIMITS: InlineLimits = {
  rowsMax: INLINE_ROWS_MAX,
  expressionRowsMax: INLINE_EXPRESSION_ROWS_MAX,
  knownRowsMax: INLINE_KNOWN_ROWS_MAX,
  quietRowsMax: INLINE_QUIET_ROWS_MAX,
  runMsMax: INLINE_MS_MAX,
  turnMsMax: INLINE_TURN_MS_MAX,
};

/** Thrown through a run that turned out larger than it looked; not an error of the query. */
class RunTooLarge extends Error {}

type RunLimits = Pick<InlineLimits, 'rowsMax' | 'runMsMax'>;

type RunContext = ExecutionContext & { readonly counters: ScanCounters };

type RunStart = {
  readonly prepared: PreparedPlan;
  readonly startMs: number;
  readonly record: PlanRecord;
  /** How many times as long as any it may take. */
  readonly patience: number;
};

/** What is known of a plan that was to be run here. */
type PlanRecord = {
  /** Whether all of it takes time in proportion to the rows of its scans and of its answer. */
  readonly isLinear: boolean;
  /** Rows that its scans may look at, whatever is known of them. */
  readonly rowsMax: number;
  /** Runs that were to take in remembered states. */
  coveredCount: number;
  /** Its next runs that are left to a worker unseen, as one was too large; of those covered by a memo apart. */
  readonly apart: Readonly<Record<'plain' | 'covered' | 'finish', RunsApart>>;
};

/**
 * Runs queries over few rows on the thread that asks: a hop to a worker and back takes longer than
 * they do. What may take longer is left to a worker: rows are counted before a run; rows, time and the
 * work of functions while it goes on; and nothing is read from a file.
 */
export class InlineRuns {
  readonly #limits: InlineLimits;
  readonly #costs: RunCosts;
  /** By the identity of the call. */
  readonly #records = new WeakMap<object, PlanRecord>();
  readonly #prepared = new PreparedPlans();
  /** Where answers are written; those on loan are not among them. */
  readonly #buffers: JsonBuffer[] = [];
  /** Spent in this turn of the event loop. */
  #turnMs = 0;
  readonly #otherWork = new OtherWork();

  constructor(limits: Partial<InlineLimits> = {}, costs: RunCosts = new RunCosts()) {
    this.#limits = { ...LIMITS, ...limits };
    this.#costs = costs;
  }

  /**
   * The answer of a run, in which `scans` are the plan's as the call has them; `undefined` where
   * it is one for a worker, and nothing has come of it. Throws a QueryError for whatever the text or
   * its values do wrong.
   */
  run(query: QueryRun, scans: readonly PhysicalScan[]): RunAnswer | undefined {
    const isPlain = query.covered === undefined || query.covered.coverage.small !== undefined;
    const answer = this.#try(query, isPlain ? 'plain' : 'covered', (begun) =>
      this.#answer(query, scans, begun),
    );
    if (answer === undefined) return undefined;
    const { runMs: busyMs, rowsScanned: rowCount } = answer.stats;
    this.#costs.note(query, { busyMs, rowCount, isHere: true }, isOfAllRows(query.covered));
    const { covered } = query;
    if (covered === undefined) return answer;
    return { ...answer, stats: withRemembered(answer.stats, covered.coverage) };
  }

  /**
   * What is left of a run when workers have made its partial states: combines them and does the rest. `undefined`: a
   * worker is to do it; they are as they were.
   */
  finish(query: QueryRun, partials: readonly unknown[]): RunAnswer | undefined {
    return this.#try(query, 'finish', (begun) => {
      const byteSize = partialSize(partials, INLINE_PARTIALS_BYTES_MAX);
      if (byteSize > INLINE_PARTIALS_BYTES_MAX) return undefined;
      const limits = this.#limitsOf(query, begun);
      return this.#written(query, { begun, limits, segments: [[]] }, (context, rows) => {
        finishQuery(query.plan, context, partials, rows);
      });
    });
  }

  /** What `answer` gives, where the plan may be run here; `undefined` too where it turned out too large. */
  #try(
    query: QueryRun,
    how: keyof PlanRecord['apart'],
    answer: (begun: RunStart) => RunAnswer | undefined,
  ): RunAnswer | undefined {
    const { rowsMax, turnMsMax } = this.#limits;
    if (rowsMax === 0 || query.isProfiled === true || this.#turnMs >= turnMsMax) return undefined;
    const record = this.#recordOf(query);
    const apart = record.apart[how];
    if (!record.isLinear || apart.isNext()) return undefined;
    const startMs = performance.now();
    forgetDropped(query.dropped);
    if (query.isAnew === true) beginCacheGeneration();
    const prepared = this.#prepared.of(query.plan, query.dropped) ?? new PreparedPlan();
    const begun = { prepared, startMs, record, patience: apart.patience };
    try {
      const found = withoutLoading(() => {
        try {
          return answer(begun);
        } finally {
          // Within: collecting garbage would hold up this thread, too.
          endReading();
        }
      });
      if (found !== undefined) apart.succeeded();
      return found;
    } catch (error) {
      if (!(error instanceof NotInMemoryError) && !(error instanceof RunTooLarge)) throw error;
      apart.failed();
      return undefined;
    } finally {
      this.#spend(performance.now() - startMs);
    }
  }

  /** Frees what is kept of segments that were removed. */
  forgetDropped(dropped: DroppedSegments): void {
    forgetDropped(dropped);
    this.#prepared.forgetDropped(dropped);
  }

  #recordOf(query: QueryRun): PlanRecord {
    const identity = callIdentity(query);
    let record = this.#records.get(identity);
    if (record === undefined) {
      record = {
        isLinear: isLinear(query.plan),
        rowsMax: triesExpression(query) ? this.#limits.expressionRowsMax : Number.POSITIVE_INFINITY,
        coveredCount: 0,
        apart: {
          plain: new RunsApart(INLINE_RUNS_APART_MAX),
          covered: new RunsApart(INLINE_COVERED_RUNS_APART_MAX),
          finish: new RunsApart(INLINE_RUNS_APART_MAX),
        },
      };
      this.#records.set(identity, record);
    }
    return record;
  }

  #answer(query: QueryRun, scans: readonly PhysicalScan[], begun: RunStart): RunAnswer | undefined {
    const { plan, covered } = query;
    if (covered !== undefined) return this.#answerCovered(query, covered, begun);
    const segments = query.segments.map((handles) => handles.map(readSegment));
    const limits = this.#limitsOf(query, begun);
    const checkTime = () => checkTimeOf(begun.startMs, limits);
    if (!this.#areFewRows(limits.rowsMax, { scans, segments, checkTime })) return undefined;
    return this.#written(query, { begun, limits, segments }, (context, rows) => {
      executeQuery(plan, context, rows);
    });
  }

  /** Of a run that takes in what is remembered, and looks at few rows beside it. */
  #answerCovered(query: QueryRun, covered: RunCoverage, begun: RunStart): RunAnswer | undefined {
    const { coverage } = covered;
    if (coverage.byteSize > INLINE_PARTIALS_BYTES_MAX) return undefined;
    const { pieces, fragment } = coverage;
    const segments = pieces.map(({ handle }) => readSegment(handle));
    const { projectKey, texts: neededTexts } = fragment.scan;
    const isSmall = coverage.small !== undefined;
    const limits = isSmall ? this.#limitsOf(query, begun) : this.#coveredLimits(query, begun);
    const { rowsMax } = limits;
    const isFew = isWithin(
      rowsMax,
      segments.map((segment, index) => ({
        segment,
        scope: { projectKey, texts: neededTexts, ...pieces[index]!.window },
      })),
      () => checkTimeOf(begun.startMs, limits),
    );
    if (!isFew) return undefined;
    return this.#written(query, { begun, limits, segments: [segments] }, (context, rows) => {
      const isKept = pieces.some((piece) => piece.content !== undefined);
      if (isSmall && coverage.partials.length > 0 && !isKept) {
        const { window } = pieces[0] ?? { window: ALL_TIME };
        const within = withinWindow(context, fragment.scan, window);
        executeBeside(query.plan, within, coverage.partials, rows);
        return;
      }
      const result = runPieces(query.plan, context, ordersOf(pieces, coverage));
      const partials = takePieces(pieces, result, covered);
      finishQuery(query.plan, context, [...coverage.partials, ...partials], rows);
    });
  }

  /** What `push` writes of a run over these segments, within the limits. */
  #written(
    query: QueryRun,
    {
      begun: { prepared, startMs },
      limits,
      segments,
    }: {
      readonly begun: RunStart;
      readonly limits: RunLimits;
      readonly segments: readonly (readonly Segment[])[];
    },
    push: (context: RunContext, rows: RowWriter) => void,
  ): RunAnswer {
    const counters = newScanCounters();
    const checkpoint = () => this.#checkpoint(counters, startMs, limits);
    const { bounds, texts } = query.template ?? {};
    const context = { prepared, segments, bounds, texts, checkpoint, counters };
    const buffer = this.#buffers.pop() ?? new JsonBuffer();
    // A query that failed may have left the beginning of its answer.
    buffer.clear();
    const { output, plan, rowsMax } = query;
    const rows = new RowWriter(output, plan, buffer, { rowsMax, checkpoint });
    try {
      pausingEvery(INLINE_STEPS, checkpoint, () => push(context, rows));
    } catch (error) {
      this.#keep(buffer);
      throw error;
    }
    return this.#lend(buffer, rows, taskStatsOf(counters, performance.now() - startMs));
  }

  /** Scans from the newest on mostly end early; what they look at is bounded while they run. */
  #areFewRows(
    rowsMax: number,
    {
      scans,
      segments,
      checkTime,
    }: {
      readonly scans: readonly PhysicalScan[];
      readonly segments: readonly (readonly Segment[])[];
      readonly checkTime: () => void;
    },
  ): boolean {
    const parts: ScannedPart[] = [];
    for (const { index, projectKey, texts, window, newestFirst } of scans) {
      if (newestFirst) continue;
      const { startUs, endUs } = window;
      const scope = { projectKey, texts, startUs, endUs };
      for (const segment of segments[index]!) parts.push({ segment, scope });
    }
    return isWithin(rowsMax, parts, checkTime);
  }

  /** More rows where they are known to take little time, and more time where it is known to be little. */
  #limitsOf(query: QueryRun, { patience, record }: RunStart): RunLimits {
    const { rowsMax, runMsMax } = this.#limits;
    const knownRows = this.#costs.rowsWithin(query, INLINE_EXPECTED_MS_MAX);
    const wholeMs = this.#costs.wholeMsOfFew(query) ?? Number.POSITIVE_INFINITY;
    const longMs = Math.max(runMsMax, INLINE_LONG_MS_MAX);
    return {
      rowsMax: Math.min(Math.max(rowsMax, this.#boundedRows(knownRows)), record.rowsMax),
      runMsMax: wholeMs <= INLINE_EXPECTED_MS_MAX ? longMs : Math.min(patience * runMsMax, longMs),
    };
  }

  /** What rows take on other threads counts now and then only, so that the compiler learns of them here. */
  #coveredLimits(query: QueryRun, { record }: RunStart): RunLimits {
    const ms = INLINE_EXPECTED_MS_MAX;
    const isLearning = ++record.coveredCount % INLINE_LEARNING_RUNS === 0;
    const knownRows = isLearning
      ? this.#costs.rowsWithin(query, ms)
      : this.#costs.rowsWithinHere(query, ms);
    const rowsMax = Math.max(INLINE_COVERED_ROWS_MAX, this.#boundedRows(knownRows));
    return { rowsMax: Math.min(rowsMax, record.rowsMax), runMsMax: INLINE_COVERED_MS_MAX };
  }

  #boundedRows(knownRows: number): number {
    const { knownRowsMax, quietRowsMax } = this.#limits;
    return Math.min(knownRows, this.#otherWork.isLittle ? quietRowsMax : knownRowsMax);
  }

  #checkpoint({ rowsScanned }: ScanCounters, startMs: number, limits: RunLimits): void {
    if (rowsScanned > limits.rowsMax) throw new RunTooLarge('the run looks at too many rows');
    checkTimeOf(startMs, limits);
  }

  #lend(buffer: JsonBuffer, rows: RowWriter, stats: TaskStats): RunAnswer {
    const { json, rowCount, isTruncated } = rows.finish();
    let isLent = true;
    return {
      json,
      rowCount,
      isTruncated,
      stats,
      release: () => {
        if (!isLent) return;
        isLent = false;
        this.#keep(buffer);
      },
    };
  }

  #keep(buffer: JsonBuffer): void {
    if (this.#buffers.length < INLINE_BUFFERS_MAX) this.#buffers.push(buffer);
  }

  #spend(ms: number): void {
    if (this.#turnMs === 0) {
      const startMs = performance.now() - ms;
      setImmediate(() => {
        this.#otherWork.note(performance.now() - startMs - this.#turnMs);
        this.#turnMs = 0;
      });
    }
    this.#turnMs += ms;
  }
}

/**
 * Which runs of a plan go to a worker unseen: more each time that one turns out too large for this thread, for
 * that may be for want of a processor only.
 */
class RunsApart {
  readonly #countMax: number;
  #left = 0;
  #next = 1;
  #patience = 1;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Whether the next run is one of them. */
  isNext(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** How many times as long as the first the next run may take: twice as long for each that was too large. */
  get patience(): number {
    return this.#patience;
  }

  succeeded(): void {
    this.#next = 1;
  }

  failed(): void {
    this.#left = this.#next;
    this.#patience = Math.min(2 * this.#patience, this.#countMax);
    this.#next = Math.min(2 * this.#next, this.#countMax);
  }
}

type ScannedPart = { readonly segment: Segment; readonly scope: ScanScope };

/**
 * Whether scans look at so many rows at most. `checkTime` throws where it takes so long to count them that a worker
 * should have the run: looking up a text may.
 */
function isWithin(rowsMax: number, parts: readonly ScannedPart[], checkTime: () => void): boolean {
  let count = 0;
  let indexedMax = INLINE_INDEXED_ROWS_MAX;
  for (const { segment, scope } of parts) {
    checkTime();
    count += countScannedRows(segment, scope, { max: rowsMax - count, indexedMax });
    indexedMax -= segment.rowCount;
    if (count > rowsMax) return false;
  }
  return true;
}

function checkTimeOf(startMs: number, { runMsMax }: RunLimits): void {
  if (performance.now() - startMs > runMsMax) throw new RunTooLarge('the run takes too long here');
}

/**
 * Subqueries, joins and windows may take time by the product of their rows, and what reads no source has
 * rows that nobody has counted.
 */
const isLinear = findOnce((plan: PhysicalPlan): boolean => {
  const operators = operatorsOf(plan);
  const isProduct = ({ op }: PhysicalPlan) => op === 'join' || op === 'window';
  if (operators.some((operator) => isProduct(operator) || appliesOf(operator).length > 0)) {
    return false;
  }
  return operators.every(({ op }) => op !== 'one-row' && op !== 'rows');
});

/**
 * Milliseconds of other work in a turn of the event loop, on the mean of the last turns with runs, below which a thread has
 * little: an answer or two. While events come in these are slices of some milliseconds.
 */
const INLINE_QUIET_MS_MAX = 0.5;

/** What one turn more counts in the mean. */
const WEIGHT = 1 / 8;

/**
 * How long whatever else a thread does takes in the turns of its event loop in which it runs queries: what would wait for
 * a run that takes longer. Not known before the first turn has ended.
 */
class OtherWork {
  #meanMs: number | undefined;

  /** Whether little would wait. */
  get isLittle(): boolean {
    return this.#meanMs !== undefined && this.#meanMs < INLINE_QUIET_MS_MAX;
  }

  /** To be told of each turn how long it took from its first run on, without its runs. */
  note(ms: number): void {
    this.#meanMs ??= ms;
    this.#meanMs += WEIGHT * (ms - this.#meanMs);
  }
}

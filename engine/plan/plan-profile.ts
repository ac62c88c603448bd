import { must } from '../assert.ts';
import type { Chunk } from '../column/chunk.ts';
import type { Segment } from '../column/segment.ts';
import type { Vector } from '../column/vector.ts';
import { addScanCounters, newScanCounters, type ScanCounters } from '../operator/scan.ts';
import type { Sink } from '../operator/sink.ts';
import type { PhysicalPlan, PhysicalScan } from './physical-plan.ts';
import { operatorsOf } from './physical-walk.ts';

/** What a run of a plan did, operator by operator; a plain value. */
export type PlanProfile = {
  /** As `operatorsOf` lists them. */
  readonly operators: readonly OperatorProfile[];
  /** By the index of the scan. */
  readonly scans: readonly ScanProfile[];
  /** Milliseconds of writing the rows as JSON. */
  readonly answerMs: number;
  /** Milliseconds of what is no operator's: opening segments, the digest of the answer. */
  readonly otherMs: number;
  /** Parts that ran side by side; 1 when the plan was not cut. */
  readonly fragmentCount: number;
};

export type ScanProfile = ScanCounters & {
  /** Segments that were read: those rows are still taken in to, and the others. */
  readonly openCount: number;
  readonly sealedCount: number;
  /** Segments of which all that was wanted was remembered. */
  readonly rememberedCount: number;
  /** Rows of all segments that were read, wanted or not. */
  readonly segmentRowCount: number;
  /** Microseconds: from where on rows were wanted in the end, as the top rows told the scan. */
  readonly floorUs?: number | undefined;
};

/** Measures one run of a plan, or of a part of it. Made for a run, and only where it is asked for. */
export class PlanProfiler {
  readonly #profiler: Profiler;
  readonly #numbers: ReadonlyMap<PhysicalPlan, number>;
  readonly #answer: number;
  readonly #scans: ScanTally[];

  constructor(plan: PhysicalPlan, nowMs: () => number) {
    const operators = operatorsOf(plan);
    this.#numbers = new Map(operators.map((operator, number) => [operator, number]));
    this.#answer = operators.length;
    this.#profiler = new Profiler({
      operatorCount: operators.length + 2,
      base: operators.length + 1,
      nowMs,
    });
    this.#scans = operators.filter(({ op }) => op === 'scan').map(() => new ScanTally());
  }

  /**
   * Runs an operator and what lies below it: `run` is given the sink to push into. Whoever is at
   * work is taken for the operator above.
   */
  drive(plan: PhysicalPlan, sink: Sink, run: (sink: Sink) => boolean): boolean {
    const from = this.#numberOf(plan);
    const isTop = this.#profiler.current > this.#answer;
    const to = isTop ? this.#answer : this.#profiler.current;
    const profiled = new ProfiledSink(this.#profiler, { from, to }, sink);
    return this.#profiler.within(from, () => run(profiled));
  }

  /** Work of one operator that is not driven: the grouping that a fragment ends at. */
  within<T>(plan: PhysicalPlan, work: () => T): T {
    return this.#profiler.within(this.#numberOf(plan), work);
  }

  /** What one scan is to count into. */
  scan(scan: PhysicalScan): ScanTally {
    return must(this.#scans[scan.index], 'each scan has its tally');
  }

  profile(): PlanProfile {
    const all = this.#profiler.profiles();
    return {
      operators: all.slice(0, this.#answer),
      scans: this.#scans.map((scan) => scan.profile()),
      answerMs: must(all[this.#answer]).selfMs,
      otherMs: must(all[this.#answer + 1]).selfMs,
      fragmentCount: 1,
    };
  }

  #numberOf(plan: PhysicalPlan): number {
    return must(this.#numbers.get(plan), 'an operator that runs is one of the plan');
  }
}

/** What one scan does, as it does it. */
export class ScanTally {
  readonly #counters = newScanCounters();
  #openCount = 0;
  #sealedCount = 0;
  #segmentRowCount = 0;
  #floorUs: number | undefined;

  /** Counts a segment that is read. */
  addSegment(segment: Segment): void {
    if (segment.kind === 'sealed') this.#sealedCount += 1;
    else this.#openCount += 1;
    this.#segmentRowCount += segment.rowCount;
  }

  /** The scan has come to its end, or is run once more. */
  endAt(counters: ScanCounters, floorUs: number | undefined): void {
    addScanCounters(this.#counters, counters);
    this.#floorUs = floorUs;
  }

  profile(): ScanProfile {
    return {
      ...this.#counters,
      openCount: this.#openCount,
      sealedCount: this.#sealedCount,
      rememberedCount: 0,
      segmentRowCount: this.#segmentRowCount,
      floorUs: this.#floorUs,
    };
  }
}

/** Of a plan that ran in fragments, and was finished by one more task. */
export function combineProfiles(
  fragments: readonly PlanProfile[],
  finish: PlanProfile,
): PlanProfile {
  const all = [...fragments, finish];
  return {
    operators: finish.operators.map((_, number) => {
      const each = all.map(({ operators }) => must(operators[number]));
      return {
        rowCount: sumOf(each, ({ rowCount }) => rowCount),
        chunkCount: sumOf(each, ({ chunkCount }) => chunkCount),
        selfMs: sumOf(each, ({ selfMs }) => selfMs),
      };
    }),
    scans: finish.scans.map((_, index) => sumOfScans(all.map(({ scans }) => must(scans[index])))),
    answerMs: sumOf(all, ({ answerMs }) => answerMs),
    otherMs: sumOf(all, ({ otherMs }) => otherMs),
    fragmentCount: fragments.length,
  };
}

/** No floor: top rows above a grouping do not reach its scan. */
function sumOfScans(scans: readonly ScanProfile[]): ScanProfile {
  const counters = newScanCounters();
  for (const scan of scans) addScanCounters(counters, scan);
  return {
    ...counters,
    openCount: sumOf(scans, ({ openCount }) => openCount),
    sealedCount: sumOf(scans, ({ sealedCount }) => sealedCount),
    rememberedCount: sumOf(scans, ({ rememberedCount }) => rememberedCount),
    segmentRowCount: sumOf(scans, ({ segmentRowCount }) => segmentRowCount),
    floorUs: undefined,
  };
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** What one operator did. */
export type OperatorProfile = {
  /** Rows and chunks it gave to the operator above. */
  readonly rowCount: number;
  readonly chunkCount: number;
  /** Milliseconds of its own: without the operators above it and below it. */
  readonly selfMs: number;
};

type Tally = { rowCount: number; chunkCount: number; selfMs: number };

/**
 * Divides a run's time among its operators, which are known by number. Rows are pushed up and lazy
 * columns are read down, so operators call each other in both directions; the profiler keeps which
 * one is at work, and every moment belongs to exactly that one.
 *
 * Invariant: `#working` is the stack of operators that were entered and not left; the time from
 * `#sinceMs` on belongs to its last.
 */
export class Profiler {
  readonly #nowMs: () => number;
  readonly #tallies: readonly Tally[];
  readonly #working: number[];
  #sinceMs: number;

  /** `base` is the operator that whatever happens outside of all others belongs to. */
  constructor(options: {
    readonly operatorCount: number;
    readonly base: number;
    readonly nowMs: () => number;
  }) {
    this.#nowMs = options.nowMs;
    this.#tallies = Array.from({ length: options.operatorCount }, () => ({
      rowCount: 0,
      chunkCount: 0,
      selfMs: 0,
    }));
    this.#working = [options.base];
    this.#sinceMs = options.nowMs();
  }

  /** The operator at work. */
  get current(): number {
    return this.#working.at(-1)!;
  }

  /** Does some work that is the operator's. */
  within<T>(operator: number, work: () => T): T {
    this.#settle();
    this.#working.push(operator);
    try {
      return work();
    } finally {
      this.#settle();
      this.#working.pop();
    }
  }

  countChunk(operator: number, rowCount: number): void {
    const tally = this.#tallies[operator]!;
    tally.rowCount += rowCount;
    tally.chunkCount += 1;
  }

  /** What each operator did up to now, by its number. */
  profiles(): readonly OperatorProfile[] {
    this.#settle();
    return this.#tallies.map((tally) => ({ ...tally }));
  }

  #settle(): void {
    const nowMs = this.#nowMs();
    this.#tallies[this.current]!.selfMs += nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
  }
}

/**
 * Stands between two operators: what is pushed was given by `from`, and taking it in is the work of
 * `to`. Reading a column of it that is not there yet is the work of `from` again.
 */
export class ProfiledSink implements Sink {
  readonly #profiler: Profiler;
  readonly #from: number;
  readonly #to: number;
  readonly #sink: Sink;

  constructor(
    profiler: Profiler,
    ends: { readonly from: number; readonly to: number },
    sink: Sink,
  ) {
    this.#profiler = profiler;
    this.#from = ends.from;
    this.#to = ends.to;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    this.#profiler.countChunk(this.#from, chunk.count);
    const profiled = new ProfiledChunk(this.#profiler, this.#from, chunk);
    return this.#profiler.within(this.#to, () => this.#sink.push(profiled));
  }
}

class ProfiledChunk implements Chunk {
  readonly count: number;
  readonly #profiler: Profiler;
  readonly #operator: number;
  readonly #chunk: Chunk;
  readonly #read: (Vector | undefined)[] = [];

  constructor(profiler: Profiler, operator: number, chunk: Chunk) {
    this.#profiler = profiler;
    this.#operator = operator;
    this.#chunk = chunk;
    this.count = chunk.count;
  }

  column(index: number): Vector {
    this.#read[index] ??= this.#profiler.within(this.#operator, () => this.#chunk.column(index));
    return this.#read[index];
  }

  select(positions: Int32Array, count: number): Chunk {
    return new ProfiledChunk(this.#profiler, this.#operator, this.#chunk.select(positions, count));
  }
}

import { must } from '../assert.ts';
import type { Segment } from '../column/segment.ts';
import { type OperatorProfile, ProfiledSink, Profiler } from '../operator/profile.ts';
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
      answerMs: all[this.#answer]!.selfMs,
      otherMs: all[this.#answer + 1]!.selfMs,
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
  const sum = (of: (profile: PlanProfile) => number) =>
    all.reduce((total, profile) => total + of(profile), 0);
  return {
    operators: finish.operators.map((_, number) => ({
      rowCount: sum(({ operators }) => operators[number]!.rowCount),
      chunkCount: sum(({ operators }) => operators[number]!.chunkCount),
      selfMs: sum(({ operators }) => operators[number]!.selfMs),
    })),
    scans: finish.scans.map((_, index) => sumOfScans(all.map(({ scans }) => scans[index]!))),
    answerMs: sum(({ answerMs }) => answerMs),
    otherMs: sum(({ otherMs }) => otherMs),
    fragmentCount: fragments.length,
  };
}

/** No floor: top rows above a grouping do not reach its scan. */
function sumOfScans(scans: readonly ScanProfile[]): ScanProfile {
  const counters = newScanCounters();
  for (const scan of scans) addScanCounters(counters, scan);
  const sum = (of: (scan: ScanProfile) => number) =>
    scans.reduce((total, scan) => total + of(scan), 0);
  return {
    ...counters,
    openCount: sum(({ openCount }) => openCount),
    sealedCount: sum(({ sealedCount }) => sealedCount),
    rememberedCount: sum(({ rememberedCount }) => rememberedCount),
    segmentRowCount: sum(({ segmentRowCount }) => segmentRowCount),
    floorUs: undefined,
  };
}

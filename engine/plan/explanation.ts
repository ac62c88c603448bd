import { must } from '../assert.ts';
import type { ScanScope } from '../column/segment.ts';
import type { SqlValue } from '../column/value.ts';
import { formatDatetime } from '../function/time/timestamp-text.ts';
import { literalText } from './expression-text.ts';
import type { BoundQuery } from './logical-plan.ts';
import { type CallContext, optimize } from './optimize/optimize.ts';
import { type PhysicalScan, physicalPlanOf, scansOf } from './physical-plan.ts';
import type { OperatorProfile, PlanProfile, ScanProfile } from './plan-profile.ts';
import { logicalTree, type PlanTree, physicalTree, readableText, treeLines } from './plan-text.ts';
import { EVERYTHING } from './reach.ts';

/** How a query is answered, and what its run did; a plain value. */
export type QueryExplanation = {
  readonly query: {
    readonly text: string;
    /** Values as SQL writes them, in the order the text names them. */
    readonly parameters: readonly { readonly name: string; readonly value: string }[];
    /** Microseconds since the epoch. */
    readonly nowUs: number;
    readonly rowsMax: number;
  };
  /** As the text says it. */
  readonly logical: PlanTree;
  /** With parameters and clock put in, and every rewrite applied. */
  readonly optimized: PlanTree;
  /** As it is run. */
  readonly physical: PlanTree;
  /** Present if a database runs the query: its SQL, and the texts that are bound to it by their names. */
  readonly statement?: BoundStatement | undefined;
  /** Absent when it was not run, or a database ran it. */
  readonly run?: RunExplanation | undefined;
};

type BoundStatement = {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
};

type RunExplanation = {
  readonly rowCount: number;
  /** Milliseconds on the main thread, between the threads, and on the workers. */
  readonly planMs: number;
  readonly queueMs: number;
  readonly runMs: number;
  /** The operators of the physical plan from the top down, the left side of a join first. */
  readonly operators: readonly OperatorProfile[];
  /** In the order they stand in the physical plan. */
  readonly scans: readonly ScanExplanation[];
  readonly answerMs: number;
  readonly otherMs: number;
  readonly fragmentCount: number;
};

/** Counts of whole segments include rows of others: they are absent where the run may not read these. */
type ScanExplanation = OwnCounts & Partial<SegmentCounts> & { readonly source: string };

type OwnCounts = Pick<ScanProfile, 'rowsScanned' | 'rowsFromMemo' | 'rowsSkipped' | 'floorUs'>;

type SegmentCounts = Omit<ScanProfile, keyof OwnCounts> & SnapshotCounts;

/** What the snapshot left out before a scan began. */
export type SnapshotCounts = {
  readonly segmentsInSource: number;
  readonly segmentsSkippedByTime: number;
  readonly segmentsSkippedByProject: number;
};

/** What a run was measured to do. */
type RunMeasures = {
  readonly rowCount: number;
  readonly planMs: number;
  readonly queueMs: number;
  readonly runMs: number;
  readonly profile: PlanProfile;
  /** By the index of the scan. */
  readonly snapshots: readonly SnapshotCounts[];
};

/** Explains one call; without measures how it would be run. Throws a QueryError as a run would. */
export function explainQuery(
  query: { readonly text: string; readonly bound: BoundQuery },
  call: CallContext,
  measures?: RunMeasures,
): QueryExplanation {
  const { bound, text } = query;
  const context = { ...call, parameters: byLowerCase(call.parameters) };
  const { nowUs, rowsMax } = context;
  // The same plan as that of the run: it depends on nothing but these.
  const optimized = optimize(bound, context);
  const physical = physicalPlanOf(optimized, context.reach ?? EVERYTHING);
  const words = readableText([bound.plan, optimized]);
  const run = measures && explainRun(scansOf(physical), measures);
  const factsOf = (scan: PhysicalScan) =>
    run === undefined ? [] : scanFacts(must(run.scans[scan.index], 'each scan has its measures'));
  return {
    query: { text, parameters: parameterTexts(bound, context), nowUs, rowsMax },
    logical: logicalTree(bound.plan, words),
    optimized: logicalTree(optimized, words),
    physical: physicalTree(physical, words, factsOf),
    run,
  };
}

/** Counts what a snapshot leaves out, by asking for it with less and less left out. */
export function countSnapshot(
  scan: PhysicalScan,
  countSegments: (scope: ScanScope) => number,
): SnapshotCounts {
  const { startUs, endUs } = scan.window;
  const always = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
  const inWindow = { timestampUsStart: startUs, timestampUsEnd: endUs };
  const inSource = countSegments(always);
  const afterTime = countSegments(inWindow);
  const afterProject = countSegments({ ...inWindow, projectKey: scan.projectKey });
  return {
    segmentsInSource: inSource,
    segmentsSkippedByTime: inSource - afterTime,
    segmentsSkippedByProject: afterTime - afterProject,
  };
}

function explainRun(scans: readonly PhysicalScan[], measures: RunMeasures): RunExplanation {
  const { rowCount, planMs, queueMs, runMs, profile, snapshots } = measures;
  const { operators, answerMs, otherMs, fragmentCount } = profile;
  return {
    rowCount,
    planMs,
    queueMs,
    runMs,
    operators,
    scans: scans.map((scan) => {
      const own = must(profile.scans[scan.index], 'each scan has its profile');
      const { rowsScanned, rowsFromMemo, rowsSkipped, floorUs } = own;
      const { source } = scan;
      if (scan.reach !== undefined)
        return { source, rowsScanned, rowsFromMemo, rowsSkipped, floorUs };
      return { source, ...must(snapshots[scan.index], 'each scan has its snapshot'), ...own };
    }),
    answerMs,
    otherMs,
    fragmentCount,
  };
}

/** Parameters of one name in any letter case are one, and the spelling is that of the first use. */
function parameterTexts(bound: BoundQuery, context: CallContext) {
  return bound.parameters.map((name) => {
    const value: SqlValue = context.parameters.get(name.toLowerCase()) ?? null;
    return { name, value: literalText(value, { kind: 'DYNAMIC' }) };
  });
}

function scanFacts(scan: ScanExplanation): PlanTree['facts'] {
  const whole = 'segmentsInSource' in scan ? (scan as SegmentCounts) : undefined;
  const facts: (readonly [string, string])[] = [];
  if (whole !== undefined) facts.push(['segments', segmentWords(whole)]);
  const among =
    whole === undefined ? '' : `, of ${count(whole.segmentRowCount)} in the segments read`;
  facts.push(['rows', `${count(scan.rowsScanned)} scanned${among}`]);
  if (scan.rowsSkipped > 0) {
    facts.push(['skipped', `${count(scan.rowsSkipped)} rows of blocks without a text`]);
  }
  facts.push(['memo', `${count(scan.rowsFromMemo)} rows from cached partial results`]);
  if (scan.floorUs !== undefined) {
    facts.push(['floor', `rows older than ${formatDatetime(scan.floorUs)} were not needed`]);
  }
  return facts;
}

function segmentWords(scan: SegmentCounts): string {
  const { rememberedCount } = scan;
  const read = scan.openCount + scan.sealedCount;
  const atSnapshot = scan.segmentsSkippedByTime + scan.segmentsSkippedByProject;
  const others = scan.segmentsSkipped + rememberedCount + read;
  const notReached = scan.segmentsInSource - atSnapshot - others;
  return [
    `${count(scan.segmentsInSource)} in the source`,
    `${count(scan.segmentsSkippedByTime)} skipped by time`,
    `${count(scan.segmentsSkippedByProject)} skipped by project`,
    `${count(scan.segmentsSkipped)} skipped in the scan`,
    ...(rememberedCount > 0 ? [`${count(rememberedCount)} from cached partial results`] : []),
    ...(notReached > 0 ? [`${count(notReached)} not reached`] : []),
    `${count(read)} read (${count(scan.openCount)} open, ${count(scan.sealedCount)} sealed)`,
  ].join(', ');
}

/** A count with commas between its thousands. */
export function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Parameters are known by their names in lower case. */
export function byLowerCase(
  parameters: ReadonlyMap<string, SqlValue>,
): ReadonlyMap<string, SqlValue> {
  if ([...parameters.keys()].every((name) => name === name.toLowerCase())) return parameters;
  return new Map(Array.from(parameters, ([name, value]) => [name.toLowerCase(), value] as const));
}

/** Longer operators are broken into their parts: a terminal's width and half of one. */
export const WIDTH_MAX = 120;

/** An explanation for a person to read, in sections. `name` is what the query is called. */
export function explanationText(explanation: QueryExplanation, name: string): string {
  const { query, logical, optimized, statement, run } = explanation;
  const parameters = query.parameters.map((each) => `  @${each.name} = ${each.value}`);
  const clock = `  now ${formatDatetime(query.nowUs)} UTC, at most ${count(query.rowsMax)} rows`;
  return [
    ...section(`query ${name}`, [...parameters, clock]),
    ...section('logical plan, from the SQL text', planLines(logical)),
    ...section('optimized plan, for these parameters and this time', planLines(optimized)),
    ...section('physical plan', physicalLines(explanation)),
    ...(statement === undefined ? [] : section('statement', statementLines(statement))),
    ...(run === undefined ? [] : section('run', runLines(run))),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [title, ...lines, ''];
}

/** One line of SQL, which is to be copied, and a line for each text. */
function statementLines({ sql, parameters }: BoundStatement): readonly string[] {
  const texts = Object.entries(parameters).map(
    ([name, text]) => `  ${name} = ${JSON.stringify(text)}`,
  );
  return [`  ${sql}`, ...texts];
}

function planLines(tree: PlanTree): readonly string[] {
  return treeLines(tree, { widthMax: WIDTH_MAX, margin: () => '  ' });
}

function physicalLines({ physical, run }: QueryExplanation): readonly string[] {
  if (run === undefined) return planLines(physical);
  const { operators, answerMs, otherMs } = run;
  const totalMs = operators.reduce((total, { selfMs }) => total + selfMs, answerMs + otherMs);
  const margin = (index: number) => marginOf(operators[index]!, totalMs);
  return [
    `  ${cells('rows', 'chunks', 'self', 'share')}`,
    ...treeLines(physical, { widthMax: WIDTH_MAX, margin }),
  ];
}

function marginOf({ rowCount, chunkCount, selfMs }: OperatorProfile, totalMs: number): string {
  const percent = totalMs === 0 ? 0 : Math.round((100 * selfMs) / totalMs);
  return `  ${cells(count(rowCount), count(chunkCount), milliseconds(selfMs), `${percent} %`)}  `;
}

function cells(rows: string, chunks: string, self: string, share: string): string {
  return `${rows.padStart(11)}${chunks.padStart(8)}${self.padStart(12)}${share.padStart(7)}`;
}

function runLines(run: RunExplanation): readonly string[] {
  const operatorsMs = run.operators.reduce((total, { selfMs }) => total + selfMs, 0);
  const fromMemo = run.scans.reduce((total, { rowsFromMemo }) => total + rowsFromMemo, 0);
  const scanned = run.scans.reduce((total, { rowsScanned }) => total + rowsScanned, 0);
  const skipped = run.scans.reduce((total, { rowsSkipped }) => total + rowsSkipped, 0);
  const withoutText = skipped === 0 ? '' : `, ${count(skipped)} skipped without reading`;
  const threads =
    run.fragmentCount < 2
      ? 'one, from scan to answer'
      : `${run.fragmentCount} in parallel, then one that combines their results; the times above are sums over all tasks`;
  return [
    `  answer   ${count(run.rowCount)} ${run.rowCount === 1 ? 'row' : 'rows'}, not cached`,
    `  rows     ${count(scanned)} scanned, ${count(fromMemo)} from cached partial results${withoutText}`,
    `  tasks    ${threads}`,
    `  time     plan ${milliseconds(run.planMs)}, queue ${milliseconds(run.queueMs)}, run ${milliseconds(run.runMs)}`,
    `  of run   operators ${milliseconds(operatorsMs)}, writing the answer ${milliseconds(run.answerMs)}, other work ${milliseconds(run.otherMs)}`,
  ];
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 3 : 1)} ms`;
}

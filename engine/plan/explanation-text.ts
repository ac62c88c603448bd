import { formatDatetime } from '../function/time/timestamp-text.ts';
import type { OperatorProfile } from '../operator/profile.ts';
import { count, type QueryExplanation, type RunExplanation } from './explanation.ts';
import { type PlanTree, treeLines } from './plan-tree.ts';

/** Longer operators are broken into their parts: a terminal's width and half of one. */
export const WIDTH_MAX = 120;

/** An explanation for a person to read, in sections. `name` is what the query is called. */
export function explanationText(explanation: QueryExplanation, name: string): string {
  const { query, logical, optimized, run } = explanation;
  const parameters = query.parameters.map((each) => `  @${each.name} = ${each.value}`);
  const clock = `  now ${formatDatetime(query.nowUs)} UTC, at most ${count(query.rowsMax)} rows`;
  return [
    ...section(`query ${name}`, [...parameters, clock]),
    ...section('logical plan, from the SQL text', planLines(logical)),
    ...section('optimized plan, for these parameters and this time', planLines(optimized)),
    ...section('physical plan', physicalLines(explanation)),
    ...(run === undefined ? [] : section('run', runLines(run))),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [title, ...lines, ''];
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

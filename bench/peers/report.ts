import { cpus, totalmem } from 'node:os';
import { environmentLine } from '../measure.ts';
import { bestPeerOf, isWeir, outcomesOf, p50Of } from './bar.ts';
import { rankOutcomes } from './float-rank.ts';
import type { MeasuredResult } from './result.ts';

/** What was measured, as Markdown: a table of times, and one of aims. */
export function reportOf(sizeName: string, results: readonly MeasuredResult[]): string {
  return [
    machineLine(),
    countsLine(sizeName, results),
    versionsLine(results),
    '',
    ...timesTable(results),
    '',
    ...aimsTable(results),
    '',
  ].join('\n');
}

function machineLine(): string {
  const { length } = cpus();
  const model = cpus()[0]?.model ?? 'an unknown processor';
  return `${environmentLine()}, ${length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB.`;
}

function countsLine(sizeName: string, [first]: readonly MeasuredResult[]): string {
  const counts = Object.entries(first?.counts ?? {}).map(
    ([kind, count]) => `${count.toLocaleString('en')} ${kind}`,
  );
  return `Size ${sizeName}: ${counts.join(', ')}.`;
}

function versionsLine(results: readonly MeasuredResult[]): string {
  const peers = results.filter((result) => !isWeir(result));
  if (peers.length === 0) return 'No peer was measured.';
  return `Peers: ${peers.map(({ name, version }) => `${name} (${version})`).join(', ')}.`;
}

/** p50 in milliseconds, and the number of rows. */
function timesTable(results: readonly MeasuredResult[]): readonly string[] {
  const names = results[0]?.answers.map(({ name }) => name) ?? [];
  const head = ['p50, ms', 'rows', ...results.map(({ name }) => name), 'best peer'];
  const rows = names.map((name) => [
    name,
    rowCountText(results, name),
    ...results.map((result) => numberText(p50Of(result, name))),
    bestPeerOf(results, name)?.name ?? '–',
  ]);
  return table(head, rows);
}

function rowCountText(results: readonly MeasuredResult[], name: string): string {
  const rows = results.flatMap(({ answers }) => {
    const answer = answers.find((one) => one.name === name);
    return answer?.rows ? [answer.rows.length] : [];
  });
  return String(rows[0] ?? '–');
}

function aimsTable(results: readonly MeasuredResult[]): readonly string[] {
  const outcomes = [...outcomesOf(results), ...rankOutcomes(results)];
  if (outcomes.length === 0) return [];
  const missed = outcomes.filter(({ isReached }) => !isReached).length;
  return [
    `${outcomes.length - missed} of ${outcomes.length} aims are reached.`,
    '',
    ...table(
      ['aim', 'measured', 'wanted', 'got', ''],
      outcomes.map(({ what, measured, wanted, got, isReached }) => [
        ...[what, measured, wanted, got, isReached ? 'reached' : '**not reached**'],
      ]),
    ),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

function numberText(ms: number | undefined): string {
  return ms === undefined ? '–' : String(Number(ms.toPrecision(3)));
}

import { figuresOf } from '../measure.ts';
import { type LiveCall, NOVELTIES, WAYS } from './live-readers.ts';

/** The calls of all runs of a build. */
export type LiveRun = { readonly name: string; readonly calls: readonly LiveCall[] };

/** A table in Markdown; with two builds also how many times as long the second one takes, at p50 and p99. */
export function tableOf(runs: readonly LiveRun[]): string {
  const columns = WAYS.flatMap((way) => runs.map((run) => ({ way, run })));
  const isCompared = runs.length > 1;
  const queries = Array.from(new Set(runs.flatMap(({ calls }) => calls.map(({ query }) => query))));
  const lines = [
    [
      'calls: p50 / p99 / max, ms',
      ...columns.map(({ way, run }) => `${run.name}, ${way}`),
      ...(isCompared ? WAYS.map((way) => `${runs[1]!.name} ÷ ${runs[0]!.name}, ${way}`) : []),
    ],
  ];
  lines.push(lines[0]!.map(() => '---'));
  for (const query of queries.toSorted()) {
    for (const novelty of NOVELTIES) {
      const msOf = (run: LiveRun, way: LiveCall['way']): readonly number[] =>
        run.calls
          .filter((call) => call.query === query && call.novelty === novelty && call.way === way)
          .map(({ ms }) => ms);
      lines.push([
        `${query}, ${novelty}`,
        ...columns.map(({ way, run }) => cellOf(msOf(run, way))),
        ...(isCompared ? WAYS.map((way) => ratioOf(msOf(runs[1]!, way), msOf(runs[0]!, way))) : []),
      ]);
    }
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellOf(ms: readonly number[]): string {
  if (ms.length === 0) return '–';
  const { p50, p99 } = figuresOf(ms);
  const texts = [p50, p99, Math.max(...ms)].map((value) => value.toFixed(value < 100 ? 1 : 0));
  return `${ms.length}: ${texts.join(' / ')}`;
}

function ratioOf(over: readonly number[], under: readonly number[]): string {
  if (over.length === 0 || under.length === 0) return '–';
  const [above, below] = [figuresOf(over), figuresOf(under)];
  return `${(above.p50 / below.p50).toFixed(2)} / ${(above.p99 / below.p99).toFixed(2)}`;
}

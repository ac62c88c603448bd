import { figuresOf } from '../measure.ts';
import type { ReaderSample } from './readers.ts';

/** What the calls of one query took within one minute. */
type QueryTimes = {
  readonly count: number;
  /** Calls that the service answered without a run. */
  readonly keptCount: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of all runs together: planning, waiting for a thread, running. */
  readonly planMs: number;
  readonly queueMs: number;
  readonly runMs: number;
};

export const QUERY_HEAD = [
  '| minute | query | calls; kept | p50 / p99, ms | plan / queue / run, s | run, ms a call |',
  '|---|---|---|---|---|---|',
].join('\n');

/** The lines of a table in Markdown: a minute's queries, those first that ran for longest. */
export function queryLines(samples: readonly ReaderSample[], minute: number): readonly string[] {
  const byQuery = new Map<string, ReaderSample[]>();
  for (const sample of samples) {
    const some = byQuery.get(sample.query) ?? [];
    some.push(sample);
    byQuery.set(sample.query, some);
  }
  return [...byQuery]
    .map(([query, some]) => ({ query, times: measureTimes(some) }))
    .sort((left, right) => right.times.runMs - left.times.runMs)
    .map(({ query, times }) => queryLine(query, times, minute));
}

function queryLine(query: string, times: QueryTimes, minute: number): string {
  const { count, keptCount, p50Ms, p99Ms, planMs, queueMs, runMs } = times;
  const seconds = [planMs, queueMs, runMs].map((ms) => (ms / 1000).toFixed(1)).join(' / ');
  const runCount = Math.max(1, count - keptCount);
  return `| ${minute} | ${query} | ${count}; ${keptCount} | ${p50Ms.toFixed(1)} / ${p99Ms.toFixed(0)} | ${seconds} | ${(runMs / runCount).toFixed(1)} |`;
}

function measureTimes(samples: readonly ReaderSample[]): QueryTimes {
  const { p50, p99 } = figuresOf(samples.map(({ ms }) => ms));
  const sum = (name: string): number =>
    samples.reduce((ms, { timing }) => ms + (findDuration(timing, name) ?? 0), 0);
  return {
    count: samples.length,
    keptCount: samples.filter(({ timing }) => findDuration(timing, 'run') === undefined).length,
    ...{ p50Ms: p50, p99Ms: p99 },
    ...{ planMs: sum('plan'), queueMs: sum('queue'), runMs: sum('run') },
  };
}

/** Milliseconds of a part of a call, as a `Server-Timing` header has it. */
function findDuration(timing: string, name: string): number | undefined {
  const text = new RegExp(`(?:^|, )${name};dur=([\\d.]+)`).exec(timing)?.[1];
  return text === undefined ? undefined : Number(text);
}

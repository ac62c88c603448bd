import type { MeasuredResult } from './result.ts';

/** What a time is to reach: so many times a peer's in the same run, or so many milliseconds. */
type Bar = {
  /** The start of the questions it is for, by name; `''` in a part matches all. */
  readonly question: RegExp;
  /** The column of weir. */
  readonly measured: string;
  readonly reach:
    | { readonly times: number; readonly of: 'best' | string }
    | { readonly msMax: number };
  /** Whether the geometric mean of all questions is meant, not each. */
  readonly isMean?: boolean;
};

const ENGINE = 'weir-engine';
const HTTP = 'weir-http';

const times = (question: RegExp, measured: string, factor: number, of = 'best'): Bar => ({
  ...{ question, measured, reach: { times: factor, of } },
});

const within = (question: RegExp, measured: string, msMax: number): Bar => ({
  ...{ question, measured, reach: { msMax } },
});

const PATH_EXPRESSION = /expression: (?!host)/;

/** The aims of the project. */
const BARS: readonly Bar[] = [
  times(/stats 7day, hot/, `${ENGINE}-scanned`, 6),
  times(/stats 7day, hot/, `${ENGINE}-sealed`, 40),
  times(/stats 7day, hot/, `${HTTP}-sealed`, 15),
  times(/stats 1day, hot/, `${ENGINE}-scanned`, 6),
  times(/stats 1day, hot/, `${ENGINE}-sealed`, 25),
  times(/stats 1day, hot/, `${HTTP}-sealed`, 10),
  times(/stats (1hr|15min|5min), hot/, `${ENGINE}-scanned`, 10),
  times(/stats (1hr|15min|5min), hot/, `${HTTP}-scanned`, 5),
  within(/stats .*, (median|tiny)/, `${ENGINE}-scanned`, 0.02),
  within(/stats .*, (median|tiny)/, `${HTTP}-scanned`, 0.3),
  times(/counts daily, hot/, `${ENGINE}-sealed`, 40),
  times(/counts daily, hot/, `${HTTP}-sealed`, 25),
  times(/counts daily, median/, `${ENGINE}-sealed`, 3),
  times(/counts daily, median/, `${HTTP}-sealed`, 2),
  times(/counts daily, tiny/, `${ENGINE}-sealed`, 6),
  times(/counts daily, tiny/, `${HTTP}-sealed`, 4),
  times(/counts (hourly|minutely), hot/, `${ENGINE}-sealed`, 15),
  times(/counts (hourly|minutely), hot/, `${HTTP}-sealed`, 8),
  times(/counts (hourly|minutely), median/, `${ENGINE}-sealed`, 5),
  times(/counts (hourly|minutely), median/, `${HTTP}-sealed`, 3),
  times(/expression: host/, `${ENGINE}-sealed`, 800),
  times(/expression: host/, `${HTTP}-sealed`, 300),
  { ...times(PATH_EXPRESSION, `${ENGINE}-scanned`, 2.5), isMean: true },
  { ...times(PATH_EXPRESSION, `${HTTP}-scanned`, 2.5), isMean: true },
  times(PATH_EXPRESSION, `${ENGINE}-scanned`, 1),
  times(PATH_EXPRESSION, `${HTTP}-scanned`, 1),
  times(PATH_EXPRESSION, `${ENGINE}-repeated`, 20),
  times(PATH_EXPRESSION, `${HTTP}-repeated`, 20),
  times(/^logs\.all/, `${ENGINE}-scanned`, 0.8, 'sqlite'),
  times(/^logs\.all, hot/, `${HTTP}-scanned`, 1.5, 'postgres'),
  times(/^logs\.all, (median|tiny)/, `${HTTP}-scanned`, 1.2, 'postgres'),
  times(/^quantiles/, `${ENGINE}-scanned`, 1, 'clickhouse'),
  times(/^definition/, `${ENGINE}-scanned`, 1),
];

/** One bar as it was reached for one question, or for the mean of several. */
export type BarOutcome = {
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly got: string;
  readonly isReached: boolean;
};

/** All bars that the results say something of. */
export function outcomesOf(results: readonly MeasuredResult[]): readonly BarOutcome[] {
  const names = results[0]?.answers.map(({ name }) => name) ?? [];
  return BARS.flatMap((bar) => {
    const asked = names.filter((name) => bar.question.test(name));
    const figures = asked.flatMap((name) => {
      const figure = figureOf(bar, name, results);
      return figure === undefined ? [] : [{ name, figure }];
    });
    if (figures.length === 0) return [];
    if (!bar.isMean) return figures.map(({ name, figure }) => outcomeOf(bar, name, figure));
    const logs = figures.map(({ figure }) => Math.log(figure));
    const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
    return [outcomeOf(bar, `geometric mean of ${figures.length} expressions`, mean)];
  });
}

/** The p50 of an engine for a question, in milliseconds. */
export function p50Of(result: MeasuredResult, name: string): number | undefined {
  return result.answers.find((answer) => answer.name === name)?.timing?.p50;
}

/** What a peer makes of a roll-up that somebody told it to keep is shown, but is no measure. */
const ROLL_UP = 'clickhouse-rollup';

/** The fastest peer for a question. */
export function bestPeerOf(
  results: readonly MeasuredResult[],
  name: string,
): { readonly name: string; readonly p50: number } | undefined {
  return results
    .filter((result) => !isWeir(result) && result.name !== ROLL_UP)
    .flatMap((result) => {
      const p50 = p50Of(result, name);
      return p50 === undefined ? [] : [{ name: result.name, p50 }];
    })
    .sort((left, right) => left.p50 - right.p50)[0];
}

export function isWeir({ name }: Pick<MeasuredResult, 'name'>): boolean {
  return name.startsWith('weir');
}

function figureOf(
  { measured, reach }: Bar,
  name: string,
  results: readonly MeasuredResult[],
): number | undefined {
  const own = results.find((result) => result.name === measured);
  const ownMs = own === undefined ? undefined : p50Of(own, name);
  if (ownMs === undefined || 'msMax' in reach) return ownMs;
  const peer = results.find((result) => result.name === reach.of);
  const peerMs = reach.of === 'best' ? bestPeerOf(results, name)?.p50 : peer && p50Of(peer, name);
  return peerMs === undefined ? undefined : peerMs / ownMs;
}

function outcomeOf({ measured, reach }: Bar, what: string, figure: number): BarOutcome {
  if ('msMax' in reach) {
    const wanted = `≤ ${reach.msMax} ms`;
    return { what, measured, wanted, got: msText(figure), isReached: figure <= reach.msMax };
  }
  const of = reach.of === 'best' ? '' : ` ${reach.of}`;
  const got = ratioText(figure);
  return {
    what,
    measured,
    wanted: `≥ ${reach.times} ×${of}`,
    got,
    isReached: figure >= reach.times,
  };
}

/** Three digits that count. */
function msText(ms: number): string {
  return `${Number(ms.toPrecision(3))} ms`;
}

function ratioText(ratio: number): string {
  return `${Number(ratio.toPrecision(ratio < 100 ? 2 : 3))} ×`;
}

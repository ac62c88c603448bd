import { floatRank } from '../workload/floats.ts';
import { type BarOutcome, isWeir } from './bar.ts';
import type { MeasuredResult } from './result.ts';

/** How far from its rank a quantile of many different numbers may be. */
const RANK_ERROR_MAX = 0.001;

/**
 * How far weir's quantiles of many different numbers are from their ranks, beside those of an engine that
 * sorts them all.
 */
export function rankOutcomes(results: readonly MeasuredResult[]): readonly BarOutcome[] {
  const weir = results.find(isWeir);
  const own = weir && quantilesOf(weir);
  if (weir === undefined || own === undefined) return [];
  const exact = results.find(
    (result) =>
      !isWeir(result) && result.quantiles === 'exact' && quantilesOf(result) !== undefined,
  );
  const ranks = exact && quantilesOf(exact)?.map(floatRank);
  if (exact === undefined || ranks === undefined) return [];
  const error = Math.max(...own.map((value, index) => Math.abs(floatRank(value) - ranks[index]!)));
  return [
    {
      what: `quantiles of floats, rank beside ${exact.name}`,
      measured: weir.name,
      wanted: `≤ ${100 * RANK_ERROR_MAX} %`,
      got: `${(100 * error).toFixed(4)} %`,
      isReached: error <= RANK_ERROR_MAX,
    },
  ];
}

/** p95 and p99. */
function quantilesOf({ answers }: MeasuredResult): readonly number[] | undefined {
  const row = answers.find(({ name }) => name === 'quantiles of floats')?.rows?.[0];
  return row?.slice(1).map(Number);
}

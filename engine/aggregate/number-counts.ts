import { EXACT_QUANTILE_VALUES_MAX } from '../limits.ts';
import type { GroupedCounts } from './count-table.ts';
import { CountTable } from './count-table.ts';
import { orderNumbers } from './dynamic-order.ts';
import { comesInRuns } from './group-runs.ts';
import type { GroupedNumbers } from './grouped-numbers.ts';
import { grownFloat64, grownInt32 } from './growth.ts';
import type { HistogramsPartial } from './histograms.ts';
import { HISTOGRAM_VALUES_MAX, Histograms } from './histograms.ts';
import type { DigestPartial } from './quantile-digest.ts';
import { QuantileDigest } from './quantile-digest.ts';
import type { SortedCounts } from './quantile-ranks.ts';
import type { ValueCountsPartial } from './value-counts.ts';
import { ValueCounts } from './value-counts.ts';

const DIGESTED_MAX = 2 ** 960;

export type NumberCountsPartial = {
  readonly table: GroupedCounts;
  readonly histograms: HistogramsPartial;
  readonly nans: Float64Array;
  readonly wide: ValueCountsPartial<bigint>;
  readonly digests: readonly { readonly group: number; readonly digest: DigestPartial }[];
};

/**
 * How often each number came in each group. A value's count may lie in several places at once; they
 * add up:
 *
 * - small integers: in the group's histogram, or in the table while it has not earned one;
 * - other doubles: in the table, up to EXACT_QUANTILE_VALUES_MAX distinct ones a group, further ones
 *   in the group's t-digest (those from 2^960 in magnitude, and infinities, always in the table:
 *   the digest's means would overflow);
 * - NaN and integers beyond 2^53: apart.
 */
export class NumberCounts {
  readonly #histograms = new Histograms();
  readonly #table = new CountTable();
  /** By group: distinct values in the table, but for small integers and those beyond DIGESTED_MAX. */
  #distinct = new Int32Array(0);
  #nans = new Float64Array(0);
  readonly #wide = new ValueCounts<bigint>('integers beyond 2^53');
  readonly #digests = new Map<number, QuantileDigest>();
  /** The table in order, once it is asked for; until it changes. */
  #grouped: GroupedCounts | undefined;

  /** Must be called before values of groups up to `groupCount` are added. */
  reserve(groupCount: number): void {
    this.#histograms.reserve(groupCount);
    this.#distinct = grownInt32(this.#distinct, groupCount);
    this.#nans = grownFloat64(this.#nans, groupCount);
    this.#grouped = undefined;
  }

  addAll(numbers: GroupedNumbers): void {
    const { groups, count, values } = numbers;
    const inRuns = comesInRuns(groups, count);
    for (let row = 0; row < count; row++) {
      row = this.#histograms.countUntilMiss(numbers, row, inRuns);
      if (row < count) this.#addDouble(groups[row]!, values[row]!, 1);
    }
  }

  add(group: number, value: number | bigint, count: number): void {
    if (typeof value === 'bigint') this.#wide.add(group, value, count);
    else this.#addDouble(group, value, count);
  }

  combine(theirs: NumberCountsPartial, groups: Int32Array): void {
    const { table, histograms } = theirs;
    for (let index = 0; index + 1 < table.starts.length; index++) {
      for (let entry = table.starts[index]!; entry < table.starts[index + 1]!; entry++) {
        this.#addDouble(groups[index]!, table.values[entry]!, table.counts[entry]!);
      }
    }
    for (let index = 0; index < histograms.groups.length; index++) {
      const start = index === 0 ? 0 : histograms.ends[index - 1]!;
      this.#addHistogram(
        groups[histograms.groups[index]!]!,
        histograms,
        start,
        histograms.ends[index]!,
      );
    }
    for (let index = 0; index < theirs.nans.length; index++) {
      this.#nans[groups[index]!]! += theirs.nans[index]!;
    }
    this.#wide.combine(theirs.wide, groups);
    for (const { group, digest } of theirs.digests) this.#digest(groups[group]!).combine(digest);
  }

  partial(groupCount: number): NumberCountsPartial {
    return {
      table: this.#table.grouped(groupCount),
      histograms: this.#histograms.partial(),
      nans: this.#nans.slice(0, groupCount),
      wide: this.#wide.partial(),
      digests: Array.from(this.#digests, ([group, digest]) => ({
        group,
        digest: digest.partial(),
      })),
    };
  }

  /** All numbers of a group in order. */
  sorted(group: number): SortedCounts<number | bigint> {
    const values: (number | bigint)[] = [];
    const counts: number[] = [];
    let total = 0;
    const push = (value: number | bigint, count: number): void => {
      values.push(value);
      counts.push(count);
      total += count;
    };
    const nans = this.#nans[group] ?? 0;
    if (nans > 0) push(Number.NaN, nans);
    const counters = this.#histograms.counters(group);
    const rest = this.#unhistogrammed(group);
    let next = 0;
    for (let integer = 0; integer < counters.length; integer++) {
      const count = counters[integer]!;
      if (count === 0) continue;
      for (; next < rest.length && rest[next]!.value < integer; next++) {
        push(rest[next]!.value, rest[next]!.count);
      }
      push(integer, count);
    }
    for (; next < rest.length; next++) push(rest[next]!.value, rest[next]!.count);
    return { values, counts, total };
  }

  /** The group's numbers that are neither in its histogram nor NaN, in order. */
  #unhistogrammed(group: number): { value: number | bigint; count: number }[] {
    const entries: { value: number | bigint; count: number }[] = [];
    this.#grouped ??= this.#table.grouped(this.#distinct.length);
    const { starts, values, counts } = this.#grouped;
    for (let entry = starts[group] ?? 0; entry < (starts[group + 1] ?? 0); entry++) {
      entries.push({ value: values[entry]!, count: counts[entry]! });
    }
    const digest = this.#digests.get(group)?.values();
    const wide = this.#wide.has(group) ? this.#wide.sorted(group) : undefined;
    if (digest === undefined && wide === undefined) return entries;
    digest?.values.forEach((value, index) => {
      entries.push({ value, count: digest.weights[index]! });
    });
    wide?.values.forEach((value, index) => {
      entries.push({ value, count: wide.counts[index]! });
    });
    return entries.sort((left, right) => orderNumbers(left.value, right.value));
  }

  #addDouble(group: number, value: number, count: number): void {
    if (value >= 0 && value < HISTOGRAM_VALUES_MAX && Number.isInteger(value)) {
      if (this.#histograms.add(group, value + 0, count)) return;
      this.#table.add(group, value, count, true);
    } else if (Math.abs(value) < DIGESTED_MAX) {
      const isNewAllowed = this.#distinct[group]! < EXACT_QUANTILE_VALUES_MAX;
      const answer = this.#table.add(group, value, count, isNewAllowed);
      if (answer === 'added') this.#distinct[group]!++;
      else if (answer === 'refused') this.#digest(group).add(value, count);
    } else if (Number.isNaN(value)) {
      this.#nans[group]! += count;
    } else {
      this.#table.add(group, value, count, true);
    }
  }

  #addHistogram(group: number, partial: HistogramsPartial, start: number, end: number): void {
    if (this.#histograms.combine(group, partial, start, end)) return;
    for (let entry = start; entry < end; entry++) {
      this.#addDouble(group, partial.values[entry]!, partial.counts[entry]!);
    }
  }

  #digest(group: number): QuantileDigest {
    let digest = this.#digests.get(group);
    if (digest === undefined) {
      digest = new QuantileDigest();
      this.#digests.set(group, digest);
    }
    return digest;
  }
}

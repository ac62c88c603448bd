/**
 * What would quantiles cost with the package `tdigest` in place of weir's own digest?
 *
 *   node --import tsx bench/digests.ts      half a minute
 *
 * Three ways take in the same doubles, all different, and make one list of weighted values:
 * - weir's digest;
 * - `tdigest` given each value, the first far apart in their order: it keeps all values of an ascending sequence;
 * - `tdigest` given what is left of sorted buffers: neighbours are replaced by one value with their weight.
 *
 * The package runs without its own compression, which is random. Prints the processor time of each, how far a rank is off,
 * and a hash of the lists.
 */
import { TDigest } from 'tdigest';
import {
  mergedValues,
  QuantileDigest,
  sortDoubles,
  thinnedWeights,
  type WeightedValues,
} from '../engine/aggregate/quantile-digest.ts';
import { Random } from '../src/demo/traffic/random.ts';
import { environmentLine, figuresOf, hashOf } from './measure.ts';

/** As many as each of two threads gets of five million. */
const COUNT = 2_500_000;
const CHUNK = 2_048;
const BUFFER = 65_536;

/** Lists that are merged before the package gets them. */
const LISTS = 16;

/** Greatest share of a centroid: ranks are off by some tenths of a percent. */
const SHARE = 1 / 300;

const TURNS = 5;

const NOTHING: WeightedValues = { values: new Float64Array(0), weights: new Float64Array(0) };

const random = new Random(7);
const VALUES = Float64Array.from({ length: COUNT }, () => 10 * Math.exp(3 * random.next()));
const SORTED = VALUES.toSorted();

const WAYS: readonly (readonly [string, () => WeightedValues])[] = [
  ['weir', ownDigest],
  ['tdigest, each value', eachValue],
  ['tdigest, sorted buffers', sortedBuffers],
];

function ownDigest(): WeightedValues {
  const digest = new QuantileDigest();
  for (let start = 0; start < COUNT; start += CHUNK) {
    digest.addEach(VALUES.subarray(start, start + CHUNK));
  }
  return digest.partial(NOTHING);
}

function eachValue(): WeightedValues {
  const digest = new TDigest(SHARE, 0);
  for (const place of scattered(COUNT)) digest.push(VALUES[place]!);
  return listOf(digest);
}

function sortedBuffers(): WeightedValues {
  let lists: WeightedValues[] = [];
  for (let start = 0; start < COUNT; start += BUFFER) {
    const values = VALUES.slice(start, start + BUFFER);
    sortDoubles(values);
    const weights = new Float64Array(values.length).fill(1);
    lists.push(thinnedWeights({ values, weights }, SHARE));
    if (lists.length === LISTS) lists = [digested(lists)];
  }
  return digested(lists);
}

function digested(lists: readonly WeightedValues[]): WeightedValues {
  const { values, weights } = mergedValues(lists);
  const digest = new TDigest(SHARE, 0);
  for (const place of scattered(values.length)) digest.push(values[place]!, weights[place]!);
  return listOf(digest);
}

function listOf(digest: TDigest): WeightedValues {
  const centroids = digest.toArray();
  return {
    values: Float64Array.from(centroids, ({ mean }) => mean),
    weights: Float64Array.from(centroids, ({ n }) => n),
  };
}

/** The integers in [0, count), each once: counts up with the bits of each number in reverse. */
function* scattered(count: number): Generator<number> {
  const half = 2 ** Math.ceil(Math.log2(count)) / 2;
  for (let place = 0, left = 2 * half; left > 0; left--) {
    if (place < count) yield place;
    let bit = half;
    for (; (place & bit) !== 0; bit >>= 1) place ^= bit;
    place |= bit;
  }
}

/** How far the ranks of the list are from those of its values, as a share of all, at most. */
function rankError({ values, weights }: WeightedValues): number {
  let least = 0;
  let reached = 0;
  let worst = 0;
  for (const [index, value] of values.entries()) {
    while (least < COUNT && SORTED[least]! < value) least++;
    worst = Math.max(worst, least - reached, reached + weights[index]! - least - 1);
    reached += weights[index]!;
  }
  return worst / COUNT;
}

console.log(environmentLine());
const times = WAYS.map((): number[] => []);
for (let turn = 0; turn < TURNS; turn++) {
  for (const [way, [, run]] of WAYS.entries()) {
    const start = process.cpuUsage();
    run();
    times[way]!.push(process.cpuUsage(start).user / 1000);
  }
}
for (const [way, [name, run]] of WAYS.entries()) {
  const list = run();
  const { p50 } = figuresOf(times[way]!);
  const error = 100 * rankError(list);
  console.log(
    `${name}: ${p50.toFixed(0)} ms of processor time, ${list.values.length} values, ` +
      `ranks off by at most ${error.toFixed(3)} %, hash ${hashOf(list.values.join())}`,
  );
}

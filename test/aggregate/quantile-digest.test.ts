import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuantileDigest, type WeightedValues } from '../../engine/aggregate/quantile-digest.ts';
import { Random } from '../../src/demo/traffic/random.ts';

const COUNT = 250_000;
const RANK_ERROR_MAX = 0.001;
const NOTHING: WeightedValues = { values: new Float64Array(0), weights: new Float64Array(0) };

const random = new Random(7);

function made(of: (index: number) => number): Float64Array {
  return Float64Array.from({ length: COUNT }, (_, index) => of(index));
}

const normal = (): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

const HARD: Readonly<Record<string, Float64Array>> = {
  'evenly spread': made(() => random.next()),
  'of both signs': made(() => normal()),
  'log-normal, of many magnitudes': made(() => Math.exp(8 * normal())),
  'mostly equal': made(() => (random.next() < 0.7 ? 0.1 : random.next())),
  'of a thousand different ones': made(() => Math.floor(1000 * random.next() ** 4) / 8),
  rising: made((index) => index * 1.25 + 0.125),
  falling: made((index) => (COUNT - index) * 0.75),
  'rising in each thousand': made((index) => (index % 1000) + random.next()),
  'first great, then small': made((index) => (index < COUNT / 2 ? 1e9 : 1e-9) * random.next()),
  'in two narrow clusters': made(() => (random.next() < 0.5 ? 1 : 1e6) + 1e-9 * random.next()),
  'neighbours among doubles': made(() => 1 + Math.floor(1e6 * random.next()) * 2 ** -52),
  'infinite and least ones among them': made(
    (index) => [Infinity, -Infinity, 5e-324, -Number.MAX_VALUE, random.next()][index % 5]!,
  ),
};

/** Asserts that each value has one of the ranks that it is said to have, or one near to them. */
function expectRanks(sorted: Float64Array, { values, weights }: WeightedValues): void {
  let reached = 0;
  let least = 0;
  let worst = 0;
  values.forEach((value, index) => {
    // The first rank of the value, and the one behind its last.
    while (least < COUNT && sorted[least]! < value) least++;
    assert.equal(sorted[least], value, 'it is one that was met');
    let most = least;
    while (most < COUNT && sorted[most] === value) most++;
    // Whoever asks for a rank from `reached` on, up to the weight more, gets this value.
    worst = Math.max(worst, least - reached, reached + weights[index]! - most);
    reached += weights[index]!;
  });
  assert.equal(reached, COUNT);
  assert.equal(values[0], sorted[0]);
  assert.equal(values.at(-1), sorted.at(-1));
  assert.ok(worst <= RANK_ERROR_MAX * COUNT, `${worst} of ${COUNT}`);
}

function digestOf(values: Float64Array, chunk: number): QuantileDigest {
  const digest = new QuantileDigest();
  for (let start = 0; start < values.length; start += chunk) {
    digest.addEach(values.subarray(start, start + chunk));
  }
  return digest;
}

for (const [what, values] of Object.entries(HARD)) {
  test(`ranks are off by 0.1 % at most of values that are ${what}`, () => {
    const sorted = values.toSorted();
    expectRanks(sorted, digestOf(values, 2048).values());
    expectRanks(sorted, digestOf(values, COUNT).partial(NOTHING));

    // Parts of many sizes, some of which are combined before.
    const whole = new QuantileDigest();
    let pair = new QuantileDigest();
    for (let start = 0, part = 0; start < COUNT; part++) {
      const end = Math.min(COUNT, start + [90_000, 100, 3000, 20_000][part % 4]!);
      pair.combine(digestOf(values.subarray(start, end), 5000).partial(NOTHING));
      if (part % 2 === 1 || end === COUNT) {
        whole.combine(structuredClone(pair.partial(NOTHING)));
        pair = new QuantileDigest();
      }
      start = end;
    }
    expectRanks(sorted, whole.values());
  });
}

test('values that came more than once at a time count as often', () => {
  const sorted = HARD['of a thousand different ones']!.toSorted();
  const digest = new QuantileDigest();
  for (let start = 0; start < COUNT; ) {
    let end = start + 1;
    while (end < COUNT && end - start < 50 && sorted[end] === sorted[start]) end++;
    digest.add(sorted[start]!, end - start);
    start = end;
  }
  expectRanks(sorted, digest.values());
});

test('the same values in the same order give the same', () => {
  const values = HARD['log-normal, of many magnitudes']!;
  const once = digestOf(values, 2048);
  assert.deepEqual(digestOf(values, 2048).values(), once.values());
  assert.deepEqual(digestOf(values, 2048).partial(NOTHING), once.partial(NOTHING));
});

test('what it keeps does not grow with what it has met', () => {
  const digest = new QuantileDigest();
  let keptMax = 0;
  for (let round = 0; round < 12; round++) {
    digest.addEach(HARD['evenly spread']!);
    keptMax = Math.max(keptMax, digest.values().values.length);
  }
  const { values } = digest.partial(NOTHING);
  assert.ok(values.length < 12_000, `${values.length} in a partial`);
  assert.ok(keptMax < 220_000, `${keptMax} kept`);
});

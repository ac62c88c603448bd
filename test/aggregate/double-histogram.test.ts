import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DoubleHistogram } from '../../engine/aggregate/quantile-digest.ts';
import { must } from '../../engine/assert.ts';

const COUNT = 2000;
const SHARE = 0.01;

/** Some doubles around which others are, at distances of any magnitude. */
const series = fc
  .record({
    bases: fc.array(
      fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(1, -1, 1e-300, 5e-324, -Infinity)),
      { minLength: 1, maxLength: 20 },
    ),
    spread: fc.constantFrom(0, 1e-12, 1e-3, 1, 1e6),
    order: fc.constantFrom(1, 7919),
  })
  .map(({ bases, spread, order }) =>
    Float64Array.from({ length: COUNT }, (_, index) => {
      const base = bases[index % bases.length]!;
      return Number.isFinite(base)
        ? base * (1 + spread * (((index * order) % COUNT) / COUNT))
        : base;
    }),
  );

/** What came, what was counted of it, and what was given back. */
type Outcome = {
  readonly all: Float64Array;
  readonly histogram: DoubleHistogram;
  readonly rest: Float64Array;
};

/** Has the first values make a histogram, and it count the others. */
function outcomeOf(first: Float64Array, others: readonly Float64Array[]): Outcome | undefined {
  const rest = new Float64Array(COUNT);
  const begun = DoubleHistogram.of(first.toSorted(), SHARE, rest);
  if (begun === undefined) return undefined;
  const { histogram, restCount } = begun;
  const given = [...rest.subarray(0, restCount)];
  for (const values of others) {
    const inPlace = values.slice();
    given.push(...inPlace.subarray(0, histogram.add(inPlace, inPlace)));
  }
  const all = Float64Array.from([first, ...others].flatMap((values) => [...values])).sort();
  return { all, histogram, rest: Float64Array.from(given).sort() };
}

/** `all` without `rest`, both ascending. */
function without(all: Float64Array, rest: Float64Array): Float64Array {
  let next = 0;
  const counted = all.filter((value) => next === rest.length || value !== rest[next] || !++next);
  assert.equal(next, rest.length, 'what is given back was met');
  return counted;
}

function expectCounted({ all, histogram, rest }: Outcome): void {
  const counted = without(all, rest);
  const { values, weights } = histogram.values();
  let below = 0;
  values.forEach((value, index) => {
    const end = below + weights[index]!;
    assert.ok(weights[index]! <= SHARE * counted.length, 'no bucket is too full');
    assert.ok(counted[below]! <= value && value <= counted[end - 1]!, 'ranks are those it has');
    assert.ok(counted.subarray(below, end).includes(value), 'it was met');
    below = end;
  });
  assert.equal(below, counted.length);
  assert.ok(rest[0]! < counted[0]!, 'the least value is not counted');
  assert.ok(rest.at(-1)! > counted.at(-1)!, 'nor is the greatest');
}

test('whatever is counted is near to what its bucket says, and all else is given back', () => {
  let begun = 0;
  fc.assert(
    fc.property(series, fc.array(series, { maxLength: 3 }), (first, others) => {
      const outcome = outcomeOf(first, others);
      if (outcome === undefined) return;
      begun++;
      expectCounted(outcome);
    }),
  );
  assert.ok(begun > 10, `${begun} histograms`);
});

const rising = Float64Array.from({ length: COUNT }, (_, index) => 1.5 + index);

test('values like the first ones are nearly all counted', () => {
  for (const sign of [1, -1]) {
    const values = rising.map((value) => sign * value);
    const outcome = must(outcomeOf(values, [values, values, values]));
    expectCounted(outcome);
    assert.ok(outcome.rest.length < 0.1 * outcome.all.length, `${outcome.rest.length} given back`);
  }
});

test('values beyond the first ones are given back', () => {
  const outcome = must(
    outcomeOf(rising, [rising.map((value) => -value), rising.map((v) => v + COUNT)]),
  );
  expectCounted(outcome);
  assert.ok(outcome.rest.length >= 2 * COUNT);
});

test('of equal values, and of neighbours among doubles, no histogram is made', () => {
  const neighbours = rising.map((_, index) => 1 + index * 2 ** -52);
  for (const values of [rising.map(() => 0.5), neighbours, rising.map((v) => v % 3)]) {
    assert.equal(outcomeOf(values, []), undefined);
  }
});

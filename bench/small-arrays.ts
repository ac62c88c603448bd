/**
 * What does it cost to make the arrays of a small query, each by itself and carved from blocks?
 *
 *   node --import tsx bench/small-arrays.ts      five seconds
 *
 * Both ways fill as many arrays of doubles with the same numbers, in turns, and must come to the same sums.
 */
import { assert } from '../engine/assert.ts';
import { carvedFloat64 } from '../engine/column/arrays.ts';
import { environmentLine, figuresOf, hashOf } from './measure.ts';

/** Arrays that are made in one turn: their making, not the clock, is what is timed. */
const ARRAYS = 100_000;

/** Turns of each way, and those before that do not count. */
const TURNS = 9;
const WARM_UP_TURNS = 2;

/** Doubles of an array: as many as V8 has in its own heap, and as an hour has minutes. */
const LENGTHS = [8, 60, 400] as const;

type Make = (length: number) => Float64Array;

const WAYS: readonly (readonly [string, Make])[] = [
  ['by itself', (length) => new Float64Array(length)],
  ['carved', carvedFloat64],
];

/** What all of them together come to; each lives until the next is made. */
function fill(make: Make, length: number): number {
  let sum = 0;
  for (let made = 0; made < ARRAYS; made++) {
    const array = make(length);
    array[made % length] = made;
    sum += array[made % length]! + array[(made + 1) % length]!;
  }
  return sum;
}

/** Nanoseconds an array, of each way; both in turn. */
function timeWays(length: number): readonly number[] {
  const samples = WAYS.map((): number[] => []);
  const sums = new Set<number>();
  for (let turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
    for (const [way, [, make]] of WAYS.entries()) {
      const startMs = performance.now();
      sums.add(fill(make, length));
      if (turn >= 0) samples[way]!.push(((performance.now() - startMs) * 1e6) / ARRAYS);
    }
  }
  assert(sums.size === 1, 'an array is zeros, whichever way it was made');
  return samples.map((ns) => figuresOf(ns).p50);
}

console.log(environmentLine());
for (const length of LENGTHS) {
  const [single, carved] = timeWays(length) as [number, number];
  console.log(
    `${length} doubles: ${single.toFixed(0)} ns by itself, ${carved.toFixed(0)} carved, ` +
      `${(single / carved).toFixed(1)} times; hash ${hashOf(`${fill(carvedFloat64, length)}`)}`,
  );
}

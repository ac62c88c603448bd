import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hint, nearestName } from '../../engine/nearest-name.ts';
import { runsOf } from '../support/budget.ts';

/** Optimal string alignment by its definition, with nothing left out. */
function distance(left: string, right: string): number {
  const of = (row: number, column: number): number => {
    if (row === 0 || column === 0) return row + column;
    const [a, b] = [left[row - 1], right[column - 1]];
    const isSwap = row > 1 && column > 1 && a === right[column - 2] && left[row - 2] === b;
    return Math.min(
      of(row - 1, column) + 1,
      of(row, column - 1) + 1,
      of(row - 1, column - 1) + Number(a !== b),
      isSwap ? of(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
    );
  };
  return of(left.length, right.length);
}

test('law: the nearest is the first of those with the fewest edits, however early a comparison ends', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      word,
      fc.array(word, { maxLength: 5 }),
      fc.nat({ max: 6 }),
      (name, candidates, editsMax) => {
        const distances = candidates.map((candidate) => distance(name, candidate));
        const fewest = Math.min(...distances, Number.POSITIVE_INFINITY);
        const expected = fewest <= editsMax ? candidates[distances.indexOf(fewest)] : undefined;
        assert.equal(nearestName(name, candidates, editsMax), expected);
      },
    ),
    { seed: 7, numRuns: runsOf(500) },
  );
});

test('a hint names what is near in any letter case, and nothing that is far', () => {
  assert.equal(hint('Projct', ['project', 'interval']), '; did you mean project?');
  assert.equal(hint('project', ['region']), '');
  assert.equal(
    hint('a'.repeat(30), [`${'a'.repeat(25)}bbbbb`]),
    `; did you mean ${'a'.repeat(25)}bbbbb?`,
  );
  assert.equal(hint('a'.repeat(30), [`${'a'.repeat(24)}bbbbbb`]), '');
});

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import {
  holdsText,
  indexOfText,
  placesOf,
  splitText,
} from '../../engine/function/text/text-units.ts';
import { StepCounter, totalOf } from '../hostile/step-counter.ts';
import { call as callFunction } from './call.ts';

const counter = new StepCounter('/engine/');
after(() => counter.close());

/** Texts of few letters, so that parts of them come again; short ones, and ones that V8 does not look for. */
const TEXT = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
const WANTED = fc
  .tuple(TEXT, fc.constantFrom(1, 30, 40))
  .map(([text, times]) => `${text}a`.repeat(times));

test('a text is found where V8 finds it, and splits others as V8 does', () => {
  fc.assert(
    fc.property(WANTED, fc.array(TEXT), fc.nat(20), (wanted, others, from) => {
      const text = others.join(wanted) + wanted.slice(1);
      assert.equal(indexOfText(text, wanted, from), text.indexOf(wanted, from));
      assert.equal(holdsText(text, wanted), text.includes(wanted));
      assert.deepEqual(splitText(text, wanted), text.split(wanted));
      const places = [...placesOf(text, wanted)];
      assert.deepEqual(
        places,
        Array.from(text, (_, at) => at).filter((at) => text.startsWith(wanted, at)),
      );
    }),
  );
});

const many = (count: number) => 'a'.repeat(count);

/** Calls that compare each character of a text with all of another, if they are careless. */
const CALLS: readonly (readonly [name: string, call: (count: number) => unknown])[] = [
  ['STRPOS', (count) => callFunction('strpos', many(2 * count), `b${many(count)}`)],
  ['STRPOS from behind', (count) => callFunction('strpos', many(2 * count), `${many(count)}ba`)],
  ['INSTR', (count) => callFunction('instr', many(2 * count), many(count), 1, count)],
  ['INSTR from behind', (count) => callFunction('instr', many(2 * count), many(count), -1, count)],
  ['REPLACE', (count) => callFunction('replace', many(2 * count), `${many(count)}ba`, '')],
  ['SPLIT', (count) => callFunction('split', many(2 * count), `${many(count)}ba`)],
  [
    'CONTAINS_SUBSTR',
    (count) => callFunction('contains_substr', many(2 * count), `${many(count)}ba`),
  ],
  ['LIKE', (count) => callFunction('like', many(2 * count), `%${many(count)}ba%`)],
  ['LIKE in pieces', (count) => callFunction('like', many(2 * count), `%a%${many(count)}ba%`)],
];

for (const [name, call] of CALLS) {
  test(`${name} takes steps in proportion to its texts`, () => {
    call(10);
    const once = totalOf(counter.count(() => void call(1000)));
    const twice = totalOf(counter.count(() => void call(2000)));
    assert.ok(once > 1000, `${once} steps: the work is counted`);
    assert.ok(twice <= 2.2 * once, `${once} steps, then ${twice}`);
  });
}

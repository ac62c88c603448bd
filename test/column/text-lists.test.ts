import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextBlock } from '../../engine/column/text-block.ts';
import { TextLists } from '../../engine/column/text-lists.ts';
import { arrayOf, INT64, type SqlType, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  constantVector,
  dictionaryVector,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';
import { boundOverload } from '../../engine/plan/call-facts.ts';
import { liftOverVectors } from '../../engine/plan/evaluator/lift.ts';

type Texts = readonly (string | null)[];

/** Strings end to end, each row with one of its own. */
function asBytes(texts: Texts): Vector {
  const block = new TextBlock(1);
  const codes = Int32Array.from(texts, (text) => (text === null ? -1 : block.addText(text)));
  return dictionaryVector(codes, texts.length, block.dictionary());
}

/** What a function gives for each row, or the message of its error. */
function results(
  call: { readonly name: string; readonly types: readonly SqlType[]; readonly type: SqlType },
  first: Vector,
  ...others: readonly SqlValue[]
): readonly SqlValue[] | string {
  const overload = boundOverload(call.name, call.types);
  const evaluate = liftOverVectors({ ...overload, type: call.type }, call.types.length);
  const vectors = [first, ...others.map((value) => constantVector(value, first.count))];
  try {
    const vector = evaluate(vectors, first.count);
    return Array.from({ length: first.count }, (_, row) => valueAt(vector, row));
  } catch (error) {
    return (error as Error).message;
  }
}

const anyText = fc.oneof(
  fc.constant(null),
  fc.constantFrom('', ',', 'a,b', ',,', '/rest/v1/', 'Straße', '😀,\ud83d', '\ude00😀', 'ſǆ'),
  fc.string({ maxLength: 12 }),
);

test('SPLIT of strings as bytes gives the parts that it gives of texts', () => {
  const split = { name: 'split', type: arrayOf(STRING) };
  const delimiter = fc.constantFrom(',', '/', '', 'aa', '😀', '\ud83d', 'x'.repeat(300));
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), delimiter, (texts, by) => {
      const call = { ...split, types: [STRING, STRING] };
      assert.deepEqual(results(call, asBytes(texts), by), results(call, valueVector(texts), by));
    }),
  );
  const call = { ...split, types: [STRING] };
  assert.deepEqual(results(call, asBytes(['a,b', null])), [['a', 'b'], null]);
});

test('UPPER, LOWER, LENGTH and STRPOS of strings as bytes give what they give of texts', () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), fc.boolean(), (texts, isUpper) => {
      const call = { name: isUpper ? 'upper' : 'lower', types: [STRING], type: STRING };
      assert.deepEqual(results(call, asBytes(texts)), results(call, valueVector(texts)));
      const length = { name: 'length', types: [STRING], type: INT64 };
      assert.deepEqual(results(length, asBytes(texts)), results(length, valueVector(texts)));
      const place = { name: 'strpos', types: [STRING, STRING], type: INT64 };
      assert.deepEqual(
        results(place, asBytes(texts), 'v'),
        results(place, valueVector(texts), 'v'),
      );
    }),
  );
});

test('texts of a chunk that are too long to be put end to end give the same', () => {
  const long = Array.from({ length: 40 }, (_, row) => `${row},${'é'.repeat(20_000)}`);
  for (const texts of [long, long.map((text) => text.replaceAll('é', 'ee'))]) {
    for (const [name, type, ...others] of [
      ['split', arrayOf(STRING), ','],
      ['upper', STRING],
      ['strpos', INT64, ','],
      ['length', INT64],
    ] as const) {
      const call = { name, types: [STRING, ...others.map(() => STRING)], type };
      assert.deepEqual(
        results(call, asBytes(texts), ...others),
        results(call, valueVector(texts), ...others),
      );
    }
  }
});

const LISTS = (() => {
  const block = new TextBlock(1);
  for (const text of ['a', '', 'b']) block.addText(text);
  return new TextLists(Int32Array.of(0, 2, 2, 3), block.dictionary(), Uint8Array.of(0, 1, 0));
})();

test('lists of strings are the lists they stand for', () => {
  assert.deepEqual(LISTS.values, [['a', ''], null, ['b']]);
  const { count, parents, elements } = LISTS.unnested();
  assert.deepEqual([count, parents], [3, Int32Array.of(0, 0, 2)]);
  assert.deepEqual(
    [0, 1, 2].map((row) => valueAt(elements, row)),
    ['a', '', 'b'],
  );
});

test('lengths and elements of lists of strings are those of the same lists one by one', () => {
  const plain = valueVector(LISTS.values);
  const length = { name: 'array_length', types: [arrayOf(STRING)], type: INT64 };
  assert.deepEqual(results(length, LISTS), [2, null, 1]);
  for (const name of ['array_offset', 'array_safe_offset', 'array_ordinal', 'array_safe_ordinal']) {
    const call = { name, types: [arrayOf(STRING), INT64], type: STRING };
    for (const position of [-1, 0, 1, 2, 3]) {
      const got = results(call, LISTS, position);
      assert.deepEqual(got, results(call, plain, position), `${name} ${position}`);
    }
  }
});

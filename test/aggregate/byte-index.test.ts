import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteIndex, rangeOfText } from '../../engine/aggregate/byte-index.ts';

test('runs of bytes are numbered as they are first met, wherever they lie', () => {
  const run = fc.uint8Array({ maxLength: 9, max: 3 });
  fc.assert(
    fc.property(fc.array(fc.tuple(run, fc.nat(5)), { maxLength: 200 }), (entries) => {
      const index = new ByteIndex();
      const expected = new Map<string, number>();
      for (const [bytes, before] of entries) {
        const name = bytes.join();
        const number = expected.get(name) ?? expected.size;
        expected.set(name, number);
        const lying = Uint8Array.of(...new Uint8Array(before), ...bytes, 7);
        const found = number < index.size ? number : -1;
        assert.equal(index.find(lying, before, before + bytes.length), found);
        assert.equal(index.add(lying, before, before + bytes.length), number);
        assert.equal(index.size, expected.size);
      }
      assert.deepEqual(namesOf(index), [...expected.keys()]);
    }),
  );
});

function namesOf(index: ByteIndex): readonly string[] {
  const texts = structuredClone(index.entries());
  return Array.from({ length: index.size }, (_, entry) => {
    const { bytes, start, end } = rangeOfText(texts, entry);
    return bytes.slice(start, end).join();
  });
}

test('texts that fill many pages are found, given and added to another index as few are', () => {
  const sizes = fc.array(fc.oneof(fc.nat(9), fc.nat(40_000)), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, sizes, fc.func(fc.boolean()), (ours, theirs, isWanted) => {
      const indexes = [ours, theirs].map((all) => {
        const index = new ByteIndex();
        const lying = new Uint8Array(40_000).fill(3);
        const names = new Set(all);
        for (const size of all) index.add(lying, 0, size);
        assert.deepEqual(
          namesOf(index),
          Array.from(names, (size) => lying.slice(0, size).join()),
        );
        return { index, names };
      }) as [{ index: ByteIndex; names: Set<number> }, { index: ByteIndex; names: Set<number> }];
      const [one, other] = indexes;
      const entries = Int32Array.from([...other.names].keys()).filter(isWanted);
      one.index.addAll(other.index.entries(), entries);
      const added = [...other.names].filter((_, at) => entries.includes(at));
      const expected = new Set([...one.names, ...added]);
      assert.deepEqual(
        namesOf(one.index).map((name) => (name === '' ? 0 : name.split(',').length)),
        [...expected],
      );
    }),
    { numRuns: 40 },
  );
});

test('entries of another index are added as one by one, with their hashes or without', () => {
  const run = fc.uint8Array({ maxLength: 2, max: 3 });
  // Beyond a megabyte entries come with their hashes.
  const long = new Uint8Array(2 ** 20);
  fc.assert(
    fc.property(
      fc.uniqueArray(run, { maxLength: 20, selector: String }),
      fc.uniqueArray(run, { maxLength: 20, selector: String }),
      fc.boolean(),
      fc.func(fc.boolean()),
      (ours, theirs, isLong, isWanted) => {
        const [one, other] = [new ByteIndex(), new ByteIndex()];
        for (const bytes of ours) one.add(bytes, 0, bytes.length);
        const all = isLong ? [...theirs, long] : theirs;
        for (const bytes of all) other.add(bytes, 0, bytes.length);
        const texts = other.entries();
        assert.equal(texts.hashes !== undefined, isLong);
        const entries = Int32Array.from(all.keys()).filter(isWanted);
        const expected = new Map(ours.map((bytes, number) => [String(bytes), number]));
        const size = one.size;
        const numbers = Array.from(entries, (entry) => {
          const name = String(all[entry]);
          // Of many all follow ours, those that we had among them.
          const number = expected.get(name) ?? (isLong ? size + entry : expected.size);
          expected.set(name, number);
          return number;
        });
        assert.deepEqual([...one.addAll(texts, entries)], numbers);
        assert.equal(one.size, isLong ? size + all.length : expected.size);
        for (const entry of entries) {
          const bytes = all[entry]!;
          assert.equal(one.find(bytes, 0, bytes.length), expected.get(String(bytes)));
        }
      },
    ),
    { numRuns: 60 },
  );
});

/**
 * The quick hash folds its highest bit into two bits of the next step, whatever the key: to flip these there
 * leaves no trace of it.
 */
test('strings that were made to collide are told apart, those from before among them', () => {
  const index = new ByteIndex();
  const pairCount = 10;
  const made = Array.from({ length: 2 ** pairCount }, (_, bits) => {
    const bytes = new Uint8Array(8 * pairCount);
    for (let pair = 0; pair < pairCount; pair++) {
      if (((bits >> pair) & 1) === 0) continue;
      bytes[8 * pair + 3] = 0x80;
      bytes[8 * pair + 7] = 0x80;
      bytes[8 * pair + 6] = 0x01;
    }
    return bytes;
  });
  const numbers = () => made.map((bytes) => index.add(bytes, 0, bytes.length));
  const expected = made.map((_, entry) => entry);
  assert.deepEqual(numbers(), expected);
  assert.deepEqual(numbers(), expected);
  const ours = new ByteIndex();
  assert.deepEqual([...ours.addAll(index.entries(), Int32Array.from(expected))], expected);
  assert.deepEqual([...ours.addAll(index.entries(), Int32Array.from(expected))], expected);
});

test('entries have so many bytes at most, and those that are there are found beyond', () => {
  const index = new ByteIndex(5);
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6);
  assert.equal(index.add(bytes, 0, 3), 0);
  assert.throws(() => index.add(bytes, 3, 6), {
    code: 'query_limit',
    message: /at most 5 bytes .*; got 6/,
  });
  assert.equal(index.size, 1);
  assert.equal(index.add(bytes, 3, 5), 1);
  assert.equal(index.add(bytes, 0, 3), 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AggregateState } from '../../engine/aggregate/aggregate-function.ts';
import { ChunkRuns } from '../../engine/aggregate/chunk-runs.ts';
import { countMarks, MarkedCodes, markedCodes } from '../../engine/aggregate/distinct.ts';
import { must } from '../../engine/assert.ts';
import { packUuid, UUID_BYTES } from '../../engine/column/number-vectors.ts';
import { type RangedStrings, StringRange } from '../../engine/column/string-values.ts';
import { DYNAMIC, STRING } from '../../engine/column/type.ts';
import {
  type Dictionary,
  type DictionaryVector,
  dictionaryVector,
} from '../../engine/column/vector.ts';
import { distinctMaker } from './rows-of-groups.ts';

const GROUP_COUNT = 3;

/** The text of a number: one of a UUID, or not. */
function textOf(number: number, isUuid: boolean): string {
  return isUuid ? `00000000-0000-0000-0000-${String(number).padStart(12, '0')}` : `t${number}`;
}

function dictionaryOf(texts: readonly string[], isUuid: boolean): Dictionary {
  const base = {
    size: texts.length,
    isDistinct: new Set(texts).size === texts.length,
    value: (code: number) => must(texts[code]),
    range: (code: number) => {
      const bytes = Buffer.from(must(texts[code]));
      return { bytes, start: 0, end: bytes.length };
    },
  };
  if (isUuid) {
    const uuids = new Uint8Array(UUID_BYTES * texts.length);
    for (const [code, text] of texts.entries()) {
      packUuid(Buffer.from(text), 0, text.length, uuids.subarray(UUID_BYTES * code));
    }
    return { ...base, uuids };
  }
  const offsets = new Uint32Array(texts.length + 1);
  for (const [code, text] of texts.entries()) offsets[code + 1] = offsets[code]! + text.length;
  return { ...base, strings: { bytes: Buffer.from(texts.join('')), offsets } };
}

/** Rows of codes in runs of a group, in some form of vector. */
type Rows = { readonly vector: DictionaryVector; readonly runs: ChunkRuns };

const anyRows: fc.Arbitrary<Rows> = fc
  .record({
    numbers: fc.array(fc.nat(12), { minLength: 1, maxLength: 8 }),
    areRepeated: fc.boolean(),
    isUuid: fc.boolean(),
    drawn: fc.array(fc.integer({ min: -1, max: 7 }), { minLength: 1, maxLength: 40 }),
    form: fc.constantFrom<Form>('codes', 'each', Uint8Array, Uint16Array, Uint32Array),
    cut: fc.nat(40),
    groups: fc.array(fc.nat(GROUP_COUNT - 1), { minLength: 2, maxLength: 2 }),
  })
  .map(({ numbers, areRepeated, isUuid, drawn, form, cut, groups }) => {
    const kept = areRepeated ? numbers : [...new Set(numbers)];
    const entries = dictionaryOf(
      kept.map((number) => textOf(number, isUuid)),
      isUuid,
    );
    const codes = drawn.map((code) => Math.min(code, kept.length - 1));
    const vector = vectorOf(codes, entries, form);
    const { count } = vector;
    const ends = cut > 0 && cut < count ? [cut, count] : [count];
    const runs = new ChunkRuns(
      Int32Array.from(groups.slice(0, ends.length)),
      Int32Array.from(ends),
      count,
    );
    return { vector, runs };
  });

type Form = 'codes' | 'each' | (new (codes: number[]) => Uint8Array | Uint16Array | Uint32Array);

function vectorOf(codes: readonly number[], entries: Dictionary, form: Form): DictionaryVector {
  if (form === 'codes') return dictionaryVector(Int32Array.from(codes), codes.length, entries);
  const hasEntryEach = form === 'each';
  const inPlace = hasEntryEach
    ? undefined
    : new form([0, ...codes.map((code) => Math.max(0, code))]);
  const column: RangedStrings = {
    entries,
    hasEntryEach,
    codes: inPlace,
    codesOf: (start, count) =>
      Int32Array.from({ length: count }, (_, row) => inPlace?.[start + row] ?? start + row),
  };
  return hasEntryEach
    ? new StringRange(() => column, entries.size - 1, 1)
    : new StringRange(() => column, 1, codes.length);
}

/** What a group is found to have, each row by itself. */
function expectedSets(parts: readonly Rows[]): Set<unknown>[] {
  const sets = Array.from({ length: GROUP_COUNT }, () => new Set<unknown>());
  for (const { vector, runs } of parts) {
    const groups = new Int32Array(runs.count);
    runs.spread(groups);
    for (const [row, code] of vector.codes.entries()) {
      if (code >= 0) sets[groups[row]!]!.add(vector.dictionary.value(code));
    }
  }
  return sets;
}

function feed(state: AggregateState, { vector, runs }: Rows, inRuns: boolean): void {
  if (inRuns && state.updateRuns?.(runs, GROUP_COUNT, [vector]) === true) return;
  const groups = new Int32Array(runs.count);
  runs.spread(groups);
  state.update(groups, runs.count, GROUP_COUNT, [vector]);
}

test('distinct values of rows in runs are those of the rows one by one', () => {
  const anyParts = fc.array(fc.tuple(anyRows, fc.boolean()), { maxLength: 5 });
  fc.assert(
    fc.property(anyParts, fc.boolean(), (parts, isSplit) => {
      const expected = expectedSets(parts.map(([rows]) => rows));
      for (const type of [STRING, DYNAMIC]) {
        const make = distinctMaker('count', type);
        const state = make();
        for (const [rows, inRuns] of parts) feed(state, rows, inRuns);
        let last = state;
        if (isSplit) {
          last = make();
          const same = Int32Array.from({ length: GROUP_COUNT }, (_, group) => group);
          last.combine(structuredClone(state.partial(GROUP_COUNT)), same, GROUP_COUNT);
        }
        for (const [group, { size }] of expected.entries())
          assert.equal(last.finalize(group), size);
      }
    }),
    { numRuns: 500 },
  );
});

test('other aggregates are given each marked value once', () => {
  const entries = dictionaryOf(['b', 'a', 'c'], false);
  const vector = dictionaryVector(Int32Array.of(0, 1, 1, 0, -1, 2), 6, entries);
  const runs = new ChunkRuns(Int32Array.of(0, 1), Int32Array.of(5, 6), 6);
  const state = distinctMaker('string_agg', STRING)();
  feed(state, { vector, runs }, true);
  assert.deepEqual(String(state.finalize(0)).split(',').toSorted(), ['a', 'b']);
  assert.equal(state.finalize(1), 'c');
});

test('codes are marked where there are rows enough for the marks, and where there are marks already', () => {
  const entries = dictionaryOf(
    Array.from({ length: 100 }, (_, number) => textOf(number, true)),
    true,
  );
  const marked = new MarkedCodes();
  const rows = (count: number): [ChunkRuns, DictionaryVector] => [
    new ChunkRuns(Int32Array.of(0), Int32Array.of(count), count),
    dictionaryVector(new Int32Array(count).fill(7), count, entries),
  ];
  assert.equal(marked.add(...rows(24)), false);
  assert.equal(marked.byteSize, 0);
  assert.equal(marked.add(...rows(25)), true);
  assert.equal(marked.byteSize, 101);
  assert.equal(marked.add(...rows(1)), true);
  const { marks } = must(marked.take().get(0)?.[0]);
  assert.equal(countMarks(marks), 1);
  assert.deepEqual(markedCodes(marks), Int32Array.of(7));
  assert.equal(marked.byteSize, 0);
});

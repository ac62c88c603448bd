import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ChunkRuns,
  type RunTally,
  TALLY_CODES_MAX,
  tallyRuns,
} from '../../engine/aggregate/chunk-runs.ts';
import { GroupTable } from '../../engine/aggregate/group-table.ts';
import { must } from '../../engine/assert.ts';
import {
  CodedTruths,
  IntegerCoding,
  PackedNumbers,
  RunNumbers,
} from '../../engine/column/number-vectors.ts';
import { BOOL, FLOAT64, INT64, STRING, TIMESTAMP } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import {
  booleanVector,
  constantVector,
  FALSE,
  numberVector,
  TRUE,
  type Vector,
} from '../../engine/column/vector.ts';
import { maker } from './rows-of-groups.ts';

const GROUP_COUNT = 3;

const CODE_MAX = 20;

const codings = fc.constantFrom(
  IntegerCoding.inSteps(0, 1, CODE_MAX),
  IntegerCoding.inSteps(-7, 1, CODE_MAX),
  IntegerCoding.inSteps(100, 1000, CODE_MAX),
  IntegerCoding.inSteps(65_530, 1, CODE_MAX),
  IntegerCoding.byTable(Float64Array.from({ length: CODE_MAX + 1 }, (_, code) => code ** 3 - 500)),
);

/** Integers with the array they lie in longer at both ends, and ends of up to three runs. */
const chunks = fc
  .record({
    codes: fc.array(fc.nat(CODE_MAX), { minLength: 70, maxLength: 90 }),
    width: fc.constantFrom(Uint8Array, Uint16Array, Uint32Array),
    coding: codings,
    cuts: fc.uniqueArray(fc.integer({ min: 1, max: 69 }), { maxLength: 2 }),
    groups: fc.array(fc.nat(GROUP_COUNT - 1), { minLength: 3, maxLength: 3 }),
  })
  .map(({ codes, width, coding, cuts, groups }) => {
    const numbers = new PackedNumbers(
      width.from([255, 255, ...codes, 255]),
      { start: 2, count: codes.length, isAscending: false },
      coding,
    );
    const ends = Int32Array.from([...cuts.toSorted((a, b) => a - b), codes.length]);
    return { numbers, runs: new ChunkRuns(Int32Array.from(groups), ends, codes.length) };
  });

function spread(runs: ChunkRuns): Int32Array {
  const groups = new Int32Array(runs.count);
  runs.spread(groups);
  return groups;
}

test('runs are counted as their rows are', () => {
  fc.assert(
    fc.property(chunks, ({ numbers, runs }) => {
      expectTally(numbers, runs.ends);
    }),
  );
});

const ascending = (left: number, right: number) => left - right;

function expectTally(numbers: PackedNumbers, runEnds: Int32Array): void {
  const tally = must(tallyRuns(numbers, runEnds));
  for (let run = 0; run < runEnds.length; run++) {
    const rows = numbers.values.slice(runEnds[run - 1] ?? 0, runEnds[run]);
    const entries = [tally.ends[run - 1] ?? 0, tally.ends[run]] as const;
    const distinct = [...new Set(rows)].sort(ascending);
    const got = integersOf(tally).slice(...entries);
    const counts = [...tally.counts.slice(...entries)];
    assert.deepEqual(got, distinct);
    assert.deepEqual(
      counts,
      distinct.map((value) => rows.filter((row) => row === value).length),
    );
    assert.equal(
      tally.sums[run],
      rows.reduce((sum, value) => sum + value, 0),
    );
  }
}

function integersOf({ codes, coding, ends }: RunTally): readonly number[] {
  return Array.from(codes.subarray(0, ends.at(-1)), (code) => coding.value(code));
}

test('runs of few rows are counted as their rows are, however many codes there are', () => {
  const runLengths = fc.array(fc.constantFrom(1, 2, 3, 16, 17, 40), { minLength: 1, maxLength: 6 });
  const codeMax = fc.constantFrom(20, 31, 32, 63, 254, 65_535);
  fc.assert(
    fc.property(runLengths, codeMax, fc.infiniteStream(fc.nat()), (lengths, most, stream) => {
      const ends = Int32Array.from(lengths);
      for (let run = 1; run < ends.length; run++) ends[run]! += ends[run - 1]!;
      const count = ends.at(-1)!;
      const codes = Uint16Array.from({ length: count }, () => stream.next().value % (most + 1));
      const range = { start: 0, count, isAscending: false };
      const numbers = new PackedNumbers(codes, range, IntegerCoding.inSteps(5, 1, most));
      expectTally(numbers, ends);
    }),
  );
});

test('runs of many rows are counted as their rows are, at both ends of the codes', () => {
  const codeMax = fc.constantFrom(0, 1, 14, 15, 16, 17, 31, 32, 100, 254);
  const widths = fc.constantFrom(Uint8Array, Uint16Array, Uint32Array);
  fc.assert(
    fc.property(codeMax, widths, fc.infiniteStream(fc.nat()), (most, width, stream) => {
      const ends = Int32Array.of(130, 259, 600);
      const place = (): number => stream.next().value;
      const code = () => [0, most, place() % (most + 1)][place() % 3]!;
      const codes = width.from(Array.from({ length: 600 }, code));
      const range = { start: 0, count: 600, isAscending: false };
      expectTally(new PackedNumbers(codes, range, IntegerCoding.inSteps(-3, 2, most)), ends);
    }),
  );
});

test('codes too many, or sums that may not be exact, are not counted', () => {
  const range = { start: 0, count: 40, isAscending: false };
  const tally = (coding: IntegerCoding) =>
    tallyRuns(new PackedNumbers(new Uint8Array(40), range, coding), Int32Array.of(40));
  assert.notEqual(tally(IntegerCoding.inSteps(0, 1, 39)), undefined);
  assert.notEqual(tally(IntegerCoding.inSteps(0, 1, TALLY_CODES_MAX - 1)), undefined);
  assert.equal(tally(IntegerCoding.inSteps(0, 1, TALLY_CODES_MAX)), undefined);
  assert.notEqual(tally(IntegerCoding.inSteps(2 ** 47, 1, 0)), undefined);
  assert.equal(tally(IntegerCoding.inSteps(2 ** 48, 1, 0)), undefined);
  const many = { start: 0, count: TALLY_CODES_MAX - 1, isAscending: false };
  const codes = new Uint32Array(many.count);
  const wide = (codeMax: number) =>
    tallyRuns(
      new PackedNumbers(codes, many, IntegerCoding.inSteps(0, 1, codeMax)),
      Int32Array.of(many.count),
    );
  assert.notEqual(wide(TALLY_CODES_MAX - 1), undefined);
  assert.equal(wide(TALLY_CODES_MAX), undefined);
});

test('as many rows of one code are counted as a counter can count, and no more', () => {
  const rowsMax = 65_535;
  const tally = (count: number) => {
    const range = { start: 1, count, isAscending: false };
    const codes = new Uint8Array(count + 1).fill(7);
    return tallyRuns(
      new PackedNumbers(codes, range, IntegerCoding.inSteps(0, 1, 7)),
      Int32Array.of(count),
    );
  };
  const countsOf = ({ counts, ends }: RunTally) => [...counts.slice(0, ends.at(-1))];
  assert.deepEqual(countsOf(must(tally(rowsMax))), [rowsMax]);
  assert.deepEqual(countsOf(must(tally(rowsMax - 1))), [rowsMax - 1]);
  assert.equal(tally(rowsMax + 1), undefined);
});

test('a tally that another has written over is made anew', () => {
  const range = { start: 0, count: 3, isAscending: false };
  const coding = IntegerCoding.inSteps(0, 1, 200);
  const numbers = new PackedNumbers(Uint8Array.of(9, 2, 9), range, coding);
  const others = new PackedNumbers(Uint8Array.of(100, 101, 102), range, coding);
  const runs = new ChunkRuns(Int32Array.of(0), Int32Array.of(3), 3);
  const before = must(runs.tally(numbers));
  assert.equal(runs.tally(numbers), before, 'as long as none was made since');
  new ChunkRuns(Int32Array.of(0), Int32Array.of(3), 3).tally(others);
  const anew = must(runs.tally(numbers));
  const { counts, ends } = anew;
  assert.deepEqual(integersOf(anew), [2, 9]);
  assert.deepEqual([...counts.slice(0, ends[0])], [1, 2]);
});

const AGGREGATES = [
  maker('min', FLOAT64),
  maker('max', FLOAT64),
  maker('sum', INT64),
  maker('avg', FLOAT64),
  maker('sum', FLOAT64),
  maker('count', FLOAT64),
  maker('approx_quantiles', FLOAT64, [4]),
];

test('aggregates take runs of integers as they take rows', () => {
  const parts = fc.array(chunks, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(parts, fc.constantFrom(...AGGREGATES), (given, make) => {
      const byRuns = make();
      const byRows = make();
      for (const { numbers, runs } of given) {
        assert.equal(byRuns.updateRuns?.(runs, GROUP_COUNT, [numbers]), true);
        const plain = numberVector(numbers.values, numbers.count);
        byRows.update(spread(runs), numbers.count, GROUP_COUNT, [plain]);
      }
      for (let group = 0; group < GROUP_COUNT; group++) {
        assert.deepEqual(byRuns.finalize(group), byRows.finalize(group));
      }
    }),
  );
});

test('sums of runs go on where doubles are not exact any more', () => {
  const coding = IntegerCoding.inSteps(2 ** 45, 1, 1);
  const range = { start: 0, count: 100, isAscending: false };
  const numbers = new PackedNumbers(
    Uint8Array.from({ length: 100 }, (_, i) => i & 1),
    range,
    coding,
  );
  const runs = new ChunkRuns(Int32Array.of(0), Int32Array.of(100), 100);
  const state = maker('sum', INT64)();
  for (let chunk = 0; chunk < 200; chunk++) state.updateRuns?.(runs, 1, [numbers]);
  assert.equal(state.finalize(0), 200n * (100n * 2n ** 45n + 50n));
});

test('what is TRUE is counted by row or by code, whatever the width', () => {
  const truths = fc.array(fc.constantFrom(0, 1, 2), { minLength: 21, maxLength: 21 });
  fc.assert(
    fc.property(chunks, truths, fc.nat(3), fc.nat(3), (chunk, truthOfCode, every, countMax) => {
      const { numbers } = chunk;
      const { groups, ends, count } = chunk.runs;
      const runs = new ChunkRuns(groups, ends, count, { countMax });
      const { codes, start } = numbers;
      const ofCode = Array.from({ length: numbers.count }, (_, i) =>
        must(truthOfCode[codes[start + i]!]),
      );
      const exceptions = ofCode.flatMap((truth, i) =>
        (truth === FALSE || truth === TRUE) && i % 4 < every ? [i] : [],
      );
      const coded = new CodedTruths(
        numbers,
        Uint8Array.from(truthOfCode),
        Int32Array.from(exceptions),
      );
      const byRuns = maker('countif', BOOL)();
      assert.equal(byRuns.updateRuns?.(runs, GROUP_COUNT, [coded]), true);
      const byRows = maker('countif', BOOL)();
      const plain = booleanVector(coded.values, coded.count);
      byRows.update(spread(runs), coded.count, GROUP_COUNT, [plain]);
      for (let group = 0; group < GROUP_COUNT; group++) {
        assert.equal(byRuns.finalize(group), byRows.finalize(group));
      }
      const expected = ofCode.map((truth, i) =>
        exceptions.includes(i) ? TRUE + FALSE - truth : truth,
      );
      assert.deepEqual([...coded.values], expected);
    }),
  );
});

test('tests of the same integers are counted for the chunks to come', () => {
  const range = { start: 0, count: 4, isAscending: false };
  const coding = IntegerCoding.inSteps(0, 1, 3);
  const [one, other] = [new Uint8Array(4), new Uint8Array(4)].map(
    (codes) => new PackedNumbers(codes, range, coding),
  );
  const known = { countMax: 0 };
  const runs = () => new ChunkRuns(Int32Array.of(0), Int32Array.of(4), 4, known);
  const first = runs();
  assert.deepEqual(
    [one, one, other, one].map((numbers) => first.noteTest(numbers!)),
    [1, 2, 2, 2],
  );
  const second = runs();
  assert.deepEqual(
    [one, one, one].map((numbers) => second.noteTest(numbers!)),
    [2, 2, 3],
  );
});

test('a chunk has runs when its keys are in runs or constant', () => {
  const table = new GroupTable([TIMESTAMP, STRING]);
  const times = new RunNumbers(Float64Array.of(60, 120, 60), Int32Array.of(2, 3, 7), 7);
  const runs = must(table.assignRuns([times, constantVector('a', 7)], 7));
  assert.deepEqual([...runs.groups], [0, 1, 0]);
  assert.deepEqual([...spread(runs)], [0, 0, 1, 0, 0, 0, 0]);
  const values: SqlValue[] = [0, 1].map((group) => table.key(group, 0));
  assert.deepEqual(values, [60, 120]);
  const rows: Vector = numberVector(Float64Array.from({ length: 7 }), 7);
  assert.equal(table.assignRuns([times, rows], 7), undefined);
  const none = must(new GroupTable([]).assignRuns([], 5));
  assert.deepEqual([[...none.groups], [...none.ends]], [[0], [5]]);
});

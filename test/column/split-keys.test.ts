import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GroupTable } from '../../engine/aggregate/group-table.ts';
import { STRING } from '../../engine/column/type.ts';
import {
  dictionaryVector,
  type SplitBlock,
  type Vector,
  valueVector,
} from '../../engine/column/vector.ts';
import { engineJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { splitColumn } from './split-column.ts';

const word = fc.constantFrom('orders', 'profiles', 'a', 'naïve', 'files');
const number = fc.constantFrom(0, 7, 127, 128, 300, 70_000, 9_007_199_254);
const path = fc.oneof(
  word.map((name) => `/rest/v1/${name}`),
  fc.tuple(word, number).map(([name, id]) => `/object/${name}/${id}.png`),
  fc.tuple(word, number, number).map(([name, id, other]) => `/o/${name}/${id}/${other}`),
  fc.uuid().map((id) => `/u/${id}`),
);
const query = fc.oneof(
  fc.constant(''),
  number.map((id) => `?id=eq.${id}`),
  fc.constant('#end'),
);
const strings = fc.array(fc.tuple(fc.constantFrom('', 'https://one.example'), path, query), {
  minLength: 300,
  maxLength: 600,
});

test('strings taken apart that have one short key are equal', () => {
  let keyCount = 0;
  fc.assert(
    fc.property(strings, (drawn) => {
      for (const hasHead of [false, true]) {
        const urls = drawn.map(([head, rest, tail]) => `${hasHead ? head : ''}${rest}${tail}`);
        const columns = splitColumn(
          drawn.map(([, rest], row) => ({ url: urls[row]!, path: rest })),
        );
        for (const { split, values } of columns) keyCount += expectKeysOfEquals(split, values);
      }
    }),
    { numRuns: 4 },
  );
  assert.ok(keyCount > 0, 'some strings have short keys');
});

/** How many keys there are. */
function expectKeysOfEquals(split: SplitBlock, values: readonly string[]): number {
  const valueOfKey = new Map<number, string>();
  for (const [code, value] of values.entries()) {
    const key = split.shortKey(code);
    if (key < 0) continue;
    assert.ok(Number.isSafeInteger(key));
    assert.equal(value, valueOfKey.get(key) ?? value);
    valueOfKey.set(key, value);
  }
  return valueOfKey.size;
}

test('strings taken apart are the same keys in each column that has them', () => {
  fc.assert(
    fc.property(
      strings,
      strings,
      fc.constantFrom('', 'https://one.example'),
      (some, more, head) => {
        const table = new GroupTable([STRING]);
        const groupOf = new Map<string, number>();
        for (const drawn of [some, more, some]) {
          const records = drawn.map(([, rest, tail]) => ({
            url: `${head}${rest}${tail}`,
            path: rest,
          }));
          for (const { split, values } of splitColumn(records)) {
            const vector = dictionaryVector(Int32Array.from(values.keys()), values.length, {
              ...{ size: values.length, isDistinct: false, split },
              value: (code) => values[code]!,
            });
            const groups = table.assign([vector], values.length);
            for (const [row, value] of values.entries()) {
              const group = groups[row]!;
              assert.equal(group, groupOf.get(value) ?? groupOf.size);
              groupOf.set(value, group);
              assert.equal(table.key(group, 0), value);
            }
          }
        }
        assert.equal(table.size, groupOf.size);
      },
    ),
    { numRuns: 4 },
  );
});

test('strings taken apart are the same keys as whole ones, also across tables', () => {
  fc.assert(
    fc.property(strings, strings, (some, more) => {
      const tables = [new GroupTable([STRING]), new GroupTable([STRING])];
      const all = new GroupTable([STRING]);
      const expected = new Set<string>();
      for (const [index, drawn] of [some, more].entries()) {
        const table = tables[index]!;
        const known = new Map<string, number>();
        const expectGroups = (vector: Vector, values: readonly string[]): void => {
          const groups = table.assign([vector], values.length);
          for (const [row, value] of values.entries()) {
            assert.equal(groups[row], known.get(value) ?? known.size);
            known.set(value, groups[row]!);
            expected.add(value);
          }
        };
        const paths = drawn.map(([, rest]) => rest);
        // Before, between and after those taken apart.
        expectGroups(valueVector(paths.slice(0, 100)), paths.slice(0, 100));
        for (const { split, values } of splitColumn(paths.map((path) => ({ url: path, path })))) {
          const dictionary = { size: values.length, isDistinct: false, split };
          const codes = Int32Array.from(values.keys());
          const value = (code: number) => values[code]!;
          expectGroups(dictionaryVector(codes, values.length, { ...dictionary, value }), values);
          expectGroups(valueVector(paths), paths);
        }
      }
      for (const table of tables) {
        const groups = all.combine(structuredClone(table.keys()));
        for (const [group, ours] of groups.entries()) {
          assert.equal(all.key(ours, 0), table.key(group, 0));
        }
      }
      assert.equal(all.size, expected.size);
    }),
    { numRuns: 4 },
  );
});

/** Each string may be a group, and groups are finished a few at a time, for each aggregate. */
const CHECKPOINTS_MAX = 1000;

test('law 5: strings taken apart are grouped, and tested by their beginnings, as others are', () => {
  fc.assert(
    fc.property(
      strings,
      fc.constantFrom('/rest', '/object/a', 'https://', '', '/o%', '_'),
      (drawn, start) => {
        const events = drawn.map(([head, rest, tail], row) => ({
          id: `id-${row}`,
          timestampUs: row,
          metadata: [{ url: `${head}${rest}${tail}`, path: rest }],
        }));
        const open = segmentsOfEvents(events, 0);
        const sealed = segmentsOfEvents(events, events.length);
        for (const column of ['url', 'path']) {
          const sql = `SELECT m.${column} AS c, COUNT(*) AS n, COUNT(DISTINCT m.path) AS paths,
          COUNTIF(STARTS_WITH(m.url, '${start}')) AS started
          FROM logs t CROSS JOIN UNNEST(t.metadata) m
          WHERE NOT STARTS_WITH(m.path, '/u') OR STARTS_WITH(m.url, '${start}') GROUP BY c`;
          const answer = engineJson(sql, sealed, 'optimized', CHECKPOINTS_MAX);
          assert.equal(answer, engineJson(sql, open, 'optimized', CHECKPOINTS_MAX));
        }
      },
    ),
    { numRuns: 4 },
  );
});

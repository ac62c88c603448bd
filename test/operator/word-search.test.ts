import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitStringsWith } from '../../engine/column/split-index.ts';
import { SoughtText } from '../../engine/column/text-signature.ts';
import { constantVector, TRUE, UNKNOWN, valueAt } from '../../engine/column/vector.ts';
import { ByteSearch, WordSearch } from '../../engine/plan/evaluator/text-search.ts';
import { anyUrls } from '../column/any-url.ts';
import { type SplitColumn, splitColumn } from '../column/split-column.ts';
import { assertCovered } from '../support/covered-property.ts';

/** URLs with their paths, which are cut out of them. */
function columnsOf(urls: readonly string[]): SplitColumn[] {
  return splitColumn(
    urls.map((url) => ({
      url,
      path: url.replace(/^[a-z]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, ''),
    })),
  );
}

/** Strings in any order, by their codes and as ranges; whether a word was looked for without an automaton. */
function expectSame(text: string, { split, values }: SplitColumn, order: number): boolean {
  const search = new ByteSearch(text);
  const ascending = [...values.keys()];
  const codes = Int32Array.from([...ascending.filter((code) => code % order === 0), -1]);
  const shuffled = Int32Array.from(ascending, (index) => (index * 7919) % values.length);
  const expectEach = () => {
    for (const some of [codes, shuffled]) {
      const truths = search.testSplit(split, some, some.length);
      for (const [index, code] of some.entries()) {
        if (code < 0) equal(truths[index], UNKNOWN);
        else
          equal(truths[index] === TRUE, values[code]!.includes(text), `${values[code]}: ${text}`);
      }
    }
  };
  expectEach();
  // The same where a scan has asked before which strings may hold the text: of all of them, or of some.
  for (const end of [values.length, order]) {
    const among = { start: 0, end };
    splitStringsWith(split, new SoughtText(text), Int32Array.of(0, end), among);
    expectEach();
  }
  for (const [start, end] of [
    [0, values.length],
    [order, Math.min(values.length, 3 * order + 2)],
  ] as const) {
    const truths = search.testRange(split, start, end - start);
    for (let code = start; truths !== undefined && code < end; code++) {
      equal(valueAt(truths, code - start), values[code]!.includes(text), values[code]);
    }
  }
  const sought = new SoughtText(text);
  return sought.isOfWord && new WordSearch(sought).test(split, codes, codes.length) !== undefined;
}

test('a word is found in just the strings taken apart, and cut out of these, that it is found in', async () => {
  let splitCount = 0;
  let wordCount = 0;
  await assertCovered(
    fc.property(
      anyUrls(400),
      fc.array(
        fc.record({ row: fc.nat(), start: fc.nat(60), size: fc.integer({ min: 1, max: 9 }) }),
        {
          minLength: 6,
          maxLength: 6,
        },
      ),
      fc.integer({ min: 1, max: 40 }),
      (urls, cuts, order) => {
        for (const column of columnsOf(urls)) {
          splitCount++;
          for (const { row, start, size } of cuts) {
            const words = urls[row % urls.length]!.slice(start).match(/[a-zA-Z0-9_Ä-ü]+/) ?? [
              'rest',
            ];
            if (expectSame(words[0].slice(0, size), column, order)) wordCount++;
          }
        }
      },
    ),
    {
      numRuns: 40,
      isEnough: () => splitCount > 5 && wordCount > 50,
      met: () => `${splitCount} columns were taken apart, ${wordCount} words were looked for`,
    },
  );
});

test('a word in a host, a constant, a numbered word, text, or what was cut off is told apart', () => {
  const urls = Array.from({ length: 4_000 }, (_, n) => {
    const host = `https://tenant${Math.floor(n / 400)}.example.com`;
    if (n % 50 === 7) return `${host}/auth?redirect_to=https://tenant${n % 9}.example.com&n=${n}`;
    if (n % 100 === 9) return `${host}/v1/seldom_${n % 7}/x?id=eq.${n}`;
    if (n % 999 === 0) return `${host}/ one/!tenant2/#/${'ß'.repeat(n % 5)}/once_${n}`;
    return `${host}/rest/v1/orders/${n}?select=*&order=seldom_${n % 90}&id=eq.${n * 7919}`;
  });
  const columns = columnsOf(urls);
  equal(columns.length, 2);
  for (const column of columns) {
    for (const word of ['tenant3', 'tenant', 'seldom_3', 'eldom', 'orders', 'once_', 'nowhere']) {
      expectSame(word, column, 3);
    }
  }
  const [{ split }] = columns as [SplitColumn];
  deepEqual(new ByteSearch('tenant1').testRange(split, 410, 300), constantVector(true, 300));
});

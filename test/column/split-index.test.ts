import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import type { RowRanges } from '../../engine/column/positions.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { splitStringsWith } from '../../engine/column/split-index.ts';
import { SoughtText } from '../../engine/column/text-signature.ts';
import type { SplitBlock } from '../../engine/column/vector.ts';
import { assertCovered } from '../support/covered-property.ts';
import { anyUrls } from './any-url.ts';
import { batchOf } from './batch-of.ts';

/** URLs as a sealed segment keeps them; `undefined` when it does not take them apart. */
function splitOf(urls: readonly string[]): SplitBlock | undefined {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  const events = urls.map((url, n) => ({ timestampUs: n, metadata: { url } }));
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  const [buffer] = sealSegment(segment.handle(), { partitionUs: 1e17 });
  const reader = SealedSegmentReader.open(buffer!);
  const rows = Int32Array.from(urls, (_, row) => row);
  const roots = reader.roots(rows, rows.length);
  const metadata = roots.source.field(roots, 'metadata');
  assert.ok(metadata.kind === 'nested');
  const vector = metadata.source.field(metadata, 'url');
  return vector.kind === 'dictionary' ? vector.dictionary.split : undefined;
}

/** As where blocks tell nothing. */
function all({ shapeCodes }: SplitBlock): RowRanges {
  return Int32Array.of(0, shapeCodes.length);
}

function rowsIn(ranges: RowRanges): number[] {
  const rows: number[] = [];
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) rows.push(row);
  }
  return rows;
}

function rowsHolding(urls: readonly string[], text: string): number[] {
  return urls.flatMap((url, row) => (url.includes(text) ? [row] : []));
}

const URLS = Array.from({ length: 4000 }, (_, n) => {
  const host = `https://tenant${Math.floor(n / 400)}.example.com`;
  if (n % 50 === 7) return `${host}/auth?redirect_to=https://tenant${n % 9}.example.com&n=${n}`;
  if (n % 1000 === 0) return `${host}/rest/v1/seldom_read?id=eq.${n}`;
  return `${host}/rest/v1/orders?select=*&id=eq.${n * 7919}`;
});

test('a word of few strings is found in heads and among the numbered words, and nowhere else', () => {
  const split = splitOf(URLS);
  assert.ok(split !== undefined);
  for (const word of ['tenant3', 'tenant10', 'enant4', 'seldom_read', 'eldom_rea', 'nowhere']) {
    const ranges = splitStringsWith(split, new SoughtText(word), all(split));
    assert.ok(ranges !== undefined, word);
    assert.deepEqual(rowsIn(ranges), rowsHolding(URLS, word), word);
  }
});

test('there is no telling of a text with delimiters, of digits alone, or of one that most have', () => {
  const split = splitOf(URLS);
  assert.ok(split !== undefined);
  for (const text of ['/auth', 'tenant3.example', '7919', 'abc', '', 'orders', 'select']) {
    assert.equal(splitStringsWith(split, new SoughtText(text), all(split)), undefined, text);
  }
});

test('only strings of the blocks that may hold a word are told', () => {
  const split = splitOf(URLS);
  assert.ok(split !== undefined);
  for (const blocks of [
    [],
    [0, 50],
    [390, 410, 3_000, 4_000],
    [7, 8, 57, 58, 400, 401, 1_000, 1_001, 2_000, 2_300],
  ]) {
    for (const word of ['tenant3', 'seldom_read', 'nowhere']) {
      const told = splitStringsWith(split, new SoughtText(word), Int32Array.from(blocks));
      assert.ok(told !== undefined, word);
      const inside = new Set(rowsIn(Int32Array.from(blocks)));
      const holding = new Set(rowsHolding(URLS, word));
      const rows = rowsIn(told);
      assert.ok(rows.every((row) => holding.has(row)));
      const wanted = [...inside].filter((row) => holding.has(row));
      assert.ok(
        wanted.every((row) => rows.includes(row)),
        `${word} in ${blocks}`,
      );
    }
  }
});

test('no string that holds a word is left out, whatever they look like', async () => {
  const anyWord = fc.oneof(
    fc.constantFrom('rest', 'x', 'orders', 'Ä_z', '_', 'deadbeefx', 'w', 't'),
    fc.stringMatching(/^[a-zA-Z0-9_]{1,4}$/),
  );
  let toldCount = 0;
  await assertCovered(
    fc.property(anyUrls(300), fc.array(anyWord, { minLength: 5, maxLength: 5 }), (urls, words) => {
      const split = splitOf(urls);
      if (split === undefined) return;
      for (const word of words) {
        const ranges = splitStringsWith(split, new SoughtText(word), all(split));
        if (ranges === undefined) continue;
        toldCount++;
        const told = new Set(rowsIn(ranges));
        for (const row of rowsHolding(urls, word))
          assert.ok(told.has(row), `${urls[row]}: ${word}`);
      }
    }),
    { numRuns: 60, isEnough: () => toldCount > 20, met: () => `${toldCount} words were told` },
  );
});

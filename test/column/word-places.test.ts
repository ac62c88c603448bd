import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isHole, isWhole, PartReader, WORD } from '../../engine/column/split-shape.ts';
import type { SplitBlock } from '../../engine/column/vector.ts';
import { runsOf } from '../support/budget.ts';
import { anyUrls } from './any-url.ts';
import { splitColumn } from './split-column.ts';

const ROWS = 400;

/** The words in the holes of the strings of a block, by their numbers, ascending. */
function wordsInHoles(split: SplitBlock): readonly number[] {
  const { shapes, shapeCodes, parts } = split;
  const found = new Set<number>();
  const reader = new PartReader();
  for (const [code, shape] of shapeCodes.entries()) {
    if (isWhole(shapes, shape)) continue;
    reader.at = split.partStart(code);
    for (const hole of shapes.bytes.subarray(shapes.offsets[shape], shapes.offsets[shape + 1])) {
      if (hole === WORD) found.add(reader.count(parts));
      else if (isHole(hole)) reader.skip(hole, parts);
    }
  }
  return [...found].sort((left, right) => left - right);
}

/** Checks what is known of the columns cut out of others; gives how many words each does not hold. */
function expectKnown(urls: readonly string[]): readonly number[] {
  const records = urls.map((url) => {
    const path = url.replace(/^[a-z]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '');
    return { url, path };
  });
  return splitColumn(records).flatMap(({ split }) => {
    const { isWordHeld, shapesAlike, shapes } = split;
    if (isWordHeld === undefined || shapesAlike === undefined) return [];
    const held = [...isWordHeld.keys()].filter((word) => isWordHeld[word] === 1);
    deepEqual(held, wordsInHoles(split));
    const { bytes, offsets } = shapes;
    const texts = Array.from(shapesAlike, (_, shape) =>
      Buffer.from(bytes.subarray(offsets[shape], offsets[shape + 1])).toString('latin1'),
    );
    for (const [shape, first] of shapesAlike.entries()) equal(first, texts.indexOf(texts[shape]!));
    return [split.words.offsets.length - 1 - held.length];
  });
}

test('of what is cut out of URLs it is known which words it holds, and which shapes are alike', () => {
  fc.assert(
    fc.property(anyUrls(ROWS), (urls) => {
      expectKnown(urls);
    }),
    { numRuns: runsOf(60) },
  );
});

test('words of a query are none of the path', () => {
  const urls = Array.from({ length: 4_500 }, (_, n) => {
    const path = `/v1/${n % 700 === 3 ? `author_${n % 7}` : `t_${n % 60}`}/${n}`;
    return `https://abc.example.com${path}?order=${n % 3 === 0 ? `author_${n % 9}` : `s_${n % 50}`}&id=eq.${n}`;
  });
  const [lackingCount] = expectKnown(urls);
  ok(lackingCount !== undefined && lackingCount > 10, `${lackingCount} words are none of the path`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { prefixesOf } from '../../engine/column/string-values.ts';
import type { SplitBlock } from '../../engine/column/vector.ts';
import { runsOf } from '../support/budget.ts';
import { assertCovered } from '../support/covered-property.ts';
import { anyUrls } from './any-url.ts';
import { batchOf, type EventValue } from './batch-of.ts';

const PATH = ['metadata', 'url'];

/** What a sealed segment has at the path; `undefined`: some of it is not taken apart, or may be elsewhere. */
function splitsOf(urls: readonly EventValue[]) {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  const events = urls.map((url, n) => ({ timestampUs: n, metadata: { url } }));
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  const [buffer] = sealSegment(segment.handle(), { partitionUs: 1e17 });
  return SealedSegmentReader.open(buffer!).splitsAt(PATH);
}

/**
 * Read off each string: scheme of eleven bytes at most, host and the byte behind; one that ends with `://` has neither.
 * Some columns have equal strings once.
 */
function prefixesRead(
  { shapeCodes }: SplitBlock,
  urls: readonly string[],
): Map<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const url of shapeCodes.length === urls.length ? urls : new Set(urls)) {
    const [found, scheme] = /^([^:]*):\/\/(?!$)[^/?#]*/.exec(url) ?? ['', ''];
    const head = Buffer.byteLength(scheme!) > 11 ? '' : found;
    if (head !== '' && head === url) return undefined;
    const prefix = head === '' ? '' : url.slice(0, head.length + 1);
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return counts;
}

const HOSTS = ['https://a.example.com', 'http://b.example.com', 'wss://c.example.com:8080'];

/** Long stretches of one host, so that these are taken apart. */
const stretches = fc.array(
  fc.record({
    host: fc.constantFrom(...HOSTS, ''),
    behind: fc.constantFrom('/', '/', '/', '/', '?', '#'),
    count: fc.integer({ min: 500, max: 1500 }),
  }),
  { minLength: 1, maxLength: 6 },
);

test('prefixes are those that each string begins with, and as many', async () => {
  let toldCount = 0;
  await assertCovered(
    fc.property(stretches, fc.option(fc.constantFrom(...HOSTS, '', 'x')), (parts, other) => {
      const urls = parts.flatMap(({ host, behind, count }, part) =>
        Array.from(
          { length: count },
          (_, n) => `${host}${behind}orders/${part}/list?id=${n * 7919}&select=${n % 17}`,
        ),
      );
      if (other !== null) urls.splice(urls.length >> 1, 0, other);
      const splits = splitsOf(urls);
      if (splits === undefined || !splits[0]!.hasHeads) return;
      assert.equal(splits.length, 1);
      assert.deepEqual(prefixesOf(splits[0]!, 100), prefixesRead(splits[0]!, urls));
      toldCount += 1;
    }),
    {
      numRuns: 60,
      isEnough: () => toldCount > 15,
      met: () => `${toldCount} columns told their prefixes`,
    },
  );
});

test('any URLs at all have the prefixes that are read off them', () => {
  fc.assert(
    fc.property(anyUrls(2500), (urls) => {
      for (const split of splitsOf(urls) ?? []) {
        const told = prefixesOf(split, 10_000);
        if (told !== undefined) assert.deepEqual(told, prefixesRead(split, urls));
      }
    }),
    { numRuns: runsOf(60) },
  );
});

test('there is no telling of too many, nor where a string is no more than its head', () => {
  const urls = Array.from({ length: 2700 }, (_, n) => {
    return `https://t${Math.floor(n / 300)}.example.com/orders/list?id=${n * 7919}&select=*`;
  });
  const [split] = splitsOf(urls)!;
  assert.equal(prefixesOf(split!, 9)?.size, 9);
  assert.equal(prefixesOf(split!, 8), undefined);
  const [withHead] = splitsOf([...urls, 'https://t8.example.com'])!;
  assert.equal(prefixesOf(withHead!, 9), undefined);
});

test('strings that may be elsewhere are no strings of one column', () => {
  const urls = Array.from({ length: 2700 }, (_, n) => {
    return `https://t${Math.floor(n / 300)}.example.com/orders/list?id=${n * 7919}&select=*`;
  });
  assert.equal(splitsOf(urls)?.length, 1);
  assert.equal(splitsOf([...urls, null])?.length, 1, 'what is no string is none of them');
  assert.equal(splitsOf([...urls, 17]), undefined, 'a number is read as a string');
  assert.equal(splitsOf([...urls, ['https://elsewhere.example.com/orders']]), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter, type SealedFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { assertCovered } from '../support/covered-property.ts';
import { anyUrls } from './any-url.ts';
import { batchOf, type TestEvent } from './batch-of.ts';
import { expectVector, rootOf } from './oracle.ts';

const ROWS = 600;

function sealedOf(events: readonly TestEvent[], arrivalBase = 0): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e17 })[0]!;
}

/** How the strings of each leaf are kept, by the last key of its path. */
function kindsOf(buffer: SharedArrayBuffer): Record<string, string> {
  const footer = readFooter(buffer);
  const source = Buffer.from(buffer, footer.keys.bytes[0], footer.keys.bytes[1]).toString();
  const offsets = new Uint32Array(buffer, footer.keys.offsets[0], footer.keys.count + 1);
  const kinds = footer.leaves.map((leaf: SealedFooter['leaves'][0]) => {
    const key = leaf.path.at(-1)!;
    return [source.slice(offsets[key], offsets[key + 1]), leaf.strings?.packing.kind ?? 'number'];
  });
  return Object.fromEntries(kinds);
}

function expectRead(buffer: SharedArrayBuffer, events: readonly TestEvent[]): void {
  const reader = SealedSegmentReader.open(buffer);
  const rows = Int32Array.from({ length: reader.rowCount }, (_, row) => row);
  expectVector(reader.roots(rows, rows.length), events.map(rootOf), NAMES, 2);
}

const NAMES = ['metadata', 'url', 'path', 'search'];

function uuid(n: number): string {
  const digits = (n * 7919 + 4096).toString(16).padStart(12, '0');
  return `0123abcd-${digits.slice(0, 4)}-4aaa-8bbb-${digits}`;
}

const PATHS: readonly ((n: number) => string)[] = [
  (n) => `/rest/v1/orders${n % 3 === 0 ? '' : `?select=*&id=eq.${n * 7919}`}`,
  (n) => `/storage/v1/object/public/avatars/${uuid(n)}.png`,
  (n) => `/auth/v1/authorize?redirect_to=https://other${n % 11}x.example.com/callback`,
  (n) => `/realtime/v1/websocket?apikey=${(n * 99991).toString(16)}&vsn=1.0.0#top?x`,
  (n) => `/functions/v1/f${n}`,
];

function requests(count: number): TestEvent[] {
  return Array.from({ length: count }, (_, n) => {
    const url = `https://host${Math.floor(n / 100)}.example.com${PATHS[n % 5]!(n)}`;
    const { pathname: path, search } = new URL(url);
    const request = search === '' ? { url, path } : { url, path, search };
    return { timestampUs: n, metadata: request };
  });
}

test('URLs are taken apart; their paths and queries are cut out of them', () => {
  const events = requests(ROWS);
  const buffer = sealedOf(events);
  assert.deepEqual(kindsOf(buffer), { url: 'split', path: 'excerpt', search: 'excerpt' });
  expectRead(buffer, events);
});

test('a merged segment has URLs taken apart, too, and cuts paths and queries out of them', () => {
  const events = requests(3 * ROWS);
  const parts = [0, 1, 2].map((part) =>
    sealedOf(events.slice(part * ROWS, (part + 1) * ROWS), part * ROWS),
  );
  const merged = mergeSegments(parts);
  assert.deepEqual(kindsOf(merged), { url: 'split', path: 'excerpt', search: 'excerpt' });
  expectRead(merged, events);
});

test('a path that is no part of its URL is kept by itself', () => {
  const events = requests(ROWS);
  const odd = events.with(77, { timestampUs: 77, metadata: { url: 'https://x.y/z', path: '/Z' } });
  assert.notEqual(kindsOf(sealedOf(odd))['path'], 'excerpt');
  expectRead(sealedOf(odd), odd);
  const alone = events.with(77, { timestampUs: 77, metadata: { path: '/z' } });
  assert.notEqual(kindsOf(sealedOf(alone))['path'], 'excerpt');
  expectRead(sealedOf(alone), alone);
  const both = mergeSegments([sealedOf(events), sealedOf(odd, ROWS)]);
  expectRead(
    both,
    [...events, ...odd].sort((one, other) => one.timestampUs - other.timestampUs),
  );
});

test('strings of any form are what they were, together and in any company', async () => {
  let splitCount = 0;
  await assertCovered(
    fc.property(anyUrls(300), (urls) => {
      const events = urls.map((url, n) => ({ timestampUs: n, metadata: { url } }));
      const buffer = sealedOf(events);
      if (kindsOf(buffer)['url'] === 'split') splitCount++;
      expectRead(buffer, events);
      const half = mergeSegments([sealedOf(events), sealedOf(events, events.length)]);
      expectRead(
        half,
        events.flatMap((event) => [event, event]),
      );
    }),
    {
      numRuns: 40,
      isEnough: () => splitCount > 10,
      met: () => `${splitCount} columns were split`,
    },
  );
});

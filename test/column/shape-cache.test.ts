import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { SplitInput } from '../../engine/column/split-choice.ts';
import { ShapeCache } from '../../engine/column/split-encoding.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { batchOf, type TestEvent } from './batch-of.ts';
import { rowsOfProject } from './stored-segment.ts';

const orders = (index: number): string => `/rest/v1/orders?id=eq.${index * 7919}&limit=20`;
const users = (index: number): string => `/auth/v1/user/${index * 104_729}/factors.json`;

test('a choice is taken again for strings like those it was made for', () => {
  const cache = new ShapeCache();
  const first = cache.choose('path', inputOf(orders, 0, 3000), false);
  const second = cache.choose('path', inputOf(orders, 3000, 2000), false);
  assert.equal(second.shapes, first.shapes);
});

test('the choice of another column is not taken', () => {
  const cache = new ShapeCache();
  const first = cache.choose('path', inputOf(orders, 0, 3000), false);
  assert.notEqual(cache.choose('url', inputOf(orders, 0, 3000), false).shapes, first.shapes);
});

test('strings of another kind are chosen for anew', () => {
  const cache = new ShapeCache();
  cache.choose('path', inputOf(orders, 0, 3000), false);
  const kept = cache.choose('path', inputOf(users, 0, 3000), false);
  const fresh = new ShapeCache().choose('path', inputOf(users, 0, 3000), false);
  assert.equal(kept.partsSize, fresh.partsSize);
});

test('a choice is made anew after sixteen segments', () => {
  const cache = new ShapeCache();
  const first = cache.choose('path', inputOf(orders, 0, 3000), false);
  const next = Array.from(
    { length: 17 },
    () => cache.choose('path', inputOf(orders, 0, 3000), false).shapes === first.shapes,
  );
  assert.deepEqual(next, [...Array.from({ length: 16 }, () => true), false]);
});

test('a choice for few strings is not kept', () => {
  const cache = new ShapeCache();
  const first = cache.choose('path', inputOf(orders, 0, 500), false);
  assert.notEqual(cache.choose('path', inputOf(orders, 0, 500), false).shapes, first.shapes);
});

test('a segment that is sealed with the shapes of another has the same rows, and is not larger', () => {
  const choices = new ShapeCache();
  const partitionUs = 1e15;
  sealSegment(openOf(0, 3000).handle(), { partitionUs, choices });
  const handle = openOf(3000, 3000).handle();
  const [kept] = sealSegment(handle, { partitionUs, choices });
  const [fresh] = sealSegment(handle, { partitionUs });
  for (const buffer of [kept!, fresh!]) {
    const kinds = readFooter(buffer).leaves.map(({ strings }) => strings?.packing.kind);
    assert.deepEqual(kinds, ['split']);
  }
  assert.deepEqual(
    rowsOfProject(SealedSegmentReader.open(kept!), 'p'),
    rowsOfProject(SealedSegmentReader.open(fresh!), 'p'),
  );
  assert.ok(kept!.byteLength <= 1.03 * fresh!.byteLength);
});

function openOf(from: number, count: number): OpenSegment {
  const events = Array.from({ length: count }, (_, index): TestEvent => {
    return { timestampUs: index, project: 'p', metadata: { path: orders(from + index) } };
  });
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  segment.append(batchOf(events), 0, count);
  segment.publish();
  return segment;
}

function inputOf(make: (index: number) => string, from: number, count: number): SplitInput {
  const strings = Array.from({ length: count }, (_, index) => encodeWtf8(make(from + index)));
  const offsets = new Uint32Array(count + 1);
  for (const [index, { length }] of strings.entries())
    offsets[index + 1] = offsets[index]! + length;
  const codes = Int32Array.from({ length: count }, (_, index) => index);
  return new SplitInput({ bytes: Buffer.concat(strings), offsets }, codes);
}

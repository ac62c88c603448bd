import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import type { SegmentContent } from '../../engine/column/segment.ts';
import {
  PartialMemo,
  type RememberedState,
  rememberedState,
} from '../../engine/memo/partial-memo.ts';
import { fragmentOfText } from './fragment-of.ts';

const FRAGMENT = must(fragmentOfText('SELECT COUNT(*) FROM logs'));

function content(): SegmentContent {
  return { rowCount: 1, timestampUsMin: 0, timestampUsMax: 0 };
}

function partial(byteSize: number): RememberedState {
  const state = { keys: { size: 0, columns: [] }, states: [] };
  const of = { segments: [content()], partial: state, rowCount: 1 };
  return { ...rememberedState(FRAGMENT, of), byteSize };
}

test('what was used longest ago leaves first, by bytes', () => {
  const memo = new PartialMemo(3_000);
  const [a, b, c] = [content(), content(), content()];
  memo.keep(a, 'x', partial(1_000));
  memo.keep(b, 'x', partial(1_000));
  assert.notEqual(memo.find(a, 'x'), undefined);
  memo.keep(c, 'x', partial(1_000));
  const isThere = [a, b, c].map((one) => memo.find(one, 'x') !== undefined);
  assert.deepEqual(isThere, [true, false, true]);
  memo.keep(c, 'y', partial(5_000));
  assert.equal(memo.find(c, 'y'), undefined, 'what is larger than all may be');
  assert.equal(memo.stats().entries, 2);
  assert.ok(memo.stats().bytes <= 3_000);
});

test('of a segment that is no more nothing is there, and nothing comes', () => {
  const memo = new PartialMemo(10_000);
  const [gone, other] = [content(), content()];
  memo.keep(gone, 'x', partial(1));
  memo.keep(gone, 'y', 'dear');
  memo.keep(other, 'x', partial(1));
  memo.forget(gone);
  memo.keep(gone, 'x', partial(1));
  assert.equal(memo.find(gone, 'x'), undefined);
  assert.notEqual(memo.find(other, 'x'), undefined);
  assert.equal(memo.stats().entries, 1);
  memo.forget(other);
  assert.deepEqual([memo.stats().bytes, memo.stats().entries], [0, 0]);
});

test('equal extents are two contents', () => {
  const memo = new PartialMemo(10_000);
  memo.keep(content(), 'x', partial(1));
  assert.equal(memo.find(content(), 'x'), undefined);
  assert.deepEqual([memo.stats().hits, memo.stats().misses], [0, 1]);
});

test('with no bytes nothing is remembered', () => {
  const memo = new PartialMemo(0);
  const one = content();
  memo.keep(one, 'x', 'dear');
  assert.deepEqual([memo.isOn, memo.find(one, 'x')], [false, undefined]);
});

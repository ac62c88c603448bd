import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { EventIds } from '../../../src/follow/event-ids.ts';
import { InstanceKey } from '../../../src/instance-key.ts';

const KEY = InstanceKey.random();

test('an id decrypts to its number with the same key', () => {
  for (const number of [0, 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    const id = new EventIds(KEY).createId('a', number);
    assert.match(id, /^[\w-]{22}$/);
    assert.equal(new EventIds(KEY).findNumber('a', id), number);
  }
});

test('an id of another source, key or text has no number', () => {
  const ids = new EventIds(KEY);
  const id = ids.createId('a', 7);
  assert.equal(ids.findNumber('b', id), undefined);
  assert.equal(new EventIds(InstanceKey.random()).findNumber('a', id), undefined);
  const bytes = Buffer.from(id, 'base64url');
  for (let bit = 0; bit < 128; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(ids.findNumber('a', changed.toString('base64url')), undefined, `bit ${bit}`);
  }
  for (const text of ['', 'x', id.slice(1), `${id}A`]) {
    assert.equal(ids.findNumber('a', text), undefined);
  }
});

test('ids of consecutive numbers look unrelated, and two ids of one number differ', () => {
  const ids = new EventIds(KEY);
  const blocks = Array.from({ length: 1000 }, (_, number) =>
    Buffer.from(ids.createId('a', number >> 1), 'base64url').toString('hex'),
  );
  // Two of 1000 random 64-bit texts are equal with a chance of 2^-45.
  for (const half of [0, 16]) {
    assert.equal(new Set(blocks.map((block) => block.slice(half, half + 16))).size, blocks.length);
  }
});

test('ids draw random bytes a thousand at a time', (context) => {
  const drawing = context.mock.method(crypto, 'randomFillSync');
  syncBuiltinESMExports();
  try {
    const ids = new EventIds(KEY);
    for (let number = 0; number < 10_000; number++) ids.createId('a', number);
    assert.ok(drawing.mock.callCount() <= 10, `${drawing.mock.callCount()} times`);
    assert.ok(drawing.mock.callCount() > 0);
  } finally {
    drawing.mock.restore();
    syncBuiltinESMExports();
  }
});

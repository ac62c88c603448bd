import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { AnswerDigest } from '../../../src/call/answer-digest.ts';
import { InstanceKey } from '../../../src/instance-key.ts';

const KEY = InstanceKey.random();
const digestOf = (json: Uint8Array): string => new AnswerDigest(KEY).digest(json);

const SIZES = [0, 1, 15, 16, 17, 4_095, 4_096, 4_097, 100_000];

test('equal bytes have equal digests, whatever their place in memory', () => {
  for (const size of SIZES) {
    const bytes = Buffer.alloc(size, 'abc');
    const shared = new Uint8Array(new SharedArrayBuffer(size + 7), 3, size);
    shared.set(bytes);
    assert.equal(digestOf(shared), digestOf(bytes));
    assert.match(digestOf(bytes), /^[\w-]{22}$/);
  }
});

test('a change of any byte or of the length changes the digest', () => {
  for (const size of SIZES.filter((each) => each > 0)) {
    const bytes = Buffer.alloc(size, 'abc');
    const digests = new Set([digestOf(bytes), digestOf(Buffer.alloc(size - 1, 'abc'))]);
    // Block hashes pad with zeros, so a text with trailing zeros must differ.
    for (const longer of [1, 16])
      digests.add(digestOf(Buffer.concat([bytes, Buffer.alloc(longer)])));
    for (const place of new Set([0, size >> 1, size - 1])) {
      const other = Buffer.from(bytes);
      other[place]! ^= 1;
      digests.add(digestOf(other));
    }
    assert.equal(digests.size, 4 + new Set([0, size >> 1, size - 1]).size);
  }
});

test('instances have different digests of long answers', () => {
  const bytes = Buffer.alloc(10_000, 'abc');
  assert.notEqual(new AnswerDigest(InstanceKey.random()).digest(bytes), digestOf(bytes));
});

test('the digest of a long answer cannot be computed from its bytes alone', () => {
  const bytes = Buffer.alloc(10_000, 'abc');
  const known = createHash('sha256').update(bytes).digest('base64url');
  assert.notEqual(digestOf(bytes), known.slice(0, 22));
});

test('the digest of a short answer is part of its SHA-256', () => {
  const digest = createHash('sha256').update('[]').digest('base64url').slice(0, 22);
  assert.equal(digestOf(Buffer.from('[]')), digest);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SqlValue } from '../../../engine/column/value.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { JSON_FORMAT } from '../../../src/call/answer-format.ts';
import { cacheKeyText } from '../../../src/call/cache-key.ts';
import { KeptAnswer } from '../../../src/call/kept-answer.ts';
import { ResultCache } from '../../../src/call/result-cache.ts';
import { CACHE_ENTRY_BYTES } from '../../../src/limits.ts';
import { runsOf } from '../../support/budget.ts';
import { ENDPOINT } from './caller-under-test.ts';

const NOW = { madeMs: 0, nowMs: 0 };

function keyOf(cache: ResultCache, key: string, tenant?: string) {
  const parameters = new Map([['key', key]]);
  return cache.createKey({ endpoint: ENDPOINT, parameters, reach: EVERYTHING }, tenant);
}

/** Rows of this many bytes that compress badly. */
function answerOf(size: number, digest = `digest ${size}`): KeptAnswer {
  const json = Buffer.alloc(size);
  for (let index = 0; index < size; index++) json[index] = 33 + ((index * index * 7919) % 89);
  return new KeptAnswer(json, { digest, columns: [] });
}

test('beyond the entry limit, the least recently called answer is evicted', () => {
  const cache = new ResultCache({ byteSizeMax: 1e9, entryCountMax: 3 });
  for (const key of ['a', 'b', 'c']) cache.put(keyOf(cache, key), answerOf(10), NOW);
  cache.find(keyOf(cache, 'a'), 1);
  cache.put(keyOf(cache, 'd'), answerOf(10), NOW);
  const kept = ['a', 'b', 'c', 'd'].filter((key) => cache.find(keyOf(cache, key), 2) !== undefined);
  assert.deepEqual(kept, ['a', 'c', 'd']);
  assert.equal(cache.evictionCount, 1);
});

test('beyond the byte limit, as many answers as necessary are evicted', () => {
  const one = 1_000 + '{"result":}'.length + CACHE_ENTRY_BYTES;
  const cache = new ResultCache({ byteSizeMax: 10 * one });
  for (let index = 0; index < 50; index++) {
    cache.put(keyOf(cache, String(index)), answerOf(1_000), NOW);
    assert(cache.byteSize <= 10 * one);
  }
  assert.equal(cache.entryCount, 9, 'a key costs some bytes too');
  assert.notEqual(cache.find(keyOf(cache, '49'), 1), undefined);
  assert.equal(cache.find(keyOf(cache, '40'), 1), undefined);
});

test('a renewed answer says whether it was cut, even if its rows are the same', () => {
  const cache = new ResultCache({ byteSizeMax: 1e9 });
  const key = keyOf(cache, 'a');
  for (const truncatedTo of [undefined, 1, undefined]) {
    const answer = new KeptAnswer(Buffer.from('[1]'), { digest: 'same', columns: [], truncatedTo });
    cache.put(key, answer, NOW);
    assert.equal(cache.find(key, 1)?.answer.truncatedTo, truncatedTo);
  }
});

test('a tenant with many answers evicts its own, and may use everything while it is alone', () => {
  for (const bounds of [{ byteSizeMax: 1e9, entryCountMax: 20 }, { byteSizeMax: 20 * 2_100 }]) {
    const cache = new ResultCache(bounds);
    const countOf = (tenant: string, count: number): number =>
      Array.from({ length: count }, (_, index) => `${tenant} ${index}`).filter(
        (key) => cache.find(keyOf(cache, key), 1) !== undefined,
      ).length;
    const put = (tenant: string, index: number): boolean =>
      cache.put(keyOf(cache, `${tenant} ${index}`, tenant), answerOf(1_000), NOW);
    for (let index = 0; index < 30; index++) put('noisy', index);
    assert(cache.entryCount >= 19, 'alone it has everything');
    for (let index = 0; index < 3; index++) put('quiet', index);
    for (let index = 30; index < 1_200; index++) assert(put('noisy', index));
    assert.equal(countOf('quiet', 3), 3);
    assert(countOf('noisy', 1_200) >= 15);
    for (let index = 0; index < 100; index++) put('third', index);
    assert.equal(countOf('quiet', 3), 3);
    assert(Math.abs(countOf('noisy', 1_200) - countOf('third', 100)) <= 1);
  }
});

test('an answer counts as the first caller’s tenant’s, whoever else gets it', () => {
  const cache = new ResultCache({ byteSizeMax: 1e9, entryCountMax: 4 });
  cache.put(keyOf(cache, 'a', 'quiet'), answerOf(10), NOW);
  const taken = keyOf(cache, 'a', 'noisy');
  assert.notEqual(cache.find(taken, 1), undefined);
  cache.put(taken, answerOf(11), { madeMs: 1, nowMs: 1 });
  for (let index = 0; index < 10; index++) {
    cache.put(keyOf(cache, String(index), 'noisy'), answerOf(10), { madeMs: 1, nowMs: 1 });
  }
  assert.notEqual(cache.find(taken, 2), undefined);
});

test('an answer larger than its tenant’s share is not kept', () => {
  const cache = new ResultCache({ byteSizeMax: 20 * 1_900 });
  for (let index = 0; index < 20; index++) {
    assert(cache.put(keyOf(cache, String(index), `tenant ${index}`), answerOf(700), NOW));
  }
  assert.equal(cache.put(keyOf(cache, 'c', 'another'), answerOf(3_000), NOW), false);
  assert.equal(cache.find(keyOf(cache, 'c'), 1), undefined);
  assert.equal(cache.entryCount, 20);
  assert(cache.put(keyOf(cache, 'c', 'tenant 7'), answerOf(2_000), NOW));
  assert.equal(cache.find(keyOf(cache, '7'), 1), undefined, 'one of its own made room');
  assert.equal(cache.entryCount, 20);
});

test('compressed forms count and cause evictions', async () => {
  const text = Buffer.from(JSON.stringify(Array.from({ length: 4_000 }, (_, row) => ({ row }))));
  const cache = new ResultCache({ byteSizeMax: 9 * (text.length + 4_000) });
  for (let index = 0; index < 9; index++) {
    const isKept = cache.put(
      keyOf(cache, String(index)),
      new KeptAnswer(text, { digest: 'same', columns: [] }),
      NOW,
    );
    assert(isKept);
  }
  assert.equal(cache.entryCount, 9);
  const before = cache.byteSize;
  const { answer } = cache.find(keyOf(cache, '8'), 1)!;
  const gzip = await answer.form(JSON_FORMAT, 'gzip');
  assert.equal(cache.byteSize, before + gzip.bytes.length);
  await answer.form(JSON_FORMAT, 'gzip');
  assert.equal(cache.byteSize, before + gzip.bytes.length);
  await answer.form(JSON_FORMAT, 'br');
  await cache.find(keyOf(cache, '7'), 1)!.answer.form(JSON_FORMAT, 'gzip');
  assert.equal(cache.entryCount, 9);
  for (const key of ['1', '2', '3', '4', '5', '6']) {
    await cache.find(keyOf(cache, key), 1)?.answer.form(JSON_FORMAT, 'gzip');
  }
  assert(cache.entryCount < 9);
  assert(cache.byteSize <= 9 * (text.length + 4_000));
});

test('a form of an evicted answer is made but not counted', async () => {
  const cache = new ResultCache({ byteSizeMax: 1e6, entryCountMax: 1 });
  const answer = answerOf(50_000);
  cache.put(keyOf(cache, 'a'), answer, NOW);
  const form = answer.form(JSON_FORMAT, 'gzip');
  cache.put(keyOf(cache, 'b'), answerOf(10), NOW);
  const { byteSize } = cache;
  assert((await form).bytes.length < 60_000);
  assert.equal(cache.byteSize, byteSize);
});

test('an encoding that does not shorten a body is not used', async () => {
  const random = Buffer.from(
    Array.from({ length: 2_000 }, (_, index) => (index * 2654435761) >>> 13),
  );
  const answer = new KeptAnswer(random, { digest: 'digest', columns: [] });
  const form = await answer.form(JSON_FORMAT, 'gzip');
  if (form.encoding === 'gzip') assert(form.bytes.length < answer.identity.bytes.length);
  else assert.equal(form, answer.identity);
});

test('a renewal with the same bytes keeps the compressed forms', async () => {
  const cache = new ResultCache({ byteSizeMax: 1e9 });
  const key = keyOf(cache, 'a');
  cache.put(key, answerOf(5_000), NOW);
  const gzip = await cache.find(key, 1)!.answer.form(JSON_FORMAT, 'gzip');
  const { byteSize } = cache;
  cache.put(key, answerOf(5_000), { madeMs: 30_000, nowMs: 30_000 });
  const entry = cache.find(key, 89_999)!;
  assert.equal(entry.answer.form(JSON_FORMAT, 'gzip'), gzip);
  assert.equal(entry.madeMs, 30_000);
  assert.equal(cache.byteSize, byteSize);
  cache.put(key, answerOf(4_000), { madeMs: 31_000, nowMs: 31_000 });
  assert.equal(cache.byteSize, byteSize - gzip.bytes.length - 1_000);
});

test('expired answers are dropped, and no others', () => {
  const cache = new ResultCache({ byteSizeMax: 1e9 });
  cache.put(keyOf(cache, 'a'), answerOf(10), NOW);
  cache.put(keyOf(cache, 'b'), answerOf(10), { madeMs: 1, nowMs: 1 });
  cache.expire(60_000);
  assert.equal(cache.entryCount, 1);
  assert.equal(cache.find(keyOf(cache, 'a'), 60_000), undefined);
  assert.notEqual(cache.find(keyOf(cache, 'b'), 60_000), undefined);
});

const VALUE: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.constantFrom<SqlValue[]>(null, 'null', '', ' ', true, 'true', 0, -0, '0', '1:0', 5n, '5'),
  fc.string(),
  fc.double({ noNaN: true }),
  fc.bigInt(),
);

test('keys of calls are equal exactly if their values are', () => {
  const lists = fc.tuple(fc.array(VALUE, { maxLength: 4 }), fc.array(VALUE, { maxLength: 4 }));
  const textOf = (values: readonly SqlValue[]) =>
    cacheKeyText({ version: 1, reach: EVERYTHING, parameters: parametersOf(values) });
  /** Where a number and a bigint have the same text, only one of them occurs. */
  const content = (values: readonly SqlValue[]) =>
    JSON.stringify(
      values.map((value) =>
        typeof value === 'number' || typeof value === 'bigint'
          ? { number: Object.is(value, -0) ? '-0' : String(value) }
          : value,
      ),
    );
  fc.assert(
    fc.property(lists, ([left, right]) => {
      fc.pre(left.length === right.length);
      assert.equal(textOf(left) === textOf(right), content(left) === content(right));
      assert.equal(textOf(left), textOf([...left]));
    }),
    { numRuns: runsOf(2_000) },
  );
});

test('keys of calls with the caller’s text are equal exactly if the texts are, too', () => {
  const keyOfCall = (value: SqlValue, text: string | undefined) => {
    const callerQuery = text === undefined ? undefined : { text };
    return cacheKeyText({
      version: 1,
      reach: EVERYTHING,
      parameters: parametersOf([value]),
      callerQuery,
    });
  };
  const call = fc.tuple(VALUE, fc.option(fc.string(), { nil: undefined }));
  fc.assert(
    fc.property(call, call, ([value, text], [otherValue, otherText]) => {
      fc.pre(typeof value === typeof otherValue);
      const isSame = Object.is(value, otherValue) && text === otherText;
      assert.equal(keyOfCall(value, text) === keyOfCall(otherValue, otherText), isSame);
    }),
    { numRuns: runsOf(2_000) },
  );
  assert.notEqual(keyOfCall('x', 'SELECT 1'), keyOfCall('x', 'SELECT  1'));
  assert.notEqual(keyOfCall('x', ''), keyOfCall('x', undefined));
});

function parametersOf(values: readonly SqlValue[]): ReadonlyMap<string, SqlValue> {
  return new Map(values.map((value, index) => [`p${index}`, value]));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '../../../engine/query-error.ts';
import { fakeEndpoint } from '../harness.ts';
import { CACHED, CallerUnderTest, ENDPOINT, settle } from './caller-under-test.ts';

const NOT_WARMED = fakeEndpoint(CACHED.replace('-- warm: 20s\n', ''));

test('calls with the same key share a run, calls with other keys do not', async () => {
  const under = new CallerUnderTest();
  const calls = ['a', 'a', 'b', 'a'].map((key) => under.call(key));
  await settle();
  assert.deepEqual(
    under.runs.map(({ key }) => key),
    ['a', 'b'],
  );
  for (const run of [...under.runs]) run.succeed();
  const answers = await Promise.all(calls);
  assert.deepEqual(
    answers.map((answer) => answer.kind === 'shared' && answer.from),
    ['kept-run', 'run-of-another', 'kept-run', 'run-of-another'],
  );
  assert.equal(under.releaseCount, 2);
  const { hitCount, missCount, collapsedCount, entryCount } = under.caller.stats().cache;
  assert.deepEqual([hitCount, missCount, collapsedCount, entryCount], [0, 2, 2, 2]);
});

test('a run continues while any caller waits and is cancelled when the last one leaves', async () => {
  const under = new CallerUnderTest();
  const gone = [new AbortController(), new AbortController()];
  const calls = gone.map(({ signal }) => under.call('a', { gone: signal }));
  await settle();
  const run = under.runs[0]!;
  gone[0]!.abort();
  await assert.rejects(calls[0]!, { code: 'query_cancelled' });
  assert.equal(run.signal.aborted, false);
  gone[1]!.abort();
  await assert.rejects(calls[1]!, { code: 'query_cancelled' });
  assert.equal(run.signal.aborted, true);
});

test('a call for a cancelled run waits for its end and then begins a new one', async () => {
  const under = new CallerUnderTest();
  const gone = new AbortController();
  const first = under.call('a', { gone: gone.signal });
  await settle();
  gone.abort();
  await assert.rejects(first);
  const second = under.call('a');
  await settle();
  assert.equal(under.runCount, 1);
  assert.equal(under.caller.stats().runsUnderWay, 2);
  under.runs[0]!.fail(new QueryError('query_cancelled', 'cancelled'));
  await settle();
  assert.equal(under.runCount, 2);
  under.runs[0]!.succeed();
  assert.equal((await second).kind, 'shared');
  await settle();
  assert.equal(under.caller.stats().runsUnderWay, 0);
});

test('a failure reaches all waiting callers, and the next call runs again', async () => {
  const under = new CallerUnderTest();
  const calls = [under.call('a'), under.call('a')];
  await settle();
  under.runs[0]!.fail(new QueryError('query_failed', 'division by zero'));
  for (const call of calls) await assert.rejects(call, { code: 'query_failed' });
  assert.equal((await under.answer('a')).from, 'kept-run');
});

test('the age counts from when the run read the data', async () => {
  const under = new CallerUnderTest();
  const call = under.call('a');
  await settle();
  under.clock.ms += 4_000;
  under.runs[0]!.succeed();
  assert.equal(((await call) as { ageMs: number }).ageMs, 4_000);
  assert.equal((await under.answer('a')).ageMs, 4_000);
});

test('calls beyond the limit are refused, except those that share a run or get a kept answer', async () => {
  const under = new CallerUnderTest({ callsMax: 1 });
  await under.answer('kept');
  const first = under.call('a');
  const second = under.call('a');
  await assert.rejects(under.call('b'), { code: 'overloaded' });
  const hit = await under.call('kept');
  assert(hit.kind === 'shared' && hit.from === 'cache');
  under.runs[0]!.succeed();
  await Promise.all([first, second]);
});

test('an answer in use is renewed and never expires', async () => {
  const under = new CallerUnderTest();
  await under.answer('a', 'version 0');
  for (let second = 1; second <= 300; second++) {
    under.clock.ms += 1_000;
    under.caller.tick();
    await settle();
    under.runs[0]?.succeed(`version ${second}`);
    await settle();
    if (second % 15 !== 0) continue;
    const { from, text, ageMs } = await under.answer('a');
    assert.equal(from, 'cache');
    assert(ageMs <= 20_000, `${ageMs}`);
    assert.equal(text, `{"result":["version ${second - ageMs / 1000}"]}`);
  }
  assert.equal(under.caller.stats().cache.renewalCount, 15);
});

test('an answer in use does not expire even if warm is as long as cache', async () => {
  const under = new CallerUnderTest();
  const endpoint = fakeEndpoint(CACHED.replace('warm: 20s', 'warm: 60s'));
  await under.answer('a', 'a', endpoint);
  for (let second = 1; second <= 300; second++) {
    under.clock.ms += 1_000;
    under.caller.tick();
    await settle();
    under.runs[0]?.succeed();
    await settle();
    assert.equal((await under.answer('a', 'a', endpoint)).from, 'cache');
  }
  // At an age of 54 s each.
  assert.equal(under.caller.stats().cache.renewalCount, 5);
});

test('a call that finds an expired answer counts as a further call of the new one', async () => {
  const under = new CallerUnderTest();
  await under.answer('a');
  under.clock.ms += 60_000;
  assert.equal((await under.answer('a')).from, 'kept-run');
  under.clock.ms += 20_000;
  under.caller.tick();
  await settle();
  assert.equal(under.runs.length, 1, 'it is renewed');
});

test('an answer that is not called again is no longer renewed and expires', async () => {
  const under = new CallerUnderTest();
  await under.answer('a');
  await under.answer('called once');
  await under.answer('a');
  for (let second = 1; second <= 200; second++) {
    under.clock.ms += 1_000;
    under.caller.tick();
    await settle();
    under.runs[0]?.succeed();
    await settle();
  }
  const { renewalCount, entryCount, byteSize } = under.caller.stats().cache;
  assert.deepEqual([renewalCount, entryCount, byteSize], [1, 0, 0]);
});

test('without warm, nothing is renewed', async () => {
  const under = new CallerUnderTest();
  await under.answer('a', 'a', NOT_WARMED);
  under.clock.ms += 59_999;
  under.caller.tick();
  await settle();
  assert.equal(under.runs.length, 0);
  assert.equal((await under.answer('a', 'a', NOT_WARMED)).from, 'cache');
});

test('a failed renewal keeps the old answer until it expires and is retried', async () => {
  const under = new CallerUnderTest();
  await under.answer('a', 'old');
  under.clock.ms += 1;
  await under.answer('a');
  let tries = 0;
  for (let second = 1; second < 60; second++) {
    under.clock.ms += 1_000;
    under.caller.tick();
    await settle();
    if (under.runs[0] === undefined) continue;
    tries += 1;
    under.runs[0].fail(new QueryError('query_timeout', 'too long'));
    await settle();
    assert.equal((await under.answer('a')).text, '{"result":["old"]}');
  }
  // At 20 s, then every 2 s.
  assert.equal(tries, 20);
  assert.equal(under.caller.stats().cache.renewalFailureCount, 20);
  assert.deepEqual(under.entries[0], {
    level: 'error',
    event: 'renewal_failed',
    endpoint: 'app.cached',
    error: 'too long',
  });
  under.clock.ms += 1_000;
  assert.equal((await under.answer('a', 'new')).text, '{"result":["new"]}');
});

/** Answers of these keys, called twice each and due for renewal. */
async function withDue(keys: readonly string[]): Promise<CallerUnderTest> {
  const under = new CallerUnderTest();
  under.caller.tick();
  for (const key of keys) {
    under.clock.ms += 1;
    await under.answer(key);
    await under.answer(key);
  }
  under.clock.ms += 20_000 - keys.length;
  for (const key of keys) await under.answer(key);
  under.clock.ms += keys.length;
  return under;
}

test('renewals run one at a time, oldest answers first', async () => {
  const under = await withDue(['c', 'a', 'b']);
  under.caller.tick();
  const begun: string[] = [];
  for (let run = 0; run < 3; run++) {
    await settle();
    assert.equal(under.runs.length, 1);
    begun.push(under.runs[0]!.key);
    under.runs[0]!.succeed();
  }
  await settle();
  assert.deepEqual(begun, ['c', 'a', 'b']);
  assert.equal(under.runs.length, 0);
});

test('a renewal becomes a normal call as soon as a caller waits for it', async () => {
  const under = await withDue(['a']);
  under.caller.tick();
  await settle();
  const [run] = under.runs;
  assert.equal(run?.renewal?.aborted, false);
  // The kept answer has expired.
  under.clock.ms += 60_000;
  under.caller.tick();
  const call = under.call('a');
  await settle();
  assert.equal(run?.renewal?.aborted, true);
  run?.succeed();
  await call;
  void under.call('b');
  await settle();
  assert.equal(under.runs[0]?.renewal, undefined);
});

test('renewals use a tenth of the time in total, including what was saved up', async () => {
  const under = await withDue(['a', 'b', 'c', 'd']);
  under.caller.tick();
  await settle();
  // One second was saved up, and the first two use it.
  for (const key of ['a', 'b']) {
    assert.deepEqual(keysOf(under), [key]);
    under.clock.ms += 900;
    under.runs[0]!.succeed();
    await settle();
  }
  assert.deepEqual(keysOf(under), []);
  let waitedMs = 0;
  for (; under.runs.length === 0 && waitedMs < 60_000; waitedMs += 1_000) {
    under.clock.ms += 1_000;
    await under.answer('c');
    await under.answer('d');
    under.caller.tick();
    await settle();
  }
  assert.deepEqual(keysOf(under), ['c']);
  assert.equal(
    waitedMs,
    7_000,
    'ten times what the first two took beyond the second, less while they ran',
  );
});

test('no renewal begins while queries wait for a thread', async () => {
  let isWaiting = true;
  const under = new CallerUnderTest({ hasWaiting: () => isWaiting });
  await under.answer('a');
  under.clock.ms += 20_000;
  await under.answer('a');
  under.caller.tick();
  await settle();
  assert.deepEqual(keysOf(under), []);
  isWaiting = false;
  under.caller.tick();
  await settle();
  assert.deepEqual(keysOf(under), ['a']);
});

function keysOf({ runs }: CallerUnderTest): readonly string[] {
  return runs.map(({ key }) => key);
}

test('renewals wait for a later tick while callers use the whole limit', async () => {
  const under = new CallerUnderTest({ callsMax: 1 });
  await under.answer('a');
  under.clock.ms += 20_000;
  await under.answer('a');
  const busy = under.call('b');
  under.caller.tick();
  await settle();
  assert.deepEqual(
    under.runs.map(({ key }) => key),
    ['b'],
  );
  under.runs[0]!.succeed();
  await busy;
  await settle();
  under.caller.tick();
  await settle();
  assert.deepEqual(
    under.runs.map(({ key }) => key),
    ['a'],
  );
  await assert.rejects(under.call('c'), { code: 'overloaded' }, 'a renewal is a call under way');
});

test('after a change of its definition, no old answer is given, even from a running query', async () => {
  const under = new CallerUnderTest();
  await under.answer('a', 'old');
  const late = under.call('b');
  await settle();
  const changed = fakeEndpoint(CACHED.replace('SELECT', 'SELECT ALL'));
  const call = under.call('a', { endpoint: changed });
  await settle();
  assert.equal(under.caller.stats().cache.entryCount, 0);
  under.runs[1]!.succeed('new');
  await call;
  under.runs[0]!.succeed();
  assert.equal(((await late) as { from: string }).from, 'run');
  assert.equal(under.caller.stats().cache.entryCount, 1);
  assert.equal((await under.answer('a', 'never', changed)).text, '{"result":["new"]}');
});

test('after its definition was dropped, a call runs again and a running renewal is not kept', async () => {
  const under = new CallerUnderTest();
  await under.answer('a', 'old');
  under.clock.ms += 20_000;
  await under.answer('a');
  under.caller.tick();
  await settle();
  under.caller.drop(ENDPOINT.definition.id);
  under.runs[0]!.succeed('renewed');
  await settle();
  assert.equal(under.caller.stats().cache.entryCount, 0);
  assert.equal((await under.answer('a', 'new')).text, '{"result":["new"]}');
});

test('closing cancels a renewal unless a caller waits for it', async () => {
  for (const isCalled of [false, true]) {
    const under = await withDue(['a', 'b']);
    under.caller.tick();
    await settle();
    assert.deepEqual(keysOf(under), ['a']);
    under.clock.ms += 40_000;
    const call = isCalled ? under.call('a') : undefined;
    await settle();
    await under.caller.close();
    assert.equal(under.runs[0]!.signal.aborted, !isCalled);
    under.runs[0]!.succeed();
    assert.equal(
      ((await call) as { from: string } | undefined)?.from,
      isCalled ? 'run-of-another' : undefined,
    );
    under.caller.tick();
    await settle();
    assert.equal(under.runCount, 3, 'none is renewed any more');
  }
});

test('an answer too large for the cache goes to all waiting callers and is not kept', async () => {
  const under = new CallerUnderTest({ cacheBytesMax: 80_000 });
  const large = 'x'.repeat(10_000);
  assert.equal((await under.answer('large', large)).from, 'run');
  assert.equal((await under.answer('small', 'x'.repeat(8_000))).from, 'kept-run');
  assert.equal(under.caller.stats().cache.entryCount, 1);
  const calls = [under.call('large'), under.call('large')];
  await settle();
  under.runs[0]!.succeed(large);
  for (const answer of await Promise.all(calls)) {
    assert(answer.kind === 'shared' && answer.answer.byteSize > 10_000);
  }
});

test('with a cache of zero bytes, every call runs', async () => {
  const under = new CallerUnderTest({ cacheBytesMax: 0 });
  const calls = [under.call('a'), under.call('a')];
  await settle();
  assert.equal(under.runs.length, 2);
  for (const run of [...under.runs]) run.succeed();
  for (const answer of await Promise.all(calls)) assert.equal(answer.kind, 'run');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryAnswer } from '../../../engine/engine.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { QueryRunner, toRunCall } from '../../../src/call/query-runner.ts';
import { fakeAnswer, fakeEndpoint, type Run, runningBy } from '../harness.ts';
import { CACHED, settle } from './caller-under-test.ts';

const CALL = toRunCall({
  endpoint: fakeEndpoint(CACHED),
  parameters: new Map([['key', 'a']]),
  reach: EVERYTHING,
});

function runnerOf(run: Run, queryMsMax?: number): QueryRunner {
  return new QueryRunner({
    engine: runningBy(run),
    clock: { nowUs: () => 0, monotonicMs: () => 0, wallMs: () => Date.now() },
    queryMsMax,
  });
}

/** A caller that counts how often it was asked for its signal. */
function callerOf(gone: AbortSignal = new AbortController().signal) {
  const caller = {
    askedCount: 0,
    cancelled: () => {
      caller.askedCount += 1;
      return gone;
    },
  };
  return caller;
}

test('a run whose answer comes in the same turn is not watched', async () => {
  const runner = runnerOf(async () => fakeAnswer([]));
  const caller = callerOf();
  await runner.begin(CALL, caller.cancelled).answer;
  await settle();
  await settle();
  assert.equal(caller.askedCount, 0);
  assert.equal(runner.runCount, 0);
});

test('a run ends soon after its caller has gone, even if the engine is slow to notice', async () => {
  const gone = new AbortController();
  const caller = callerOf(gone.signal);
  let end = (_answer: QueryAnswer): void => {};
  let releaseCount = 0;
  const runner = runnerOf(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  const { answer, ended } = runner.begin(CALL, caller.cancelled);
  await settle();
  assert.equal(caller.askedCount, 1);
  gone.abort();
  await assert.rejects(answer, { code: 'query_cancelled' });
  assert.equal(runner.runCount, 1);
  end({ ...fakeAnswer([]), release: () => void releaseCount++ });
  await ended;
  await settle();
  assert.equal(releaseCount, 1);
  assert.equal(runner.runCount, 0);
});

test('a caller that has gone before the run begins is noticed', async () => {
  const runner = runnerOf(() => new Promise(() => {}));
  const { answer } = runner.begin(CALL, callerOf(AbortSignal.abort()).cancelled);
  await assert.rejects(answer, { code: 'query_cancelled' });
});

test('a run has a time limit, and the runner cancels it in the engine when the time is over', {
  timeout: 10_000,
}, async () => {
  let reason: unknown;
  const held = setTimeout(() => {}, 10_000);
  const run: Run = (_query, { signal }) =>
    new Promise(() => {
      signal!.addEventListener('abort', () => {
        reason = signal!.reason;
      });
    });
  await assert.rejects(runnerOf(run, 5).begin(CALL, callerOf().cancelled).answer, {
    code: 'query_timeout',
  });
  clearTimeout(held);
  assert.equal((reason as { code?: string }).code, 'query_timeout');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { QueryError } from '../../../engine/query-error.ts';
import { CallerUnderTest, settle } from './caller-under-test.ts';

const KEYS = ['a', 'b', 'c'] as const;
const CACHE_MS = 60_000;

type Step =
  | { readonly do: 'call'; readonly key: string }
  | { readonly do: 'leave'; readonly caller: number }
  | { readonly do: 'succeed' | 'fail'; readonly run: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'tick' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('call' as const), key: fc.constantFrom(...KEYS) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), caller: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('succeed' as const, 'fail' as const),
      run: fc.nat(5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 15_000, 45_000),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'tick' as const }) },
);

/** A call from its caller's point of view. */
type Call = {
  readonly key: string;
  readonly gone: AbortController;
  state: 'waiting' | 'answered' | 'failed';
};

/** Takes the steps one after another and checks the laws after each. */
class Play {
  readonly #under = new CallerUnderTest();
  readonly #calls: Call[] = [];
  /** Answers contain the time at which their run ended, which bounds their age. */
  readonly #firstMs = this.#under.clock.ms;

  async take(step: Step): Promise<void> {
    const { runs, clock, caller } = this.#under;
    if (step.do === 'call') this.#call(step.key);
    else if (step.do === 'leave') this.#calls[step.caller]?.gone.abort();
    else if (step.do === 'wait') clock.ms += step.ms;
    else if (step.do === 'tick') caller.tick();
    else if (step.do === 'succeed') runs[step.run]?.succeed(`${runs[step.run]!.key} ${clock.ms}`);
    else runs[step.run]?.fail(new QueryError('query_failed', 'made to fail'));
    await settle();
    this.#checkRuns();
  }

  /** Ends all runs, including those that begin meanwhile. Then no call waits. */
  async end(): Promise<void> {
    const { runs, clock, caller } = this.#under;
    while (runs.length > 0) {
      runs[0]!.succeed(`${runs[0]!.key} ${clock.ms}`);
      await settle();
      this.#checkRuns();
    }
    assert(this.#calls.every(({ state }) => state !== 'waiting'));
    assert.equal(caller.stats().runsUnderWay, 0);
    assert.equal(
      this.#under.entries.every(({ event }) => event === 'renewal_failed'),
      true,
    );
  }

  #call(key: string): void {
    const call: Call = { key, gone: new AbortController(), state: 'waiting' };
    this.#calls.push(call);
    this.#under.call(key, { gone: call.gone.signal }).then(
      (answer) => {
        call.state = 'answered';
        assert(answer.kind === 'shared');
        const text = answer.answer.identity.bytes.toString();
        const [, answeredKey, madeMs] = /"(\w) (\d+)"/.exec(text)!;
        assert.equal(answeredKey, key);
        assert(Number(madeMs) >= this.#firstMs);
        assert(this.#under.clock.ms - Number(madeMs) <= CACHE_MS);
        assert(answer.from !== 'cache' || answer.ageMs < CACHE_MS);
      },
      (error: { readonly code: string }) => {
        call.state = 'failed';
        const wanted = call.gone.signal.aborted ? 'query_cancelled' : 'query_failed';
        assert.equal(error.code, wanted);
      },
    );
  }

  #checkRuns(): void {
    const keys = this.#under.runs.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length, `two runs of one key: ${keys.join()}`);
    for (const { key, gone, state } of this.#calls) {
      if (state !== 'waiting') continue;
      assert(!gone.signal.aborted, 'who has gone waits no longer');
      assert(keys.includes(key), `a caller waits for ${key}, and nothing runs`);
    }
  }
}

test('each key has at most one run at a time, and every caller gets its answer', async () => {
  let unseen: unknown;
  const onRejection = (error: unknown): void => {
    unseen ??= error;
  };
  process.on('unhandledRejection', onRejection);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
        const play = new Play();
        for (const step of steps) await play.take(step);
        await play.end();
        if (unseen !== undefined) throw unseen;
      }),
      { numRuns: 300 },
    );
  } finally {
    process.off('unhandledRejection', onRejection);
  }
});

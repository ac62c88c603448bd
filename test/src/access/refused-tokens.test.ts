import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { TokenError, type TokenRefusal } from '../../../src/access/authenticate.ts';
import { RefusedTokens } from '../../../src/access/refused-tokens.ts';
import {
  REFUSED_ADDRESSES_MAX,
  REFUSED_TOKENS_MAX,
  REFUSED_TOKENS_WAITING_MAX,
  REFUSED_TOKENS_WINDOW_MS,
} from '../../../src/limits.ts';
import { ask, PRIVATE, withApp } from '../harness.ts';

const errorOf = (reason: TokenRefusal) => new TokenError(reason, 'it opens nothing');

/** A connection from an address. */
function callerFrom(remoteAddress: string): Socket {
  return Object.assign(new EventEmitter(), { remoteAddress }) as unknown as Socket;
}

/** Refusals with a clock that the test sets. */
class RefusedTokensUnderTest {
  readonly reasons: TokenRefusal[] = [];
  nowMs = 0;
  readonly #tokens: RefusedTokens;

  constructor(waitMs = 1) {
    this.#tokens = new RefusedTokens({
      waitMs,
      nowMs: () => this.nowMs,
      onRefused: (reason) => this.reasons.push(reason),
    });
  }

  hold(caller: Socket, reason: TokenRefusal = 'unknown'): Promise<void> {
    return this.#tokens.hold(errorOf(reason), caller);
  }

  /** Whether the answer comes in a later turn of the event loop. */
  async isHeld(address: string, reason?: TokenRefusal): Promise<boolean> {
    let isHeld = true;
    const held = this.hold(callerFrom(address), reason).then(() => {
      isHeld = false;
    });
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    const wasHeld = isHeld;
    await held;
    return wasHeld;
  }

  /** Sends as many wrong tokens from an address as are refused without delay. */
  async spend(address: string): Promise<void> {
    for (let count = 1; count <= REFUSED_TOKENS_MAX; count++) {
      equal(await this.isHeld(address), false);
    }
  }
}

test('after too many wrong tokens in a minute, refusals to that address alone are delayed', async () => {
  const state = new RefusedTokensUnderTest();
  await state.spend('10.0.0.1');
  equal(await state.isHeld('10.0.0.1'), true);
  equal(await state.isHeld('10.0.0.2'), false);
  equal(await state.isHeld('10.0.0.1', 'missing'), false);
  equal(await state.isHeld('10.0.0.1', 'expired'), false);
  state.nowMs = REFUSED_TOKENS_WINDOW_MS - 1;
  equal(await state.isHeld('10.0.0.1'), true);
  state.nowMs += 1;
  equal(await state.isHeld('10.0.0.1'), false);
  deepEqual(new Set(state.reasons), new Set(['unknown', 'missing', 'expired']));
});

test('the number of delayed refusals is bounded, and a caller that has gone frees its place', async () => {
  // Longer than the test, so that no delay ends within it.
  const state = new RefusedTokensUnderTest(86_400_000);
  await state.spend('10.0.0.1');
  const callers = Array.from({ length: REFUSED_TOKENS_WAITING_MAX }, () => callerFrom('10.0.0.1'));
  const held = callers.map((caller) => state.hold(caller));
  const last = callerFrom('10.0.0.1');
  await rejects(state.hold(last), { code: 'tokens_refused', status: 429, retryAfterS: 3 });
  callers[0]!.emit('close');
  await held[0];
  held.push(state.hold(last));
  for (const caller of [...callers, last]) caller.emit('close');
  await Promise.all(held);
});

test('the number of remembered addresses is bounded, and the oldest are forgotten', async () => {
  const state = new RefusedTokensUnderTest();
  await state.spend('10.0.0.1');
  for (let count = 0; count <= REFUSED_ADDRESSES_MAX; count++) {
    await state.hold(callerFrom(`address ${count}`));
  }
  equal(await state.isHeld('10.0.0.1'), false);
});

test('a valid token never waits, whatever else comes from its address', async () => {
  // Longer than the test, so that no delayed answer comes within it.
  await withApp({ refusedTokenWaitMs: 86_400_000 }, async (app) => {
    const path = '/api/sources';
    const guess = () => ask(app, { path, headers: { 'X-API-KEY': 'wrong' } });
    for (let count = 1; count <= REFUSED_TOKENS_MAX; count++) equal((await guess()).status, 401);
    const held = Array.from({ length: REFUSED_TOKENS_WAITING_MAX }, () => guess().catch(String));
    const over = await guess();
    equal(over.status, 429);
    equal(over.headers['retry-after'], '3');
    match(over.json.error.message, /more than 20 wrong access tokens came from this address/);
    for (const headers of [{ 'X-API-KEY': PRIVATE }, { 'X-Forwarded-For': '10.0.0.9' }]) {
      equal((await ask(app, { path, headers })).status, 200);
    }
    const named = { 'X-API-KEY': 'wrong', 'X-Forwarded-For': '10.0.0.9' };
    equal((await ask(app, { path, headers: named })).status, 429, 'a header names no address');
    await app.server.drain({ drainMs: 0 });
    match(String((await Promise.all(held))[0]), /hang up|ECONNRESET/);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { LogIntake } from '../../src/store/log-intake.ts';
import {
  type Answer,
  ask,
  fakeAnswer,
  fakeIntake,
  PRIVATE,
  PUBLIC,
  post,
  type Run,
  STATS_ID,
  type Stored,
  withApp,
} from '../src/harness.ts';

const LOGS = '/api/logs?source_name=postgres.logs';
const CALL = `/api/endpoints/query/${STATS_ID}?project=p`;

/** Of 1,000 bytes, with a name to know it by. */
function bodyOf(name: string): string {
  const event = { name, filling: '' };
  return JSON.stringify([{ ...event, filling: 'x'.repeat(1000 - JSON.stringify([event]).length) }]);
}

function namesOf(stored: readonly Stored[]): readonly string[] {
  return stored.flatMap(({ events }) => (events as { name: string }[]).map(({ name }) => name));
}

/** An intake that stores nothing before it is opened, and tells how many posts have come that far. */
class GatedIntake {
  readonly stored: Stored[] = [];
  readonly #opened: Promise<void>;
  readonly #came: (() => void)[] = [];
  #count = 0;
  open = (): void => {};

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  get intake(): LogIntake {
    const intake = fakeIntake(this.stored);
    return {
      ...intake,
      decode: async (posted) => {
        this.#count += 1;
        for (const tell of this.#came.splice(0)) tell();
        await this.#opened;
        return intake.decode(posted);
      },
    };
  }

  async untilCame(count: number): Promise<void> {
    while (this.#count < count) await new Promise<void>((resolve) => this.#came.push(resolve));
  }
}

function assertRefused(answer: Answer, status: number): void {
  assert.equal(answer.status, status);
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
}

test('while posts have no room, other requests are accepted, and nothing refused is stored', async () => {
  const gate = new GatedIntake();
  const { intake } = gate;
  await withApp({ intake, heldBytesMax: 10_000 }, async (app) => {
    const many = { 'X-API-KEY': PUBLIC };
    const taken = ['1', '2', '3', '4', '5'].map((name) => post(app, LOGS, bodyOf(name), many));
    await gate.untilCame(5);
    // One tenant has half of the room, and another finds some of the rest.
    for (const name of ['6', '7']) assertRefused(await post(app, LOGS, bodyOf(name), many), 429);
    const other = post(app, LOGS, bodyOf('other'), { 'X-API-KEY': PRIVATE });
    await gate.untilCame(6);
    assertRefused(await post(app, LOGS, bodyOf('8'), many), 429);
    assert.equal((await ask(app, { path: CALL })).status, 200);
    const called = await post(app, CALL, { interval: '1hr' });
    assert.equal(called.status, 200, called.text);
    assert.equal((await ask(app, { path: '/health' })).status, 200);
    assert.deepEqual(gate.stored, []);
    gate.open();
    for (const answer of await Promise.all([...taken, other])) assert.equal(answer.status, 200);
    assert.deepEqual([...namesOf(gate.stored)].sort(), ['1', '2', '3', '4', '5', 'other']);
    // What they held is free again.
    assert.equal((await post(app, LOGS, bodyOf('9'), many)).status, 200);
  });
});

test('a sender that leaves while it waits for room stores and holds nothing', async () => {
  const gate = new GatedIntake();
  const refusalWaitMs = 200;
  await withApp({ intake: gate.intake, heldBytesMax: 2_000, refusalWaitMs }, async (app) => {
    const first = post(app, LOGS, bodyOf('1'));
    await gate.untilCame(1);
    const { port } = app;
    const headers = { 'X-API-KEY': PRIVATE, 'Content-Type': 'application/json' };
    const leaving = request({ port, method: 'POST', path: LOGS, headers, agent: false });
    leaving.on('error', () => {}).end(bodyOf('2'));
    await once(leaving, 'finish');
    await wait(refusalWaitMs / 4);
    leaving.destroy();
    gate.open();
    assert.equal((await first).status, 200);
    await wait(2 * refusalWaitMs);
    assert.equal((await post(app, LOGS, bodyOf('3'))).status, 200);
    assert.deepEqual(namesOf(gate.stored), ['1', '3']);
  });
});

test('a post that finds no room is accepted when some is freed soon', async () => {
  const gate = new GatedIntake();
  // All of it passes before the second try, whose turn comes late on a busy machine, and the room must be free by then.
  const refusalWaitMs = 1_000;
  await withApp({ intake: gate.intake, heldBytesMax: 2_000, refusalWaitMs }, async (app) => {
    const posts = [post(app, LOGS, bodyOf('1'))];
    await gate.untilCame(1);
    posts.push(post(app, LOGS, bodyOf('2')));
    await wait(50);
    gate.open();
    for (const { status } of await Promise.all(posts)) assert.equal(status, 200);
    assert.deepEqual(namesOf(gate.stored), ['1', '2']);
  });
});

test('while calls have no room, posts are accepted', async () => {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let runs = 0;
  let tell = (): void => {};
  const begun = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const run: Run = async () => {
    runs += 1;
    if (runs === 2) tell();
    await finished;
    return fakeAnswer([]);
  };
  await withApp({ run, callsMax: 2 }, async (app) => {
    const calls = [ask(app, { path: CALL }), ask(app, { path: CALL })];
    await begun;
    assertRefused(await ask(app, { path: CALL }), 503);
    assert.equal((await post(app, LOGS, bodyOf('1'))).status, 200);
    assert.equal((await ask(app, { path: '/health' })).status, 200);
    finish();
    for (const answer of await Promise.all(calls)) assert.equal(answer.status, 200);
    assert.deepEqual(namesOf(app.stored), ['1']);
  });
});

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import type { Pieces } from '../../../engine/plan/pieces.ts';
import { workOnSql } from '../../../src/http/sql-turns.ts';
import { WorkTurns } from '../../../src/http/work-turns.ts';
import { CALLER_SQL_WAITING_MAX } from '../../../src/limits.ts';

/** Turns whose clock advances by a millisecond at each reading. */
function slowTurns(): WorkTurns {
  let nowMs = 0;
  return new WorkTurns(() => ++nowMs);
}

function call(tenant: string, isGone = () => false) {
  return { sql: 'SELECT 1', tenant, isGone };
}

/** Work in two pieces, of which the first is empty. */
function* once<T>(work: () => T): Pieces<T> {
  yield;
  return work();
}

test('a tenant with too many waiting texts is refused, and others are not', async () => {
  const turns = slowTurns();
  const begun: string[] = [];
  const work = (tenant: string) =>
    workOnSql(
      turns,
      call(tenant),
      once(() => begun.push(tenant)),
    );
  const all = [work('a')];
  while (turns.waitingCount('a') < CALLER_SQL_WAITING_MAX) all.push(work('a'));
  await rejects(work('a'), { code: 'overloaded' });
  await work('b');
  ok(begun.indexOf('b') < 10, 'it comes in before those that wait');
  await Promise.all(all);
  equal(begun.length, all.length + 1);
});

test('the text of a caller that disconnects while it waits is not processed', async () => {
  const turns = slowTurns();
  let isGone = false;
  const work = () =>
    workOnSql(
      turns,
      call('a'),
      once(() => 'done'),
    );
  const all = [work(), work()];
  const late = workOnSql(
    turns,
    call('a', () => isGone),
    once(() => 'late'),
  );
  isGone = true;
  await rejects(late, { code: 'query_cancelled' });
  deepEqual(await Promise.all(all), ['done', 'done']);
});

test('an error in a text keeps its position', async () => {
  const failing = workOnSql(
    slowTurns(),
    call('a'),
    once(() => {
      throw new Error('it failed');
    }),
  );
  await rejects(failing, /it failed/);
});

test('other work runs between the pieces of a text', async () => {
  const turns = slowTurns();
  const order: string[] = [];
  const pieces = function* (name: string, count: number): Pieces<string> {
    for (let piece = 0; piece < count; piece++) {
      order.push(name);
      yield;
    }
    return name;
  };
  const all = [
    workOnSql(turns, call('a'), pieces('long', 50)),
    workOnSql(turns, call('b'), pieces('short', 2)),
  ];
  deepEqual(await Promise.all(all), ['long', 'short']);
  equal(order.filter((name) => name === 'long').length, 50);
  ok(order.lastIndexOf('short') < 20, order.join());
});

test('a text is dropped when its caller disconnects between two pieces', async () => {
  const turns = slowTurns();
  let count = 0;
  const endless = function* (): Pieces<never> {
    for (;;) {
      count += 1;
      yield;
    }
  };
  await rejects(
    workOnSql(
      turns,
      call('a', () => count >= 5),
      endless(),
    ),
    { code: 'query_cancelled' },
  );
  ok(count < 10);
});

test('a promise from the last piece is awaited', async () => {
  const pieces = once(() => Promise.resolve('later'));
  equal(await workOnSql(slowTurns(), call('a'), pieces), 'later');
});

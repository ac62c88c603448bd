import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { StatementTurns } from '../../src/clickhouse/statement-turns.ts';

type Statement = { readonly end: () => void; readonly done: Promise<void> };

/** Statements that end when they are told to; `begun` lists them in the order in which they began. */
function begin(
  turns: StatementTurns,
  begun: string[],
  of: { readonly name: string; readonly tenant: string; readonly signal?: AbortSignal },
): Statement {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = turns.take({ tenant: of.tenant, signal: of.signal }, async () => {
    begun.push(of.name);
    await ended;
  });
  done.catch(() => {});
  return { end, done };
}

function turnsOf(runningMax: number, waitingMax: number): StatementTurns {
  let ms = 0;
  return new StatementTurns({ runningMax, waitingMax }, () => ms++);
}

test('so many run at once, and tenants take turns', async () => {
  const turns = turnsOf(1, 10);
  const begun: string[] = [];
  const first = begin(turns, begun, { name: 'a1', tenant: 'a' });
  const others = ['a2', 'a3', 'b1'].map((name) => begin(turns, begun, { name, tenant: name[0]! }));
  await Promise.resolve();
  deepEqual([turns.runningCount, turns.waitingCount], [1, 3]);
  for (const statement of [first, ...others]) statement.end();
  await Promise.all([first, ...others].map(({ done }) => done));
  deepEqual(begun, ['a1', 'b1', 'a2', 'a3']);
  deepEqual([turns.runningCount, turns.waitingCount], [0, 0]);
});

test('a caller that leaves gives up its place', async () => {
  const turns = turnsOf(1, 1);
  const begun: string[] = [];
  const first = begin(turns, begun, { name: 'a', tenant: 'a' });
  const gone = new AbortController();
  const second = begin(turns, begun, { name: 'b', tenant: 'b', signal: gone.signal });
  gone.abort();
  await rejects(second.done, { code: 'query_cancelled' });
  equal(turns.waitingCount, 0);
  const third = begin(turns, begun, { name: 'c', tenant: 'c' });
  first.end();
  third.end();
  await third.done;
  deepEqual(begun, ['a', 'c']);
  const late = begin(turns, begun, { name: 'd', tenant: 'd', signal: gone.signal });
  await rejects(late.done, { code: 'query_cancelled' });
});

test('beyond the places to wait a statement is refused', async () => {
  const turns = turnsOf(1, 1);
  const begun: string[] = [];
  const kept = ['a', 'b'].map((name) => begin(turns, begun, { name, tenant: name }));
  const refused = begin(turns, begun, { name: 'c', tenant: 'c' });
  await rejects(refused.done, { code: 'overloaded' });
  for (const { end } of kept) end();
  await Promise.all(kept.map(({ done }) => done));
});

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { WorkTurns } from '../../../src/http/work-turns.ts';
import {
  CALLER_SQL_CHARACTER_BYTES,
  CALLER_SQL_LENGTH_MAX,
  WORK_TURN_MS_MAX,
} from '../../../src/limits.ts';

/** Turns, and work that takes as long as one turn may. */
class Stage {
  readonly begun: string[] = [];
  #nowMs = 0;
  readonly turns = new WorkTurns(() => this.#nowMs);

  add(name: string, ms = WORK_TURN_MS_MAX, size = 100): Promise<string> {
    const start = async () => {
      this.begun.push(name);
      this.#nowMs += ms;
      return name;
    };
    return this.turns.run({ tenant: name[0]!, size, start });
  }
}

test('work begins at once while the turn has time, and the rest in later turns', async () => {
  const stage = new Stage();
  const all = ['a1', 'a2', 'a3'].map((name) => stage.add(name));
  deepEqual(stage.begun, ['a1']);
  await turn();
  deepEqual(stage.begun, ['a1', 'a2']);
  await turn();
  deepEqual(stage.begun, ['a1', 'a2', 'a3']);
  deepEqual(await Promise.all(all), ['a1', 'a2', 'a3']);
});

test('several short works run in one turn', async () => {
  const stage = new Stage();
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((name) =>
    stage.add(name, WORK_TURN_MS_MAX / 2),
  );
  deepEqual(stage.begun, ['a1', 'a2']);
  await turn();
  deepEqual(stage.begun, ['a1', 'a2', 'a3', 'a4']);
  await Promise.all(all);
});

test('a tenant does not wait for all earlier work of another', async () => {
  const stage = new Stage();
  const many = ['a1', 'a2', 'a3', 'a4'].map((name) => stage.add(name));
  const few = stage.add('b1');
  await few;
  deepEqual(stage.begun, ['a1', 'b1']);
  await Promise.all(many);
});

test('work that arrives after the turn’s time is over does not overtake waiting work', async () => {
  const stage = new Stage();
  const all = [stage.add('a1'), stage.add('a2')];
  await turn();
  all.push(stage.add('a3'));
  deepEqual(stage.begun, ['a1', 'a2']);
  await Promise.all(all);
  equal(stage.begun.at(-1), 'a3');
});

test('a post and a text of others run between two texts of one tenant', async () => {
  const stage = new Stage();
  const text = CALLER_SQL_CHARACTER_BYTES * CALLER_SQL_LENGTH_MAX;
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => stage.add(name, WORK_TURN_MS_MAX, text));
  all.push(stage.add('b1', WORK_TURN_MS_MAX, 1_000));
  all.push(stage.add('c1', WORK_TURN_MS_MAX, CALLER_SQL_CHARACTER_BYTES * 100));
  all.push(stage.add('b2', WORK_TURN_MS_MAX, 1_000));
  equal(stage.turns.waitingCount('a'), 3);
  await Promise.all(all);
  deepEqual(stage.begun, ['a1', 'b1', 'c1', 'b2', 'a2', 'a3', 'a4']);
  equal(stage.turns.waitingCount('a'), 0);
});

test('failed work rejects its own promise, and the next begins', async () => {
  const stage = new Stage();
  const failing = stage.turns.run({
    tenant: 'a',
    size: 1,
    start: () => Promise.reject(new Error('it failed')),
  });
  const next = stage.add('a1');
  await rejects(failing, /it failed/);
  equal(await next, 'a1');
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { FURTHER_DEFINITIONS } from '../../bench/peers/asked.ts';
import { rowsDifference } from '../../bench/peers/comparison.ts';
import { DEFINITIONS } from '../../bench/peers/definition-sql.ts';
import { eventRows } from '../../bench/peers/event-row.ts';
import type { Peer } from '../../bench/peers/peer.ts';
import { PEERS } from '../../bench/peers/peer-list.ts';
import type { AnswerRow } from '../../bench/peers/question.ts';
import { TABLES, tableOf } from '../../bench/peers/table.ts';
import { countsWindow, statsWindow } from '../../bench/peers/window.ts';
import { Tenants } from '../../bench/workload/tenants.ts';
import { events, KINDS, ndjson } from '../../bench/workload/workload.ts';

const tenants = new Tenants(20);
const EVENT_COUNT = 600;

test('every further definition has a file, is called, and has a text for the other engines', () => {
  const files = readdirSync('bench/peers/definitions').map((name) => name.replace('.sql', ''));
  const asked = FURTHER_DEFINITIONS.map(({ name }) => name);
  deepEqual(files.filter((name) => name !== 'float-quantiles').sort(), asked.toSorted());
  deepEqual(Array.from(DEFINITIONS.keys()).sort(), asked.toSorted());
});

test('every kind of event has a table, and every event has a value in each of its columns', () => {
  deepEqual(TABLES.map(({ kind }) => kind).sort(), Array.from(KINDS.keys()).sort());
  for (const { kind, columns } of TABLES) {
    const text = `${Array.from(events(kind, { tenants, eventCount: 50 })).join('\n')}\n`;
    const rows = eventRows(tableOf(kind), text);
    equal(rows.length, 50);
    for (const [index, { name }] of columns.entries()) {
      ok(
        rows.every((row) => row[index] !== null),
        `${kind}.${name}`,
      );
    }
  }
});

test('an event becomes the values at the paths of the columns', () => {
  const full =
    '{"id":"a","timestamp":1,"event_message":"m\\n","project":"p","metadata":{"x":[1]}}\n';
  deepEqual(eventRows(tableOf('full'), full), [['p', 1, 'a', 'm\n', '{"x":[1]}']]);
  deepEqual(eventRows(tableOf('floats'), '{"project":"p","timestamp":1}\n'), [
    ['p', 1, null, null],
  ]);
});

test('windows begin at a bucket for the statistics, and anywhere for the counts', () => {
  const at = (startUs: number) => new Date(startUs / 1000).toISOString();
  equal(at(statsWindow('7day').startUs), '2026-01-08T00:00:00.000Z');
  equal(at(statsWindow('1day').startUs), '2026-01-14T13:00:00.000Z');
  equal(at(statsWindow('5min').startUs), '2026-01-15T13:42:12.000Z');
  equal(at(countsWindow('daily').startUs), '2026-01-08T13:47:12.345Z');
  equal(at(countsWindow('minutely').startUs), '2026-01-15T12:47:12.345Z');
});

test('a list of one record equals the record, at any depth; other lists do not', () => {
  const isSame = (left: string, right: string) =>
    rowsDifference([[left]], [[right]], undefined) === undefined;
  ok(isSame('[{"a":[{"b":1}]}]', '{"a":{"b":1}}'));
  ok(!isSame('[{"a":[1]}]', '{"a":1}'));
  ok(!isSame('[{"a":1},{"a":1}]', '{"a":1}'));
});

/** By plain loops over the events. */
function statsOf(project: string): readonly AnswerRow[] {
  const { startUs } = statsWindow('7day');
  const dayUs = 86_400_000_000;
  const days = new Map<number, { times: number[]; errorCount: number }>();
  for (const text of events('invocations', { tenants, eventCount: EVENT_COUNT })) {
    const { timestamp, metadata } = JSON.parse(text);
    if (metadata.project_ref !== project || timestamp < startUs) continue;
    const start = timestamp - (timestamp % dayUs);
    const day = days.get(start) ?? { times: [], errorCount: 0 };
    days.set(start, day);
    day.times.push(metadata.execution_time_ms);
    if (metadata.response.status_code >= 400) day.errorCount++;
  }
  return Array.from(days, ([start, { times, errorCount }]) => {
    times.sort((left, right) => left - right);
    const at = (share: number) => times[Math.ceil(times.length * share) - 1]!;
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    return [start, times[0]!, times.at(-1)!, mean, at(0.95), at(0.99), times.length, errorCount];
  });
}

/** Why a peer cannot be asked here: its packages come with `npm run bench:peers`. */
async function hindranceOf(make: () => Promise<Peer>): Promise<string | undefined> {
  if (!existsSync('bench/peers/node_modules')) return 'the packages of bench/peers are not there';
  try {
    await (await make()).version();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

for (const [name, make] of PEERS) {
  // The other ways of an engine read what the engine itself has loaded.
  if (name.includes('-')) continue;
  const skip = (await hindranceOf(make)) ?? false;
  test(`${name} counts what it has loaded, and answers as plain loops do`, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
    const peer = await make();
    try {
      mkdirSync(join(folder, name));
      await peer.open(join(folder, name));
      const batches = ndjson('invocations', { tenants, eventCount: EVENT_COUNT, perText: 250 });
      await peer.load('invocations', batches);
      await peer.finishLoading();
      deepEqual(await peer.counts(), new Map([['invocations', EVENT_COUNT]]));
      const project = tenants.hot.ref;
      const rows = await peer.ask({ kind: 'invocation-stats', project, interval: '7day' });
      const sketched =
        peer.quantiles === 'exact' ? undefined : { quantiles: new Set([4, 5]), count: 6 };
      equal(rowsDifference(rows!, statsOf(project), sketched), undefined);
    } finally {
      await peer.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

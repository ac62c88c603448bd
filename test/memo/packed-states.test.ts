import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { Engine } from '../../engine/engine.ts';
import { PACKED_MEMORY_MIN } from '../../engine/memo/memo-runs.ts';
import {
  PACKED_STATE_BYTES_MAX,
  PACKED_STATES_MAX,
  PackedStateReader,
  StatePacker,
} from '../../engine/memo/partial-memo.ts';
import type { AggregatePartial } from '../../engine/operator/aggregate.ts';
import type { RunStats } from '../../engine/pool/pool-stats.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { sealedHandle } from './sealed-handle.ts';

/** A state of some groups without keys, that counts. */
function stateOf(counts: readonly number[]): AggregatePartial {
  const all = new Float64Array([-1, ...counts, -1]);
  const keys = { size: counts.length, columns: [] } as AggregatePartial['keys'];
  return { keys, states: [all.subarray(1, -1), { texts: undefined, sum: 2n ** 70n }] };
}

test('a state that was packed is the same when it is taken out', () => {
  const packer = new StatePacker();
  const counts = [[1], [2.5, Number.NaN, -0], [], [3]];
  for (const [index, some] of counts.entries()) packer.add(`p${index}`, stateOf(some));
  const shelf = new PackedStateReader(structuredClone(packer.packed()!));
  for (const [index, some] of counts.entries()) {
    assert.deepEqual(shelf.find(`p${index}`), stateOf(some));
  }
  assert.equal(shelf.find('p4'), undefined);
  assert.ok(shelf.byteSize > 4 * 100 && shelf.byteSize < 4 * 400, `${shelf.byteSize}`);
});

test('what is large is left out, and what is too much', () => {
  const packer = new StatePacker();
  assert.equal(packer.packed(), undefined);
  packer.add('large', stateOf(Array.from({ length: PACKED_STATE_BYTES_MAX / 8 }, () => 1)));
  for (let index = 0; index < PACKED_STATES_MAX + 10; index++) packer.add(`${index}`, stateOf([1]));
  assert.ok(packer.isFull);
  const shelf = new PackedStateReader(packer.packed()!);
  assert.equal(shelf.find('large'), undefined);
  assert.notEqual(shelf.find(`${PACKED_STATES_MAX - 1}`), undefined);
  assert.equal(shelf.find(`${PACKED_STATES_MAX}`), undefined);
});

const DAY_US = 86_400_000_000;
const START_US = Date.parse('2026-01-10T00:00:00Z') * 1000;
const DAYS = 3;
/** Of the last day there are fewer. */
const DAY_ROWS = 1_000;
const LAST_DAY_ROWS = 700;
const ROWS = (DAYS - 1) * DAY_ROWS + LAST_DAY_ROWS;

const SQL = `SELECT TIMESTAMP_TRUNC(t.timestamp, DAY) AS b, COUNT(*) AS n, ANY_VALUE(m.s) AS one
  FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m
  WHERE REGEXP_CONTAINS(m.s, @project) GROUP BY b ORDER BY b`;

/** Most of one project; `rare` is not there on the second day, but in texts of others. */
function events(): readonly TestEvent[] {
  return Array.from({ length: ROWS }, (_, n) => {
    const day = Math.floor(n / DAY_ROWS);
    const project = n % 50 === 0 && day !== 1 ? 'rare' : n % 10 === 0 ? 'few' : 'many';
    const s = n % 333 === 332 ? 'said of rare things' : `${project} ${n}`;
    const timestampUs = START_US + day * DAY_US + (n % DAY_ROWS) * 1_000_000;
    return { id: `${n}`, timestampUs, project, metadata: { s } };
  });
}

function engineOver(
  handles: readonly ReturnType<typeof sealedHandle>[],
  memory: { readonly packedRowsMin: number; readonly bytesMax?: number },
) {
  const rowsMax = ROWS + 1;
  return new Engine({
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog: { segments: () => handles, dropped: () => ({ count: 0, ids: [] }) },
    workerCount: 1,
    inlineLimits: { rowsMax, runMsMax: 1e6, turnMsMax: 1e6 },
    memoLimits: { rowsMin: 600, bytesPerRowMax: 1_000, ...memory },
  });
}

type Ask = (project: string) => Promise<{ readonly json: string; readonly stats: RunStats }>;

/** One engine that packs states, and another that does not: both have to answer the same. */
async function withPacked(
  memory: { readonly packedRowsMin: number; readonly bytesMax?: number },
  use: (ask: Ask) => Promise<void>,
): Promise<void> {
  const open = new OpenSegment({ id: 1, arrivalBase: 0 });
  open.append(batchOf(events()), 0, ROWS);
  open.publish();
  const sealed = sealSegment(open.handle(), { partitionUs: DAY_US });
  const handles = sealed.map((buffer, index) => sealedHandle(buffer, 10 + index));
  const engines = [memory, { packedRowsMin: Infinity }].map((one) => engineOver(handles, one));
  const asks = engines.map((engine): Ask => {
    const query = engine.prepare(SQL, [{ name: 'project', type: { kind: 'STRING' } }]);
    return async (project) => {
      const parameters = new Map([['project', project]]);
      const nowUs = START_US + DAYS * DAY_US;
      const { json, stats } = await engine.run(query, { parameters, nowUs, rowsMax: 100 });
      return { json: Buffer.from(json).toString(), stats };
    };
  });
  const ask: Ask = async (project) => {
    const [got, wanted] = await Promise.all(asks.map((one) => one(project)));
    assert.equal(got!.json, wanted!.json, project);
    return got!;
  };
  try {
    for (let times = 0; times < 4; times++) await ask('many');
    await engines[0]!.prepareStates();
    await use(ask);
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

test('the first call for a project with few rows is answered from small states of each segment', async () => {
  await withPacked({ packedRowsMin: 1 }, async (ask) => {
    for (let times = 0; times < 2; times++) {
      const { json, stats } = await ask('few');
      assert.ok(json.length > 100);
      assert.equal(stats.rowsScanned, 0);
      assert.equal(stats.rowsFromMemo, ROWS);
    }
  });
});

test('what a segment has no project of may be in texts of others all the same', async () => {
  await withPacked({ packedRowsMin: 1 }, async (ask) => {
    const first = await ask('rare');
    assert.equal(first.stats.rowsScanned, DAY_ROWS);
    assert.equal(first.stats.rowsFromMemo, ROWS - DAY_ROWS);
    const second = await ask('rare');
    assert.equal(second.stats.rowsScanned, 0);
    assert.equal(second.stats.rowsFromMemo, ROWS);
    assert.equal((await ask('said')).stats.rowsScanned, ROWS);
  });
});

test('small segments are looked at beside the states of others, once', async () => {
  await withPacked({ packedRowsMin: DAY_ROWS }, async (ask) => {
    const first = await ask('few');
    assert.equal(first.stats.rowsScanned, LAST_DAY_ROWS);
    assert.equal(first.stats.rowsFromMemo, ROWS - LAST_DAY_ROWS);
    const second = await ask('few');
    assert.equal(second.stats.rowsScanned, 0);
    assert.equal(second.stats.rowsFromMemo, ROWS);
  });
});

test('none are made where they would leave little room for others', async () => {
  const memory = { packedRowsMin: 1, bytesMax: PACKED_MEMORY_MIN - 1 };
  await withPacked(memory, async (ask) => {
    assert.equal((await ask('few')).stats.rowsScanned, ROWS);
    assert.equal(
      (await ask('few')).stats.rowsScanned,
      0,
      'a state of its own, once it was asked for',
    );
  });
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { Engine } from '../../engine/engine.ts';
import { INLINE_PARTIALS_BYTES_MAX } from '../../engine/limits.ts';
import {
  type PiecesResult,
  packedBuffersOf,
  packLarge,
  packLargeOf,
  partialsOf,
  unpacked,
  unpackedWithin,
} from '../../engine/memo/run-pieces.ts';
import type { AggregatePartial } from '../../engine/operator/aggregate.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';

const LARGE_COUNT = INLINE_PARTIALS_BYTES_MAX / Float64Array.BYTES_PER_ELEMENT + 1;

/** The state of a grouping without keys: `count` numbers, behind one that is not its own. */
function stateOf(count: number): AggregatePartial {
  const keys = { size: count, columns: [] } as AggregatePartial['keys'];
  const numbers = Float64Array.from({ length: count + 1 }, (_, index) => index - 1);
  return { keys, states: [numbers.subarray(1), { texts: ['a', '\u{1F980}'], sum: 2n ** 70n }] };
}

test('a small state is sent as it is, and a large one as bytes that come to the same', () => {
  const [small, large] = [stateOf(3), stateOf(LARGE_COUNT)];
  equal(packLarge(small), small);
  deepEqual(packedBuffersOf([small]), []);
  const sent = packLarge(large);
  equal(packedBuffersOf([small, sent]).length, 2);
  deepEqual(unpacked(sent), large);
  equal(packLarge(sent), sent, 'what is packed is not packed again');
});

test('a packed state is unpacked only within the bytes allowed, and is its own then', () => {
  const sent = packLarge(stateOf(LARGE_COUNT));
  equal(unpackedWithin(sent, INLINE_PARTIALS_BYTES_MAX), undefined);
  const kept = unpackedWithin(sent, 2 * INLINE_PARTIALS_BYTES_MAX);
  structuredClone(sent, { transfer: [...packedBuffersOf([sent])] });
  deepEqual(kept, stateOf(LARGE_COUNT), 'although its bytes have gone to another thread');
});

test('each state of a result of pieces is packed by itself', () => {
  const [small, large] = [stateOf(3), stateOf(LARGE_COUNT)];
  const result: PiecesResult = {
    kept: [undefined, { partial: large, rowCount: 5 }, { partial: small, rowCount: 1 }],
    together: { indexes: [0], partial: large, rowCount: 7 },
    others: [small, large],
  };
  const packed = packLargeOf(result);
  equal(packedBuffersOf(partialsOf(packed)).length, 4);
  deepEqual(partialsOf(packed).map(unpacked), partialsOf(result));
  deepEqual(
    packed.kept.map((one) => one?.rowCount),
    [undefined, 5, 1],
  );
  equal(packed.together?.rowCount, 7);
});

const ROWS = 60_000;
const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;

const engines: Engine[] = [];
after(() => Promise.all(engines.map((engine) => engine.close())));

/** Answers a query over events of which so many each have a message of some two hundred letters, over so many threads. */
function askerWith(workerCount: number, sameCount: number): (sql: string) => Promise<string> {
  const open = new OpenSegment({ id: 1, arrivalBase: 0 });
  const events = Array.from(
    { length: ROWS },
    (_, n): TestEvent => ({
      id: `${n}`,
      timestampUs: NOW_US - n,
      event_message: `${'GET /rest/v1/items '.repeat(10)}${Math.floor(n / sameCount)}`,
      project: `p${n % 7}`,
    }),
  );
  open.append(batchOf(events), 0, ROWS);
  open.publish();
  const engine = new Engine({
    sources: [{ name: 'logs', projectPath: ['project'] }],
    catalog: { segments: () => [open.handle()], dropped: () => ({ count: 0, ids: [] }) },
    workerCount,
    memoLimits: { bytesPerRowMax: 1_000 },
  });
  engines.push(engine);
  return async (sql) => {
    const options = { parameters: new Map(), nowUs: NOW_US, rowsMax: 10 };
    const { json } = await engine.run(engine.prepare(sql, []), options);
    return Buffer.from(json).toString();
  };
}

type Asker = ReturnType<typeof askerWith>;

/** With one thread, and with two. */
const askers = new Map<number, readonly [Asker, Asker]>();

function askersOf(sameCount: number): readonly [Asker, Asker] {
  const found = askers.get(sameCount) ?? [askerWith(1, sameCount), askerWith(2, sameCount)];
  askers.set(sameCount, found);
  return found;
}

/** Expects the same of one thread and of two, that of two again and again. */
async function expectSame(sameCount: number, sql: string, part: string): Promise<void> {
  const [askOne, ask] = askersOf(sameCount);
  const wanted = await askOne(sql);
  ok(wanted.includes(part), wanted);
  for (let times = 0; times < 3; times++) equal(await ask(sql), wanted);
}

test('a grouping of as many groups as rows gives the same over threads, first and again', async () => {
  const sql = `SELECT t.event_message AS m, t.id AS i, COUNT(*) AS n, MAX(t.project) AS p
    FROM logs AS t GROUP BY m, i ORDER BY n DESC, m, i LIMIT 3`;
  await expectSame(1, sql, '"n":1,"p":"p0"');
});

test('so does one of a third as many, whose states are large and are handed over', async () => {
  const sql = `SELECT t.event_message AS m, COUNT(*) AS n, MAX(t.project) AS p
    FROM logs AS t GROUP BY m ORDER BY n DESC, m LIMIT 3`;
  await expectSame(3, sql, '"n":3,"p":"p2"');
});

test('as many distinct values as rows are counted the same over threads, first and again', async () => {
  const sql = `SELECT t.project AS p, COUNT(DISTINCT t.event_message) AS n
    FROM logs AS t GROUP BY p ORDER BY p`;
  await expectSame(1, sql, `"n":${Math.ceil(ROWS / 7)}`);
});

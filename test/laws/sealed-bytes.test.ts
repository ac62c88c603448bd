import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { batchOf } from '../column/batch-of.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { engineJson } from '../random-sql/engine-answer.ts';
import { randomEvents } from '../random-sql/events.ts';
import { OutOfRange } from '../random-sql/failure.ts';
import { randomQuery } from '../random-sql/random-query.ts';
import { render } from '../random-sql/render.ts';
import { runsOf } from '../support/budget.ts';

const ROUNDS = runsOf(25);
const QUERIES_PER_ROUND = 12;
const PARTITION_US = 86_400_000_000;

function hashOf(buffer: SharedArrayBuffer): string {
  return createHash('sha256').update(new Uint8Array(buffer)).digest('hex');
}

test('law 2: a sealed segment keeps its bytes whatever is asked, appended and sealed', (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const random = new Random(seed);
  let open = new OpenSegment({ id: 0, arrivalBase: 0 });
  const sealed: { readonly buffer: SharedArrayBuffer; readonly hash: string }[] = [];
  let askedRows = 0;
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 3 === 0) open = new OpenSegment({ id: round, arrivalBase: 0 });
    const events = randomEvents(random, { count: 1 + random.below(5), isMixed: true });
    open.append(batchOf(events), 0, events.length);
    open.publish();
    // The open segment goes on: what is sealed is a copy that shares nothing with it.
    for (const buffer of sealSegment(open.handle(), { partitionUs: PARTITION_US })) {
      sealed.push({ buffer, hash: hashOf(buffer) });
    }
    const readers = sealed
      .slice(-6)
      .map(({ buffer }, index) => readSegment({ kind: 'sealed', id: round * 100 + index, buffer }));
    for (let count = 0; count < QUERIES_PER_ROUND; count++) {
      const sql = render(randomQuery(random, 1));
      try {
        askedRows += engineJson(sql, () => readers.slice(0, 2), 'optimized').length;
      } catch (error) {
        if (!(error instanceof OutOfRange)) throw error;
      }
    }
    for (const { buffer, hash } of sealed) assert.equal(hashOf(buffer), hash);
  }
  assert.ok(askedRows > 0);
});

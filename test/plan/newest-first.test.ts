import assert from 'node:assert/strict';
import test from 'node:test';
import { scansOf } from '../../engine/plan/physical-plan.ts';
import { planOfText } from './plan-of-text.ts';

/** Of each scan of a text, whether it is read from its newest end. */
function newestFirst(text: string): readonly boolean[] {
  return scansOf(planOfText(text)).map((scan) => scan.newestFirst);
}

test('the newest of a union are found from the newest ends of all its inputs', () => {
  const inputs = `SELECT id, timestamp FROM \`postgres.logs\`
    UNION ALL SELECT id, timestamp FROM \`gotrue.logs.prod\``;
  assert.deepEqual(newestFirst(`${inputs} ORDER BY timestamp DESC LIMIT 5`), [true, true]);
  assert.deepEqual(newestFirst(`${inputs} ORDER BY timestamp LIMIT 5`), [false, false]);
  assert.deepEqual(newestFirst(`${inputs} ORDER BY id DESC LIMIT 5`), [false, false]);
});

test('the newest of a join are found from the newest end of the side that keeps its order', () => {
  const joined = (kind: string) =>
    newestFirst(
      `SELECT a.id FROM \`postgres.logs\` AS a ${kind} JOIN \`gotrue.logs.prod\` AS b ON a.id = b.id
       ORDER BY a.timestamp DESC LIMIT 5`,
    );
  assert.deepEqual(joined('INNER'), [true, false]);
  assert.deepEqual(joined('LEFT'), [true, false]);
  assert.deepEqual(joined('RIGHT'), [false, false]);
  assert.deepEqual(joined('FULL'), [false, false]);
});

test('a side that the text bounds is the one kept in a table', () => {
  const text = `SELECT a.id FROM (SELECT id FROM \`gotrue.logs.prod\` ORDER BY timestamp LIMIT 1) AS b
    JOIN \`postgres.logs\` AS a ON a.id = b.id ORDER BY a.timestamp DESC LIMIT 5`;
  assert.deepEqual(newestFirst(text), [false, true]);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Leading } from '../../engine/operator/leading-groups.ts';
import { leadingOf } from '../../engine/plan/compiled-calls.ts';
import { rowInputsOf, rowOrderOf } from '../../engine/plan/physical-walk.ts';
import { planOfText } from './plan-of-text.ts';

/** What the top rows of a text want of groups; fails where it has none. */
function leading(text: string): Leading | undefined {
  let plan = planOfText(text);
  while (plan.op !== 'top') plan = rowInputsOf(plan)[0]!;
  return leadingOf(plan);
}

const select = (aggregates: string, rest: string) =>
  leading(`SELECT m.path, ${aggregates} FROM \`storage.logs.prod.2\` AS t
    CROSS JOIN UNNEST(t.metadata) AS m GROUP BY m.path ${rest}`);

test('groups by a MAX descending or a MIN ascending have leaders', () => {
  const slowest = select('COUNT(*) AS n, MAX(m.took) AS x', 'ORDER BY x DESC, n LIMIT 20 OFFSET 5');
  assert.deepEqual(slowest, { aggregate: 1, count: 25, descending: true, nullsFirst: false });
  const least = select('MIN(t.timestamp) AS x', 'ORDER BY x LIMIT 3');
  assert.deepEqual(least, { aggregate: 0, count: 3, descending: false, nullsFirst: true });
});

test('in any other order all groups count', () => {
  for (const order of ['x LIMIT 5', 'n DESC, x DESC LIMIT 5', 'm.path LIMIT 5']) {
    assert.equal(select('MAX(m.took) AS x, COUNT(*) AS n', `ORDER BY ${order}`), undefined, order);
  }
  assert.equal(select('MIN(m.took) AS x', 'ORDER BY x DESC LIMIT 5'), undefined);
  assert.equal(select('MAX(m.took) AS x', 'HAVING x > 1 ORDER BY x DESC LIMIT 5'), undefined);
});

test('groups that are not among the first fail where something of theirs can fail', () => {
  const order = 'ORDER BY x DESC LIMIT 5';
  assert.equal(select('MAX(m.took) AS x, AVG(CAST(m.a AS FLOAT64)) AS y', order), undefined);
  assert.notEqual(
    select('MAX(m.took) AS x, AVG(SAFE_CAST(m.a AS FLOAT64)) AS y', order),
    undefined,
  );
  assert.equal(select('MAX(m.took) AS x, COUNT(1 / m.a) AS y', order), undefined);
  const below = (value: string) =>
    leading(`SELECT k, MAX(x) AS m, COUNT(y) AS s FROM (
        SELECT m.path AS k, m.took AS x, ${value} AS y FROM \`storage.logs.prod.2\` AS t
        CROSS JOIN UNNEST(t.metadata) AS m LIMIT 5500)
      GROUP BY k ORDER BY m DESC LIMIT 5`);
  assert.equal(below('CAST(m.words AS FLOAT64)'), undefined);
  assert.notEqual(below('m.words'), undefined);
});

/** How many columns order the input of a sort as groupings do that give their rows as they come, and how many these are. */
function orderBehind(text: string): readonly number[] | undefined {
  let plan = planOfText(text);
  while (plan.op !== 'top' && plan.op !== 'sort') plan = rowInputsOf(plan)[0]!;
  const order = rowOrderOf(plan.input);
  return order && [order.columns.length, order.groupings.length];
}

test('groupings below a sort give their rows as they come where columns tell their order', () => {
  const counts = (name: string) =>
    `(SELECT m.path AS p, m.host AS h, COUNT(*) AS n FROM \`storage.logs.prod.2\` AS t
      CROSS JOIN UNNEST(t.metadata) AS m GROUP BY p, h) AS ${name}`;
  const select = (from: string, columns = 'a.p, a.h, a.n, b.h AS bh') =>
    orderBehind(`SELECT ${columns} FROM ${from} ORDER BY a.n LIMIT 5`);
  assert.deepEqual(select(counts('a'), 'a.p, a.h, a.n'), [2, 1]);
  // A key that is equated is one value for each row of the left side.
  const on = (kind: string) => `${counts('a')} ${kind} JOIN ${counts('b')} ON a.p = b.p`;
  assert.deepEqual(select(on('INNER')), [3, 2]);
  assert.deepEqual(select(on('LEFT')), [3, 2]);
  assert.equal(select(on('FULL')), undefined);
  assert.equal(select(on('INNER'), 'a.p, a.h, a.n'), undefined, 'a column is left out');
  const logs = `${counts('a')} INNER JOIN \`storage.logs.prod.2\` AS t ON t.id = a.p`;
  assert.equal(select(logs, 'a.p, a.h, a.n, t.id'), undefined);
});

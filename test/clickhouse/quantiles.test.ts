// In a process of its own: chDB has one folder open at a time.
import { ok } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { batchOf } from '../column/batch-of.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';
import { areEqual } from './store-outcome.ts';

const CALL = { parameters: new Map(), nowUs: 1_768_478_400_000_000, rowsMax: 10_000 };

/** Around the numbers of values at which a rank becomes the next one. */
const SIZES = [1, 2, 3, 4, 49, 50, 51, 99, 100, 101, 200, 250, 299, 300, 301, 700];

const EVENTS = SIZES.flatMap((size) =>
  Array.from({ length: size }, (_, index) => ({
    ...{ id: `${size}-${index}`, timestampUs: CALL.nowUs - ((index * 37) % size), project: 'p' },
    // Each number once; of every other group one is a fraction.
    metadata: { size, whole: (index * 37) % size, mixed: index === 0 ? (size % 2) / 2 : index },
  })),
);

suite('quantiles', { skip: missingChdb() }, () => {
  let stores: BothStores;

  before(async () => {
    stores = new BothStores([{ name: 'logs', projectPath: ['project'] }]);
    await stores.add('logs', batchOf(EVENTS));
  });

  after(() => stores?.close());

  function expectSame(value: string, count: number, element = ''): void {
    const text = `SELECT m.size, APPROX_QUANTILES(${value}, ${count})${element} AS q
      FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m GROUP BY m.size ORDER BY m.size`;
    const bound = bindQuery(parseQuery(text), { sources: stores.sources, parameters: [] });
    const plan = stores.optimized(bound, CALL);
    const { output } = bound;
    ok(areEqual(stores.fromClickHouse(plan, output), stores.fromEngine(plan, output)), text);
  }

  test('are the values of the same ranks in both stores, whatever their number', () => {
    for (const value of ['CAST(m.whole AS INT64)', 'm.whole + 0', 'm.mixed + 0', 't.timestamp']) {
      for (const count of [1, 2, 3, 7, 100, 300]) expectSame(value, count);
      for (const offset of [0, 95, 99, 100]) expectSame(value, 100, `[OFFSET(${offset})]`);
    }
  });

  test('beyond the end of their list there is an error, or NULL', () => {
    expectSame('m.whole + 0', 2, '[OFFSET(3)]');
    expectSame('m.whole + 0', 2, '[SAFE_OFFSET(3)]');
    expectSame('m.whole + 0', 2, '[SAFE_ORDINAL(3)]');
  });
});

// In a process of its own: chDB has one folder open at a time.
import { deepEqual, ok, throws } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { batchOf, type EventValue } from '../column/batch-of.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';

const CALL = { parameters: new Map(), nowUs: 1_768_478_400_000_000, rowsMax: 10_000 };

/** Of each kind, and numbers that a double does not tell apart. */
const VALUES: readonly EventValue[] = [
  ...[null, true, false, 0, 7, -7, 0.5, 1e300, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n],
  ...['', '7', 'é', 'z', [1, 'x'], [], { a: 1 }],
];

const LISTS: readonly EventValue[] = [['x', 7, null, true], [], [2.5, -1], null];

const EVENTS = VALUES.flatMap((f, one) =>
  VALUES.map((g, other) => ({
    ...{ id: `${one}-${other}`, timestampUs: CALL.nowUs, event_message: null, project: 'p' },
    metadata: { f, g, list: LISTS[(one + other) % LISTS.length]! },
  })),
);

suite('fields, whose kinds only the events know', { skip: missingChdb() }, () => {
  let stores: BothStores;

  before(async () => {
    stores = new BothStores([{ name: 'logs', projectPath: ['project'] }]);
    await stores.add('logs', batchOf(EVENTS));
  });

  after(() => stores?.close());

  function planned(select: string) {
    return plannedText(
      `SELECT t.id, ${select} AS x FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m ORDER BY t.id`,
    );
  }

  function plannedText(text: string) {
    const bound = bindQuery(parseQuery(text), { sources: stores.sources, parameters: [] });
    return { plan: stores.optimized(bound, CALL), output: bound.output };
  }

  function expectSame(select: string): void {
    const { plan, output } = planned(select);
    deepEqual(stores.fromClickHouse(plan, output), stores.fromEngine(plan, output), select);
  }

  test('are compared by kind and value', () => {
    for (const sign of ['<', '<=', '>', '>=', '=', '!=']) expectSame(`m.f ${sign} m.g`);
    expectSame('m.f BETWEEN m.g AND m.f');
    for (const sign of ['<', '<=', '>', '>=', '=', '!=']) expectSame(`m.f + 0 ${sign} m.g + 0`);
  });

  test('have a greatest and a least one', () => {
    for (const name of ['GREATEST', 'LEAST']) {
      expectSame(`${name}(m.f, m.g)`);
      expectSame(`${name}(m.f + 0, m.g + 0)`);
      expectSame(`${name}(m.f, m.g, COALESCE(m.f, 0.25))`);
    }
  });

  test('take fractions beside them', () => {
    expectSame('COALESCE(m.f, CAST(LENGTH(t.id) AS FLOAT64) / 4)');
    expectSame('IF(m.g = 7, m.f, 0.1 + LENGTH(t.id))');
  });

  test('are NULL where the other operand is no divisor', () => {
    for (const none of ['m.none', 'm.none + 0', 'SAFE_CAST(m.none AS INT64)']) {
      expectSame(`(${none}) / 0`);
      expectSame(`(${none}) / LENGTH('')`);
    }
    for (const name of ['DIV', 'MOD']) expectSame(`${name}(SAFE_CAST(m.none AS INT64), 0)`);
  });

  test('have sums and means beside infinities', () => {
    const infinite = "CAST('inf' AS FLOAT64)";
    for (const value of [`GREATEST(${infinite}, m.f + 0)`, `LEAST(-${infinite}, m.f + 0)`]) {
      for (const name of ['SUM', 'AVG']) {
        const text = `SELECT ${name}(${value}) AS x FROM logs AS t, UNNEST(t.metadata) AS m`;
        const { plan, output } = plannedText(text);
        deepEqual(stores.fromClickHouse(plan, output), stores.fromEngine(plan, output), text);
      }
    }
  });

  test('are compared as truths, whatever they are made of', () => {
    for (const truth of ['NOT (m.f = m.g)', 'm.f IS FALSE', 'm.f IS DISTINCT FROM m.g']) {
      for (const sign of ['=', '>=', '<']) expectSame(`(${truth}) ${sign} (m.g IS NOT NULL)`);
    }
  });

  test('of a list without elements nothing is computed that may fail', () => {
    const overflow = '3 * LENGTH(t.id) * 4000000000000000000';
    for (const text of [
      `SELECT ${overflow} AS x FROM logs AS t, UNNEST(t.none) AS e`,
      `SELECT 3 * 4000000000000000000 AS x FROM logs AS t, UNNEST(t.none) AS e`,
      `SELECT x + 1 AS y FROM (SELECT ${overflow} AS x FROM logs AS t, UNNEST(t.none) AS e)`,
      `SELECT COUNT(*) AS n FROM logs AS t, UNNEST(t.none) AS e WHERE ${overflow} > 0`,
      `SELECT COUNT(*) AS n FROM (SELECT t.id FROM logs AS t, UNNEST(t.none) AS e) AS t WHERE ${overflow} > 0`,
      `SELECT ${overflow} AS x, COUNT(*) AS n FROM logs AS t, UNNEST(t.none) AS e GROUP BY x`,
      `SELECT ARRAY_AGG(3 * 4000000000000000000) AS x FROM logs AS t WHERE FALSE`,
      `SELECT IF(FALSE, 0, MAX(CAST('y' AS INT64))) AS x FROM logs AS t WHERE FALSE`,
      `SELECT IF(LENGTH(MAX(t.id)) > 0, 0, MAX(CAST('y' AS INT64))) AS x FROM logs AS t WHERE t.id = 'none'`,
      `SELECT IF(TRUE, SUM(0), 0) AS s, IF(TRUE, MIN(1), 0) AS m, COUNT(CAST(t.id AS INT64)) AS n FROM logs AS t WHERE FALSE`,
    ]) {
      const { plan, output } = plannedText(text);
      deepEqual(stores.fromClickHouse(plan, output), stores.fromEngine(plan, output), text);
    }
  });

  test('what fails is computed beside a constant NULL', () => {
    const failing = 'LENGTH(t.id) * 4000000000000000000';
    const none = 'CAST(NULL AS INT64)';
    for (const text of [
      ...['=', '!=', '<', '>='].flatMap((sign) => [
        `${failing} ${sign} ${none}`,
        `${none} ${sign} ${failing}`,
      ]),
      `CASE ${failing} WHEN ${none} THEN 1 ELSE 1 END`,
      `${failing} NOT IN (NULL)`,
    ]) {
      const { plan, output } = planned(text);
      const answers = [stores.fromClickHouse(plan, output), stores.fromEngine(plan, output)];
      ok(
        answers.every((answer) => 'error' in answer && answer.error === 'query_failed'),
        text,
      );
    }
  });

  test('are refused beside constants that JSON does not have', () => {
    for (const number of ['NaN', 'inf', '-inf']) {
      const { plan, output } = planned(`LEAST(m.f, CAST('${number}' AS FLOAT64))`);
      throws(() => stores.fromClickHouse(plan, output), {
        message: 'the ClickHouse store does not support NaN or an infinity beside fields',
      });
    }
  });

  test('are read as the elements of lists', () => {
    expectSame("ARRAY_TO_STRING(ARRAY_CONCAT(m.list, m.list), '-')");
    expectSame("ARRAY_TO_STRING(ARRAY_REVERSE(m.list), ',', 'none')");
  });
});

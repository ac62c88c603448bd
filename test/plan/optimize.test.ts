import assert from 'node:assert/strict';
import test from 'node:test';
import type { SqlType } from '../../engine/column/type.ts';
import { INT64, STRING, TIMESTAMP } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { FOLDING_STEPS_MAX } from '../../engine/limits.ts';
import { CONSTANT_RELATION_STEPS } from '../../engine/plan/optimize/fold.ts';
import { optimize, optimizeInPieces, PASSES } from '../../engine/plan/optimize/optimize.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError, type Span } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { readText } from '../support/source-files.ts';

const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;

type Parameters = Readonly<Record<string, readonly [SqlType, SqlValue]>>;

/** The optimised plan of a text, one operator a line, from the top down. */
function planOf(text: string, parameters: Parameters = {}): readonly string[] {
  const declared = Object.entries(parameters).map(([name, [type]]) => ({ name, type }));
  const bound = bindQuery(parseQuery(text), { sources: BUILT_IN_SOURCES, parameters: declared });
  const values = new Map(Object.entries(parameters).map(([name, [, value]]) => [name, value]));
  const context = { parameters: values, nowUs: NOW_US, rowsMax: 1000, sources: BUILT_IN_SOURCES };
  return planText(optimize(bound, context))
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replaceAll(/#\d+/g, ''));
}

function endpointText(name: string): string {
  return readText(`src/endpoints/${name}.sql`);
}

test('the newest entries are a sort and a limit right above the scan of one project', () => {
  const plan = planOf(endpointText('logs.all'), {
    project: [STRING, 'alpha'],
    project_tier: [STRING, 'PRO'],
    iso_timestamp_start: [TIMESTAMP, null],
    iso_timestamp_end: [TIMESTAMP, NOW_US],
  });
  assert.deepEqual(plan.slice(-5), [
    'limit 100',
    'sort timestamp desc, arrival desc',
    'unnest root.metadata as m',
    "filter (project = 'alpha')",
    "scan `cloudflare.logs.prod` [2026-01-08 12:00:00.000001, 2026-01-15 12:00:00.000001) project 'alpha': id, timestamp, event_message, project, root, arrival",
  ]);
});

test('the join with the list of buckets is a window of the scan', () => {
  const plan = planOf(endpointText('functions.invocation-stats'), {
    project: [STRING, 'alpha'],
    function_id: [STRING, null],
    interval: [STRING, '7day'],
  });
  assert.ok(plan.every((line) => !line.startsWith('join') && !line.includes(' in(')));
  assert.equal(
    plan.at(-1),
    "scan `deno-relay-logs` [2026-01-08 00:00:00, 2026-01-16 00:00:00) project 'alpha': id, timestamp, root",
  );
});

test('status counts that the answer does not return are not computed', () => {
  const plan = planOf(endpointText('functions.invocation-stats'), {
    project: [STRING, 'alpha'],
    function_id: [STRING, 'f'],
    interval: [STRING, '5min'],
  });
  const aggregate = plan.find((line) => line.startsWith('aggregate'))!;
  assert.equal(aggregate.match(/countif\(/g)?.length, 1);
});

test('a count by expression reads the time and the records only, and needs a plain text', () => {
  const plan = planOf(endpointText('usage.api-counts'), {
    project: [STRING, 'alpha'],
    interval: [STRING, 'daily'],
  });
  assert.equal(
    plan.at(-1),
    "scan `cloudflare.logs.prod` [2026-01-08 12:00:00, ) with 'alpha' in metadata.request.url: timestamp, root",
  );
});

test('a list with a gap stays a list', () => {
  const plan = planOf(
    `SELECT t.id FROM UNNEST([TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-03']) AS day
     JOIN \`postgres.logs\` AS t ON TIMESTAMP_TRUNC(t.timestamp, DAY) = day`,
  );
  assert.ok(plan.some((line) => line.startsWith("filter in(timestamp_trunc(timestamp, 'DAY'),")));
});

test('a list that holds a value twice stays a join, for each of its rows counts', () => {
  const plan = planOf(
    "SELECT t.id FROM UNNEST(['a', 'a']) AS name JOIN `postgres.logs` AS t ON t.project = name",
  );
  assert.ok(plan.some((line) => line.startsWith('inner join')));
});

test('a condition that can never hold leaves no scan', () => {
  const plan = planOf("SELECT id FROM `postgres.logs` WHERE timestamp > '2026-01-01' AND 1 = 2");
  assert.ok(plan.every((line) => !line.startsWith('scan')));
});

test('a condition on the outer side of a LEFT JOIN is pushed, one on the inner side is not', () => {
  const plan = planOf(
    `SELECT a.id FROM \`postgres.logs\` AS a LEFT JOIN \`gotrue.logs.prod\` AS b ON a.id = b.id
     WHERE a.project = 'x' AND b.project IS NULL`,
  );
  const filters = plan.filter((line) => line.startsWith('filter'));
  assert.deepEqual(filters, ['filter is_null(project)', "filter (project = 'x')"]);
  assert.ok(plan.indexOf(filters[0]!) < plan.findIndex((line) => line.startsWith('left join')));
});

test('an outer join whose added rows a condition drops is an inner one', () => {
  const joinOf = (kind: string, condition: string) =>
    planOf(
      `SELECT a.id FROM \`postgres.logs\` AS a ${kind} JOIN \`gotrue.logs.prod\` AS b ON a.id = b.id
       WHERE ${condition}`,
    ).find((line) => line.includes(' join on'));
  assert.equal(joinOf('LEFT', "b.project = 'x'"), 'inner join on (id = id)');
  assert.equal(joinOf('LEFT', 'b.project IS NOT NULL'), 'inner join on (id = id)');
  assert.equal(joinOf('LEFT', "b.project = 'x' OR a.id = 'y'"), 'left join on (id = id)');
  assert.equal(joinOf('FULL', "a.project = 'x'"), 'left join on (id = id)');
  assert.equal(
    joinOf('FULL', 'a.project = b.project'),
    'inner join on ((id = id) and (project = project))',
  );
  assert.equal(joinOf('FULL', "a.id = 'x' OR b.id = 'x'"), 'full join on (id = id)');
});

test('what is compared with a column holds for the column it is equal to', () => {
  const scans = planOf(
    `SELECT a.id FROM \`postgres.logs\` AS a JOIN \`gotrue.logs.prod\` AS b ON a.timestamp = b.timestamp
     WHERE a.timestamp >= '2026-01-15'`,
  ).filter((line) => line.startsWith('scan'));
  assert.equal(scans.length, 2);
  assert.ok(scans.every((line) => line.includes('[2026-01-15 00:00:00, )')));
});

test('a relation of one row is constants, and narrows the window of what it is joined with', () => {
  const plan = planOf(
    `WITH params AS (SELECT TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR) AS first)
     SELECT id FROM \`postgres.logs\`, params WHERE timestamp >= first`,
  );
  assert.ok(plan.at(-1)!.startsWith('scan `postgres.logs` [2026-01-15 11:00:00, )'));
});

/** Two sources as one relation, newest first in each. */
const ENTRIES = `WITH entries AS (
  (SELECT id, timestamp, 'database' AS kind FROM \`postgres.logs\` ORDER BY timestamp DESC)
  UNION ALL
  SELECT id, timestamp, 'auth' FROM \`gotrue.logs.prod\`)`;

test('conditions go into the inputs of a union, and their windows into the scans', () => {
  const plan = planOf(
    `${ENTRIES} SELECT id FROM entries WHERE timestamp >= '2026-01-15' AND id != 'x'`,
  );
  const ends = plan.filter((line) => line.startsWith('scan') || line.startsWith('filter'));
  assert.deepEqual(
    ends.map((line) => line.replace(/:.*/, '')),
    [
      "filter (id != 'x')",
      'scan `postgres.logs` [2026-01-15 00',
      "filter (id != 'x')",
      'scan `gotrue.logs.prod` [2026-01-15 00',
    ],
  );
});

test('a union does without the inputs that no row of can pass', () => {
  const scans = (kind: string) =>
    planOf(`${ENTRIES} SELECT id FROM entries WHERE kind = '${kind}'`).filter((line) =>
      line.startsWith('scan'),
    );
  assert.deepEqual(
    scans('auth').map((line) => line.replace(/:.*/, '')),
    ['scan `gotrue.logs.prod`'],
  );
  assert.deepEqual(scans('none'), []);
});

test('a union reads of its inputs what is read of it', () => {
  const plan = planOf(`${ENTRIES} SELECT COUNT(*) AS n FROM entries`);
  assert.deepEqual(
    plan.filter((line) => line.startsWith('scan') || line.startsWith('sort')),
    ['scan `postgres.logs`:', 'scan `gotrue.logs.prod`:'],
  );
});

test('a limit above a union bounds each of its inputs, in the order of each', () => {
  const plan = planOf(`${ENTRIES} SELECT id FROM entries LIMIT 3 OFFSET 2`);
  assert.deepEqual(
    plan.filter((line) => line.startsWith('limit') || line.startsWith('sort')),
    ['limit 3 offset 2', 'limit 5', 'sort timestamp desc, arrival desc', 'limit 5', 'sort arrival'],
  );
});

test('rows of several inputs that an order holds for equal go by input, then by arrival', () => {
  const plan = planOf(`${ENTRIES} SELECT id FROM entries ORDER BY timestamp DESC`);
  assert.deepEqual(
    plan.filter((line) => line.startsWith('sort')),
    ['sort timestamp desc, input desc, arrival desc'],
  );
});

test('conditions on group keys go below the grouping, others stay above', () => {
  const plan = planOf(
    `SELECT project, COUNT(*) AS n FROM \`postgres.logs\` GROUP BY project
     HAVING n > 1 AND project = 'x'`,
  );
  assert.ok(plan.at(-1)!.includes("project 'x'"));
  assert.ok(plan.some((line) => line === 'filter (n > 1)' || line === 'filter (count > 1)'));
});

test('of LIMIT 0 nothing is computed, whatever is below it', () => {
  for (const text of [
    'SELECT t.id FROM `postgres.logs` AS t ORDER BY CAST(t.id AS INT64) LIMIT 0 OFFSET 1',
    'SELECT COUNT(CAST(t.id AS INT64)) AS n FROM `postgres.logs` AS t LIMIT 0',
    'SELECT ROW_NUMBER() OVER (ORDER BY CAST(t.id AS INT64)) AS n FROM `postgres.logs` AS t LIMIT 0',
  ]) {
    assert.match(planOf(text)[0]!, /^rows /, text);
  }
});

test('a number of rows that a parameter gives must be one', () => {
  const limited = (count: SqlValue) =>
    planOf('SELECT id FROM `postgres.logs` LIMIT @n', { n: [INT64, count] });
  assert.ok(limited(0).length > 0);
  assert.throws(() => limited(-1), /LIMIT takes a number of rows, at least 0; got -1/);
  assert.throws(() => limited(null), /LIMIT takes a number of rows, at least 0; got null/);
});

test('a pattern that is none is refused where it stands, and without a place where it was brought', () => {
  const sql = (pattern: string) => `SELECT id\nFROM \`postgres.logs\` WHERE ${pattern}`;
  const spanOf = (text: string): Span | undefined => {
    try {
      planOf(text, { pattern: [STRING, 'a('] });
    } catch (error) {
      assert.ok(error instanceof QueryError && error.code === 'invalid_regular_expression');
      return error.span;
    }
    throw new Error(`${text} is planned`);
  };
  const { line, column } = spanOf(sql("REGEXP_CONTAINS(id, CONCAT('a', '('))"))!;
  assert.deepEqual([line, column], [2, 28]);
  assert.equal(spanOf(sql('REGEXP_CONTAINS(id, @pattern)')), undefined);
  assert.equal(spanOf(sql("REGEXP_CONTAINS(id, CONCAT('x', @pattern))")), undefined);
});

test('an array that is long, or as long as rows say, is not made while planning', () => {
  const isComputed = (text: string) => planOf(text)[0]!.startsWith('rows');
  const seconds = (count: string) =>
    `GENERATE_TIMESTAMP_ARRAY('2026-01-01', TIMESTAMP_ADD(TIMESTAMP '2026-01-01', INTERVAL ${count} SECOND), INTERVAL 1 SECOND)`;
  assert.ok(isComputed(`SELECT ARRAY_LENGTH(${seconds('4095')}) AS n`));
  assert.ok(!isComputed(`SELECT ARRAY_LENGTH(${seconds('4096')}) AS n`));
  assert.ok(!isComputed(`SELECT ARRAY_LENGTH(${seconds('n')}) AS m FROM UNNEST([1, 2]) AS n`));
});

test('a condition on the keys of a window sinks below it, any other stays', () => {
  const text = (condition: string) =>
    `SELECT id FROM (SELECT id, project, ROW_NUMBER() OVER (PARTITION BY project ORDER BY id) AS n
     FROM \`postgres.logs\`) WHERE ${condition}`;
  assert.deepEqual(planOf(text("project = 'alpha' AND n = 1")).slice(-4), [
    'filter (row_number = 1)',
    'window by project order id, arrival compute row_number := row_number()',
    "filter (project = 'alpha')",
    "scan `postgres.logs` project 'alpha': id, project, arrival",
  ]);
  assert.deepEqual(planOf(text("id = 'x'")).slice(-2), [
    "filter (id = 'x')",
    'scan `postgres.logs`: id, arrival',
  ]);
});

test('an element of one table and a column of another are equated by a hash, not pair by pair', () => {
  const plan = planOf(
    'SELECT l.id FROM `postgres.logs` AS l, `gotrue.logs.prod` AS r, UNNEST(l.metadata) AS m, ' +
      'UNNEST(m.parsed) AS p WHERE p.session = r.id',
  );
  assert.match(plan.join('\n'), /inner join on .*session.* = id/);
  assert.doesNotMatch(plan.join('\n'), /cross/);
});

test('constant relations are computed as far as the budget of planning goes', () => {
  const text = Array.from({ length: 1500 }, (_, index) => `SELECT ${index} AS a`).join(
    ' UNION ALL ',
  );
  const lines = planOf(text);
  const computedMax = FOLDING_STEPS_MAX / (2 * CONSTANT_RELATION_STEPS);
  const computedCount = lines.filter((line) => line.startsWith('rows')).length;
  assert.ok(computedCount > 0 && computedCount <= computedMax, `${computedCount}`);
  const leftCount = lines.filter((line) => line === 'one-row').length;
  assert.equal(computedCount + leftCount, 1500, lines.slice(-4).join('\n'));
});

test('optimising pauses after each pass, over the plan and over that of each subquery', () => {
  const countPieces = (text: string): number => {
    const bound = bindQuery(parseQuery(text), { sources: BUILT_IN_SOURCES, parameters: [] });
    const context = { parameters: new Map(), nowUs: NOW_US, rowsMax: 9, sources: BUILT_IN_SOURCES };
    return [...optimizeInPieces(bound, context)].length;
  };
  assert.equal(countPieces('SELECT 1 AS a'), PASSES.length);
  const subquery = '(SELECT MAX(id) FROM `postgres.logs`)';
  assert.equal(countPieces(`SELECT ${subquery} AS a, ${subquery} AS b`), 3 * PASSES.length);
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { optimize, PASSES } from '../../engine/plan/optimize/optimize.ts';
import { logicalTree, readableText } from '../../engine/plan/plan-text.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { pathInRepository, readText } from '../support/source-files.ts';
import {
  type GoldenText,
  goldenText,
  goldenTexts,
  NOW_US,
  type Parameters,
  planOf,
  treeText,
} from './golden-plans.ts';

/**
 * The plans of the three texts, word for word, so that a rewrite that is lost fails here. After a
 * change that is meant, `WEIR_UPDATE_GOLDEN=1` before the command writes the files anew; the
 * difference is then to be read before it is committed.
 */
const IS_UPDATE = process.env['WEIR_UPDATE_GOLDEN'] === '1';

const TEXTS = await goldenTexts();

const CALLERS_START = TEXTS.findIndex(({ name }) => name === 'a page of the newest');

const FILES: ReadonlyMap<string, readonly GoldenText[]> = new Map([
  ['logs.all', TEXTS.slice(0, 1)],
  ['functions.invocation-stats', TEXTS.slice(1, 2)],
  ['usage.api-counts', TEXTS.slice(2, 3)],
  ['rewrites', TEXTS.slice(3, CALLERS_START)],
  ['callers', TEXTS.slice(CALLERS_START)],
]);

for (const [name, texts] of FILES) {
  test(`the plans of ${name} are those of its golden file`, () => {
    const file = `test/plan/golden/${name}.txt`;
    const got = texts.map(goldenText).join('\n');
    if (IS_UPDATE) writeFileSync(pathInRepository(file), got);
    assert.equal(got, readText(file));
  });
}

test('each pass of the optimiser changes a golden plan: without it the file would not match', () => {
  const optimizedTexts = (passes: typeof PASSES) =>
    TEXTS.flatMap((golden) => golden.calls.map((call) => optimizedText(golden, call, passes)));
  const all = optimizedTexts(PASSES);
  const unseen = PASSES.filter((pass) => {
    const without = optimizedTexts(PASSES.filter((other) => other !== pass));
    return without.every((text, index) => text === all[index]);
  });
  assert.deepEqual(
    unseen.map(({ name }) => name),
    [],
  );
});

function optimizedText(golden: GoldenText, call: Parameters, passes: typeof PASSES): string {
  const { bound } = golden.query;
  const context = {
    parameters: golden.valuesOf(call),
    nowUs: NOW_US,
    rowsMax: golden.rowsMax,
    sources: BUILT_IN_SOURCES,
  };
  const plan = optimize(bound, context, passes);
  return treeText(logicalTree(plan, readableText([bound.plan, plan])));
}

/** The physical plans of all calls of one text, a line each operator, part or fact. */
function physicalPlans(name: string): readonly (readonly string[])[] {
  const golden = must(TEXTS.find((text) => text.name === name));
  return golden.calls.map((call) =>
    treeText(planOf(golden, call).physical)
      .split('\n')
      .map((line) => line.trim()),
  );
}

/** The values of one fact of the scans of a plan; two spaces and more stand before them. */
function facts(plan: readonly string[], name: string): readonly string[] {
  return plan
    .filter((line) => line.startsWith(`${name}  `))
    .map((line) => line.slice(name.length).trim());
}

/** The operators of a plan by their first words, from the top down. */
function operators(plan: readonly string[]): readonly string[] {
  const word =
    /^(scan|filter|unnest|outer|project|aggregate|sort|top|limit|rows|inner|left|cross)(?: (?! )|$)/;
  return plan.flatMap((line) => word.exec(line)?.[1] ?? []);
}

test('eight of the nine logs of logs.all are gone: one source is read, once', () => {
  for (const plan of physicalPlans('logs.all')) {
    assert.deepEqual(
      plan.filter((line) => line.startsWith('scan ')),
      ['scan `cloudflare.logs.prod`'],
    );
  }
});

test('the newest hundred are taken from the end of the newest segment, and no more is read', () => {
  for (const plan of physicalPlans('logs.all')) {
    assert.ok(plan.includes('top 100 by timestamp desc, arrival desc'));
    assert.deepEqual(facts(plan, 'order'), ['newest first, until the top rows are certain']);
    assert.ok(!operators(plan).includes('sort') && !operators(plan).includes('limit'));
  }
});

test('a tier and a window are the window of the scan, the later start and the earlier end', () => {
  const windows = physicalPlans('logs.all').map((plan) => facts(plan, 'window')[0]);
  const from = (start: string) => `from ${start} 12:00:00.000001`;
  assert.deepEqual(windows, [
    from('2026-01-14'),
    from('2026-01-14'),
    from('2026-01-08'),
    from('2025-10-17'),
    from('2025-10-17'),
    from('2026-01-14'),
    'from 2026-01-14 00:00:00.000001',
    `${from('2026-01-08')}, before 2026-01-15 11:00:00.000001`,
    `${from('2026-01-08')}, before 2026-01-15 11:00:00.000001`,
  ]);
});

test('an equality with the project of its source is pushed into the scan, an expression is not', () => {
  for (const name of ['logs.all', 'functions.invocation-stats']) {
    for (const plan of physicalPlans(name)) assert.deepEqual(facts(plan, 'project'), ["'alpha'"]);
  }
  for (const plan of physicalPlans('usage.api-counts')) {
    assert.deepEqual(facts(plan, 'project'), ['any']);
  }
});

test('the join with the list of buckets is arithmetic: no list and no join, but a window', () => {
  const plans = physicalPlans('functions.invocation-stats');
  for (const plan of plans) {
    const expected = ['project', 'project', 'top', 'aggregate', 'project', 'project'];
    assert.deepEqual(operators(plan), [...expected, 'unnest', 'filter', 'unnest', 'scan']);
    assert.ok(plan.every((line) => !/\bin\(/.test(line)));
  }
  const day = 'from 2026-01-14 12:00:00, before 2026-01-15 13:00:00';
  const week = 'from 2026-01-08 00:00:00, before 2026-01-16 00:00:00';
  assert.deepEqual(
    plans.map((plan) => facts(plan, 'window')[0]),
    [
      day,
      'from 2026-01-15 11:55:00, before 2026-01-15 12:00:01',
      'from 2026-01-15 11:45:00, before 2026-01-15 12:01:00',
      'from 2026-01-15 11:00:00, before 2026-01-15 12:01:00',
      day,
      week,
      day,
      week,
      week,
    ],
  );
});

test('only what is used is read of the events', () => {
  const [stats] = physicalPlans('functions.invocation-stats');
  assert.deepEqual(facts(stats!, 'columns'), ['id, timestamp']);
  assert.deepEqual(facts(stats!, 'fields'), [
    'metadata[].execution_time_ms, metadata[].project_ref, metadata[].response[].status_code',
  ]);
  const [counts] = physicalPlans('usage.api-counts');
  assert.deepEqual(facts(counts!, 'columns'), ['timestamp']);
  assert.deepEqual(facts(counts!, 'fields'), [
    'metadata[].request[].path, metadata[].request[].url',
  ]);
});

test('the function is asked for only when one is given', () => {
  const plans = physicalPlans('functions.invocation-stats');
  const asks = plans.map((plan) => plan.some((line) => line.includes('m.function_id')));
  assert.deepEqual(asks, [...Array(7).fill(false), true, false]);
});

test('a condition that never holds leaves nothing to scan', () => {
  const [plan] = physicalPlans('a condition that never holds');
  assert.deepEqual(operators(plan!), ['rows']);
});

const WEEK = 'from 2026-01-08 12:00:00.000001';

test("a caller's page is taken from the end of its log, and no more is read", () => {
  for (const [name, count] of [
    ['a page of the newest', 25],
    ['a page in the order of its table', 25],
    ['a page of a log whose project stands in its metadata', 25],
    ['one entry', 1],
  ] as const) {
    const [plan] = physicalPlans(name);
    assert.ok(plan!.includes(`top ${count} by timestamp desc, arrival desc`), name);
    assert.deepEqual(facts(plan!, 'order'), ['newest first, until the top rows are certain'], name);
    assert.deepEqual(facts(plan!, 'window'), [WEEK], name);
    assert.deepEqual(facts(plan!, 'project'), ["'alpha'"], name);
  }
});

test("a caller's query reads the one log it names, and of it what it needs", () => {
  const factsOf = (name: string) => {
    const [plan] = physicalPlans(name);
    return [
      facts(plan!, 'window'),
      facts(plan!, 'project'),
      facts(plan!, 'columns'),
      facts(plan!, 'fields'),
    ].flat();
  };
  assert.deepEqual(factsOf('a chart by minute'), [
    'from 2026-01-15 06:00:00.000001',
    "'alpha'",
    'timestamp, project',
    'metadata[].parsed[].error_severity',
  ]);
  assert.deepEqual(factsOf('a count'), [WEEK, "'alpha'", 'none', 'metadata[].project_ref']);
});

import { deepEqual, equal, notEqual, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize } from 'node:v8';
import fc from 'fast-check';
import { must } from '../../engine/assert.ts';
import { INT64, type SqlType, STRING, TIMESTAMP } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import type { Expression } from '../../engine/plan/expression.ts';
import { isLateText, withTexts } from '../../engine/plan/late-texts.ts';
import type { BoundQuery } from '../../engine/plan/logical-plan.ts';
import { type CallContext, optimize } from '../../engine/plan/optimize/optimize.ts';
import {
  type PhysicalPlan,
  type PhysicalScan,
  physicalPlanOf,
  scansOf,
} from '../../engine/plan/physical-plan.ts';
import {
  type CallPlan,
  PlanCache,
  type SentTemplate,
  type TemplateContent,
} from '../../engine/plan/plan-cache.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING, type Reach } from '../../engine/plan/reach.ts';
import { QueryError } from '../../engine/query-error.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { runsOf } from '../support/budget.ts';
import { goldenTexts, NOW_US } from './golden-plans.ts';

const PARAMETERS: Readonly<Record<string, SqlType>> = {
  since: TIMESTAMP,
  until: TIMESTAMP,
  project: STRING,
  days: INT64,
};

type Values = Readonly<Record<string, SqlValue>>;

const NOTHING_GIVEN: Values = { since: null, until: null, project: null, days: null };

function bound(text: string): BoundQuery {
  const parameters = Object.entries(PARAMETERS).map(([name, type]) => ({ name, type }));
  return prepareQuery(text, { sources: BUILT_IN_SOURCES, parameters }).bound;
}

function context(nowUs: number, values: Values = {}): CallContext {
  const parameters = new Map(Object.entries({ ...NOTHING_GIVEN, ...values }));
  return { parameters, nowUs, rowsMax: 1000, sources: BUILT_IN_SOURCES };
}

/** The plan that a thread runs, as it comes to know it. */
function planAsRun({ plan, template }: CallPlan): PhysicalPlan {
  if (template === undefined) return plan;
  const content = deserialize(template.bytes) as TemplateContent;
  return filled(content.plan, template) as PhysicalPlan;
}

/** With what the call puts in: what it says of scans, and its texts in the place of parameters. */
function filled(part: unknown, template: SentTemplate): unknown {
  if (Array.isArray(part)) return part.map((item) => filled(item, template));
  if (typeof part !== 'object' || part === null) return part;
  if ('op' in part && part.op === 'scan') return closed(part as PhysicalScan, template);
  if ('op' in part && isLateText(part as Expression)) {
    return withTexts(part as Expression, template.texts);
  }
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, filled(value, template)]),
  );
}

function closed(scan: PhysicalScan, { bounds }: SentTemplate): PhysicalScan {
  const { late: _, ...rest } = scan;
  return { ...rest, ...bounds[scan.index]! };
}

/** The plan without anything remembered. A clone, since a plan that was sent is one. */
function planAnew(query: BoundQuery, call: CallContext): PhysicalPlan {
  return structuredClone(physicalPlanOf(optimize(query, call), call.reach ?? EVERYTHING));
}

function expectSamePlan(cache: PlanCache, query: BoundQuery, call: CallContext): CallPlan {
  const planned = cache.planOf(query, call);
  const anew = planAnew(query, call);
  deepEqual(structuredClone(planAsRun(planned)), anew);
  const scans = planned.scans.map(({ late: _, ...scan }) => scan);
  deepEqual(structuredClone(scans), scansOf(anew));
  return planned;
}

/** Whether a third call, at another time, has a plan of another call. */
function isShared(text: string, values: Values = {}): boolean {
  const cache = new PlanCache();
  const query = bound(text);
  const plans = [0, 1, 60_000_000].map((us) =>
    expectSamePlan(cache, query, context(NOW_US + us, values)),
  );
  return plans.at(-1)?.template !== undefined;
}

test('calls of the saved texts have the plans they would have alone, at any time', async () => {
  const cache = new PlanCache();
  for (const { name, query, calls, valuesOf, rowsMax } of await goldenTexts()) {
    for (const call of calls) {
      for (const nowUs of [NOW_US, NOW_US + 1, NOW_US - 123_456_789, NOW_US + 86_400_000_000]) {
        const sources = BUILT_IN_SOURCES;
        const own = { parameters: valuesOf(call), nowUs, rowsMax, sources };
        const { template } = expectSamePlan(cache, query.bound, own);
        // The list of buckets is another one at each time, but only its ends matter.
        if (nowUs !== NOW_US) notEqual(template, undefined, name);
      }
    }
  }
});

const CONDITIONS = [
  'timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)',
  'CURRENT_TIMESTAMP() > timestamp',
  '(@since IS NULL OR timestamp > @since)',
  'timestamp <= COALESCE(@until, CURRENT_TIMESTAMP())',
  "timestamp >= COALESCE(@since, TIMESTAMP '2026-01-01')",
  'timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL COALESCE(@days, 0) DAY)',
  'timestamp > CASE @project WHEN "a" THEN @since ELSE CURRENT_TIMESTAMP() END',
  'TIMESTAMP_TRUNC(timestamp, DAY) = TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), DAY)',
  'timestamp > IF(CURRENT_TIMESTAMP() > @until, NULL, CURRENT_TIMESTAMP())',
  'CURRENT_TIMESTAMP() > @since',
  '(project = @project OR @until IS NULL)',
  "(timestamp < CURRENT_TIMESTAMP() OR project = 'a')",
  'project = @project',
  'REGEXP_CONTAINS(event_message, @project)',
  'REGEXP_CONTAINS(event_message, @project) AND id = @project',
  "REGEXP_CONTAINS(id, 'abc') AND STARTS_WITH(event_message, 'abcd')",
  '@project = project',
  'id = @project',
  'LENGTH(@project) = 3',
  "(project = @project AND @project = 'a')",
  'NOT (project = @project)',
  '(SELECT COUNT(*) FROM `gotrue.logs.prod` AS u WHERE u.project = @project) > 1',
  "id IN (SELECT id FROM `gotrue.logs.prod` WHERE event_message = @project AND REGEXP_CONTAINS(id, 'x'))",
  'FALSE',
];

const REQUESTS =
  '`cloudflare.logs.prod` AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r';

const SELECTS = [
  `SELECT t.id FROM ${REQUESTS} WHERE REGEXP_CONTAINS(r.url, @project) AND $`,
  `SELECT COUNT(*) AS n FROM ${REQUESTS} WHERE $ AND r.url = @project AND REGEXP_CONTAINS(r.path, @project)`,
  'SELECT id FROM `postgres.logs` WHERE $ ORDER BY timestamp DESC LIMIT 10',
  'SELECT id, CURRENT_TIMESTAMP() AS now, @since AS since FROM `postgres.logs` WHERE $',
  'SELECT project, COUNT(*) AS n FROM `postgres.logs` WHERE $ GROUP BY project HAVING n > @days',
  'SELECT id FROM (SELECT id, project, event_message, timestamp FROM `postgres.logs` ORDER BY id) WHERE $',
  `SELECT a.id FROM (SELECT * FROM \`gotrue.logs.prod\` WHERE $) AS a
    LEFT JOIN (SELECT * FROM \`postgres.logs\` WHERE $) AS b ON a.id = b.id`,
  `SELECT id FROM \`postgres.logs\`,
    UNNEST(generate_timestamp_trunc_array(1, 'hour_minute')) AS minute
    WHERE TIMESTAMP_TRUNC(timestamp, MINUTE) = minute AND $`,
  ...[
    "1, 'day_hour'",
    "2, 'hour_minute'",
    "0, 'hour_minute'",
    "1, 'Minute_Minute'",
    '@days, "hour_minute"',
  ].map(
    (window) => `SELECT minute, other, COUNT(*) AS n, MAX(t.id) AS id
      FROM UNNEST(generate_timestamp_trunc_array(${window})) AS minute
      INNER JOIN (
        SELECT id, TIMESTAMP_TRUNC(timestamp, MINUTE) AS other FROM \`postgres.logs\` WHERE $
      ) AS t ON t.other = minute
      GROUP BY minute, other`,
  ),
  'SELECT id FROM `postgres.logs` AS t WHERE EXISTS(SELECT 1 FROM `gotrue.logs.prod` WHERE $ AND id = t.id) AND $',
  'SELECT id, (SELECT COUNT(*) FROM `gotrue.logs.prod` WHERE id = t.id) AS n FROM `postgres.logs` AS t WHERE $',
  'SELECT id FROM `postgres.logs` WHERE timestamp > (SELECT MAX(timestamp) FROM `gotrue.logs.prod` WHERE $)',
  'SELECT id FROM `postgres.logs` WHERE $ AND timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL (SELECT 5) DAY)',
];

const anyTime = fc.integer({ min: -2, max: 2 }).map((days) => NOW_US + days * 86_400_000_000);
const anyReach = fc.constantFrom<Reach | undefined>(
  undefined,
  undefined,
  { projects: ['abc'], sources: 'all' },
  { projects: ['a', 'abc'], sources: 'all' },
  { projects: [], sources: 'all' },
);
const anyCall = fc.record({
  nowUs: anyTime,
  since: fc.option(anyTime),
  until: fc.option(anyTime),
  project: fc.constantFrom(
    ...['a', 'b', 'abc', 'abcd', '', '(', 'a\\.c', '\ud800', null],
    ...['a.c', '^(abcd|efgh)', 'abcd.*xyz[0-9]+', '(?i)abcd', 'a{1000}{1000}'],
  ),
  days: fc.constantFrom(0, 1, null),
  reach: anyReach,
});

test('whatever was called before, a call has the plan it would have alone', (t) => {
  const kinds = { shared: 0, own: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...SELECTS),
      fc.array(fc.constantFrom(...CONDITIONS), { minLength: 1, maxLength: 4 }),
      fc.array(anyCall, { minLength: 3, maxLength: 8 }),
      (select, conditions, calls) => {
        const query = bound(select.replaceAll('$', () => conditions.join(' AND ')));
        const cache = new PlanCache();
        // Twice, so that even calls that have nothing in common are remembered.
        for (const { nowUs, reach, ...values } of [...calls, ...calls]) {
          const call = { ...context(nowUs, values), reach };
          const template = planOrError(() => expectSamePlan(cache, query, call), query, call);
          kinds[template === undefined ? 'own' : 'shared']++;
        }
      },
    ),
    { numRuns: runsOf(400) },
  );
  t.diagnostic(`${kinds.shared} plans shared, ${kinds.own} of their own`);
  notEqual(kinds.shared, 0);
  notEqual(kinds.own, 0);
});

/** The template of a plan; a call that fails has to fail the same without anything remembered. */
function planOrError(
  plan: () => CallPlan,
  query: BoundQuery,
  call: CallContext,
): SentTemplate | undefined {
  try {
    return plan().template;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throws(() => planAnew(query, call), { code: error.code, message: error.message });
    return undefined;
  }
}

test('a plan is remembered when it is asked for the second time', () => {
  const cache = new PlanCache();
  const query = bound('SELECT id FROM `postgres.logs` WHERE project = @project');
  const templates = [1, 2, 1, 1, 2].map(
    (days) => expectSamePlan(cache, query, context(NOW_US, { days })).template,
  );
  deepEqual(
    templates.map((template) => template?.number),
    [undefined, undefined, 1, 1, 2],
  );
});

test('calls that differ in texts that rows are compared with, and in nothing else, share a plan', () => {
  const templatesOf = (text: string, projects: readonly SqlValue[], reach?: Reach) => {
    const cache = new PlanCache();
    const query = bound(text);
    return projects.map((project) => {
      const call = { ...context(NOW_US, { project }), reach };
      return expectSamePlan(cache, query, call).template;
    });
  };
  const numbersOf = (...of: Parameters<typeof templatesOf>) =>
    templatesOf(...of).map((template) => template?.number);
  const from = 'SELECT id FROM `postgres.logs`';
  deepEqual(numbersOf(`${from} WHERE project = @project`, ['a', 'b', 'c']), [undefined, 1, 1]);
  deepEqual(
    numbersOf(`${from} WHERE REGEXP_CONTAINS(event_message, @project)`, [
      ...['abc', 'abd', 'a.c', 'a.c', 'x', 'a.c', '^abc|xyz', 'a\\.c', 'ab+'],
    ]),
    [undefined, 1, undefined, 2, 1, 2, 2, undefined, 2],
    'patterns with operators have a plan of their own',
  );
  const requests = `SELECT t.id FROM ${REQUESTS} WHERE REGEXP_CONTAINS(r.url, @project)`;
  const [, , pattern] = templatesOf(requests, ['a+', 'b+', '(abcd|efgh).*xyz[0-9]+']);
  const path = ['metadata', 'request', 'url'];
  deepEqual(
    must(pattern).bounds[0]?.texts,
    [
      { path, text: 'abcd', or: ['efgh'] },
      { path, text: 'xyz' },
    ],
    'a call says what matches of its pattern need',
  );
  const given = `${from} WHERE project = @project AND (@project IS NULL OR id = 'a')`;
  deepEqual(
    numbersOf(given, ['a', 'b', 'a', 'b']),
    [undefined, undefined, 1, 2],
    'what is computed of it before there are rows is another plan',
  );
  const [, first, second, third] = templatesOf(`${from} WHERE project = @project`, [
    ...['a', 'b', 'c', 'b'],
  ]);
  deepEqual(must(first).bounds[0]?.projectKey, 'b');
  deepEqual(must(second).bounds[0]?.projectKey, 'c');
  equal(must(third).texts, must(first).texts, 'the same object');
});

test('calls that differ in times share a plan', () => {
  const cache = new PlanCache();
  const query = bound('SELECT id FROM `postgres.logs` WHERE timestamp BETWEEN @since AND @until');
  const numbers = [1, 2, 3].map((day) => {
    const since = NOW_US - day * 86_400_000_000;
    const { scans, template } = cache.planOf(query, context(NOW_US, { since, until: NOW_US }));
    deepEqual(must(scans[0]).window, { startUs: since, endUs: NOW_US + 1 });
    return template?.number;
  });
  deepEqual(numbers, [undefined, 1, 1]);
});

test('a time that is NULL makes a plan of another form', () => {
  const cache = new PlanCache();
  const query = bound('SELECT id FROM `postgres.logs` WHERE @since IS NULL OR timestamp > @since');
  for (const since of [NOW_US, null, NOW_US, null, 0, null]) {
    expectSamePlan(cache, query, context(NOW_US, { since }));
  }
});

test('values that are written alike and are not the same are told apart', () => {
  const cache = new PlanCache();
  const query = bound('SELECT id, @project AS p, @days AS d FROM `postgres.logs`');
  const alike: readonly Values[] = [
    { project: 'null', days: 1 },
    { project: null, days: 1 },
    { project: '1 days=1', days: 1 },
    { project: '1', days: 1 },
    { project: '', days: 0 },
    { project: '', days: -0 },
    { project: '', days: 9007199254740993n },
  ];
  for (const values of [...alike, ...alike, ...alike]) {
    expectSamePlan(cache, query, context(NOW_US, values));
  }
});

test('a bound that has no value at some times is no bound then', () => {
  const cache = new PlanCache();
  const query = bound(
    'SELECT id FROM `postgres.logs` WHERE timestamp > IF(CURRENT_TIMESTAMP() > @until, NULL, @until)',
  );
  const shared = [NOW_US, NOW_US, NOW_US + 1, NOW_US].map(
    (nowUs) => expectSamePlan(cache, query, context(nowUs, { until: NOW_US })).template,
  );
  deepEqual(
    shared.map((template) => template !== undefined),
    [false, true, false, true],
  );
});

test('late values anywhere but in bounds of a scan make a plan of each call', () => {
  const from = 'FROM `postgres.logs` WHERE';
  equal(isShared(`SELECT id ${from} timestamp > CURRENT_TIMESTAMP()`), true);
  equal(isShared(`SELECT id ${from} timestamp > CURRENT_TIMESTAMP() OR id = 'a'`), false);
  equal(isShared(`SELECT id, CURRENT_TIMESTAMP() AS t ${from} TRUE`), false);
  equal(isShared(`SELECT id, @since AS t ${from} TRUE`, { since: 1 }), false);
  equal(isShared(`SELECT id, @since AS t ${from} TRUE`), true);
  equal(isShared(`SELECT id ${from} CURRENT_TIMESTAMP() > '2026-01-01'`), false);
});

test("a caller's text that comes again needs nothing but its windows, whatever its times are", async () => {
  const cache = new PlanCache();
  const names = ['a page of the newest', 'a chart by minute', 'a count', 'one entry'];
  const texts = (await goldenTexts()).filter(({ name }) => names.includes(name));
  equal(texts.length, names.length);
  for (const { query, calls, valuesOf, rowsMax } of texts) {
    const planAt = (seconds: number) => {
      const startUs = NOW_US - 3_600_000_000 + seconds * 1_000_000;
      const parameters = new Map([
        ...valuesOf(calls[0]!),
        ['iso_timestamp_start', startUs] as const,
      ]);
      const nowUs = NOW_US + seconds * 1_000_000;
      return cache.planOf(query.bound, { parameters, nowUs, rowsMax, sources: BUILT_IN_SOURCES });
    };
    const [, second, third] = [0, 5, 10].map(planAt);
    notEqual(third!.template, undefined);
    equal(third!.template?.number, second!.template?.number);
  }
});

test('what fails at some times fails then, and not before', () => {
  const cache = new PlanCache();
  const query = bound(
    `SELECT id FROM \`postgres.logs\`
    WHERE IF(CURRENT_TIMESTAMP() > @until, REGEXP_CONTAINS(id, '('), id = 'a')`,
  );
  for (let times = 0; times < 3; times++) {
    expectSamePlan(cache, query, context(NOW_US, { until: NOW_US }));
    throws(() => cache.planOf(query, context(NOW_US + 1, { until: NOW_US })), QueryError);
  }
});

test('a pattern that a time decides on fails even where nothing needs it', () => {
  const cache = new PlanCache();
  const query = bound(
    `SELECT id FROM \`postgres.logs\` WHERE FALSE
    AND REGEXP_CONTAINS(id, IF(CURRENT_TIMESTAMP() > @until, '(', 'a'))`,
  );
  for (let times = 0; times < 3; times++) {
    expectSamePlan(cache, query, context(NOW_US, { until: NOW_US }));
    throws(() => cache.planOf(query, context(NOW_US + 1, { until: NOW_US })), QueryError);
  }
});

test('a join with the buckets until now is in a plan that calls share', () => {
  const joined = (window: string, unit: string) =>
    `SELECT b, COUNT(*) AS n FROM UNNEST(generate_timestamp_trunc_array(${window})) AS b
      JOIN \`postgres.logs\` AS t ON TIMESTAMP_TRUNC(t.timestamp, ${unit}) = b GROUP BY b`;
  equal(isShared(joined("1, 'hour_minute'", 'MINUTE')), true);
  equal(isShared(joined("7, 'day_day'", 'DAY')), true);
  // Other units meet only some of the buckets, and the list may be one of a single time.
  equal(isShared(joined("1, 'hour_minute'", 'HOUR')), false);
  equal(isShared(joined("0, 'hour_minute'", 'MINUTE')), false);
  equal(isShared(joined("1, 'day_minute_x'", 'MINUTE')), false);
  equal(isShared(joined("30, 'day_second'", 'SECOND')), false, 'they would be too many');
});

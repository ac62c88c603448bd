import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { SqlType } from '../../engine/column/type.ts';
import {
  arrayOf,
  BOOL,
  FLOAT64,
  INT64,
  NUMBER,
  STRING,
  typeName,
} from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { compareValues } from '../../engine/function/comparison.ts';
import { KINDS, kindOf, readAs } from '../../engine/function/dynamic.ts';
import type { EventValue } from '../column/batch-of.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { type Exact, exactText, parseExact } from '../support/exact-json.ts';
import { readText } from '../support/source-files.ts';
import { fieldForms } from './field-forms.ts';
import { kindsPage, readingRows } from './kinds-page.ts';
import { jsonNested } from './nested.ts';

const FROM = 'FROM logs, UNNEST(metadata) AS m';

/** What the expressions come to over the fields of one event, open and sealed, optimised and not. */
function answersOf(metadata: EventValue, expressions: readonly string[]): readonly string[] {
  const events = [{ id: 'e', timestampUs: 0, metadata }];
  return expressions.map((expression) => {
    const sql = `SELECT ${expression} AS x ${FROM}`;
    const answers = ([0, 1] as const).flatMap((sealedCount) =>
      (['optimized', 'plain'] as const).map((form) =>
        engineJson(sql, segmentsOfEvents(events, sealedCount), form),
      ),
    );
    assert.equal(new Set(answers).size, 1, `${expression}: ${answers}`);
    return answers[0]!.replace(/^\[\{"x":(.*)\}\]$/s, '$1');
  });
}

function expectAnswers(metadata: EventValue, expected: Readonly<Record<string, string>>): void {
  const expressions = Object.keys(expected);
  const answers = answersOf(metadata, expressions);
  const got = Object.fromEntries(expressions.map((each, index) => [each, answers[index]]));
  assert.deepEqual(got, expected);
}

const EVENT: EventValue = { status: 200, ok: true, who: 'ann', tags: ['a', 'b'], list: [1, '2'] };

test('no value disappears because one of another type stands beside it', () => {
  expectAnswers(EVENT, {
    "COALESCE(m.status, 'none')": '200',
    "IFNULL(m.ok, 'none')": 'true',
    'IFNULL(m.who, 0)': '"ann"',
    'IFNULL(m.missing, 0)': '0',
    "IF(m.status > 100, m.status, 'low')": '200',
    "CASE WHEN m.status < 100 THEN 'low' ELSE m.status END": '200',
    "NULLIF(m.status, 'x')": '200',
    "NULLIF(m.status, '200')": 'null',
    'NULLIF(m.status, 200)': 'null',
    "NULLIF(m.missing, 'x')": 'null',
    "[m.status, 'a']": '[200,"a"]',
    "GREATEST(m.status, 'a')": '"a"',
    'LEAST(m.status, m.ok, m.who)': 'true',
    "IFNULL(m.status, '') = ''": 'false',
    "ARRAY_LENGTH(ARRAY(SELECT m.status UNION ALL SELECT 'x'))": '2',
    "ARRAY(SELECT m.status AS v UNION ALL SELECT 'x' ORDER BY v)": '[200,"x"]',
  });
});

test('where a text is wanted a number or boolean is its JSON text', () => {
  expectAnswers(EVENT, {
    "m.status = '200'": 'true',
    "'200' = m.status": 'true',
    "m.status != '200'": 'false',
    "m.status IN ('200')": 'true',
    "m.status IN ('404', '200', NULL)": 'true',
    "m.status IN (404, '200')": 'true',
    "m.status IN UNNEST(['200'])": 'true',
    "m.status BETWEEN '2' AND '3'": 'true',
    "m.status < '3'": 'true',
    "m.ok = 'true'": 'true',
    "m.status LIKE '2%'": 'true',
    'LEFT(m.status, 1)': '"2"',
    'LENGTH(m.ok)': '4',
    "REPLACE(m.status, '0', 'x')": '"2xx"',
    "STARTS_WITH(m.status, '20')": 'true',
    "REGEXP_CONTAINS(m.status, '^2..$')": 'true',
    "REGEXP_EXTRACT(m.status, '^.')": '"2"',
    "CASE m.status WHEN '200' THEN 'yes' ELSE 'no' END": '"yes"',
    "m.status IS DISTINCT FROM '200'": 'false',
    "'2' IN UNNEST(m.list)": 'true',
    "'1' IN UNNEST(m.list)": 'true',
    '1 IN UNNEST(m.list)': 'true',
    '2 IN UNNEST(m.list)': 'null',
    "ARRAY_TO_STRING(m.list, '-')": '"1-2"',
    "ARRAY_INCLUDES(m.list, '1')": 'true',
    "ARRAY_INCLUDES(['200'], m.status)": 'true',
    "(SELECT STRING_AGG(e, '-') FROM UNNEST(m.list) AS e)": '"1-2"',
  });
});

test('where a number is wanted another kind is NULL, and a condition takes only booleans', () => {
  expectAnswers(EVENT, {
    'm.who + 1': 'null',
    'm.ok + 1': 'null',
    'm.who > 1': 'null',
    'm.ok = 1': 'null',
    'SUM(m.who) OVER ()': 'null',
    "IF(m.who, 'yes', 'no')": '"no"',
    "IF(m.status, 'yes', 'no')": '"no"',
    "IF(m.ok, 'yes', 'no')": '"yes"',
    'm.tags = 1': 'null',
    "m.tags = 'a'": 'null',
  });
});

test('a list is what it is beside an untyped empty one', () => {
  expectAnswers(EVENT, {
    'COALESCE(m.tags, [])': '["a","b"]',
    'COALESCE(m.missing, [])': '[]',
    'IFNULL(m.tags, [])': '["a","b"]',
    'IF(TRUE, m.tags, [])': '["a","b"]',
    'CASE WHEN TRUE THEN m.tags ELSE [] END': '["a","b"]',
    'ARRAY_CONCAT(m.tags, [])': '["a","b"]',
    "ARRAY_CONCAT(m.tags, ['c'], [1])": '["a","b","c",1]',
    'ARRAY_CONCAT(ARRAY_CONCAT([1.5]), ARRAY(SELECT m.status + 1))': '[1.5,201]',
    "m.tags || ['c']": '["a","b","c"]',
    'ARRAY_LENGTH(COALESCE(m.tags, []))': '2',
    'COALESCE(m.tags, [])[OFFSET(1)]': '"b"',
    "(SELECT STRING_AGG(t, '') FROM UNNEST(COALESCE(m.tags, [])) AS t)": '"ab"',
    "(SELECT COUNT(*) FROM UNNEST(COALESCE(m.missing, ['x'])) AS t)": '1',
    "COALESCE(m.missing, ['x', 'y'])": '["x","y"]',
    "TO_JSON_STRING(COALESCE(m.missing, ['x', '\"']))": `"${'[\\"x\\",\\"\\\\\\"\\"]'}"`,
    "COALESCE(m.missing, ['a', 'b']) = m.tags": 'true',
    "COALESCE(['a'], [])": '["a"]',
    'COALESCE(metadata, [])[OFFSET(0)].status': '200',
  });
});

const WHOLE: EventValue = {
  n1: 9_007_199_254_740_993n,
  n2: 9_007_199_254_740_996n,
  most: 2n ** 63n - 1n,
  beyond: 2n ** 64n - 1n,
  half: 0.5,
};

test('whole numbers are exact, and overflow is an error', () => {
  expectAnswers(WHOLE, {
    'm.n2 - m.n1': '3',
    'm.n1 + 0': '"9007199254740993"',
    'm.n1 * 1': '"9007199254740993"',
    '-m.n1': '"-9007199254740993"',
    '+m.n1': '"9007199254740993"',
    'ABS(m.n1)': '"9007199254740993"',
    'SIGN(m.n1)': '1',
    'MOD(m.n1, 10)': '3',
    'SUM(m.n1) OVER ()': '"9007199254740993"',
    'm.n1': '9007199254740993',
    'm.most': '9223372036854775807',
    'm.beyond': '18446744073709551615',
    'm.beyond + 0': '18446744073709552000',
    'm.beyond = 18446744073709551616.0': 'true',
    'm.n1 + 0.5': '9007199254740992',
    'm.half + 1': '1.5',
    'm.half + m.half': '1',
    'm.n1 = 9007199254740993': 'true',
    'm.n1 = 9007199254740992': 'false',
    'SAFE_ADD(m.most, 1)': 'null',
    'CAST(m.n1 + 1 AS STRING)': '"9007199254740994"',
    "CONCAT(m.n1 + 1, '')": '"9007199254740994"',
    'COALESCE(m.n1, 0) + 1': '"9007199254740994"',
    'CAST(m.beyond AS STRING)': '"18446744073709551615"',
  });
  for (const sum of ['m.most + 1', 'm.most * 2', '-m.most - 2', 'SUM(m.most + 0) OVER () + 1']) {
    assert.deepEqual(answersOf(WHOLE, [sum]), ['error'], sum);
  }
});

/** A field of each kind, by its name. */
const FIELDS: Readonly<Record<string, { readonly sent: EventValue; readonly value: SqlValue }>> = {
  missing: { sent: undefined as never, value: null },
  nothing: { sent: null, value: null },
  truth: { sent: true, value: true },
  whole: { sent: 2, value: 2 },
  wide: { sent: 2n ** 53n + 1n, value: 2n ** 53n + 1n },
  beyond: { sent: 2n ** 64n - 1n, value: 2n ** 64n - 1n },
  fraction: { sent: 1.5, value: 1.5 },
  text: { sent: 'ann', value: 'ann' },
  digits: { sent: '2', value: '2' },
  list: { sent: ['ann', 2], value: jsonNested(['ann', 2]) },
  record: { sent: new Map([['a', 1]]), value: jsonNested({ a: 1 }) },
};

const READ_TYPES: ReadonlyMap<string, SqlType> = new Map(
  [...[BOOL, INT64, FLOAT64, NUMBER, STRING], ...[STRING, INT64].map(arrayOf)].map((type) => [
    typeName(type),
    type,
  ]),
);

/** A value that was read as a type, as a text that is of this type whatever stands beside it. */
function literalOf(value: SqlValue, type: SqlType): string {
  if (type.kind === 'ARRAY') {
    if (value === null) return `IF(FALSE, ${typeName(type)}[], NULL)`;
    const elements = (value as readonly SqlValue[]).map((each) => literalOf(each, type.element));
    return `${typeName(type)}[${elements.join(', ')}]`;
  }
  const own = type.kind === 'NUMBER' ? 'INT64' : type.kind;
  if (value === null) return `CAST(NULL AS ${own})`;
  if (typeof value === 'string') return `'${value}'`;
  const isFraction = typeof value === 'number' && !Number.isSafeInteger(value);
  if (isFraction) return value.toExponential();
  return type.kind === 'FLOAT64' ? `CAST(${value} AS FLOAT64)` : String(value);
}

const EVENTS = [
  {
    id: 'e',
    timestampUs: 0,
    metadata: new Map(
      Object.entries(FIELDS).flatMap(([name, { sent }]) =>
        sent === undefined ? [] : [[name, sent] as const],
      ),
    ),
  },
];

/** What some expressions come to, all of them at once where none fails. */
function answersAtOnce(expressions: readonly string[]): readonly string[] {
  const segments = segmentsOfEvents(EVENTS, 1);
  const run = (items: readonly string[]) => {
    const list = items.map((each, index) => `TO_JSON_STRING(STRUCT(${each})) AS x${index}`);
    const json = engineJson(`SELECT ${list.join(', ')} ${FROM}`, segments, 'optimized');
    return json === 'error' ? undefined : (Object.values(JSON.parse(json)[0]) as string[]);
  };
  return run(expressions) ?? expressions.map((each) => run([each])?.[0] ?? 'error');
}

test('a function of a field is that of what the field is read as, for each kind', () => {
  const wrong: string[] = [];
  const failing: string[] = [];
  for (const { text, write, reading } of fieldForms()) {
    const type = READ_TYPES.get(reading);
    // NULLIF compares what it reads, and gives what stands there.
    if (type === undefined || text.startsWith('NULLIF')) continue;
    const names = Object.keys(FIELDS);
    const got = answersAtOnce(names.map((name) => write(`m.${name}`)));
    const wanted = answersAtOnce(
      names.map((name) => write(literalOf(readAs(FIELDS[name]!.value, type), type))),
    );
    if (got.every((each) => each === 'error')) failing.push(text);
    for (const [index, name] of names.entries()) {
      if (got[index] === wanted[index]) continue;
      wrong.push(`${text} of ${name}: ${got[index]}, not ${wanted[index]}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(failing, ['ERROR(·)']);
});

test('a cast of a field is that of what it was sent as, for each kind', () => {
  expectAnswers(EVENTS[0]!.metadata, {
    'CAST(m.beyond AS FLOAT64)': '18446744073709552000',
    'TO_JSON_STRING(CAST(m.beyond AS FLOAT64))': '"1.8446744073709552e+19"',
    'CAST(m.beyond AS STRING)': '"18446744073709551615"',
    'CAST(m.beyond AS INT64)': 'error',
    'SAFE_CAST(m.beyond AS INT64)': 'null',
    'CAST(m.wide AS FLOAT64)': '9007199254740992',
    'CAST(m.wide AS INT64)': '"9007199254740993"',
    'CAST(m.whole AS BOOL)': 'true',
    'CAST(m.fraction AS INT64)': '2',
    'CAST(m.digits AS INT64)': '2',
    'CAST(m.truth AS INT64)': '1',
    'CAST(m.truth AS STRING)': '"true"',
    'CAST(m.text AS FLOAT64)': 'error',
    'SAFE_CAST(m.text AS FLOAT64)': 'null',
    'CAST(m.list AS STRING)': '"[\\"ann\\",2]"',
    'CAST(m.list AS FLOAT64)': 'error',
    'CAST(m.missing AS FLOAT64)': 'null',
    'CAST(m.beyond + 0 AS INT64)': 'error',
    'CAST(m.wide + 0 AS FLOAT64)': '9007199254740992',
    'CAST(m.fraction + 0 AS BOOL)': 'error',
  });
});

test('docs/sql.md and KINDS.md have the table of readings, and the page each place of a field', () => {
  const page = kindsPage(fieldForms());
  const path = 'test/function/KINDS.md';
  if (process.env['WEIR_UPDATE_GOLDEN'] === '1') writeFileSync(path, page);
  assert.equal(readText(path), page);
  const sqlPage = readText('docs/sql.md');
  for (const row of readingRows()) assert.ok(sqlPage.includes(`\n${row}\n`), row);
});

/** Rows of answers over one event for each value of `m.x`, in segments open, sealed and half and half. */
function rowsOver(values: readonly EventValue[], sql: string): unknown {
  const events = values.map((x, index) => ({
    id: `e${index}`,
    timestampUs: index,
    metadata: new Map(x === undefined ? [] : [['x', x] as const]),
  }));
  const answers = [0, events.length >> 1, events.length].flatMap((sealedCount) => {
    const segments = segmentsOfEvents(events, sealedCount);
    const cut = (['segments', 'rows'] as const).map((by) => fragmentedJson(sql, segments, by));
    return [engineJson(sql, segments, 'optimized'), engineJson(sql, segments, 'plain'), ...cut];
  });
  const known = answers.filter((each) => each !== undefined);
  assert.equal(new Set(known).size, 1, `${sql}: ${known.join('\n')}`);
  return parseExact(known[0]!);
}

function expectRows(values: readonly EventValue[], sql: string, rows: readonly string[]): void {
  const got = rowsOver(values, sql) as readonly Exact[];
  assert.deepEqual(
    got.map((row) => exactText(row)),
    rows,
    sql,
  );
}

const MIXED: readonly EventValue[] = [
  ...[200, '200', true, 'true', 1.5, null, 200, 200.5, 'b', false],
  ...[9_007_199_254_740_993n, 2n ** 64n - 1n, [2, 1], [1], new Map([['a', 1]]), [1]],
];

test('fields are grouped, told apart and joined by kind and value', () => {
  expectRows(MIXED, `SELECT m.x, COUNT(*) AS n ${FROM} GROUP BY m.x ORDER BY m.x`, [
    '{"x":null,"n":1}',
    '{"x":false,"n":1}',
    '{"x":true,"n":1}',
    '{"x":1.5,"n":1}',
    '{"x":200,"n":2}',
    '{"x":200.5,"n":1}',
    '{"x":9007199254740993,"n":1}',
    '{"x":18446744073709551615,"n":1}',
    '{"x":"200","n":1}',
    '{"x":"b","n":1}',
    '{"x":"true","n":1}',
    '{"x":[1],"n":2}',
    '{"x":[2,1],"n":1}',
    '{"x":[{"a":1}],"n":1}',
  ]);
  expectRows(MIXED, `SELECT COUNT(DISTINCT m.x) AS n ${FROM}`, ['{"n":13}']);
  expectRows(MIXED, `SELECT COUNT(*) AS n FROM (SELECT DISTINCT m.x ${FROM})`, ['{"n":14}']);
  const pairs =
    'FROM logs AS a, UNNEST(a.metadata) AS m JOIN (SELECT id, n.x FROM logs, UNNEST(metadata) AS n) AS b ON m.x = b.x';
  expectRows(MIXED, `SELECT COUNT(*) AS n ${pairs} WHERE a.id < b.id`, ['{"n":2}']);
  const texts = "FROM logs, UNNEST(metadata) AS m JOIN (SELECT '200' AS t) ON m.x = t";
  expectRows(MIXED, `SELECT COUNT(*) AS n ${texts}`, ['{"n":3}']);
  expectRows(
    MIXED,
    `SELECT COUNT(*) AS n FROM (SELECT m.x ${FROM} UNION DISTINCT SELECT '200' UNION DISTINCT SELECT 200)`,
    ['{"n":14}'],
  );
  expectRows(MIXED, `SELECT m.x ${FROM} INTERSECT DISTINCT SELECT '200'`, ['{"x":"200"}']);
  expectRows(MIXED, `SELECT x FROM (SELECT m.x ${FROM}) WHERE x IN (SELECT 200) LIMIT 1`, [
    '{"x":200}',
  ]);
});

test('what is computed of fields is grouped by its value', () => {
  const values = [1, 1.5, 2n ** 53n, 2 ** 53, '1', null];
  expectRows(values, `SELECT m.x + 1 AS y, COUNT(*) AS n ${FROM} GROUP BY y ORDER BY y`, [
    '{"y":null,"n":2}',
    '{"y":2,"n":1}',
    '{"y":2.5,"n":1}',
    '{"y":9007199254740992,"n":1}',
    '{"y":"9007199254740993","n":1}',
  ]);
});

test('the least, the greatest and quantiles of a group are over its numbers, else over its texts', () => {
  const extremes = 'MIN(m.x) AS least, MAX(m.x) AS most, APPROX_QUANTILES(m.x, 2) AS middle';
  const sql = (more: string) => `SELECT ${extremes}${more} ${FROM}`;
  expectRows([5, 'z', true, 3, 4], sql(', SUM(m.x) AS sum, AVG(m.x) AS avg'), [
    '{"least":3,"most":5,"middle":[3,4,5],"sum":12,"avg":4}',
  ]);
  expectRows(['z', true, 'a', [1]], sql(', SUM(m.x) AS sum'), [
    '{"least":"a","most":"z","middle":["a","a","z"],"sum":null}',
  ]);
  expectRows([true, false, null], sql(''), [
    '{"least":false,"most":true,"middle":[false,false,true]}',
  ]);
  const percentiles =
    'PERCENTILE_DISC(m.x, 0) OVER () AS low, PERCENTILE_DISC(m.x, 1) OVER () AS high';
  expectRows([5, 'z', 3, [1]], `SELECT DISTINCT ${percentiles} ${FROM}`, ['{"low":3,"high":5}']);
  expectRows(['z', 'y', [1]], `SELECT DISTINCT ${percentiles} ${FROM}`, ['{"low":"y","high":"z"}']);
});

test('sums are exact while all numbers are whole, however rows are divided', () => {
  const sums = `SELECT SUM(m.x) AS sum, AVG(m.x) AS avg ${FROM}`;
  const most = 2n ** 63n - 1n;
  expectRows([2n ** 53n, 1, 'x', null], sums, [
    '{"sum":"9007199254740993","avg":4503599627370496}',
  ]);
  expectRows([2n ** 53n, 1, 0.5, 0.5], sums, ['{"sum":9007199254740994,"avg":2251799813685248.5}']);
  expectRows([most, 1, -1], sums, ['{"sum":"9223372036854775807","avg":3074457345618258400}']);
  expectRows([1, 2, 3], sums, ['{"sum":6,"avg":2}']);
  assert.equal(engineJson(sums, segmentsOfEvents([], 0), 'optimized'), '[{"sum":null,"avg":null}]');
});

test('rows that are skipped by their texts are not those with numbers of this text', () => {
  const urlOf = (index: number) => `https://project.example.com/rest/v1/orders?id=eq.${index}`;
  const events = Array.from({ length: 2400 }, (_, index) => ({
    id: `e${index}`,
    timestampUs: index,
    metadata: { path: index % 600 === 7 ? 4_000_000 + index : urlOf(index) },
  }));
  const ids = (condition: string, sealedCount: number) =>
    engineJson(
      `SELECT STRING_AGG(id, ' ' ORDER BY id) AS ids ${FROM} WHERE ${condition}`,
      segmentsOfEvents(events, sealedCount),
      'optimized',
    );
  for (const [condition, found] of [
    ["m.path = '4000607'", 'e607'],
    ["m.path LIKE '4000%'", 'e607 e7'],
    ["m.path LIKE '%001207%'", 'e1207'],
    ["STARTS_WITH(m.path, '40012')", 'e1207'],
    ["ENDS_WITH(m.path, '000007')", 'e7'],
    ["REGEXP_CONTAINS(m.path, '^4000[36]07$')", 'e607'],
    [`m.path IN ('4000607', '${urlOf(8)}')`, 'e607 e8'],
    ['m.path > 4000900', 'e1207 e1807'],
  ] as const) {
    for (const sealedCount of [0, events.length]) {
      assert.equal(
        ids(condition, sealedCount),
        `[{"ids":"${found}"}]`,
        `${condition} ${sealedCount}`,
      );
    }
  }
});

test('kinds are ordered as they are named', () => {
  const values: readonly SqlValue[] = [null, true, 2, 'ann', jsonNested([1]), jsonNested({ a: 1 })];
  assert.deepEqual(values.map(kindOf), KINDS);
  assert.deepEqual(values.toReversed().sort(compareValues), values);
});

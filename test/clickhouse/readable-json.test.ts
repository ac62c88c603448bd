// In a process of its own: ClickHouse has one folder open in a process.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { NOW_US } from '../../bench/workload/clock.ts';
import { must } from '../../engine/assert.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { readableJson } from '../../src/clickhouse/readable-json.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';

const CASES: readonly (readonly [string, string, string])[] = [
  ['a number that no double holds', '{"a":1e999,"b":[-1e999]}', '{"a":null,"b":[null]}'],
  ['an integer of 400 digits', `{"a":${'9'.repeat(400)}}`, '{"a":null}'],
  ['an integer beyond 64 bits', '{"a":18446744073709551616}', '{"a":"18446744073709551616"}'],
  ['a negative one', '{"a":-9223372036854775809}', '{"a":"-9223372036854775809"}'],
  ['a double that ClickHouse writes as digits', '[1e20, -1.5E19]', '["1e20", "-1.5E19"]'],
  ['an integer from 1e21 on', '{"a":1000000000000000000001}', '{"a":1e+21}'],
  ['half a pair', '{"\\ud800":"a\\udc00b\\uD83D"}', '{"\ufffd":"a\ufffdb\ufffd"}'],
  ['two halves in the wrong order', '["\\udc00\\ud800"]', '["\ufffd\ufffd"]'],
  ['half a pair before a pair', '["\\ud800\\ud83d\\ude00"]', '["\ufffd\\ud83d\\ude00"]'],
  ['half a pair after a backslash', '["\\\\\\ud800"]', '["\\\\\ufffd"]'],
];

const READABLE: readonly string[] = [
  ...['{}', '[]', '[1,-1,0,1.5,1e300,-0,1e21,123456789012345678]'],
  ...['[18446744073709551615,-9223372036854775808,9223372036854775808]'],
  ...[
    '["\\ud83d\\ude00","\\\\ud800","\\"1e999\\"","\\u0000",""]',
    '{"1e999":"18446744073709551616"}',
  ],
];

function readable(json: string): string | undefined {
  // What lies before and after it is not read.
  const bytes = Buffer.from(`9${json}9`);
  const result = readableJson({ bytes, start: 1, end: bytes.length - 1 });
  return result && Buffer.from(result.bytes.subarray(result.start, result.end)).toString();
}

for (const [name, json, wanted] of CASES) {
  test(`${name} is replaced, and the result stays as it is`, () => {
    assert.equal(readable(json), wanted);
    assert.equal(readable(wanted), undefined);
  });
}

test('JSON that ClickHouse reads stays as it is', () => {
  for (const json of READABLE) assert.equal(readable(json), undefined, json);
});

test('what lies below 1,000 levels is null', () => {
  const nested = (levels: number, inner: string): string =>
    `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
  assert.equal(readable(nested(1_000, '1')), undefined);
  assert.equal(readable(nested(1_001, '1')), nested(1_000, 'null'));
  assert.equal(readable(nested(1_000, '{"]":"}"},2')), nested(1_000, 'null,2'));
  assert.equal(readable(nested(100_000, '')), nested(1_000, 'null'));
});

const SOURCE = 'deno-relay-logs';
const EVENTS = 300;

/** Values that ClickHouse cannot parse, as JSON. */
const ODD: readonly string[] = [
  ...['1e999', '-1e400', '18446744073709551616', '-9223372036854775809', '1e20'],
  ...['1000000000000000000000000', '"half \\ud800"', '"\\udc00"', '[1,"x",1e999]'],
  `${'['.repeat(1_500)}${']'.repeat(1_500)}`,
];

const PLAIN: readonly string[] = [
  ...['null', 'true', '0', '-1.5', '200', '9007199254740993', '"x"', '"200"', '""'],
  ...['"é 😀"', '[]', '[1,"x"]', '{"a":1}'],
];

/** Of the fields beside the odd ones, and of odd ones that both stores read in the same way. */
const QUERIES: readonly string[] = [
  't.id, m.a, m.b, m.c, m.half | ORDER BY t.id',
  't.id, CAST(m.a AS STRING) AS x, m.n + 1 AS y, m.r.s AS z | ORDER BY t.id',
  'COUNT(*) AS n, SUM(m.n) AS x, MIN(m.a) AS y, MAX(m.a) AS z |',
  "t.id | WHERE m.a = 200 OR m.b = 'x' ORDER BY t.id",
  'm.a, COUNT(*) AS n | GROUP BY m.a ORDER BY n DESC, m.a',
  't.id, m.huge + 1 AS x, m.huge IS NULL AS y, m.big > 1e23 AS z, LENGTH(m.half) AS w | ORDER BY t.id',
  't.id, STARTS_WITH(m.half, "half") AS x, m.half LIKE "%a_" AS y, CONCAT("<", SUBSTR(m.half, 1, 4)) AS z | ORDER BY t.id',
  't.id, m.digits LIKE "1844%" AS x, CAST(m.digits AS STRING) AS y, m.digits = "18446744073709551616" AS z | ORDER BY t.id',
];

suite('events that hold what ClickHouse cannot parse', { skip: missingChdb() }, () => {
  let stores: BothStores;
  const posted = new Map<string, string>();

  before(async () => {
    const directory = new SourceDirectory(sourcesFrom('').sources);
    stores = new BothStores(directory.sources);
    const random = new Random(7);
    const events = Array.from({ length: EVENTS }, (_, index) => {
      const record = oddRecord(random, index);
      posted.set(`e${index}`, record);
      return `{"id":"e${index}","timestamp":${NOW_US - index},"metadata":${record}}`;
    });
    await stores.post(must(directory.findByName(SOURCE)), `[${events.join(',')}]`, NOW_US);
  });

  after(() => stores.close());

  test('can be read, every one of them', () => {
    const count = 'SELECT count() FROM events WHERE';
    const [[unreadable], [odd]] = [
      stores.clickHouse.rows<string[]>(`${count} NOT is_readable`)[0]!,
      stores.clickHouse.rows<string[]>(`${count} posted_body IS NOT NULL`)[0]!,
    ];
    assert.equal(Number(unreadable), 0);
    assert.ok(Number(odd) > EVENTS / 2 && Number(odd) <= EVENTS);
  });

  test('come back as they were posted', () => {
    const rows = stores.clickHouse.rows<[string, string]>(
      'SELECT id, ifNull(posted_body, body) FROM events',
    );
    assert.equal(rows.length, EVENTS);
    for (const [id, body] of rows) {
      assert.equal(body, `{"metadata":[${shownJson(must(posted.get(id)))}]}`);
    }
  });

  for (const query of QUERIES) {
    test(`are read alike: ${query}`, () => {
      const [list, rest] = query.split(' |') as [string, string];
      const sql = `SELECT ${list} FROM \`${SOURCE}\` AS t, UNNEST(t.metadata) AS m${rest}`;
      const bound = bindQuery(parseQuery(sql), { sources: stores.sources, parameters: [] });
      const plan = stores.optimized(bound, {
        ...{ parameters: new Map(), nowUs: NOW_US, rowsMax: 10_000 },
      });
      const engine = stores.fromEngine(plan, bound.output);
      assert.ok('rows' in engine);
      const rows = engine.rows.map((row) => row.replace(/\\ud[89a-f]../g, '\ufffd'));
      assert.deepEqual(stores.fromClickHouse(plan, bound.output), { rows });
    });
  }
});

/** A record with one odd value or several, in any place among plain ones. */
function oddRecord(random: Random, index: number): string {
  const plain = (): string => random.pick(PLAIN);
  const odd = (): string => random.pick(ODD);
  const fields = [
    ['a', plain()],
    ['b', plain()],
    ['n', String(random.below(1_000))],
    [`odd${random.below(3)}`, odd()],
    ['c', plain()],
    ['r', `{"s":${plain()},"odd":${odd()},"e":"end"}`],
    ['huge', random.pick(['1e999', '-1e999', 'null', '5'])],
    ['big', random.pick(['1000000000000000000000000', '7', '1e24'])],
    ['half', random.pick(['"half \\ud800"', '"\\udc00a\\ud8ff"', '"half"'])],
    ['digits', random.pick(['18446744073709551616', '18446744073709551617', '"x"'])],
  ] as const;
  const kept = fields.filter(([name]) => index % 5 > 0 || !/odd|huge|big|half|digits/.test(name));
  return `{${kept.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
}

/** A record as answers show it: a map that is a field's value in a list, and doubles in JavaScript's form. */
function shownJson(record: string): string {
  return record
    .replaceAll('{"s"', '[{"s"')
    .replaceAll('"end"}', '"end"}]')
    .replaceAll('{"a":1}', '[{"a":1}]')
    .replace(/:1e20\b/g, ':100000000000000000000')
    .replace(/:1e24\b/g, ':1e+24');
}

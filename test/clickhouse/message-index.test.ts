// In a process of its own: chDB has one folder open at a time.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { renderQuery } from '../../src/clickhouse/render/query-sql.ts';
import { jsonText } from '../support/json-text.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';

const skip = missingChdb();

const SOURCE = 'logs';
const NOW_US = Date.UTC(2026, 0, 17) * 1000;

/** Some more than the rows of two granules, which ClickHouse tells apart. */
const EVENTS = 20_000;
const POSTED = 5_000;

const directory = new SourceDirectory(sourcesFrom(SOURCE).sources);
let stores: BothStores;

before(async () => {
  if (skip !== false) return;
  stores = new BothStores(directory.sources);
  for (let from = 0; from < EVENTS; from += POSTED) {
    const events = Array.from({ length: POSTED }, (_, index) => eventOf(from + index));
    await stores.post(must(directory.findByName(SOURCE)), jsonText(events), NOW_US);
  }
  stores.clickHouse.run('OPTIMIZE TABLE events FINAL');
});

after(() => stores?.close());

/** Every fifth has no message; three of the first half have a text that no other has. */
function eventOf(number: number) {
  const rare = number === 77 ? ' n\u00fcedle' : number === 78 ? ' 50%_off\\' : '';
  const message = `GET | 200 | /rest/v1/items/${number}${number === 79 ? ' needles' : rare}`;
  return {
    timestamp: NOW_US / 1000 - EVENTS + number,
    id: `event-${number}`,
    ...(number % 5 === 0 ? {} : { event_message: message }),
  };
}

function prepared(condition: string) {
  const { sources } = stores;
  const text = `SELECT id, event_message FROM ${SOURCE} WHERE ${condition} ORDER BY id LIMIT 50`;
  const { bound } = prepareQuery(text, { sources, parameters: [] });
  const call = { parameters: new Map(), nowUs: NOW_US, rowsMax: 1_000 };
  return { plan: stores.optimized(bound, call), output: bound.output };
}

/** Granules that ClickHouse reads, and how many there are. */
function granulesOf(condition: string): readonly number[] {
  const { plan, output } = prepared(condition);
  const { sql, parameters } = renderQuery(plan, output, { reach: EVERYTHING });
  const lines = stores.clickHouse.rows<[string]>(`EXPLAIN indexes = 1 ${sql}`, parameters).flat();
  const last = must(lines.findLast((line) => line.includes('Granules:')));
  return last.match(/\d+/g)!.map(Number);
}

const RARE = [
  "event_message LIKE '%needles%'",
  "event_message LIKE '%needles%' AND event_message LIKE '%/items/79 %'",
  "REGEXP_CONTAINS(event_message, r'need(les|lework)')",
  "STRPOS(event_message, 'needles') > 0 AND event_message LIKE '%needles'",
  "event_message LIKE '%n\u00fcedle%'",
  "event_message LIKE r'%50\\%\\_off\\\\'",
  "event_message = 'GET | 200 | /rest/v1/items/79 needles'",
];

for (const condition of RARE) {
  test(`a text that few messages have is looked for where it may be: ${condition}`, {
    skip,
  }, () => {
    const { plan, output } = prepared(condition);
    const answer = stores.fromClickHouse(plan, output);
    deepEqual(answer, stores.fromEngine(plan, output));
    ok('rows' in answer && answer.rows.length === 1);
    const [read, all] = granulesOf(condition);
    equal(read, 1);
    ok(all! > 1);
  });
}

test('a text that no message has is looked for nowhere', { skip }, () => {
  equal(granulesOf("event_message LIKE '%nothing%'")[0], 0);
});

const COMMON = [
  "event_message LIKE '%GET%'",
  "event_message NOT LIKE '%needles%'",
  "event_message IS NULL OR event_message LIKE '%needles%'",
  "event_message LIKE '%needles%' OR id = 'event-19999'",
  "event_message LIKE '%79%'",
  "COALESCE(event_message, 'needles') LIKE '%needles%'",
];

for (const condition of COMMON) {
  test(`the index leaves out nothing: ${condition}`, { skip }, () => {
    const { plan, output } = prepared(condition);
    const answer = stores.fromClickHouse(plan, output);
    deepEqual(answer, stores.fromEngine(plan, output));
    ok('rows' in answer && answer.rows.length > 0);
  });
}

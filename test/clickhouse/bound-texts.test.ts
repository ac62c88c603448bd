// In a process of its own: chDB has one folder open at a time.
import { deepEqual, equal, throws } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { STRING } from '../../engine/column/type.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { renderQuery } from '../../src/clickhouse/render/query-sql.ts';
import { batchOf } from '../column/batch-of.ts';
import { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';

const skip = missingChdb();
const NOW_US = Date.UTC(2026, 0, 15) * 1000;

/** Texts that would end a literal, a parameter, or a statement. */
const HOSTILE = [
  ...[
    '',
    "'",
    "''",
    '"',
    '`',
    '\\',
    "\\'",
    "\\\\'",
    '\\N',
    '\\0',
    '\u0000',
    'a\u0000b',
    '\n',
    '\r\n',
    '\t',
  ],
  ...[
    "' OR 1 = 1 --",
    "'; DROP TABLE events; --",
    '{text0:String}',
    '{x:Identifier}',
    '$$',
    '/*',
    '--',
  ],
  ...['é', '🦊', '\u2028', '\ufeff', '\u007f', '%', '_', 'NULL', '\\x27', '\\u0027', '{}', '[]'],
];

let stores: BothStores;

before(async () => {
  if (skip !== false) return;
  stores = new BothStores([{ name: 'logs', projectPath: ['project'] }]);
  const events = HOSTILE.map((text, index) => ({
    id: `e${index}`,
    timestampUs: NOW_US,
    project: text,
    event_message: text,
    metadata: [new Map([[text, text]])],
  }));
  await stores.add('logs', batchOf(events));
});

after(() => stores?.close());

function answers(sql: string, text: string) {
  const parameters = [{ name: 'text', type: STRING }];
  const bound = bindQuery(parseQuery(sql), { sources: stores.sources, parameters });
  const call = { parameters: new Map([['text', text]]), nowUs: NOW_US, rowsMax: 1000 };
  const plan = stores.optimized(bound, call);
  const { output } = bound;
  const { sql: rendered } = renderQuery(plan, output, { reach: EVERYTHING });
  return {
    rendered,
    clickHouse: stores.fromClickHouse(plan, output),
    engine: stores.fromEngine(plan, output),
  };
}

test('a text that is bound is the text that was given, and no part of the statement', {
  skip,
}, () => {
  const sql = `SELECT id, @text AS bound, event_message, project, metadata FROM logs
    WHERE project = @text OR event_message = @text`;
  const plain = answers(sql, 'plain').rendered;
  for (const text of HOSTILE) {
    const { clickHouse, engine, rendered } = answers(sql, text);
    deepEqual(clickHouse, engine, JSON.stringify(text));
    equal(rendered, plain, JSON.stringify(text));
  }
});

test('a field is found by any name', { skip }, () => {
  for (const [index, text] of HOSTILE.entries()) {
    const name = `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}\``;
    if (text === '') continue;
    const sql = `SELECT id, m.${name} AS value FROM logs, UNNEST(metadata) AS m WHERE id = 'e${index}'`;
    const { clickHouse, engine } = answers(sql, text);
    deepEqual(clickHouse, engine, JSON.stringify(text));
  }
});

test('half a surrogate pair is refused', { skip }, () => {
  throws(() => answers('SELECT id FROM logs WHERE id = @text', '\ud800'), /surrogate/);
});

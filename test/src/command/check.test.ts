import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolder } from '../../../src/command/check-run.ts';
import { parseSettings } from '../../../src/settings.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { fileOf } from '../definition/service-with-definitions.ts';

type Files = Readonly<Record<string, string | object>>;

/** Calls `work` with a folder of these files. */
async function withFolder<T>(files: Files, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      await writeFile(join(folder, name), text);
    }
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs `weir check` on a folder of these files. */
function check(
  files: Files,
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return withFolder(files, async (folder) => {
    const ended = await runWeir(['check', folder, ...words], { environment });
    return { ...ended, out: ended.out.replaceAll(`${folder}/`, '') };
  });
}

const ERRORS = fileOf(
  1,
  'app.errors',
  'SELECT t.id, t.event_message AS text, m.n FROM `postgres.logs` AS t CROSS JOIN UNNEST(t.metadata) AS m\nWHERE t.project = @project AND t.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)\nORDER BY t.timestamp',
  'param: project string required',
);

const COUNTS = fileOf(
  2,
  'app.counts',
  'SELECT COUNT(*) AS count, MAX(n) AS most FROM `app.errors`',
);

const EVENTS = [
  ['2026-01-15T11:59:00Z', 'alpha', 'a', 1],
  ['2026-01-15T11:58:00Z', 'alpha', 'b', 2],
  ['2026-01-15T10:59:00Z', 'alpha', 'long ago', 3],
  ['2026-01-15T11:59:00Z', 'beta', 'c', 4],
]
  .map(([timestamp, project, message, n]) => {
    const event = { timestamp, project, event_message: message, metadata: { n } };
    return `${JSON.stringify({ source: 'postgres.logs', event })}\n`;
  })
  .join('\n');

const ID = '00000000-0000-4000-8000-00000000000';

const EXPECTED = {
  now: '2026-01-15T12:00:00Z',
  calls: [
    {
      parameters: { project: 'alpha' },
      rows: [
        { id: `${ID}2`, text: 'b', n: 2 },
        { n: 1, text: 'a', id: `${ID}1` },
      ],
    },
    { parameters: { project: 'gamma' }, rows: [] },
    { error: 'missing_parameter' },
  ],
};

const ERROR_FILES = {
  'errors.sql': ERRORS,
  'errors.events.ndjson': EVENTS,
  'errors.expect.json': EXPECTED,
};

const FILES = {
  ...ERROR_FILES,
  'counts.sql': COUNTS,
  'counts.events.ndjson': EVENTS,
  'counts.expect.json': {
    now: '2026-01-15T12:00:00Z',
    calls: [{ parameters: { project: 'alpha' }, rows: [{ count: 2, most: 2 }] }],
  },
};

test('correct definitions end with 0', async () => {
  const { status, out, err } = await check(FILES);
  deepEqual([status, out, err], [0, '2 definitions, 4 calls: no problems found\n', '']);
});

test('progress is reported before each file of calls', async () => {
  const told: (readonly [number, number])[] = [];
  await withFolder(FILES, (folder) =>
    checkFolder(folder, parseSettings({}), (...share) => told.push(share)),
  );
  deepEqual(told, [
    [0, 2],
    [1, 2],
  ]);
});

test('differing rows are shown one by one, on both sides', async () => {
  const calls = [
    {
      parameters: { project: 'alpha' },
      rows: [{ id: `${ID}2`, text: 'b', n: 7 }],
    },
    { parameters: { project: 'gamma' }, rows: [{ id: 'x' }] },
    { rows: [] },
    { parameters: { project: 'beta' }, error: 'query_failed' },
  ];
  const files = { ...FILES, 'errors.expect.json': { ...EXPECTED, calls } };
  const { status, out } = await check(files);
  equal(status, 1);
  deepEqual(out.split('\n'), [
    'errors.expect.json, call 1: app.errors project=alpha',
    '  row 0 differs',
    `    expected {"id":"${ID}2","text":"b","n":7}`,
    `    got      {"id":"${ID}2","text":"b","n":2}`,
    '  row 1 is not expected',
    `    got      {"id":"${ID}1","text":"a","n":1}`,
    '',
    'errors.expect.json, call 2: app.errors project=gamma',
    '  row 0 is missing',
    '    expected {"id":"x"}',
    '',
    'errors.expect.json, call 3: app.errors',
    '  expected 0 rows',
    '  got      missing_parameter: project must be text; got nothing',
    '',
    'errors.expect.json, call 4: app.errors project=beta',
    '  expected query_failed',
    '  got      1 row',
    '',
    '2 definitions, 5 calls: 0 problems, 4 differences',
    '',
  ]);
});

test('problems of definitions and references have their positions', async () => {
  const { status, out } = await check({
    'a.sql': COUNTS.replace('app.errors', 'app.erors'),
    'b.sql': ERRORS.replace('t.id,', 'NO_SUCH(t.id) AS id,'),
    'c.sql': 'SELECT 1',
    'd.sql': fileOf(3, 'logs.all', 'SELECT 1 AS x'),
  });
  equal(status, 1);
  match(out, /^c\.sql:1:1: .*header.*/m);
  match(out, /^a\.sql:4:47: there is no table app\.erors; did you mean app\.errors\?\n.*\n +\^$/m);
  match(out, /^b\.sql:5:8: .*NO_SUCH/m);
  match(out, /^d\.sql:2:10: name logs\.all is one of the endpoint/m);
  match(out, /^3 definitions, 0 calls: 4 problems, 0 differences$/m);
});

test('a problem of one definition does not prevent checks of the others', async () => {
  const { status, out } = await check({ ...FILES, 'bad.sql': 'SELECT 1' });
  equal(status, 1);
  match(out, /2 definitions, 4 calls: 1 problem, 0 differences/);
});

for (const [what, files, reason] of [
  [
    'a file of calls that is no JSON',
    { 'errors.expect.json': '{' },
    /^errors\.expect\.json: must be JSON; /m,
  ],
  [
    'a key that is not known',
    { 'errors.expect.json': { ...EXPECTED, later: 1 } },
    /errors\.expect\.json: .*later/,
  ],
  [
    'a call without rows and error',
    { 'errors.expect.json': { ...EXPECTED, calls: [{}] } },
    /calls\.0 must have either rows or error/,
  ],
  [
    'a time that is none',
    { 'errors.expect.json': { ...EXPECTED, now: 'noon' } },
    /now must be an ISO 8601 time .*; got "noon"/,
  ],
  [
    'an event without a source',
    { 'errors.events.ndjson': '\n{"event":{}}\n' },
    /errors\.events\.ndjson: line 2 must have the keys source and event/,
  ],
  [
    'an unknown source',
    { 'errors.events.ndjson': '{"source":"no.such","event":{}}' },
    /line 1: there is no source "no\.such"; there are cloudflare/,
  ],
  [
    'an event that is refused',
    { 'errors.events.ndjson': '{"source":"postgres.logs","event":{"timestamp":"2027-01-01"}}' },
    /line 1: timestamp must/,
  ],
  [
    'a line that is no JSON',
    { 'errors.events.ndjson': '{"source":"postgres.logs","event":{}}\n{"source":' },
    /errors\.events\.ndjson: line 2: /,
  ],
  [
    'events that nobody asks for',
    { 'other.events.ndjson': '' },
    /other\.events\.ndjson: there is no other\.sql beside it\n\n.*no other\.expect\.json/,
  ],
] as const) {
  test(`${what} is reported with the name of the file`, async () => {
    const { status, out } = await check({ ...ERROR_FILES, ...files });
    equal(status, 1);
    match(out, reason);
  });
}

test('every problem of a file is reported', async () => {
  const { status, out } = await check({
    'header.sql': '-- name: a b\n-- max_rows: none\n-- frob: x\n\nSELECT 1 AS n FORM t\n',
    'unused.sql': fileOf(1, 'app.unused', 'SELECT 1 AS n', 'param: a string', 'param: b string'),
    'no-id.sql': '-- name: app.plain\nSELECT 1 AS n\n',
  });
  equal(status, 1);
  for (const problem of [
    /^header\.sql:1:10: name must be words/m,
    /^header\.sql:2:14: max_rows must be/m,
    /^header\.sql:3:4: a header key must be/m,
    /^header\.sql:5:\d+: /m,
    /^unused\.sql:\d+:11: parameter a is declared/m,
    /^unused\.sql:\d+:11: parameter b is declared/m,
  ]) {
    match(out, problem);
  }
  match(out, /\n2 definitions, 0 calls: 6 problems, 0 differences\n$/);
});

test('--json reports the same for programs', async () => {
  const calls = [{ parameters: { project: 'gamma' }, rows: [{ id: 'x' }] }];
  const { status, out } = await check({ ...FILES, 'errors.expect.json': { ...EXPECTED, calls } }, [
    '--json',
  ]);
  equal(status, 1);
  const { folder, differences, ...counts } = JSON.parse(out);
  equal(typeof folder, 'string');
  deepEqual(counts, { definitionCount: 2, callCount: 2, problems: [], warnings: [] });
  deepEqual(differences, [
    {
      ...{ file: 'errors.expect.json', endpoint: 'app.errors', call: 1 },
      parameters: { project: 'gamma' },
      rows: [{ row: 0, expected: { id: 'x' }, got: null }],
    },
  ]);
});

test('settings of sources and profile apply, and a caller’s SQL runs in a sandbox', async () => {
  const sql = 'WITH t AS (SELECT text FROM `shop.orders`) SELECT text FROM t LIMIT 1';
  const { status, out } = await check(
    {
      'shop.sql': fileOf(1, 'shop', sql, 'sandbox[supabase]: enabled'),
      'shop.events.ndjson': '{"source":"shop.orders","event":{"text":"12345678901234567890"}}',
      'shop.expect.json': {
        now: '2026-01-15T12:00:00Z',
        calls: [
          { rows: [{ text: '12345678901234567890' }] },
          { parameters: { sql: 'SELECT COUNT(*) AS count FROM t' }, rows: [{ count: 1 }] },
          { parameters: { sql: 'SELECT id FROM `shop.orders`' }, error: 'invalid_sql' },
        ],
      },
    },
    [],
    { SOURCES: 'shop.orders', PROFILE: 'supabase' },
  );
  deepEqual([status, out], [0, '1 definition, 3 calls: no problems found\n']);
});

test('a folder without definitions is a problem', async () => {
  const { status, out } = await withFolder({ 'errors.txt': 'SELECT 1' }, async (folder) => {
    const ended = await runWeir(['check', folder]);
    return { ...ended, out: ended.out.replace(folder, 'FOLDER') };
  });
  equal(status, 1);
  equal(
    out,
    'FOLDER has no definitions: no file ends in .sql\n\n0 definitions, 0 calls: 1 problem, 0 differences\n',
  );
});

test('a name that is also a source’s is a warning', async () => {
  const { status, out } = await check(
    { 'shop.sql': fileOf(1, 'Shop.orders', 'SELECT 1 AS one') },
    [],
    { SOURCES: 'shop.orders' },
  );
  equal(status, 0);
  equal(
    out,
    'warning: shop.sql: shop.orders is the name of a source and of a saved query: the saved query can be called, but no query can select from this name\n\n1 definition, 0 calls: 0 problems, 0 differences, 1 warning\n',
  );
});

test('what is wrong with a file of calls is said in words', async () => {
  const messages: readonly (readonly [unknown, RegExp])[] = [
    [[], /: must be a map with now and calls; got \[\]\n/],
    [{ now: 1, calls: [] }, /: now must be an ISO 8601 time such as .*; got 1\n/],
    [{ now: 'x', calls: [] }, /: calls must be a list of one call at least; got \[\]\n/],
    [{ now: 'x', calls: [{}], call: 1 }, /calls\.0 must have either rows or error\n/],
    [{ now: 'x', calls: [{ rows: [] }], call: 1 }, /: must be a map .*; got the key "call"\n/],
    [{ now: 'x', calls: [{ rows: [1] }] }, /: calls\.0\.rows\.0 must be a row such as .*; got 1\n/],
    [
      { now: 'x', calls: [{ rows: [], parameters: { a: null } }] },
      /: calls\.0\.parameters\.a must be a text, a number or a boolean; got null\n/,
    ],
    [{ now: 'x', calls: [{ row: [] }] }, /: calls\.0 must be a map with .*; got the key "row"\n/],
    [
      { now: 'x', calls: [{ error: 7 }] },
      /: calls\.0\.error must be the code of an error; got 7\n/,
    ],
  ];
  for (const [expectation, message] of messages) {
    const { status, out } = await check({
      'errors.sql': ERRORS,
      'errors.expect.json': JSON.stringify(expectation),
    });
    equal(status, 1);
    match(out, message);
  }
});

test('other arguments than one folder are a usage error, and a missing folder is a failure', async () => {
  for (const words of [['check'], ['check', 'a', 'b'], ['check', 'a', '--yaml']]) {
    equal((await runWeir(words)).status, 2, words.join(' '));
  }
  const { status, err } = await runWeir(['check', '/nowhere/at/all']);
  deepEqual(
    [status, err.includes('must be a folder that can be read: there is no such file')],
    [1, true],
  );
});

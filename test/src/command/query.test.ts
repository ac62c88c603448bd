import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { Granted } from '../../support/granted.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { SlowService } from '../../support/slow-service.ts';

const DEFINITION = `-- id: 11111111-2222-4333-8444-555555555555
-- name: app.logs
-- sandbox: enabled
-- param: project string required
WITH entries AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM \`gotrue.logs.prod\` AS t WHERE t.project = @project
)
SELECT e.id, e.timestamp, e.event_message, e.metadata FROM entries AS e ORDER BY e.timestamp
`;

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-query-'));
  await writeFile(join(folder, 'logs.sql'), DEFINITION);
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder });
  // Written as text, because JavaScript cannot represent the number.
  const event = (id: string, minute: number, message: string, level: string | null) =>
    `{"id":"${id}","project":"alpha","timestamp":"2026-01-15T11:0${minute}:00Z","event_message":${JSON.stringify(message)},"metadata":{"level":${JSON.stringify(level)},"large":9007199254740993}}`;
  const events = [
    event('a1', 1, 'plain', 'info'),
    event('a2', 2, 'two\nlines and a \u001b[31mcolour', null),
  ];
  await service.postText('gotrue.logs.prod', `[${events.join(',')}]`, us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function query(words: readonly string[], token = 'a-private-token'): Promise<Ended> {
  const environment = { PRIVATE_ACCESS_TOKEN: token };
  return runWeir(['query', ...words, '--url', service.url], { environment });
}

const CALL = ['app.logs', 'project=alpha'];

test('rows are shown as a table, with terminal escapes neutralised', async () => {
  const { status, out, err } = await query(CALL);
  assert.deepEqual([status, err], [0, '']);
  assert.deepEqual(
    out.split('\n').map((line) => line.replaceAll(/─+/g, '─').replaceAll(/ {2,}/g, '  ')),
    [
      'id  timestamp  event_message  metadata',
      '─  ─  ─  ─',
      'a1  2026-01-15T11:01:00.000Z  plain  [{"level":"info","large":9007199254740993}]',
      'a2  2026-01-15T11:02:00.000Z  two\\nlines and a \\u001b[31mcolour  [{"level":null,"large":9007199254740993}]',
      '2 rows',
      '',
    ],
  );
  const none = await query(['app.logs', 'project=nobody']);
  assert.match(none.out, /^id {2}timestamp {2}event_message {2}metadata\n[─ ]+\n0 rows\n$/);
  const one = await query([...CALL, '--sql', 'SELECT e.id, NULL AS n FROM entries AS e LIMIT 1']);
  assert.match(one.out, /^a1 {2}null\n1 row\n$/m);
});

test('other formats show the answer as the service sends it', async () => {
  const ask = async (format: string) =>
    (await service.ask('GET', `/api/endpoints/app.logs.${format}?project=alpha`)).text;
  for (const format of ['csv', 'ndjson']) {
    const { status, out } = await query([...CALL, `--${format}`]);
    assert.deepEqual([status, out], [0, await ask(format)]);
  }
  const { status, out } = await query([...CALL, '--json']);
  assert.deepEqual([status, out], [0, `${await ask('json')}\n`]);
  const none = await query(['app.logs', 'project=nobody', '--ndjson']);
  assert.deepEqual([none.status, none.out], [0, '']);
});

test('mistakes end with 2 and an explanation, failures with 1', async () => {
  for (const [words, sentence] of [
    [[], 'query must be followed by the name of a saved query; got nothing'],
    [['app.log'], 'there is no saved query "app.log"; did you mean app.logs?'],
    [['app.logs', 'projct=a'], 'app.logs has no parameter "projct"; did you mean project?'],
    [['app.logs', 'frob=a'], 'app.logs has no parameter "frob"; it has project\n'],
    [
      ['app.logs', 'csvv=a'],
      'app.logs has no parameter "csvv"; it has project; did you mean --csv',
    ],
    [
      ['app.logs', 'project', 'alpha'],
      'a parameter must be name=value; got "project"; did you mean "project=alpha"?',
    ],
    [
      ['app.logs', 'project:a'],
      'a parameter must be name=value; got "project:a"; did you mean "project=a"?',
    ],
    [['app.logs', 'alpha'], 'a parameter must be name=value; got "alpha"\n'],
    [
      ['project=alpha', 'app.logs'],
      'query must be followed by the name of a saved query, and its parameters behind that; got "project=alpha"\n',
    ],
    [
      ['app.logs', '--project', 'alpha'],
      'query has no flag "--project"; a parameter is written without hyphens: project=VALUE',
    ],
    [
      ['app.logs', 'url=x'],
      'app.logs has no parameter "url"; it has project; did you mean --url=VALUE?',
    ],
    [['app.logs'], 'project must be text; got nothing'],
    [[...CALL, '--csv', '--json'], 'an answer has one form; got --json and --csv'],
  ] as const) {
    const { status, out, err } = await query(words);
    assert.deepEqual([status, out], [2, '']);
    assert.ok(err.startsWith(sentence), err);
  }
  const wrong = await query([...CALL, '--sql', 'SELECT x FROM entries']);
  assert.deepEqual([wrong.status, wrong.out], [1, '']);
  assert.match(wrong.err, /line 1, column 8\n\nSELECT x/);
  const unknown = await query(CALL, 'another-token');
  assert.equal(unknown.status, 1);
  assert.match(unknown.err, /not known/);
  const unset = await runWeir(['query', ...CALL]);
  assert.equal(unset.status, 1);
  assert.match(unset.err, /PRIVATE_ACCESS_TOKEN must hold a token of the service; it is not set/);
});

test('the help of a definition lists its parameters, and is shown even if these are unavailable', async () => {
  const { status, out, err } = await query(['app.logs', '--help']);
  assert.deepEqual([status, err], [0, '']);
  assert.match(out, /^weir query - run a saved query/);
  assert.match(out, /\n\nParameters of app\.logs:\n +project string required\n\n {2}--sql TEXT/);
  const alias = await runWeir(['explain', 'app.logs', '-h', '--url', service.url], {
    environment: { PRIVATE_ACCESS_TOKEN: 'a-private-token' },
  });
  assert.match(alias.out, /\nParameters of app\.logs:\n/);
  for (const [words, token, reason] of [
    [
      ['app.log'],
      'a-private-token',
      /\n"app\.log": there is no saved query .*did you mean app\.logs\?/,
    ],
    [['app.logs'], 'another-token', /\n"app\.logs": the access token is not known/],
  ] as const) {
    const unknown = await query([...words, '--help'], token);
    assert.deepEqual([unknown.status, unknown.err], [0, '']);
    assert.match(unknown.out, /\n {2}--sql TEXT/);
    assert.match(unknown.out, reason);
  }
  const general = await runWeir(['query', '--help']);
  assert.doesNotMatch(general.out, /Parameters of/);
});

test('a token that may only call definitions gets rows, help and messages about mistakes', async () => {
  const granted = await Granted.of(service);
  const caller = granted.token('query, all');
  const { status, out } = await query(CALL, caller);
  assert.equal(status, 0);
  assert.match(out, /2 rows\n$/);
  const help = await query(['functions.invocation-stats', '--help'], caller);
  assert.match(
    help.out,
    /\nParameters of functions\.invocation-stats:\n +project string required\n/,
  );
  for (const [words, token, expectedStatus, sentence] of [
    [
      ['functions.invocation-stats', 'project=alpha', 'intervl=1hr'],
      'query, all',
      2,
      'functions.invocation-stats has no parameter "intervl"; did you mean interval?',
    ],
    [['app.log'], 'query, all', 2, 'there is no saved query "app.log"; did you mean app.logs?'],
    // Of what is out of its reach nobody says whether it exists.
    [
      ['app.logs'],
      'query, logs.all',
      1,
      'the token query logs.all is not for the endpoint "app.logs"',
    ],
    [
      ['app.none'],
      'query, logs.all',
      1,
      'the token query logs.all is not for the endpoint "app.none"',
    ],
    [
      CALL,
      'ingest, all',
      1,
      'this needs a token with the scope query; the token ingest all has ingest',
    ],
  ] as const) {
    const refused = await query(words, granted.token(token));
    assert.deepEqual([refused.status, refused.out], [expectedStatus, '']);
    assert.ok(refused.err.startsWith(sentence), refused.err);
  }
  const nobody = await query(['logs.all', '--help'], granted.token('ingest, all'));
  assert.match(nobody.out, /\n"logs\.all": the token may run no saved query\n/);
});

test('a long call shows its progress at a terminal, and Ctrl-C cancels it', async () => {
  const slow = new SlowService();
  const url = await slow.start();
  const call = (options: object): Promise<Ended> =>
    runWeir(['query', 'app.logs', '--csv', '--url', url], {
      environment: { PRIVATE_ACCESS_TOKEN: 'a-private-token' },
      ...options,
    });
  let looks = 0;
  slow.onRun = (method) => {
    if (method === 'GET' && ++looks === 2) slow.finish();
  };
  const { out, err } = await call({ isTerminal: true });
  assert.equal(out, 'n\r\n1\r\n');
  assert.ok(err.endsWith(' 42 % of the rows\r\u001b[K'), JSON.stringify(err));
  const ctrlC = new AbortController();
  slow.onRun = () => ctrlC.abort();
  const cancelled = await call({ ended: ctrlC.signal });
  assert.deepEqual([cancelled.status, cancelled.err], [1, 'the query was cancelled\n']);
  slow.close();
});

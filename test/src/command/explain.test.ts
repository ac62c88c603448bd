import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { QueryExplanation } from '../../../engine/plan/explanation.ts';
import { us } from '../../scripts/script.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const MANAGER = 'a-private-token';
const READER = 'a-token-that-only-reads';
const NOW = '2026-01-15T12:00:00Z';
const STATS = '/api/endpoints/functions.invocation-stats';

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-explain-'));
  const tokens = [
    record('manager', MANAGER, ['ingest', 'query', 'manage']),
    record('reader', READER, ['query']),
  ];
  await writeFile(join(folder, 'tokens.json'), JSON.stringify({ version: 1, tokens }));
  service = await ServiceUnderTest.start({ DATA_DIR: folder, PRIVATE_ACCESS_TOKEN: '' });
  // Three events of alpha within the hour, one before, one of another project.
  const events = [
    invocation('alpha', '2026-01-15T11:58:00Z'),
    invocation('alpha', '2026-01-15T11:58:30Z'),
    invocation('alpha', '2026-01-15T11:59:00Z'),
    invocation('alpha', '2026-01-15T09:00:00Z'),
    invocation('beta', '2026-01-15T11:58:00Z'),
  ];
  await service.post('deno-relay-logs', events, us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

function record(name: string, token: string, scopes: readonly string[]) {
  return { name, scopes, sha256: createHash('sha256').update(token).digest('hex') };
}

function invocation(project: string, timestamp: string) {
  const metadata = [
    { project_ref: project, execution_time_ms: 12, response: [{ status_code: 200 }] },
  ];
  return { event_message: 'GET | 200', timestamp, metadata };
}

function ask(path: string, init: RequestInit & { readonly token?: string } = {}) {
  const headers = { 'X-API-KEY': init.token ?? MANAGER, ...init.headers };
  return fetch(service.url + path, { ...init, headers });
}

type Named = QueryExplanation & { readonly name: string };

async function explained(path: string): Promise<Named> {
  const answer = await ask(path, { headers: { Accept: 'application/json' } });
  assert.equal(answer.status, 200);
  return (await answer.json()) as Named;
}

test('explain=true answers a call with a text in sections', async () => {
  const answer = await ask(`${STATS}?project=alpha&interval=1hr&explain=true`);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const titles = text.split('\n').filter((line) => /^\S/.test(line));
  assert.deepEqual(titles, [
    'query functions.invocation-stats',
    'logical plan, from the SQL text',
    'optimized plan, for these parameters and this time',
    'physical plan',
    'run',
  ]);
  assert.match(text, /^ {2}@interval = '1hr'$/m);
  assert.match(text, /^ {2}now 2026-01-15 12:00:00 UTC, at most 1,000 rows$/m);
  assert.match(text, /^ {2}rows {5}4 scanned, 0 from cached partial results$/m);
});

test('each operator shows its rows, and the scan what it skipped', async () => {
  const { name, physical, run } = await explained(
    `${STATS}?project=alpha&interval=1hr&explain=true`,
  );
  assert.equal(name, 'functions.invocation-stats');
  assert.ok(run !== undefined);
  const lines: string[] = [];
  const walk = (tree: typeof physical): void => {
    lines.push(tree.line.split(' ')[0]!);
    tree.inputs.forEach(walk);
  };
  walk(physical);
  const rows = run.operators.map(({ rowCount }, index) => `${lines[index]} ${rowCount}`);
  // Two buckets of the three events within the hour. The fourth event of alpha is read and too old.
  const below = ['project 3', 'project 3', 'unnest 3', 'filter 3', 'unnest 3', 'scan 3'];
  assert.deepEqual(rows, ['project 2', 'project 2', 'top 2', 'aggregate 2', ...below]);
  assert.equal(run.rowCount, 2);
  assert.equal(run.fragmentCount, 1);
  const [scan] = run.scans;
  assert.deepEqual(
    [scan!.source, scan!.segmentsInSource, scan!.openCount, scan!.sealedCount],
    ['deno-relay-logs', 1, 1, 0],
  );
  assert.deepEqual([scan!.rowsScanned, scan!.segmentRowCount, scan!.rowsFromMemo], [4, 5, 0]);
});

test('segments left out of the snapshot are shown by reason: no such project, no such time', async () => {
  const stranger = await explained(`${STATS}?project=gamma&interval=1hr&explain=true`);
  const [byProject] = stranger.run!.scans;
  assert.deepEqual([byProject!.segmentsSkippedByTime, byProject!.segmentsSkippedByProject], [0, 1]);
  const path = '/api/endpoints/logs.all?project=alpha&explain=true';
  await service.post(
    'cloudflare.logs.prod',
    [{ event_message: 'old', project: 'alpha', timestamp: '2026-01-10T00:00:00Z', metadata: {} }],
    us(NOW),
  );
  const [byTime] = (await explained(path)).run!.scans;
  assert.deepEqual([byTime!.segmentsSkippedByTime, byTime!.segmentsSkippedByProject], [1, 0]);
  assert.equal(byTime!.rowsScanned, 0);
});

test('the parameters may be in a body', async () => {
  const answer = await ask(`${STATS}?explain=true`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"project":"alpha","interval":"7day"}',
  });
  assert.match(await answer.text(), /@interval = '7day'/);
});

test('explain=false is an ordinary call', async () => {
  const answer = await ask(`${STATS}?project=alpha&interval=1hr&explain=false`);
  assert.equal(((await answer.json()) as { result: unknown[] }).result.length, 2);
});

for (const { query, token, status, code } of [
  { query: 'explain=true', token: READER, status: 403, code: 'forbidden' },
  { query: 'explain=yes', token: MANAGER, status: 400, code: 'invalid_parameter' },
  { query: 'explain=', token: MANAGER, status: 400, code: 'invalid_parameter' },
  { query: 'explain=true&explain=true', token: MANAGER, status: 400, code: 'repeated_parameter' },
]) {
  test(`${query} by ${token} is answered ${status}`, async () => {
    const answer = await ask(`${STATS}?project=alpha&${query}`, { token });
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.deepEqual([answer.status, error.code], [status, code]);
  });
}

test('a token that may only call gets the answer', async () => {
  assert.equal((await ask(`${STATS}?project=alpha`, { token: READER })).status, 200);
});

/** Runs the command, by default with the service and its token. */
function command(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = { PRIVATE_ACCESS_TOKEN: MANAGER },
): Promise<Ended> {
  return runWeir(['explain', ...words], { environment, nowUs: us(NOW) });
}

const WORDS = ['functions.invocation-stats', 'project=alpha', 'interval=1hr'];

test('the command shows the explanation of the running service', async () => {
  const { status, out, err } = await command([...WORDS, '--url', service.url]);
  assert.deepEqual([status, err], [0, '']);
  assert.match(out, /^query functions\.invocation-stats$/m);
  assert.match(out, /4 scanned, 0 from cached partial results/);
});

test('the command shows the same as JSON', async () => {
  const { status, out } = await command([...WORDS, '--json', '--url', service.url]);
  const { name, run } = JSON.parse(out) as Named;
  assert.deepEqual([status, name, run?.rowCount], [0, 'functions.invocation-stats', 2]);
});

test('a definition may be named by its id', async () => {
  const id = '342C1781-3A46-4941-B0D6-85B0A4923B9B';
  const { status } = await command([id, 'project=alpha', '--url', service.url]);
  assert.equal(status, 0);
});

test('without a service, the plans are shown with a note that they were not run', async () => {
  for (const [words, environment, reason] of [
    [[], {}, 'PRIVATE_ACCESS_TOKEN must hold the token of the service; it is not set'],
    [['--plan-only'], { PRIVATE_ACCESS_TOKEN: MANAGER }, '--plan-only was given'],
    [[], { PRIVATE_ACCESS_TOKEN: MANAGER, PORT: '1' }, 'no service answers at http://127.0.0.1:1'],
  ] as const) {
    const { status, out } = await command([...WORDS, ...words], environment);
    assert.equal(status, 0);
    assert.match(out, /^physical plan$/m);
    assert.doesNotMatch(out, /^run$/m);
    assert.ok(out.includes(`\nnot run: ${reason}`), out.slice(-200));
  }
});

test('a service named with --url must be reachable and accept the token', async () => {
  const none = await command([...WORDS, '--url', 'http://127.0.0.1:1']);
  assert.deepEqual([none.status, none.out], [1, '']);
  assert.match(none.err, /no service answers at http:\/\/127\.0\.0\.1:1/);
  const environment = { PRIVATE_ACCESS_TOKEN: 'another' };
  const refused = await command([...WORDS, '--url', service.url], environment);
  assert.deepEqual([refused.status, refused.out], [1, '']);
  assert.match(refused.err, /not known/);
});

test('mistakes are reported with the nearest name, with and without a service', async () => {
  for (const tail of [['--plan-only'], ['--url', service.url]]) {
    for (const { words, hint } of [
      {
        words: ['logs.al', 'project=a'],
        hint: /no saved query "logs\.al"; did you mean logs\.all\?/,
      },
      { words: ['logs.all', 'projet=a'], hint: /no parameter "projet"; did you mean project\?/ },
      { words: ['logs.all'], hint: /project must be text; got nothing/ },
      {
        words: ['usage.api-counts', 'project=a', 'interval=x'],
        hint: /interval must be hourly, daily or minutely; got "x"/,
      },
      { words: ['logs.all', 'project'], hint: /a parameter must be name=value; got "project"/ },
      { words: ['logs.all', 'project=a', 'project=b'], hint: /project must be given once/ },
      { words: [], hint: /followed by the name of a saved query; got nothing/ },
      { words: ['logs.all', '--frob'], hint: /--frob/ },
    ]) {
      const { status, out, err } = await command([...words, ...tail]);
      assert.deepEqual([status, out], [2, ''], err);
      assert.match(err, hint);
    }
  }
});

test('the help lists the settings that the command reads', async () => {
  const { status, out } = await command(['--help']);
  assert.equal(status, 0);
  assert.match(out, /weir explain DEFINITION/);
  assert.match(out, /PRIVATE_ACCESS_TOKEN/);
});

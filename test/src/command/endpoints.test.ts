import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { fileOf, idOf, ServiceWithDefinitions } from '../definition/service-with-definitions.ts';
import { PRIVATE } from '../harness.ts';

const COUNT = 'SELECT COUNT(*) AS n FROM `postgres.logs`';

const SINCE = `${COUNT} WHERE timestamp > @since`;

const IN_FOLDER = '0a0a0a0a-2222-4333-8444-555555555555';

let service: ServiceWithDefinitions;
let folder: string;

before(async () => {
  const text = fileOf(9, 'of.folder', COUNT).replace(idOf(9), IN_FOLDER);
  service = await ServiceWithDefinitions.begin({ files: { 'kept.sql': text } });
});

after(() => service.end());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-step-'));
});

afterEach(async () => {
  await service.clear();
  await rm(folder, { recursive: true });
});

type World = { readonly ask?: (question: string) => Promise<string> };

function weir(words: readonly string[], world: World = {}): Promise<Ended> {
  return runWeir(['endpoints', ...words, '--url', service.service.url], {
    environment: { PRIVATE_ACCESS_TOKEN: PRIVATE },
    ...world,
  });
}

function push(...words: string[]): Promise<Ended> {
  return weir(['push', folder, ...words]);
}

function pull(...words: string[]): Promise<Ended> {
  return weir(['pull', folder, ...words]);
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}

function read(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8');
}

async function make(fileText: string): Promise<void> {
  const { status, text } = await service.send('POST', '', fileText);
  equal(status, 201, text);
}

async function kept(digit: number): Promise<string> {
  const { status, text } = await service.ask({
    path: `/api/endpoints/${idOf(digit)}`,
    headers: { Accept: 'application/sql' },
  });
  return status === 200 ? text : String(status);
}

/** The last line of output of a successful command. */
function lastLine({ status, out, err }: Ended): string {
  deepEqual([status, err], [0, ''], out);
  return out.trimEnd().split('\n').at(-1)!;
}

test('list shows all definitions and their origins', async () => {
  await make(fileOf(1, 'app.count', COUNT, 'cache: 60s', 'description: How many'));
  const { status, out, err } = await weir(['list']);
  deepEqual([status, err], [0, '']);
  match(out, /^name +origin +version +id +cache +description$/m);
  match(out, /^logs\.all +built-in +1 +2034724d-\S+ +disabled/m);
  match(out, new RegExp(`^of\\.folder +folder +1 +${IN_FOLDER} +disabled$`, 'm'));
  match(out, new RegExp(`^app\\.count +api +1 +${idOf(1)} +60s +How many$`, 'm'));
  const json = JSON.parse((await weir(['list', '--json'])).out);
  deepEqual(json.at(-1), {
    name: 'app.count',
    origin: 'api',
    version: 1,
    id: idOf(1),
    cache: '60s',
    description: 'How many',
    parameters: [],
  });
});

test('list shows the parameters of each definition', async () => {
  const sql = 'SELECT @project AS project, @days AS days, @unit AS unit';
  const lines = [
    'param: project string required from=ref',
    'param: days int64 default=7',
    'param: unit string enum(hour, day)',
  ];
  await make(fileOf(1, 'app.parameters', sql, ...lines));
  const { out } = await weir(['list']);
  match(out, /\n\nParameters:\n {2}functions\.invocation-stats {2}project string required\n/);
  const shown = [
    `  ${'app.parameters'.padEnd(26)}  project string required from=ref`,
    `  ${' '.repeat(26)}  days int64 default=7`,
    `  ${' '.repeat(26)}  unit string enum(hour, day)`,
  ];
  ok(out.includes(`\n${shown.join('\n')}\n`), out);
  const json = JSON.parse((await weir(['list', '--json'])).out);
  deepEqual(json.at(-1).parameters, [
    { name: 'project', type: 'string', required: true, default: null, from: ['ref'], enum: null },
    { name: 'days', type: 'int64', required: false, default: '7', from: [], enum: null },
    {
      name: 'unit',
      type: 'string',
      required: false,
      default: null,
      from: [],
      enum: ['hour', 'day'],
    },
  ]);
});

test('push creates, changes and skips definitions, and a second push has nothing to do', async () => {
  const changed = fileOf(1, 'app.new-name', `-- Why it counts.\n${COUNT}`);
  await make(fileOf(1, 'app.old-name', COUNT));
  await make(fileOf(3, 'app.alone', COUNT));
  await write('one.sql', changed);
  await write('two.sql', fileOf(2, 'app.two', COUNT));
  await write('notes.txt', 'no definition');
  const dry = await push('--dry-run');
  deepEqual([dry.status, dry.err], [1, '']);
  deepEqual(
    dry.out.split('\n').filter((line) => /^[-+@]/.test(line)),
    [
      '--- app.old-name of the service, version 1',
      `+++ ${folder}/one.sql`,
      '@@ -1,4 +1,5 @@',
      '--- name: app.old-name',
      '+-- name: app.new-name',
      '+-- Why it counts.',
      '--- /dev/null',
      `+++ ${folder}/two.sql`,
      '@@ -0,0 +1,4 @@',
      `+-- id: ${idOf(2)}`,
      '+-- name: app.two',
      '+',
      `+${COUNT}`,
    ],
  );
  match(dry.out, /^only on the service: app\.alone; --delete deletes them$/m);
  match(dry.out, /^on the service: 1 to create, 1 to change, 0 to delete, 0 unchanged$/m);
  match(await kept(1), /app\.old-name/);
  const pushed = await push('--yes');
  equal(lastLine(pushed), 'app.two is created');
  match(pushed.out, /^app\.new-name is changed$/m);
  deepEqual([await kept(1), await kept(2)], [changed, await read('two.sql')]);
  match(await kept(3), /app\.alone/);
  const again = await push('--dry-run');
  equal(lastLine(again), 'on the service: 0 to create, 0 to change, 0 to delete, 2 unchanged');
  equal(lastLine(await push('--delete', '--yes')), 'app.alone is deleted');
  equal(await kept(3), '404');
  deepEqual(await service.names(), ['of.folder', 'app.new-name', 'app.two']);
});

test('definitions of the same meaning do not differ, however they are written', async () => {
  await make(fileOf(1, 'app.count', SINCE, 'max_rows: 1000', 'param: since timestamp'));
  const other = `-- name:app.count\n--version: 7\n-- param:   since   timestamp\n-- id: ${idOf(1).toUpperCase()}\n\n\n${SINCE}\n\n`;
  await write('count.sql', other);
  match(lastLine(await push('--dry-run')), /0 to change, 0 to delete, 1 unchanged$/);
  match(lastLine(await pull('--yes')), /0 to change, 0 to delete, 1 unchanged$/);
  equal(await read('count.sql'), other);
  // A line for one profile is a difference in all profiles.
  await write('count.sql', other.replace('--version', '-- cache[supabase]: 60s\n--version'));
  equal((await push('--dry-run')).status, 1);
  equal(lastLine(await push('--yes')), 'app.count is changed');
  match(lastLine(await push('--dry-run')), /1 unchanged$/);
  match(await kept(1), /cache\[supabase\]/);
});

test('a definition is created after those it selects from, and removed before them', async () => {
  await write('1.sql', fileOf(1, 'a.outer', 'SELECT n FROM `b.middle`'));
  await write('2.sql', fileOf(2, 'b.middle', 'SELECT n FROM `c.inner`'));
  await write('3.sql', fileOf(3, 'c.inner', COUNT));
  const { out } = await push('--yes');
  deepEqual(out.match(/^\S+ is created$/gm), [
    'c.inner is created',
    'b.middle is created',
    'a.outer is created',
  ]);
  for (const name of await readdir(folder)) await rm(join(folder, name));
  const gone = await push('--yes', '--delete');
  equal(lastLine(gone), 'c.inner is deleted');
  deepEqual(await service.names(), ['of.folder']);
});

test('a change of a definition does not prevent a change of one that selects from it', async () => {
  const outer = (alias: string) => fileOf(2, 'b.outer', `SELECT n AS ${alias} FROM \`a.inner\``);
  await make(fileOf(1, 'a.inner', COUNT));
  await make(outer('x'));
  // The new parameter also belongs to the outer definition.
  await write('1.sql', fileOf(1, 'a.inner', `${COUNT} WHERE project = @p`, 'param: p string'));
  await write('2.sql', outer('y'));
  deepEqual((await push('--yes')).out.match(/^\S+ is changed$/gm), [
    'a.inner is changed',
    'b.outer is changed',
  ]);
});

test('refusals of the service are shown in its words, and all other changes are made', async () => {
  await make(fileOf(4, 'app.used', COUNT));
  await make(fileOf(5, 'app.user', 'SELECT n FROM `app.used`'));
  await write('1.sql', fileOf(1, 'a.round', 'SELECT n FROM `b.round`'));
  await write('2.sql', fileOf(2, 'b.round', 'SELECT n FROM `a.round`'));
  await write('3.sql', fileOf(3, 'c.right', COUNT));
  await write('4.sql', fileOf(4, 'app.used', 'SELECT 1 AS other'));
  await write('5.sql', fileOf(5, 'app.user', 'SELECT n FROM `app.used`'));
  await write(
    '6.sql',
    fileOf(6, 'd.wrong', 'SELECT\n  nowhere FROM `postgres.logs` AS t WHERE t.id +'),
  );
  const { status, out, err } = await push('--yes');
  equal(status, 1);
  deepEqual(out.match(/^\S+ is (?:created|changed)$/gm), ['c.right is created']);
  match(err, /^a\.round is not created: .*b\.round.*; line 4, column \d+\n\n.*\n +\^$/m);
  match(err, /^b\.round is not created: /m);
  match(err, /^app\.used is not changed: other definitions would stop working: app\.user/m);
  match(err, /^d\.wrong is not created: .*; line 5, column \d+\n\n {2}nowhere FROM .*\n +\^$/m);
  deepEqual(await service.names(), ['of.folder', 'app.used', 'app.user', 'c.right']);
});

test('a definition that changed since the diff is not overwritten, on either side', async () => {
  const files = [1, 2, 3].map((digit) => fileOf(digit, `app.n${digit}`, COUNT));
  for (const text of files.slice(0, 2)) await make(text);
  for (const [index, text] of files.entries()) {
    await write(`${index + 1}.sql`, text.replace('AS n', 'AS m'));
  }
  const shown: string[] = [];
  const pushed = await weir(['push', folder], {
    ask: async (question) => {
      shown.push(question);
      const body = files[0]!.replace('AS n', 'AS other');
      await service.send('PUT', idOf(1), body, { 'If-Match': '*' });
      await make(files[2]!);
      return 'y';
    },
  });
  deepEqual(shown, ['change this on the service? [y/N] ']);
  equal(pushed.status, 1);
  match(pushed.err, /^app\.n1 is not changed: If-Match/m);
  match(pushed.err, /^app\.n3 is not created: If-None-Match/m);
  match(pushed.out, /^app\.n2 is changed$/m);
  match(await kept(1), /AS other/);
  match(await kept(2), /AS m/);
  const mine = files[0]!.replace('AS n', 'AS mine');
  const pulled = await weir(['pull', folder], {
    ask: async () => {
      await write('1.sql', mine);
      return 'yes';
    },
  });
  equal(pulled.status, 1);
  match(pulled.err, /^app\.n1 is not changed: .*1\.sql has changed since it was read$/m);
  match(pulled.out, /^app\.n3 is changed$/m);
  deepEqual([await read('1.sql'), await read('3.sql')], [mine, files[2]]);
});

test('pull writes files unchanged under their existing names, and removes files on demand', async () => {
  const text = fileOf(1, 'app.count', `-- Why it counts.\n\n${COUNT} -- All.`);
  await make(text);
  await make(fileOf(2, 'app.renamed', COUNT));
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(join(folder, 'elsewhere', 'real'), fileOf(2, 'app.before', COUNT), {
    mode: 0o640,
  });
  // The file keeps its permissions, whatever the umask.
  await chmod(join(folder, 'elsewhere', 'real'), 0o666);
  await symlink(join('elsewhere', 'real'), join(folder, 'old-name.sql'));
  await write('alone.sql', fileOf(3, 'app.alone', COUNT));
  await write('alone.expect.json', '{}');
  const first = await pull('--yes');
  equal(lastLine(first), 'app.renamed is changed');
  match(first.out, /^only in \S+: app\.alone; --delete deletes them$/m);
  equal(await read('app.count.sql'), text);
  match(await read('old-name.sql'), /app\.renamed/);
  match(await readFile(join(folder, 'elsewhere', 'real'), 'utf8'), /app\.renamed/);
  equal((await stat(join(folder, 'elsewhere', 'real'))).mode & 0o777, 0o666);
  match(lastLine(await pull('--dry-run')), /2 unchanged$/);
  equal(lastLine(await pull('--yes', '--delete')), 'app.alone is deleted');
  deepEqual((await readdir(folder)).sort(), [
    'alone.expect.json',
    'app.count.sql',
    'elsewhere',
    'old-name.sql',
  ]);
  const fresh = join(folder, 'new', 'deep');
  equal(lastLine(await weir(['pull', fresh, '--yes'])), 'app.renamed is created');
  equal(await readFile(join(fresh, 'app.count.sql'), 'utf8'), text);
});

test('files that are not definitions stop push, and pull ignores them', async () => {
  await make(fileOf(1, 'app.count', COUNT));
  const broken = '-- frob: 1\nSELECT 1\n';
  await write('app.count.sql', broken);
  await write('twice-1.sql', fileOf(2, 'app.a', COUNT));
  await write('twice-2.sql', fileOf(2, 'app.b', COUNT));
  const pushed = await push('--yes', '--delete');
  deepEqual([pushed.status, pushed.out], [1, '']);
  match(pushed.err, /app\.count\.sql:1:4: a header key must be .*got "frob"\n-- frob: 1\n {3}\^\n/);
  match(pushed.err, /twice-2\.sql has the id of .*twice-1\.sql/);
  match(pushed.err, /nothing is changed, because some entries in \S+ cannot be read\n$/);
  const pulled = await pull('--yes');
  equal(pulled.status, 1);
  match(pulled.err, /app\.count of the service.*app\.count\.sql is there already, and is another/);
  deepEqual([await read('app.count.sql'), (await readdir(folder)).length], [broken, 3]);
  match(await kept(1), /app\.count/);
});

test('a definition that the service cannot parse stops pull, and push repairs it', async () => {
  const stored = join(await findStorePath(service.dataDir), 'endpoints');
  await mkdir(stored, { recursive: true });
  await writeFile(join(stored, `${idOf(1)}.sql`), fileOf(1, 'app.count', 'SELECT n FROM `gone`'));
  await service.restart();
  await write('alone.sql', fileOf(2, 'app.alone', COUNT));
  const pulled = await pull('--yes', '--delete');
  deepEqual([pulled.status, pulled.out, await readdir(folder)], [1, '', ['alone.sql']]);
  match(pulled.err, new RegExp(`^${idOf(1)} of the service cannot be called: .*gone`));
  const other = await push('--yes', '--delete');
  equal(other.status, 1);
  match(other.err, /cannot be called/);
  match(other.out, /^app\.alone is created$/m);
  await write('count.sql', fileOf(1, 'app.count', COUNT));
  equal(lastLine(await push('--yes')), 'app.count is created');
  deepEqual(await service.problems(), []);
});

test('list reports on standard error what is not in force', async () => {
  await service.write('wrong.sql', fileOf(8, 'app.wrong', 'SELECT 1 AS x 2 AS y'));
  await service.reload();
  const { status, out, err } = await weir(['list', '--json']);
  await service.remove('wrong.sql');
  await service.reload();
  equal(status, 0);
  deepEqual(
    JSON.parse(out).map(({ name }: { name: string }) => name),
    ['functions.invocation-stats', 'logs.all', 'usage.api-counts', 'of.folder'],
  );
  match(
    err,
    /^wrong\.sql:4:15: expected .*; got "2" \(not in force\)\nSELECT 1 AS x 2 AS y\n {14}\^\n$/,
  );
  equal((await weir(['list'])).err, '');
});

test('built-in definitions and those of ENDPOINTS_DIR are never changed, and a clash is reported', async () => {
  const logsAll = (await service.ask({ path: '/api/endpoints' })).json.result.find(
    ({ name }: { name: string }) => name === 'logs.all',
  );
  await write('1.sql', fileOf(1, 'mine', COUNT).replace(idOf(1), logsAll.id));
  await write('2.sql', fileOf(2, 'app.two', COUNT, 'alias: of.folder'));
  await write('3.sql', fileOf(3, 'app.right', COUNT));
  const pushed = await push('--yes', '--delete');
  equal(pushed.status, 1);
  match(pushed.err, /1\.sql has the id of logs\.all, which is built in\n/);
  match(pushed.err, /2\.sql has the name of\.folder, .* is a file of its ENDPOINTS_DIR\n/);
  deepEqual(await service.names(), ['of.folder', 'app.right']);
  const pulled = await pull('--yes', '--delete');
  equal(pulled.status, 1);
  match(pulled.err, /1\.sql has the id of logs\.all, which is built in\n/);
  deepEqual((await readdir(folder)).sort(), ['1.sql', '2.sql', '3.sql']);
});

test('without a terminal, --yes is required, and answering no changes nothing', async () => {
  await write('1.sql', fileOf(1, 'app.count', COUNT));
  const alone = await push();
  equal(alone.status, 2);
  match(alone.err, /^there is no terminal to ask at, and nothing is changed; --yes changes/);
  match(alone.out, /^\+-- name: app\.count$/m);
  for (const answer of ['', 'n', 'maybe']) {
    const said = await weir(['push', folder], { ask: async () => answer });
    deepEqual([said.status, said.err], [1, 'nothing is changed\n']);
  }
  equal(await kept(1), '404');
});

test('--json reports each change and its result', async () => {
  await make(fileOf(1, 'app.count', COUNT));
  await make(fileOf(2, 'app.alone', COUNT));
  await write('1.sql', fileOf(1, 'app.count', COUNT.replace('AS n', 'AS m')));
  await write('3.sql', fileOf(3, 'app.wrong', 'SELECT\n  nowhere'));
  await write('4.sql', fileOf(4, 'app.new', COUNT));
  const text = await push('--dry-run');
  const dry = await push('--dry-run', '--json');
  deepEqual([dry.status, dry.err], [1, '']);
  const planned = JSON.parse(dry.out);
  const seen = (told: { changes: readonly Record<string, unknown>[] }) =>
    told.changes.map(({ action, id, name, result }) => [action, id, name, result]);
  deepEqual(seen(planned), [
    ['change', idOf(1), 'app.count', 'planned'],
    ['make', idOf(4), 'app.new', 'planned'],
    ['make', idOf(3), 'app.wrong', 'planned'],
  ]);
  const { changes, ...others } = planned;
  deepEqual(others, { sameCount: 0, alone: [{ id: idOf(2), name: 'app.alone' }], problems: [] });
  for (const { diff } of changes) equal(text.out.includes(`${diff}\n`), true, diff);
  const pushed = await push('--yes', '--delete', '--json');
  deepEqual([pushed.status, pushed.err], [1, '']);
  const told = JSON.parse(pushed.out);
  deepEqual(seen(told), [
    ['change', idOf(1), 'app.count', 'done'],
    ['make', idOf(4), 'app.new', 'done'],
    ['make', idOf(3), 'app.wrong', 'refused'],
    ['remove', idOf(2), 'app.alone', 'done'],
  ]);
  const { code, line, column, caret } = told.changes[2].error;
  deepEqual([code, line, column, caret], ['invalid_sql', 5, 3, '  nowhere\n  ^']);
  equal(told.changes[0].error, null);
  deepEqual(told.alone, []);
});

test('--json ends with 0 for equal sides, and reports what is not understood', async () => {
  await make(fileOf(1, 'app.count', COUNT));
  const pulled = await pull('--yes', '--json');
  equal(pulled.status, 0);
  equal(JSON.parse(pulled.out).changes[0].result, 'done');
  const again = await pull('--dry-run', '--json');
  deepEqual([again.status, again.err], [0, '']);
  deepEqual(JSON.parse(again.out), { changes: [], sameCount: 1, alone: [], problems: [] });
  await write('broken.sql', '-- frob: 1\nSELECT 1\n');
  const pushed = await push('--yes', '--json');
  deepEqual([pushed.status, pushed.err], [1, '']);
  const { changes, problems } = JSON.parse(pushed.out);
  deepEqual([changes, problems.length], [[], 1]);
  match(problems[0], /broken\.sql:1:4: a header key must be .*got "frob"/);
});

test('an unreachable service, and a token that may not manage, change nothing', async () => {
  await write('1.sql', fileOf(1, 'app.count', COUNT));
  const environment = { PRIVATE_ACCESS_TOKEN: 'another' };
  const words = ['endpoints', 'push', folder, '--yes', '--url'];
  const refused = await runWeir([...words, service.service.url], { environment });
  deepEqual([refused.status, refused.out], [1, '']);
  const away = await runWeir([...words, 'http://127.0.0.1:1'], { environment });
  equal(away.status, 1);
  match(away.err, /no service answers at http:\/\/127\.0\.0\.1:1/);
  equal(await kept(1), '404');
});

test('shown text is escaped for the terminal', async () => {
  await write('1.sql', fileOf(1, 'app.count', `SELECT '\u001b[2J' AS n`));
  const { out } = await push('--dry-run');
  match(out, /SELECT '\\u001b\[2J' AS n/);
});

test('words that are not understood end with 2 and say what is', async () => {
  for (const [words, message] of [
    [[], /followed by list, push or pull; got nothing\n/],
    [['psh', 'a'], /got "psh"; did you mean push\?/],
    [['list', 'a'], /list takes no arguments; got "a"/],
    [['list', '--delete'], /--delete is for push and pull/],
    [['push'], /push must be followed by one folder of definitions; got nothing/],
    [['pull', 'a', 'b'], /got "a", "b"/],
    [['pull', 'a', '--json'], /a program is not asked: give --yes or --dry-run/],
    [['push', 'a', '--yes', '--dry-run'], /not both/],
  ] as const) {
    const { status, err, out } = await weir(words);
    deepEqual([status, out], [2, ''], `${words.join(' ')}: ${err}`);
    match(err, message);
  }
  const nowhere = await weir(['push', join(folder, 'nowhere')]);
  deepEqual([nowhere.status, nowhere.out], [1, '']);
  match(
    nowhere.err,
    /nowhere must be a folder that can be read: there is no such file or folder\n/,
  );
});

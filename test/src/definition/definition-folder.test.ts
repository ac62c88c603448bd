import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileOf, idOf, ServiceWithDefinitions } from './service-with-definitions.ts';

const A = fileOf(1, 'app.a', 'SELECT 1 AS x', 'cache: 900s');
const B = fileOf(2, 'app.b', 'SELECT x + 1 AS y FROM `app.a`', 'cache: 900s');

let service: ServiceWithDefinitions;

beforeEach(async () => {
  service = await ServiceWithDefinitions.begin({ files: { 'a.sql': A, 'b.sql': B } });
});

afterEach(() => service.end());

/** The messages about refused files since the last call. */
function refused(): readonly string[] {
  const told = service.entries.filter(({ event }) => event === 'definition_refused');
  service.entries.length = 0;
  return told.map(({ file, error }) => `${file}: ${error}`);
}

test('added, changed and removed files take effect, with all that depends on them', async () => {
  deepEqual(await service.call('app.b'), [{ y: 2 }]);
  await service.write('a.sql', A.replace('SELECT 1', 'SELECT 5'));
  await service.write('c.sql', fileOf(3, 'app.c', 'SELECT y FROM `app.b`'));
  await service.reload();
  deepEqual(await service.call('app.b'), [{ y: 6 }], 'no kept answer of the old one');
  deepEqual(await service.call('app.c'), [{ y: 6 }]);
  await service.remove('c.sql');
  await service.reload();
  deepEqual(await service.names(), ['app.a', 'app.b']);
  deepEqual(
    service.entries
      .filter(({ event }) => event.startsWith('definition_'))
      .map(({ event, name }) => `${event} ${name}`),
    ['definition_changed app.a', 'definition_added app.c', 'definition_removed app.c'],
  );
});

test('a change is found by regular scans', async () => {
  await service.write('a.sql', A.replace('SELECT 1', 'SELECT 5'));
  while (JSON.stringify(await service.call('app.a')) !== '[{"x":5}]') {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('an invalid file keeps its last good version, is reported once, and applies when repaired', async () => {
  await service.write('a.sql', A.replace('SELECT 1', 'SELECT oops'));
  await service.reload();
  await service.reload();
  deepEqual(await service.call('app.a'), [{ x: 1 }]);
  const { line, column, served } = service.entries.find((each) => 'served' in each)!;
  deepEqual([line, column, served], [5, 8, 'as before']);
  deepEqual(refused(), ['a.sql: there is no column oops here']);
  const [problem] = await service.problems();
  deepEqual(problem, {
    ...{ origin: 'folder', file: 'a.sql', line: 5, column: 8 },
    ...{ message: 'there is no column oops here', served: 'as before' },
    caret: 'SELECT oops AS x\n       ^',
  });
  await service.write('a.sql', A.replace('-- name: app.a', '-- nmae: app.a'));
  await service.write('new.sql', 'SELECT 1');
  await service.reload();
  deepEqual(
    (await service.problems()).map(({ file, line, served }) => [file, line, served]),
    [
      ['a.sql', 2, 'as before'],
      ['new.sql', 1, 'no'],
    ],
  );
  const { text } = await service.ask({ path: '/metrics' });
  match(text, /^weir_definitions\{origin="folder"\} 2$/m);
  match(text, /^weir_definition_problems 2$/m);
  await service.write('a.sql', A.replace('SELECT 1', 'SELECT 7'));
  await service.remove('new.sql');
  await service.reload();
  deepEqual(await service.call('app.a'), [{ x: 7 }]);
  deepEqual(await service.problems(), []);
});

test('a change that would break another definition waits until it no longer does', async () => {
  await service.write('a.sql', A.replace('AS x', 'AS z'));
  await service.reload();
  deepEqual(await service.call('app.a'), [{ x: 1 }]);
  match(
    refused()[0]!,
    /^a\.sql: not in force, because of another definition: app\.b would stop working: there is no column x/,
  );
  await service.write('b.sql', B.replace('x + 1', 'z + 1'));
  await service.reload();
  deepEqual(await service.call('app.a'), [{ z: 1 }], 'both at once are whole again');
  deepEqual(await service.call('app.b'), [{ y: 2 }]);
  deepEqual(await service.problems(), []);
});

test('a removed file stays in force while another definition needs it', async () => {
  await service.remove('a.sql');
  await service.reload();
  deepEqual(await service.call('app.b'), [{ y: 2 }]);
  match(
    refused()[0]!,
    /^a\.sql: the file was removed, but another definition needs it: app\.b would/,
  );
  await service.remove('b.sql');
  await service.reload();
  deepEqual(await service.names(), []);
  deepEqual(await service.problems(), []);
});

test('of files that change together, the valid ones apply', async () => {
  await service.write('a.sql', A.replace('SELECT 1', 'SELECT 3'));
  await service.write('b.sql', B.replace('`app.a`', '`app.c`'));
  await service.reload();
  deepEqual(await service.call('app.a'), [{ x: 3 }]);
  deepEqual(await service.call('app.b'), [{ y: 4 }], 'of the old text, over the new one');
  match(refused()[0]!, /^b\.sql: there is no table app\.c; did you mean app\./);
  await service.write('c.sql', fileOf(3, 'app.c', 'SELECT 10 AS x'));
  await service.reload();
  deepEqual(await service.call('app.b'), [{ y: 11 }]);
});

test('a new file cannot take the name of another, in any order', async () => {
  await service.write('0.sql', fileOf(4, 'app.a', 'SELECT 9 AS x'));
  await service.reload();
  deepEqual(await service.call('app.a'), [{ x: 1 }]);
  match(refused()[0]!, /^0\.sql: name app\.a is one of the endpoint 22222222-.*1 already/);
  await service.remove('b.sql');
  await service.remove('a.sql');
  await service.reload();
  deepEqual(await service.call('app.a'), [{ x: 9 }]);
});

test('a name that is freed over HTTP goes to a file that waits for it', async () => {
  equal(
    (await service.send('PUT', idOf(5), { name: 'app.d', query: 'SELECT 1 AS x' })).status,
    201,
  );
  await service.write('d.sql', fileOf(6, 'app.d', 'SELECT 2 AS x'));
  await service.reload();
  deepEqual(await service.call('app.d'), [{ x: 1 }]);
  await service.send('DELETE', idOf(5), undefined, { 'If-Match': '*' });
  await service.reload();
  deepEqual(await service.call('app.d'), [{ x: 2 }]);
});

test('while the folder cannot be read, nothing changes', async () => {
  await rename(service.endpointsDir, `${service.endpointsDir}.away`);
  await service.reload();
  await service.reload();
  deepEqual(await service.call('app.b'), [{ y: 2 }]);
  equal(refused().length, 1);
  match(
    String((await service.problems())[0]?.['message']),
    /ENDPOINTS_DIR must be a readable folder/,
  );
  await rename(`${service.endpointsDir}.away`, service.endpointsDir);
  await service.reload();
  deepEqual(await service.problems(), []);
});

test('an invalid file stops a strict start even if it is valid beside the built-in ones', async () => {
  await service.send('PUT', idOf(5), { name: 'app.d', query: 'SELECT 1 AS x' });
  await service.stop();
  await service.write('d.sql', fileOf(6, 'app.d', 'SELECT 2 AS x'));
  const strict = { isStrict: true };
  await rejects(
    service.start(strict),
    /d\.sql:2:10: name app\.d is one of the endpoint 22222222-.*5/,
  );
  await rm(`${service.endpointsDir}/d.sql`);
  await service.start(strict);
  deepEqual(await service.names(), ['app.a', 'app.b', 'app.d']);
});

test('an entry that is no regular file is reported, is not read, and delays nothing', async () => {
  const folder = service.endpointsDir;
  const secret = join(dirname(folder), 'secret');
  await writeFile(secret, 'a secret line');
  execFileSync('mkfifo', [join(folder, 'pipe.sql')]);
  await symlink(secret, join(folder, 'link.sql'));
  await writeFile(join(folder, 'large.sql'), '');
  await truncate(join(folder, 'large.sql'), 2 ** 40);
  await mkdir(join(folder, '..data'));
  await writeFile(join(folder, '..data', 'c.sql'), fileOf(3, 'app.c', 'SELECT 3 AS x'));
  await symlink(join('..data', 'c.sql'), join(folder, 'c.sql'));
  await service.reload();
  deepEqual(await service.call('app.c'), [{ x: 3 }]);
  const told = refused();
  deepEqual(told, [
    'large.sql: a definition has at most 1048576 bytes; got 1099511627776',
    'link.sql: a link must lead to a file of its folder',
    'pipe.sql: a definition must be a regular file',
  ]);
});

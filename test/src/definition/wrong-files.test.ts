import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSettings } from '../../../src/settings.ts';
import { startMessage } from '../../../src/start-message.ts';
import { fileOf, idOf, ServiceWithDefinitions } from './service-with-definitions.ts';

const A = fileOf(1, 'app.a', 'SELECT 1 AS x');
const B = fileOf(2, 'app.b', 'SELECT x + 1 AS y FROM `app.a`');
const C = fileOf(3, 'app.c', 'SELECT 3 AS z');

/** Without the comma, the text after the alias is a syntax error. */
const WRONG_A = fileOf(1, 'app.a', 'SELECT 1 AS x 2 AS w');

const EVENT = { project: 'p', event_message: 'at night' };

function wrongWith(
  files: Readonly<Record<string, string>>,
  work: (service: ServiceWithDefinitions) => Promise<void>,
): Promise<void> {
  return ServiceWithDefinitions.run({ files }, work);
}

/** A listed problem in one line. */
function lineOf(problem: Readonly<Record<string, unknown>>): string {
  const { file, line, column, served, message } = problem;
  return `${file}:${line}:${column} ${served}: ${message}`;
}

async function problemsOf(service: ServiceWithDefinitions): Promise<readonly string[]> {
  return (await service.problems()).map(lineOf);
}

test('a first start with an invalid file accepts logs and calls, without the affected definitions', async () => {
  await wrongWith({ 'a.sql': WRONG_A, 'b.sql': B, 'c.sql': C }, async (service) => {
    await service.post('postgres.logs', [EVENT]);
    deepEqual(await service.names(), ['app.c']);
    deepEqual(await service.call('app.c'), [{ z: 3 }]);
    for (const name of ['app.a', 'app.b']) {
      const { status, json } = await service.ask({ path: `/api/endpoints/query/${name}` });
      deepEqual([status, json.error.code], [404, 'unknown_endpoint']);
    }
    const [a, b, ...rest] = await service.problems();
    deepEqual(rest, []);
    match(lineOf(a!), /^a\.sql:4:15 no: /);
    equal(a!['caret'], 'SELECT 1 AS x 2 AS w\n              ^');
    match(lineOf(b!), /^b\.sql:4:\d+ no: .*app\.a/);
  });
});

test('definitions that are not in force appear in the log, metrics, health and start message', async () => {
  await wrongWith({ 'a.sql': WRONG_A, 'b.sql': B, 'c.sql': C }, async (service) => {
    const told = service.entries.filter(({ event }) => event === 'definition_refused');
    deepEqual(
      told.map(({ level, file, line, served, caret }) => [level, file, line, served, caret]),
      [
        ['error', 'a.sql', 4, 'no', 'SELECT 1 AS x 2 AS w\n              ^'],
        ['error', 'b.sql', 4, 'no', `${B.split('\n')[3]}\n${' '.repeat(23)}^`],
      ],
    );
    const { text } = await service.ask({ path: '/metrics' });
    match(text, /^weir_definitions\{origin="folder"\} 1$/m);
    match(text, /^weir_definition_problems 2$/m);
    const health = await service.ask({ path: '/health', headers: {} });
    equal(health.status, 200);
    deepEqual(health.json, {
      status: 'degraded',
      reasons: [
        {
          code: 'definitions_not_in_force',
          message:
            'definition files with problems: 2; of 0 the last good version is in force, 2 are not in force; GET /api/endpoints names them',
        },
      ],
    });
    equal((await service.ask({ path: '/ready' })).status, 200);
    const settings = parseSettings({ DATA_DIR: service.dataDir });
    const message = startMessage({
      ...{ version: '1.2.3', settings, sources: [], service: service.service },
    });
    match(message, /\n {2}a\.sql:4:15: .* \(not in force\)\n {2}SELECT 1 AS x 2 AS w\n {16}\^\n/);
    await service.write('a.sql', A);
    await service.reload();
    deepEqual((await service.ask({ path: '/health' })).json, { status: 'ok' });
    deepEqual(await service.call('app.b'), [{ y: 2 }]);
  });
});

test('after a restart an invalid file has its last good version, and a repaired one applies', async () => {
  await wrongWith({ 'a.sql': A, 'b.sql': B }, async (service) => {
    await service.write('a.sql', A.replace('SELECT 1', 'SELECT 5'));
    await service.reload();
    await service.stop();
    await service.write('a.sql', WRONG_A);
    await service.start();
    deepEqual(await service.call('app.a'), [{ x: 5 }]);
    deepEqual(await service.call('app.b'), [{ y: 6 }]);
    const [problem, ...rest] = await problemsOf(service);
    match(problem!, /^a\.sql:4:15 as before: expected ",", .*; got "2"$/);
    deepEqual(rest, []);
    match(
      (await service.ask({ path: '/health' })).json.reasons[0].message,
      /of 1 the last good version is in force, 0 are not in force/,
    );
    // The good version stays, however often the service starts.
    await service.write('a.sql', '-- nmae: app.a\n');
    await service.restart();
    deepEqual(await service.call('app.b'), [{ y: 6 }]);
    await service.write('a.sql', A.replace('SELECT 1', 'SELECT 7'));
    await service.restart();
    deepEqual(await service.call('app.b'), [{ y: 8 }]);
    deepEqual(await problemsOf(service), []);
  });
});

test('a file removed while the service is stopped removes its definition, unless that is needed', async () => {
  await wrongWith({ 'a.sql': A, 'b.sql': B, 'c.sql': C }, async (service) => {
    await service.stop();
    await service.remove('a.sql');
    await service.remove('c.sql');
    await service.start();
    deepEqual(await service.names(), ['app.a', 'app.b']);
    match((await problemsOf(service)).join(), /^a\.sql:1:1 as before: the file was removed, but/);
    await service.remove('b.sql');
    await service.restart();
    deepEqual(await service.names(), []);
    deepEqual(await readdir(join(service.storePath, 'endpoints-kept')), []);
  });
});

test('definitions made over HTTP keep their ids and names against files with the same', async () => {
  await wrongWith({}, async (service) => {
    await service.send('PUT', idOf(5), { name: 'app.d', query: 'SELECT 1 AS x' });
    await service.stop();
    await service.write('id.sql', fileOf(5, 'app.e', 'SELECT 2 AS x'));
    await service.write('name.sql', fileOf(6, 'app.d', 'SELECT 2 AS x'));
    await service.start();
    deepEqual(await service.call('app.d'), [{ x: 1 }]);
    deepEqual(await problemsOf(service), [
      `id.sql:1:8 no: id ${idOf(5)} is that of app.d already, which was made over HTTP`,
      `name.sql:2:10 no: name app.d is one of the endpoint ${idOf(5)} already, which was made over HTTP`,
    ]);
    await service.send('DELETE', idOf(5), undefined, { 'If-Match': '*' });
    await service.reload();
    deepEqual(await service.names(), ['app.d', 'app.e']);
    deepEqual(await problemsOf(service), []);
  });
});

test('a definition made over HTTP is reported when it selects from an invalid file, and works again after the repair', async () => {
  await wrongWith({ 'a.sql': A }, async (service) => {
    await service.send('PUT', idOf(5), { name: 'app.d', query: 'SELECT x FROM `app.a`' });
    await service.stop();
    await rename(join(service.storePath, 'endpoints-kept'), join(service.storePath, 'elsewhere'));
    await service.write('a.sql', WRONG_A);
    await service.start();
    deepEqual(
      (await service.problems()).map(({ origin, file, served }) => [origin, file, served]),
      [
        ['api', `${idOf(5)}.sql`, 'no'],
        ['folder', 'a.sql', 'no'],
      ],
    );
    await service.write('a.sql', A);
    await service.reload();
    deepEqual(await service.call('app.d'), [{ x: 1 }]);
    deepEqual(await problemsOf(service), []);
  });
});

test('a damaged kept copy is not used and is reported', async () => {
  await wrongWith({ 'a.sql': A }, async (service) => {
    await service.stop();
    const folder = join(service.storePath, 'endpoints-kept');
    const [name] = await readdir(folder);
    const text = await readFile(join(folder, name!), 'utf8');
    await writeFile(join(folder, name!), text.replace('SELECT 1', 'SELECT 9'));
    await service.write('a.sql', WRONG_A);
    await service.start();
    deepEqual(await service.names(), []);
    const told = service.entries.filter(({ event }) => event === 'kept_definition_damaged');
    deepEqual(
      told.map(({ error }) => error),
      [`${join(service.storePath, 'endpoints-kept', name!)} does not match its checksum`],
    );
  });
});

test('a kept version that can no longer be called is not in force', async () => {
  const text = fileOf(1, 'app.a', 'SELECT COUNT(*) AS n FROM `app.logs`');
  const environment = { SOURCES: 'app.logs' };
  await ServiceWithDefinitions.run({ environment, files: { 'a.sql': text } }, async (service) => {
    deepEqual(await service.call('app.a'), [{ n: 0 }]);
    await service.stop();
    await service.start({ environment: { SOURCES: '' } });
    deepEqual(await service.names(), []);
    match(
      (await problemsOf(service)).join(),
      /^a\.sql:4:27 no: there is no table app\.logs; if it is a source, make it with weir sources add app\.logs or PUT \/api\/sources\/app\.logs, or name it in SOURCES$/,
    );
  });
});

test('an unreadable folder stops a start only if it was never read', async () => {
  await wrongWith({ 'a.sql': A }, async (service) => {
    await service.stop();
    await rename(service.endpointsDir, `${service.endpointsDir}.away`);
    await service.start();
    deepEqual(await service.call('app.a'), [{ x: 1 }]);
    match((await service.problems()).map(lineOf).join(), /as before: ENDPOINTS_DIR must be a/);
    await service.stop();
    await rename(join(service.storePath, 'endpoints-kept'), join(service.storePath, 'elsewhere'));
    await rejects(service.start(), /ENDPOINTS_DIR must be a readable folder/);
    await rename(`${service.endpointsDir}.away`, service.endpointsDir);
    await service.start();
    deepEqual(await service.call('app.a'), [{ x: 1 }]);
  });
});

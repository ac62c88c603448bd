import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '../../../engine/query-error.ts';
import type { QueryEngine } from '../../../src/call/query-engine.ts';
import {
  type Catalogue,
  CatalogueError,
  loadCatalogue,
} from '../../../src/definition/catalogue.ts';
import { fakePrepare, STATS, STATS_ID } from '../harness.ts';

const ENGINE: Pick<QueryEngine, 'prepare'> = { prepare: fakePrepare };

async function load(
  files: Readonly<Record<string, string | Buffer>>,
  engine = ENGINE,
): Promise<Catalogue> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return await loadCatalogue({ folder, engine });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function problemsOf(...parameters: Parameters<typeof load>): Promise<readonly string[]> {
  const error = await load(...parameters).then(
    () => assert.fail('the definitions were taken'),
    (reason: unknown) => reason,
  );
  assert(error instanceof CatalogueError);
  return error.problems;
}

test('the three built-in endpoints have their fixed ids, limits and parameters', async () => {
  const catalogue = await loadCatalogue({ folder: undefined, engine: ENGINE });
  assert.deepEqual(
    catalogue
      .list()
      .map(({ definition }) => [
        definition.name,
        definition.id,
        definition.rowsMax,
        definition.cacheS,
        definition.warmS,
        definition.parameters.map(({ name }) => name).join(' '),
      ]),
    [
      [
        'functions.invocation-stats',
        '342c1781-3a46-4941-b0d6-85b0a4923b9b',
        1000,
        900,
        300,
        'project function_id interval',
      ],
      [
        'logs.all',
        '2034724d-89c8-43a9-aabc-52f7404f4bdd',
        1000,
        undefined,
        undefined,
        'project project_tier iso_timestamp_start iso_timestamp_end',
      ],
      [
        'usage.api-counts',
        'e1bf113c-6557-48e9-8b89-7fabf9638840',
        1000,
        900,
        300,
        'project interval',
      ],
    ],
  );
});

test('a user’s definition is found by id, name and alias, and other files are ignored', async () => {
  const catalogue = await load({ 'stats.sql': STATS, 'readme.txt': 'no definition' });
  const endpoint = catalogue.find('app.stats');
  assert.equal(endpoint?.definition.id, STATS_ID);
  assert.equal(catalogue.find(STATS_ID.toUpperCase()), endpoint);
  assert.equal(catalogue.find('app.numbers'), endpoint);
  assert.equal(catalogue.find('APP.STATS'), undefined);
  assert.equal(catalogue.find(STATS_ID.slice(1)), undefined);
});

test('the id or name of another endpoint is refused, also of a built-in one', async () => {
  const again = STATS.replace('app.stats', 'app.other').replace('app.numbers', 'app.more');
  const [sameId] = await problemsOf({ 'a.sql': STATS, 'b.sql': again });
  assert.match(sameId!, /b\.sql:1:8: id 1111.* is that of app\.stats already/);
  const otherId = STATS.replace('1111', '9999');
  const [sameName] = await problemsOf({ 'a.sql': otherId.replace('app.stats', 'logs.all') });
  assert.match(sameName!, /a\.sql:2:10: name logs\.all is one of the endpoint 2034724d/);
  const [sameAlias] = await problemsOf({ 'a.sql': otherId.replace('app.numbers', 'logs.all') });
  assert.match(sameAlias!, /a\.sql:4:11: name logs\.all is one of the endpoint 2034724d/);
});

test('an error in the statement has its position in the file, below the header', async () => {
  const prepare: QueryEngine['prepare'] = (text) => {
    const start = text.indexOf('oops');
    if (start === -1) return fakePrepare(text);
    throw new QueryError('invalid_sql', 'there is no column oops', {
      start,
      end: start + 4,
      line: 1,
      column: 8,
    });
  };
  const text = ['-- id: 22222222-2222-4333-8444-555555555555', '-- name: bad', '', 'SELECT oops'];
  const [problem] = await problemsOf({ 'bad.sql': text.join('\n') }, { prepare });
  const [place, line, caret] = problem!.split('\n');
  assert.match(place!, /bad\.sql:4:8: there is no column oops$/);
  assert.deepEqual([line, caret], ['SELECT oops', '       ^']);
});

test('the first problem of every file is reported at once', async () => {
  const problems = await problemsOf({ 'a.sql': 'SELECT 1', 'b.sql': '-- id: x\nSELECT 1' });
  assert.equal(problems.length, 2);
});

test('a parameter that the statement does not use is refused', async () => {
  const [problem] = await problemsOf({ 'a.sql': STATS.replace('@deep, ', '') });
  assert.match(
    problem!,
    /a\.sql:10:11: parameter deep is declared, but the statement does not use @deep/,
  );
});

test('a definition file that cannot be read is reported like any other problem', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    await mkdir(join(folder, 'a.sql'));
    await symlink('/nowhere/at/all', join(folder, 'b.sql'));
    const failed = loadCatalogue({ folder, engine: ENGINE });
    await assert.rejects(failed, (error) => {
      assert(error instanceof CatalogueError);
      assert.match(error.problems[0]!, /a\.sql:1:1: a definition must be a regular file$/m);
      const unread =
        /b\.sql:1:1: a definition must be a file that can be read: there is no such file/;
      assert.match(error.problems[1]!, unread);
      return true;
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a sandboxed definition cannot read the parameter sql, which holds callers’ texts', async () => {
  const sandboxed = STATS.replace('from=ref', 'from=ref,sql');
  await load({ 'a.sql': sandboxed });
  const enabled = sandboxed.replace('-- max_rows', '-- sandbox: enabled\n-- max_rows');
  assert.match((await problemsOf({ 'a.sql': enabled }))[0]!, /no parameter may be read from sql/);
});

test('bytes that are not UTF-8 and a missing folder are refused', async () => {
  assert.match((await problemsOf({ 'a.sql': Buffer.from([0x2d, 0xff]) }))[0]!, /UTF-8/);
  await assert.rejects(
    loadCatalogue({ folder: '/nowhere/at/all', engine: ENGINE }),
    /ENDPOINTS_DIR must be a readable folder; \/nowhere\/at\/all cannot be read: there is no such/,
  );
});

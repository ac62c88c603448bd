import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { CHECKSUM_SIZE } from '../../../ingest/checked-file.ts';
import { isUuid } from '../../../ingest/source.ts';
import { PUBLIC } from '../harness.ts';
import { fileOf, idOf, ServiceWithDefinitions } from './service-with-definitions.ts';

const ANSWER = {
  name: 'app.answer',
  parameters: [{ name: 'number', type: 'int64', default: '40' }],
  query: 'SELECT @number + 2 AS answer',
};

const LOGS_ALL = '2034724d-89c8-43a9-aabc-52f7404f4bdd';

/** The shared service of most tests. Each test removes what it makes. */
let service: ServiceWithDefinitions;

before(async () => {
  const files = { 'a.sql': fileOf(9, 'app.file', 'SELECT 1 AS x') };
  service = await ServiceWithDefinitions.begin({ files });
});

afterEach(() => service.clear());

after(() => service.end());

test('a definition is created, read, called, changed and removed, and survives restarts', async () => {
  await ServiceWithDefinitions.run({}, async (service) => {
    const made = await service.send('POST', '', ANSWER);
    equal(made.status, 201, made.text);
    const { id, ...rest } = made.json.result;
    equal(isUuid(id), true);
    equal(made.headers.location, `/api/endpoints/${id}`);
    deepEqual(rest, {
      ...{ name: 'app.answer', alias: [], description: '' },
      parameters: [{ name: 'number', type: 'int64', required: false, default: '40' }],
      ...{ max_rows: 1000, cache: 'disabled', warm: 'disabled', sandbox: 'disabled' },
      query: ANSWER.query,
      ...{ origin: 'api', version: 1, selects_from: [], inherited_parameters: [] },
    });
    deepEqual(await service.call('app.answer'), [{ answer: 42 }]);
    await service.restart();
    deepEqual(await service.call(id, '?number=1'), [{ answer: 3 }]);

    const read = await service.ask({ path: `/api/endpoints/${id}` });
    deepEqual(read.json, made.json);
    equal(read.headers.etag, made.headers.etag);
    const changed = await service.send(
      'PATCH',
      id,
      { name: 'app.sum', query: 'SELECT @number + 3 AS sum' },
      { 'If-Match': read.headers.etag },
    );
    equal(changed.status, 200, changed.text);
    equal(changed.json.result.version, 2);
    notEqual(changed.headers.etag, read.headers.etag);
    deepEqual(await service.call('app.sum'), [{ sum: 43 }]);
    match(JSON.stringify(await service.call('app.answer')), /unknown_endpoint/);
    await service.restart();
    deepEqual(await service.call('app.sum'), [{ sum: 43 }]);
    equal((await service.ask({ path: `/api/endpoints/${id}` })).headers.etag, changed.headers.etag);

    const removed = await service.send('DELETE', id, undefined, {
      'If-Match': changed.headers.etag,
    });
    deepEqual([removed.status, removed.text], [204, '']);
    equal((await service.ask({ path: `/api/endpoints/${id}` })).status, 404);
    await service.restart();
    deepEqual(await service.names(), []);
    deepEqual(await readdir(join(service.storePath, 'endpoints')), []);
  });
});

test('a file is stored as sent and returned the same on request', async () => {
  const file = fileOf(1, 'app.one', '-- What it is for.\nSELECT @a AS a', 'param: a string');
  await ServiceWithDefinitions.run({}, async (service) => {
    const made = await service.send('POST', '', file);
    equal(made.status, 201, made.text);
    equal(made.json.result.query, '-- What it is for.\nSELECT @a AS a');
    await service.restart();
    const path = `/api/endpoints/${idOf(1)}`;
    const read = await service.ask({ path, headers: { Accept: 'application/sql' } });
    equal(read.text, file);
    match(read.headers['content-type'] ?? '', /^application\/sql/);
    notEqual(read.headers.etag, made.headers.etag);
    const again = await service.send('PUT', idOf(1), file, { 'If-Match': read.headers.etag });
    deepEqual([again.status, again.json.result.version], [200, 1], 'what is the same is no change');
    const other = await service.send('PUT', idOf(1), file.replace('AS a', 'AS b'), {
      'If-Match': made.headers.etag,
    });
    deepEqual([other.status, other.json.result.version], [200, 2]);
    const unchanged = { Accept: 'application/sql', 'If-None-Match': read.headers.etag };
    equal((await service.ask({ path, headers: unchanged })).status, 200);
    const now = (await service.ask({ path })).headers.etag;
    equal((await service.ask({ path, headers: { 'If-None-Match': now } })).status, 304);
  });
});

test('PUT creates a missing definition, and replaces one only with its tag', async () => {
  const put = (headers: Record<string, string | undefined>, query = 'SELECT 1 AS x') =>
    service.send('PUT', idOf(1), { name: 'app.x', query }, headers);
  equal((await put({ 'If-Match': '*' })).json.error.code, 'precondition_failed');
  const made = await put({ 'If-None-Match': '*' });
  equal(made.status, 201, made.text);
  equal(made.json.result.id, idOf(1));
  const { etag } = made.headers;
  for (const [headers, status, code] of [
    [{}, 428, 'precondition_required'],
    [{ 'If-None-Match': '*' }, 412, 'precondition_failed'],
    [{ 'If-None-Match': `"other", W/${etag}`, 'If-Match': '*' }, 412, 'precondition_failed'],
    [{ 'If-Match': '"1-other"' }, 412, 'precondition_failed'],
    [{ 'If-Match': `W/${etag}` }, 412, 'precondition_failed'],
    [{ 'If-Match': '' }, 412, 'precondition_failed'],
  ] as const) {
    const { json, ...answer } = await put(headers, 'SELECT 2 AS x');
    deepEqual([answer.status, json.error.code], [status, code], JSON.stringify(headers));
  }
  deepEqual(await service.call('app.x'), [{ x: 1 }]);
  equal((await put({ 'If-Match': `"other", ${etag}` }, 'SELECT 2 AS x')).status, 200);
  equal((await put({ 'If-Match': etag }, 'SELECT 3 AS x')).status, 412, 'a lost update');
  equal((await put({ 'If-Match': '*' }, 'SELECT 4 AS x')).json.result.version, 3);
  for (const [method, body] of [
    ['PATCH', {}],
    ['DELETE', undefined],
  ] as const) {
    equal((await service.send(method, idOf(1), body)).status, 428);
    const stale = await service.send(method, idOf(1), body, { 'If-Match': etag });
    equal(stale.status, 412);
    match(stale.json.error.message, /it is "3-.*" now/);
  }
});

test('a definition is put, patched and removed by its name', async () => {
  const path = 'app.answer';
  const made = await service.send('PUT', path, ANSWER);
  equal(made.status, 201, made.text);
  const { id } = made.json.result;
  // Equal names have equal ids on every service.
  equal(made.headers.location, `/api/endpoints/${id}`);
  equal((await service.send('PUT', path, ANSWER)).status, 428);
  const etag = String(made.headers.etag);
  const changed = await service.send('PATCH', path, { max_rows: 7 }, { 'If-Match': etag });
  deepEqual([changed.status, changed.json.result?.max_rows], [200, 7]);
  const aliased = { ...ANSWER, alias: ['app.number'] };
  const again = await service.send('PUT', path, aliased, { 'If-Match': '*' });
  deepEqual([again.status, again.json.result.id], [200, id]);
  const options = await service.ask({ method: 'OPTIONS', path: '/api/endpoints/app.number' });
  equal(options.headers.allow, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  const ofId = await service.ask({ method: 'OPTIONS', path: `/api/endpoints/${id}` });
  equal(ofId.headers.allow, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS');
  equal((await service.send('DELETE', 'app.number')).status, 428);
  const removed = await service.send('DELETE', 'app.number', undefined, { 'If-Match': '*' });
  equal(removed.status, 204);
  for (const method of ['PATCH', 'DELETE'] as const) {
    const gone = await service.send(method, path, method === 'PATCH' ? {} : undefined);
    deepEqual([gone.status, gone.json.error.code], [404, 'unknown_endpoint']);
  }
});

test('a definition put by name has that name and a new id', async () => {
  const other = await service.send('PUT', 'app.other', ANSWER);
  deepEqual([other.status, other.json.error.code], [400, 'invalid_definition']);
  match(other.json.error.message, /name must be that of the path, app\.other; got app\.answer/);
  const made = await service.send('PUT', 'app.answer', ANSWER);
  const { id } = made.json.result;
  const renamed = await service.send('PATCH', id, { name: 'app.sum' }, { 'If-Match': '*' });
  equal(renamed.status, 200);
  // The id derived from the name now belongs to another definition, which must not be replaced.
  for (const headers of [{}, { 'If-Match': '*' }]) {
    const taken = await service.send('PUT', 'app.answer', ANSWER, headers);
    deepEqual([taken.status, taken.json.error.code], [409, 'definition_conflict']);
    match(taken.json.error.message, /is that of app\.sum, and not of app\.answer/);
  }
  const own = await service.send('PUT', 'app.answer', { ...ANSWER, id: idOf(3) });
  deepEqual([own.status, own.json.result.id], [201, idOf(3)]);
  const moved = await service.send('PUT', 'app.sum', fileOf(4, 'app.sum', 'SELECT 1 AS n'), {
    'If-Match': '*',
  });
  match(moved.json.error.message, new RegExp(`id must be that of .*, ${id}; got ${idOf(4)}`));
});

test('a file without an id gets the path’s id or its name’s, also after a restart', async () => {
  await ServiceWithDefinitions.run({}, async (service) => {
    const file = '-- name: app.plain\nSELECT 1 AS n\n';
    const made = await service.send('POST', '', file);
    equal(made.status, 201, made.text);
    const named = await service.send('PUT', idOf(1), '-- name: app.named\nSELECT 2 AS n\n');
    deepEqual([named.status, named.json.result.id], [201, idOf(1)]);
    const wrong = await service.send('PUT', idOf(2), '-- name: app.wrong\nSELECT 2 AS n FORM t\n');
    deepEqual([wrong.status, wrong.json.error.line], [422, 2]);
    await service.write('folder.sql', '-- name: app.folder\nSELECT 3 AS n\n');
    await service.restart();
    deepEqual(await service.problems(), []);
    deepEqual(await service.call('app.plain'), [{ n: 1 }]);
    deepEqual(await service.call(idOf(1)), [{ n: 2 }]);
    deepEqual(await service.call('app.folder'), [{ n: 3 }]);
    const { id } = made.json.result;
    const accept = { Accept: 'application/sql' };
    equal((await service.ask({ path: `/api/endpoints/${id}`, headers: accept })).text, file);
    const same = await service.send('PUT', 'app.plain', file, { 'If-Match': '*' });
    deepEqual([same.status, same.json.result.id], [200, id]);
  });
});

test('of two concurrent changes of the same version, one succeeds', async () => {
  const { headers, json } = await service.send('POST', '', ANSWER);
  const id = json.result.id;
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const body = { description: `change ${index}` };
      const answer = await service.send('PATCH', id, body, { 'If-Match': headers.etag });
      return answer.status;
    }),
  );
  deepEqual(statuses.sort(), [200, 412, 412, 412, 412, 412, 412, 412]);
});

test('a patch removes members with null and keeps those it does not name', async () => {
  const made = await service.send('POST', '', {
    ...ANSWER,
    ...{ description: 'Sums', alias: ['app.alias'], cache: '60s', warm: '30s', max_rows: 5 },
  });
  const id = made.json.result.id;
  const patch = { description: null, warm: null, max_rows: 7 };
  const { json } = await service.send('PATCH', id, patch, {
    'If-Match': '*',
    'Content-Type': 'application/merge-patch+json',
  });
  deepEqual(json.result, {
    ...made.json.result,
    ...{ description: '', warm: 'disabled', max_rows: 7, version: 2 },
  });
  const without = await service.send('PATCH', id, { query: null }, { 'If-Match': '*' });
  deepEqual([without.status, without.json.error.code], [400, 'invalid_definition']);
  match(without.json.error.message, /query must be a string; got nothing/);
});

for (const [what, body, reason] of [
  ['an unknown key', { ...ANSWER, limit: 5 }, /may have the keys id, name, .* query; got "limit"/],
  ['a key the service tells', { ...ANSWER, version: 5 }, /may have the keys .*; got "version"/],
  [
    'an unknown key of a parameter',
    { ...ANSWER, parameters: [{ name: 'a', type: 'string', min: 1 }] },
    /parameters\[0\] may have the keys name, .*; got "min"/,
  ],
  ['a list', [], /a definition must be a map; got \[\]$/],
  ['a number for a text', { ...ANSWER, cache: 60 }, /^cache must be a string; got 60$/],
  [
    'a number for a default',
    { ...ANSWER, parameters: [{ name: 'a', type: 'int64', default: 1 }] },
    /^parameters\[0\]\.default must be a string, such as "1"; got 1$/,
  ],
  ['a text for a list', { ...ANSWER, alias: 'a "b"' }, /^alias must be a list; got "a \\"b\\""$/],
  ['no query', { name: 'a' }, /query must be a string; got nothing/],
  ['a name of two lines', { ...ANSWER, name: 'a\n-- sandbox: enabled' }, /name must be one word/],
  [
    'a comma in an alias',
    { ...ANSWER, alias: ['a,b'] },
    /alias\[0\] must be a word without commas/,
  ],
  [
    'a description of two lines',
    { ...ANSWER, description: 'a\nb' },
    /description must be one line/,
  ],
  ['a reserved name', { ...ANSWER, name: 'query' }, /name must not be "query"/],
  [
    'too many rows',
    { ...ANSWER, max_rows: 1e6 },
    /max_rows must be a whole number from 1 to 100000; got 1000000/,
  ],
  ['warm without cache', { ...ANSWER, warm: '9s' }, /warm needs a cache/],
  [
    'a default of another type',
    { ...ANSWER, parameters: [{ name: 'number', type: 'int64', default: 'x' }] },
    /default of number must be/,
  ],
  [
    'a parameter that is not used',
    { ...ANSWER, query: 'SELECT 1 AS x' },
    /number is declared, but the statement does not use it|does not use @number/,
  ],
  [
    'half of a character',
    { ...ANSWER, query: "SELECT '\ud800' AS x" },
    /query must be valid Unicode/,
  ],
] as const) {
  test(`${what} is refused with the allowed values`, async () => {
    const { status, json } = await service.send('POST', '', body);
    deepEqual([status, json.error.code], [400, 'invalid_definition'], JSON.stringify(json));
    match(json.error.message, reason);
    equal(json.error.line, undefined);
  });
}

test('an error in the statement has its position in the sent text', async () => {
  const asJson = await service.send('POST', '', {
    ...ANSWER,
    query: '\n\nSELECT @number,\n  oops',
  });
  equal(asJson.status, 422);
  const { code, message, line, column, caret } = asJson.json.error;
  deepEqual([code, line, column, caret], ['invalid_sql', 4, 3, '  oops\n  ^']);
  match(message, /there is no column oops/);
  const file = fileOf(1, 'app.x', 'SELECT 1 AS x,\n  oops', 'version: 7');
  const asFile = await service.send('POST', '', file);
  deepEqual(
    [asFile.status, asFile.json.error.line, asFile.json.error.column, asFile.json.error.caret],
    [422, 6, 3, '  oops\n  ^'],
  );
  const header = await service.send('POST', '', file.replace('name: app.x', 'name: a b'));
  deepEqual([header.status, header.json.error.line, header.json.error.column], [400, 2, 10]);
  equal(header.json.error.caret, '-- name: a b\n         ^');
  deepEqual(await service.names(), ['app.file']);
});

test('the id or name of another definition is a conflict', async () => {
  await service.send('POST', '', { ...ANSWER, id: idOf(2), alias: ['app.alias'] });
  for (const body of [
    { ...ANSWER, id: idOf(2), name: 'b' },
    { ...ANSWER, name: 'app.file' },
    { ...ANSWER, name: 'app.alias' },
    { ...ANSWER, name: 'b', alias: ['logs.all'] },
  ]) {
    const { status, json } = await service.send('POST', '', body);
    deepEqual([status, json.error.code], [409, 'definition_conflict'], JSON.stringify(body));
  }
  const moved = await service.send('PUT', idOf(3), { ...ANSWER, id: idOf(2) });
  match(moved.json.error.message, /id must be that of the path/);
});

test('built-in definitions and files of the folder are read-only', async () => {
  for (const [id, origin, where] of [
    [LOGS_ALL, 'built-in', /is part of the service/],
    [idOf(9), 'folder', /is a file of ENDPOINTS_DIR/],
  ] as const) {
    equal((await service.ask({ path: `/api/endpoints/${id}` })).json.result.origin, origin);
    for (const [method, body] of [
      ['PUT', ANSWER],
      ['PATCH', { name: 'b' }],
      ['DELETE', undefined],
    ] as const) {
      const { status, json } = await service.send(method, id, body, { 'If-Match': '*' });
      deepEqual([status, json.error.code], [409, 'definition_read_only']);
      match(json.error.message, where);
    }
  }
});

test('a token that may not manage cannot create, change or remove anything', async () => {
  const headers = { 'X-API-KEY': PUBLIC, 'If-Match': '*' };
  for (const [method, id, body] of [
    ['POST', '', ANSWER],
    ['PUT', idOf(1), ANSWER],
    ['PATCH', idOf(1), {}],
    ['DELETE', idOf(1), undefined],
  ] as const) {
    equal((await service.send(method, id, body, headers)).status, 403);
  }
});

test('in the profile supabase, a failed change never looks like a success', async () => {
  await ServiceWithDefinitions.run({ environment: { PROFILE: 'supabase' } }, async (service) => {
    const broken = await service.send('POST', '', { ...ANSWER, query: 'SELECT oops' });
    equal(broken.status, 422);
    deepEqual(Object.keys(broken.json), ['error']);
    match(broken.json.error, /there is no column oops.*line 1, column 8/);
    equal((await service.send('POST', '', {})).status, 400);
    const file = fileOf(1, 'app.x', 'SELECT 1 AS x', 'max_rows[supabase]: 5');
    equal((await service.send('POST', '', file)).json.result.max_rows, 5);
    const patch = await service.send('PATCH', idOf(1), { max_rows: 6 }, { 'If-Match': '*' });
    equal(patch.status, 409, 'its lines for one profile would be lost');
  });
});

test('bodies of other types, or without one, are refused', async () => {
  const csv = await service.send('POST', '', 'a,b', { 'Content-Type': 'text/csv' });
  equal(csv.status, 415);
  equal((await service.send('PATCH', idOf(1), 'SELECT 1', { 'If-Match': '*' })).status, 415);
  equal((await service.send('POST', '')).json.error.code, 'invalid_body');
  const half = await service.ask({ method: 'POST', path: '/api/endpoints', body: '{"name":' });
  equal(half.json.error.code, 'invalid_body');
});

test('a body nested deeper than any definition is refused before it is parsed', async () => {
  const id = idOf(1);
  for (const [method, path] of [
    ['POST', ''],
    ['PUT', id],
    ['PATCH', id],
  ] as const) {
    const { status, json } = await service.ask({
      method,
      path: `/api/endpoints/${path}`.replace(/\/$/, ''),
      headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
      body: `{"name":"app.deep","parameters":${'['.repeat(500_000)}`,
    });
    equal(status, 400);
    equal(json.error.code, 'invalid_body');
    match(json.error.message, /may be nested 32 levels deep; got more at character \d{2}$/);
  }
});

test('kept answers of a changed definition are dropped', async () => {
  const body = { ...ANSWER, cache: '900s' };
  const { json } = await service.send('POST', '', body);
  deepEqual(await service.call('app.answer'), [{ answer: 42 }]);
  const hit = await service.ask({ path: '/api/endpoints/app.answer' });
  match(String(hit.headers['cache-status']), /hit/);
  const query = 'SELECT @number + 5 AS answer';
  await service.send('PATCH', json.result.id, { query }, { 'If-Match': '*' });
  deepEqual(await service.call('app.answer'), [{ answer: 45 }]);
});

test('the author of a change is logged', async () => {
  const { json } = await service.send('POST', '', ANSWER);
  const { id } = json.result;
  await service.send('PATCH', id, { description: 'x' }, { 'If-Match': '*' });
  await service.send('DELETE', id, undefined, { 'If-Match': '*' });
  const told = service.entries.filter(({ event }) => event.startsWith('definition_'));
  deepEqual(
    told.map(({ event, name, version, by }) => [event, name, version, by]),
    [
      ['definition_added', 'app.answer', 1, 'private'],
      ['definition_changed', 'app.answer', 2, 'private'],
      ['definition_removed', 'app.answer', 2, 'private'],
    ],
  );
});

test('an unreadable stored file stops nothing, is reported, and can be replaced or removed', async () => {
  await ServiceWithDefinitions.run({}, async (service) => {
    await service.send('PUT', idOf(1), { ...ANSWER, name: 'one' });
    await service.send('PUT', idOf(2), { ...ANSWER, name: 'two' });
    await service.send('PUT', idOf(3), { ...ANSWER, name: 'three' });
    await service.stop();
    const pathOf = (digit: number) => join(service.storePath, 'endpoints', `${idOf(digit)}.sql`);
    // Files of an older version, without a checksum and a copy.
    for (const digit of [1, 2]) await rm(`${pathOf(digit)}.copy`);
    await writeFile(pathOf(1), 'SELECT 1');
    const text = (await readFile(pathOf(2), 'utf8')).slice(CHECKSUM_SIZE);
    await writeFile(pathOf(2), text.replace('SELECT', 'SELECT oops,'));
    await writeFile(join(service.storePath, 'endpoints', `${idOf(4)}.sql.tmp`), 'half');
    await service.start();
    deepEqual(await service.names(), ['three']);
    deepEqual(
      (await service.problems()).map(({ file, line, served }) => [file, line, served]),
      [
        [`${idOf(1)}.sql`, 1, 'no'],
        [`${idOf(2)}.sql`, 6, 'no'],
      ],
    );
    equal((await service.send('POST', '', { ...ANSWER, id: idOf(1) })).status, 409);
    equal((await service.send('PUT', idOf(1), { ...ANSWER, name: 'one' })).status, 201);
    equal((await service.send('DELETE', idOf(2), undefined, { 'If-Match': '*' })).status, 204);
    deepEqual(await service.problems(), []);
    await service.restart();
    deepEqual(await service.names(), ['one', 'three']);
  });
});

test('a damaged stored file is restored from its copy, and reported and replaceable if both are damaged', async () => {
  await ServiceWithDefinitions.run({}, async (service) => {
    for (const digit of [1, 2]) {
      await service.send('PUT', idOf(digit), { ...ANSWER, name: `n${digit}` });
    }
    await service.stop();
    const pathOf = (digit: number) => join(service.storePath, 'endpoints', `${idOf(digit)}.sql`);
    const whole = await readFile(pathOf(1), 'utf8');
    const damaged = (text: string) => text.replace('SELECT', 'SELECU');
    await writeFile(pathOf(1), damaged(whole));
    const other = damaged(await readFile(pathOf(2), 'utf8'));
    for (const path of [pathOf(2), `${pathOf(2)}.copy`]) await writeFile(path, other);
    await service.start();
    deepEqual(await service.names(), ['n1']);
    equal(await readFile(pathOf(1), 'utf8'), whole);
    const problems = await service.problems();
    deepEqual(
      problems.map(({ file, served }) => [file, served]),
      [[`${idOf(2)}.sql`, 'no']],
    );
    equal((await service.send('PUT', idOf(2), { ...ANSWER, name: 'n2' })).status, 201);
    await service.restart();
    deepEqual(await service.problems(), []);
    deepEqual(await service.names(), ['n1', 'n2']);
  });
});

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { SOURCES_MADE_MAX } from '../../../src/limits.ts';
import { EventStream } from '../../support/event-stream.ts';
import { storeAll } from '../../support/store-all.ts';
import { fileOf, ServiceWithDefinitions } from '../definition/service-with-definitions.ts';
import { type Answer, NOW_US, PRIVATE, PUBLIC } from '../harness.ts';

const APP = { event_message: 'order made', metadata: { tenant: 'alpha' } };

/** A definition whose callers' SQL sees the rows of one project. */
const SANDBOX = fileOf(
  1,
  'app.all',
  'WITH entries AS (\n  SELECT t.event_message FROM `app.logs` AS t CROSS JOIN UNNEST(t.metadata) AS m\n  WHERE m.tenant = @project\n)\nSELECT event_message FROM entries',
  'sandbox: enabled',
  'param: project string required',
);

function run(
  work: (service: ServiceWithDefinitions) => Promise<void>,
  options: Parameters<typeof ServiceWithDefinitions.run>[0] = {},
): Promise<void> {
  return ServiceWithDefinitions.run(options, work);
}

function put(
  service: ServiceWithDefinitions,
  name: string,
  body?: unknown,
  token = PRIVATE,
): Promise<Answer> {
  return service.ask({
    method: 'PUT',
    path: `/api/sources/${encodeURIComponent(name)}`,
    headers: { 'X-API-KEY': token, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

async function refusal(answer: Promise<Answer>): Promise<readonly unknown[]> {
  const { status, json } = await answer;
  return [status, json.error?.code, json.error?.message];
}

test('a name that a source and a saved query share is a warning, whichever comes second', async () => {
  const warning = (name: string) =>
    `${name} is the name of a source and of a saved query: the saved query can be called, but no query can select from this name`;
  await run(async (service) => {
    const made = await service.send('POST', '', { name: 'app.logs', query: 'SELECT 1 AS one' });
    assert.deepEqual([made.status, made.headers['weir-warnings']], [201, undefined]);
    for (const status of [201, 200]) {
      const source = await put(service, 'app.logs');
      assert.equal(source.status, status);
      assert.equal(source.headers['weir-warnings'], warning('app.logs'));
    }
    assert.equal((await put(service, 'shop.logs')).status, 201);
    const other = { name: 'app.other', alias: ['shop.logs'], query: 'SELECT 2 AS two' };
    const shared = await service.send('POST', '', other);
    assert.equal(shared.status, 201);
    assert.equal(shared.headers['weir-warnings'], warning('shop.logs'));
    assert.deepEqual(await service.call('app.logs'), [{ one: 1 }]);
    const selecting = { name: 'app.more', query: 'SELECT one FROM `app.logs`' };
    const refused = await service.send('POST', '', selecting);
    assert.match(refused.json.error.message, /app\.logs is both a source and a saved query/);
  });
});

test('a new source is available at once for posts, queries, callers and followers', async () => {
  await run(
    async (service) => {
      assert.equal((await service.problems()).length, 1);
      const made = await put(service, 'app.logs', { project: 'metadata.tenant' });
      assert.equal(made.status, 201);
      const { id } = made.json.result;
      assert.deepEqual(made.json.result, { id, name: 'app.logs', project: 'metadata.tenant' });
      // The file that needed this source is in force now.
      assert.deepEqual(await service.problems(), []);
      const stream = await EventStream.open(
        `${service.service.url}/api/sources/app.logs/tail?project=alpha`,
        { 'X-API-KEY': PRIVATE },
      );
      await service.post('app.logs', [APP]);
      const [event] = await stream.take(1);
      stream.close();
      assert.equal(JSON.parse(event!.data).event_message, 'order made');
      const rows = [{ event_message: 'order made' }];
      assert.deepEqual(await service.call('app.all', '?project=alpha'), rows);
      assert.deepEqual(await service.call('app.all', '?project=beta'), []);
      const sql = encodeURIComponent('SELECT COUNT(*) AS n FROM entries');
      assert.deepEqual(await service.call('app.all', `?project=alpha&sql=${sql}`), [{ n: 1 }]);
      const query = 'SELECT COUNT(*) AS n FROM `app.logs`';
      const saved = await service.send('POST', '', { name: 'app.count', query });
      assert.equal(saved.status, 201);
      assert.deepEqual(await service.call('app.count'), [{ n: 1 }]);
      const { json } = await service.ask({ path: '/api/sources' });
      const listed = json.result.find(({ name }: { name: string }) => name === 'app.logs');
      assert.deepEqual({ ...listed, bytes: 0 }, { ...made.json.result, events: 1, bytes: 0 });
      const { text } = await service.ask({ path: '/metrics' });
      assert.match(text, /^weir_source_events\{source="app\.logs"\} 1$/m);
      const token = { name: 'app', scopes: ['ingest'], sources: ['app.logs'] };
      const bound = await service.ask({
        method: 'POST',
        path: '/api/tokens',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(token),
      });
      assert.equal(bound.status, 201);
    },
    { files: { 'app.sql': SANDBOX } },
  );
});

test('a source survives a restart, with its events and its rule', async () => {
  await run(async (service) => {
    await put(service, 'app.logs', { project: 'metadata.tenant' });
    await service.post('app.logs', [APP]);
    await service.restart();
    await service.post('app.logs', [APP]);
    const query = 'SELECT COUNT(*) AS n FROM `app.logs`';
    await service.send('POST', '', { name: 'app.count', query });
    assert.deepEqual(await service.call('app.count'), [{ n: 2 }]);
    assert.equal((await put(service, 'app.logs', { project: 'metadata.tenant' })).status, 200);
  });
});

test('an existing source is confirmed with the same rule, and refused with another', async () => {
  await run(
    async (service) => {
      // Without a body or a rule, the rule is the default of SOURCES.
      assert.equal((await put(service, 'app.logs')).status, 201);
      assert.equal((await put(service, 'app.logs', {})).status, 200);
      for (const [name, rule] of [
        ['app.logs', 'project'],
        ['postgres.logs', 'project'],
        ['shop.logs', 'metadata.shop'],
      ] as const) {
        assert.equal((await put(service, name, { project: rule })).status, 200);
        const [status, code, message] = await refusal(
          put(service, name, { project: 'metadata.x' }),
        );
        assert.deepEqual([status, code], [409, 'source_conflict']);
        assert.match(String(message), new RegExp(`has the project rule ${rule}, which cannot be`));
      }
    },
    { environment: { SOURCES: 'shop.logs:metadata.shop' } },
  );
});

test('an invalid source is refused with what is allowed', async () => {
  await run(
    async (service) => {
      const wrong: readonly (readonly [string, unknown, number, string, RegExp])[] = [
        ['app logs', {}, 400, 'invalid_source', /letters, digits, dots, hyphens and underscores/],
        ['a'.repeat(129), {}, 400, 'invalid_source', /may have 128 characters; got 129/],
        [
          '22222222-2222-4333-8444-555555555555',
          {},
          ...([400, 'invalid_source', /must not look like a UUID/] as const),
        ],
        ['a', { project: 'tenant' }, 400, 'invalid_source', /"project" or a path such as/],
        ['a', { project: 7 }, 400, 'invalid_body', /\{"project": "metadata\.PATH"\}; got/],
        ['a', { rule: 'project' }, 400, 'invalid_body', /got .*rule/],
        ['Postgres.Logs', {}, 409, 'source_conflict', /letter case; there is postgres\.logs/],
        [
          'app.count',
          {},
          409,
          'source_conflict',
          /app\.count is the name of a saved query that app\.sum selects from/,
        ],
        [
          'app.counts',
          {},
          409,
          'source_conflict',
          /app\.counts is the name of a saved query that app\.sum selects/,
        ],
      ];
      for (const [name, body, ...expected] of wrong) {
        const [status, code, message] = await refusal(put(service, name, body));
        assert.deepEqual([status, code], expected.slice(0, 2), name);
        assert.match(String(message), expected[2]);
      }
      assert.equal((await put(service, 'app.logs', {}, PUBLIC)).status, 403);
      // No definition selects from it.
      assert.equal((await put(service, 'app.sum')).status, 201);
      const { json } = await service.ask({ path: '/api/sources' });
      assert.equal(json.result.length, 11);
    },
    {
      files: {
        'count.sql': fileOf(1, 'app.count', 'SELECT 1 AS n', 'alias: app.counts'),
        'sum.sql': fileOf(2, 'app.sum', 'SELECT SUM(n) AS n FROM `app.counts`'),
      },
    },
  );
});

test('an error about an unknown source says how to make one', async () => {
  await run(async (service) => {
    await put(service, 'app.logs');
    const asks = [
      { method: 'POST', path: '/api/logs?source_name=app.log', body: '{}' },
      { path: '/api/sources/app.log/tail' },
    ];
    for (const what of asks) {
      const [status, code, message] = await refusal(service.ask(what));
      assert.deepEqual([status, code], [404, 'unknown_source']);
      assert.match(String(message), /did you mean app\.logs\? .*PUT \/api\/sources\/NAME adds one/);
    }
  });
});

test('a source removed from the settings can be made only if none of its events are stored', async () => {
  await run(
    async (service) => {
      await service.post('shop.logs', [APP]);
      // The events are first in the log only, then in a file.
      await service.stop();
      await service.start({ environment: { SOURCES: '' } });
      const [status, code, message] = await refusal(put(service, 'shop.logs'));
      assert.deepEqual([status, code], [409, 'source_conflict']);
      assert.match(String(message), /start weir with shop\.logs in SOURCES/);
      await storeAll(service.service.backend, NOW_US);
      await service.stop();
      await service.start({ environment: { SOURCES: '' } });
      assert.equal((await put(service, 'shop.logs')).status, 409);
      await service.restart();
      assert.equal((await put(service, 'shop.logs')).status, 200);
    },
    { environment: { SOURCES: 'shop.logs' } },
  );
});

test('a start whose settings give a made source another rule fails with advice', async () => {
  await run(async (service) => {
    await put(service, 'app.logs', { project: 'metadata.tenant' });
    await service.stop();
    for (const environment of [{ SOURCES: 'app.logs' }, { DEFAULT_SOURCE: 'app.logs' }]) {
      await assert.rejects(
        service.start({ environment }),
        /Write SOURCES=app\.logs:metadata\.tenant, or leave it out of both/,
      );
    }
    const sources = { SOURCES: 'app.logs:metadata.tenant', DEFAULT_SOURCE: 'app.logs' };
    await service.start({ environment: sources });
    assert.equal((await put(service, 'app.logs', { project: 'metadata.tenant' })).status, 200);
  });
});

test('the number of sources is limited', async () => {
  await run(async (service) => {
    for (let count = 0; count < SOURCES_MADE_MAX; count++) {
      assert.equal((await put(service, `app-${count}`)).status, 201);
    }
    const [status, code, message] = await refusal(put(service, 'app'));
    assert.deepEqual([status, code], [409, 'source_conflict']);
    assert.match(String(message), /at most 200 sources may be made over HTTP/);
    await service.restart();
    const { json } = await service.ask({ path: '/api/sources' });
    assert.equal(json.result.length, 10 + SOURCES_MADE_MAX);
  });
});

test('a damaged file of sources is repaired at the start and reported', async () => {
  await run(async (service) => {
    await put(service, 'app.logs');
    await service.stop();
    // The store folder has another name after the next start.
    const path = join(service.storePath, 'sources.json');
    const whole = await readFile(path);
    await writeFile(path, 'damaged');
    await service.start();
    assert.ok(service.entries.some(({ event }) => event === 'source_file_repaired'));
    assert.deepEqual(await readFile(join(service.storePath, 'sources.json')), whole);
    assert.equal((await put(service, 'app.logs')).status, 200);
  });
});

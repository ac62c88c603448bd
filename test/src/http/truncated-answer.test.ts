import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const ENTRIES = `-- id: 11111111-2222-4333-8444-555555555555
-- name: app.entries
-- sandbox: enabled
-- max_rows: 3
-- param: project string required
WITH entries AS (
  SELECT t.id, t.timestamp FROM \`gotrue.logs.prod\` AS t WHERE t.project = @project
)
SELECT e.id FROM entries AS e ORDER BY e.timestamp, e.id
`;

const KEPT = ENTRIES.replace('app.entries', 'app.kept\n-- cache: 60s').replace('111', '222');

const IDS = ['e1', 'e2', 'e3', 'e4'];

const PROFILES = ['default', 'supabase'];

const folders: string[] = [];
const services: ServiceUnderTest[] = [];

before(async () => {
  for (const profile of PROFILES) {
    const folder = await mkdtemp(join(tmpdir(), 'weir-truncated-'));
    folders.push(folder);
    await writeFile(join(folder, 'entries.sql'), ENTRIES);
    await writeFile(join(folder, 'kept.sql'), KEPT);
    const service = await ServiceUnderTest.start({
      ENDPOINTS_DIR: folder,
      CACHE_LIMIT: '64MiB',
      PROFILE: profile,
    });
    services.push(service);
    for (const [project, ids] of [
      ['three', IDS.slice(0, 3)],
      ['four', IDS],
    ] as const) {
      await service.post(
        'gotrue.logs.prod',
        ids.map((id) => ({ id, project, timestamp: NOW })),
        us(NOW),
      );
    }
  }
});

after(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

/** The header of an answer, for a complete one and a cut one. */
async function headerOf(
  service: ServiceUnderTest,
  call: {
    readonly path: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (const project of ['three', 'four']) {
    const path = `${call.path}${call.path.includes('?') ? '&' : '?'}project=${project}`;
    const answer = await service.ask(call.method ?? 'GET', path, undefined, call.headers ?? {});
    assert.equal(answer.status, 200, answer.text);
    found.push(answer.headers['weir-truncated'] as string | undefined);
  }
  return found;
}

test('a header gives the rows to which max_rows cut an answer, in every format, kept or not', async () => {
  for (const service of services) {
    for (const name of ['app.entries', 'app.kept', 'app.kept']) {
      for (const end of ['', '.csv', '.ndjson']) {
        const path = `/api/endpoints/${name}${end}`;
        for (const method of ['GET', 'HEAD']) {
          assert.deepEqual(await headerOf(service, { path, method }), [undefined, '3'], path);
        }
      }
    }
  }
});

test('the header is also sent for a caller’s own query', async () => {
  for (const service of services) {
    const sql = encodeURIComponent('SELECT x.id FROM entries AS e CROSS JOIN entries AS x LIMIT 3');
    const path = (text: string): string => `/api/endpoints/app.entries?sql=${text}`;
    assert.deepEqual(await headerOf(service, { path: path(sql) }), [undefined, undefined]);
    const more = sql.replace(/3$/, '4');
    assert.deepEqual(await headerOf(service, { path: path(more) }), ['3', '3']);
  }
});

test('a 304 for a cut answer has the header, too', async () => {
  for (const name of ['app.entries', 'app.kept']) {
    const path = `/api/endpoints/${name}?project=four`;
    const whole = await services[0]!.ask('GET', path);
    assert.equal(JSON.parse(whole.text).result.length, 3);
    const headers = { 'If-None-Match': String(whole.headers['etag']) };
    const again = await services[0]!.ask('GET', path, undefined, headers);
    assert.deepEqual([again.status, again.headers['weir-truncated']], [304, '3']);
  }
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { edge, invocation, NOW, us } from '../../scripts/script.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const AT = '2026-01-15T11:30:00Z';

const CALLS = [
  'logs.all?project=alpha&project_tier=PRO',
  'functions.invocation-stats?project=alpha&interval=1hr',
  'usage.api-counts?project=alpha&interval=hourly',
];

test('the same answer has the same ETag after a restart, long or short, kept or not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-etag-'));
  const settings = { DATA_DIR: folder, FROZEN_NOW: NOW, CACHE_LIMIT: '64MiB' };
  let service = await ServiceUnderTest.start(settings);
  try {
    // Equal timestamps, so that only their arrival orders them.
    const edges = Array.from({ length: 50 }, (_, index) =>
      edge(AT, `/rest/${index}/${'x'.repeat(200)}`, { project: 'alpha' }),
    );
    await service.post('cloudflare.logs.prod', edges, us(NOW));
    await service.post('deno-relay-logs', [invocation(AT, { project_ref: 'alpha' })], us(NOW));
    const answers = async () => {
      const all = await Promise.all(
        CALLS.map((call) => service.ask('GET', `/api/endpoints/${call}`)),
      );
      return all.map(({ status, text, headers }) => ({ status, text, etag: headers['etag'] }));
    };
    const before = await answers();
    assert.ok(before[0]!.text.length > 4_096, 'one is long');
    await service.stop();
    service = await ServiceUnderTest.start(settings);
    assert.deepEqual(await answers(), before);
    const { etag } = before[0]!;
    const again = await service.ask('GET', `/api/endpoints/${CALLS[0]}`, undefined, {
      'If-None-Match': String(etag),
    });
    assert.equal(again.status, 304);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
});

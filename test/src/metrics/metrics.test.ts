import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { type Service, startService } from '../../../src/service.ts';
import { parseSettings } from '../../../src/settings.ts';
import { openBackend } from '../../../src/store/log-backend.ts';
import { packageVersion } from '../../../src/version.ts';
import { ask, NOW_US, PRIVATE, PUBLIC, post } from '../harness.ts';

/** Two services in one process, which count separately. */
let services: readonly Service[] = [];
let folder: string;
let app: { readonly port: number };
let other: { readonly port: number };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-'));
  services = [await startIn('one'), await startIn('two')];
  [app, other] = services.map(({ url }) => ({ port: Number(new URL(url).port) })) as [
    { port: number },
    { port: number },
  ];
});

after(async () => {
  for (const service of services) await service.stop();
  await rm(folder, { recursive: true });
});

async function startIn(name: string): Promise<Service> {
  const settings = parseSettings({
    PORT: '0',
    DATA_DIR: join(folder, name),
    PUBLIC_ACCESS_TOKEN: PUBLIC,
    PRIVATE_ACCESS_TOKEN: PRIVATE,
    WORKERS: '1',
  });
  const log = (): void => {};
  const clock = {
    nowUs: () => NOW_US,
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
  };
  return startService({
    ...{ settings, clock, log },
    openBackend: (stored) => openBackend({ settings: stored, log }),
  });
}

/** All samples of a scrape: name with labels to value. */
async function scrape(of: { readonly port: number }): Promise<ReadonlyMap<string, number>> {
  const { status, text } = await ask(of, { path: '/metrics' });
  assert.equal(status, 200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line)!;
      return [name!, Number(value)] as const;
    }),
  );
}

/** The increase of the named samples by `work`. */
async function growth(
  names: readonly string[],
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  const before = await scrape(app);
  await work();
  const later = await scrape(app);
  return names.map((name) => (later.get(name) ?? 0) - (before.get(name) ?? 0));
}

test('only a token that may manage sees the metrics', async () => {
  const none = await ask(app, { path: '/metrics', headers: { 'X-API-KEY': undefined } });
  assert.equal(none.status, 401);
  const ingestOnly = await ask(app, { path: '/metrics', headers: { 'X-API-KEY': PUBLIC } });
  assert.equal(ingestOnly.status, 403);
  const inUrl = `/metrics?api_key=${PRIVATE}`;
  assert.equal((await ask(app, { path: inUrl, headers: { 'X-API-KEY': undefined } })).status, 401);
  const { status, headers } = await ask(app, { path: '/metrics' });
  assert.equal(status, 200);
  assert.equal(headers['cache-control'], 'no-store');
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  assert.equal((await ask(app, { path: '/metrics', method: 'POST' })).status, 405);
});

test('refused tokens are counted by reason', async () => {
  const ofReason = (reason: string) => `weir_tokens_refused_total{reason="${reason}"}`;
  const names = ['missing', 'unknown', 'expired'].map(ofReason);
  const grown = await growth(names, async () => {
    await ask(app, { path: '/metrics', headers: { 'X-API-KEY': undefined } });
    for (const token of ['none', 'nor-this']) {
      await ask(app, { path: '/metrics', headers: { 'X-API-KEY': token } });
    }
  });
  assert.deepEqual(grown, [1, 2, 0]);
});

test('spans and data points are counted, and not stored', async () => {
  const ofSignal = (signal: string) => `weir_discarded_otlp_items_total{signal="${signal}"}`;
  assert.equal((await scrape(app)).get(ofSignal('traces')), 0);
  const grown = await growth([ofSignal('traces'), ofSignal('metrics')], async () => {
    await post(app, '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [{}, {}] }] }] });
    const metrics = [{ sum: { dataPoints: [{}, {}, {}] } }];
    await post(app, '/v1/metrics', { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
    await post(app, '/v1/metrics', '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[');
  });
  assert.deepEqual(grown, [2, 3]);
});

test('posts beyond a quota are counted by owner and kind', async () => {
  const samples = await scrape(app);
  for (const owner of ['token', 'project']) {
    for (const kind of ['events', 'bytes']) {
      assert.equal(samples.get(`weir_quota_refusals_total{owner="${owner}",kind="${kind}"}`), 0);
    }
  }
});

test('calls are counted by endpoint, status and code, whatever name they use', async () => {
  const { id } = services[0]!.catalogue.find('logs.all')!.definition;
  const endpoint = 'endpoint="logs.all"';
  assert.deepEqual(
    await growth(
      [
        `weir_calls_total{${endpoint},status="200",code="ok"}`,
        `weir_calls_total{${endpoint},status="400",code="missing_parameter"}`,
        `weir_calls_total{${endpoint},status="401",code="unauthorized"}`,
        `weir_calls_total{endpoint="",status="404",code="unknown_endpoint"}`,
        `weir_call_duration_seconds_count{${endpoint}}`,
        `weir_call_duration_seconds_bucket{le="+Inf",${endpoint}}`,
        'weir_queries_total{code="ok"}',
      ],
      async () => {
        await ask(app, { path: '/api/endpoints/logs.all?project=a' });
        await ask(app, { path: `/api/endpoints/query/${id}?project=a` });
        await ask(app, { path: '/api/endpoints/logs.all' });
        await ask(app, { path: '/api/endpoints/logs.all', headers: { 'X-API-KEY': 'none' } });
        await ask(app, { path: '/api/endpoints/no-such-name' });
      },
    ),
    [2, 1, 1, 1, 4, 4, 2],
  );
});

test('the counters of an endpoint are removed with it', async () => {
  const body = JSON.stringify({ name: 'app.passing', query: 'SELECT 1 AS one' });
  const headers = { 'Content-Type': 'application/json', 'If-Match': '*' };
  const made = await ask(app, { method: 'POST', path: '/api/endpoints', headers, body });
  assert.equal(made.status, 201, made.text);
  assert.equal((await ask(app, { path: '/api/endpoints/app.passing' })).status, 200);
  const linesOf = async (): Promise<number> =>
    [...(await scrape(app)).keys()].filter((name) => name.includes('app.passing')).length;
  assert.ok((await linesOf()) > 10);
  const path = `/api/endpoints/${JSON.parse(made.text).result.id}`;
  assert.equal((await ask(app, { method: 'DELETE', path, headers })).status, 204);
  assert.equal(await linesOf(), 0);
});

test('posts are counted by status, and events by source, including refused ones', async () => {
  const source = 'source="gotrue.logs.prod"';
  const body = JSON.stringify([{ event_message: 'a' }, { event_message: 'b' }, 7]);
  assert.deepEqual(
    await growth(
      [
        'weir_posts_total{status="200",code="ok"}',
        'weir_posts_total{status="406",code="events_refused"}',
        'weir_posts_total{status="400",code="invalid_body"}',
        'weir_posts_total{status="404",code="unknown_source"}',
        `weir_ingested_events_total{${source}}`,
        `weir_refused_events_total{${source}}`,
        `weir_repaired_events_total{${source}}`,
        `weir_ingested_bytes_total{${source}}`,
        `weir_source_events{${source}}`,
        `weir_source_segments{${source},kind="open"}`,
      ],
      async () => {
        const path = '/api/logs?source_name=gotrue.logs.prod';
        await post(app, path, '{"event_message":"c"}');
        await post(app, path, body);
        await post(app, path, '{');
        await post(app, '/api/logs?source_name=none', {});
      },
    ),
    [1, 1, 1, 1, 3, 1, 0, body.length + '{"event_message":"c"}'.length, 3, 1],
  );
});

test('a scan appears in the rows and segments of the pool', async () => {
  await post(app, '/api/logs?source_name=cloudflare.logs.prod', [
    { project: 'scanned', metadata: {} },
    { project: 'scanned', metadata: {} },
  ]);
  const [rows, segments, seconds] = await growth(
    [
      'weir_rows_scanned_total',
      'weir_segments_scanned_total',
      'weir_query_seconds_total{phase="run"}',
    ],
    () => ask(app, { path: '/api/endpoints/logs.all?project=scanned' }),
  );
  assert.deepEqual([rows, segments], [2, 1]);
  assert.ok(seconds! > 0 && seconds! < 5);
});

test('the cache counts its hits and misses', async () => {
  const path = '/api/endpoints/usage.api-counts?project=cached&interval=daily';
  assert.deepEqual(
    await growth(
      [
        'weir_cache_lookups_total{result="miss"}',
        'weir_cache_lookups_total{result="hit"}',
        'weir_cache_answers',
      ],
      async () => {
        for (let call = 0; call < 3; call++) await ask(app, { path });
      },
    ),
    [1, 2, 1],
  );
});

test('the parts of memory match what the service counts, and add up to less than the limit', async () => {
  const project = 'memory';
  await post(app, '/api/logs?source_name=cloudflare.logs.prod', [{ project, metadata: {} }]);
  await ask(app, { path: `/api/endpoints/usage.api-counts?project=${project}&interval=daily` });
  const { backend } = services[0]!;
  const { engine, memory } = backend.stats();
  const samples = await scrape(app);
  const parts = new Map<string, number>();
  for (const [name, value] of samples) {
    const [, part] = /^weir_memory_bytes\{part="(\w+)"\}$/.exec(name) ?? [];
    if (part !== undefined) parts.set(part, value);
  }
  for (const [part, bytes] of Object.entries({ ...memory.held, memo: engine.memo.bytes })) {
    assert.equal(parts.get(part), bytes, part);
  }
  for (const part of ['bodies', 'call_bodies', 'answers', 'followed', 'queries', 'queued']) {
    assert.equal(parts.get(part), 0, `nothing is under way: ${part}`);
  }
  for (const part of ['heap', 'threads', 'kept_answers', 'open', 'decoding']) {
    assert.ok(parts.get(part)! > 0, part);
  }
  const total = [...parts.values()].reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(total <= samples.get('weir_memory_limit_bytes')!);
  assert.equal(parts.size, 15);
});

test('services in one process are counted separately', async () => {
  const name = 'weir_calls_total{endpoint="logs.all",status="200",code="ok"}';
  const before = (await scrape(other)).get(name) ?? 0;
  await ask(app, { path: '/api/endpoints/logs.all?project=a' });
  assert.equal((await scrape(other)).get(name) ?? 0, before);
});

test('the process, its memory and its version have metrics', async () => {
  const samples = await scrape(app);
  const build = `weir_build_info{version="${packageVersion()}",node_version="${process.version}"}`;
  assert.equal(samples.get(build), 1);
  assert.ok(samples.get('process_resident_memory_bytes')! > 20e6);
  assert.ok(samples.get('nodejs_heap_size_used_bytes')! > 1e6);
  assert.ok(Math.abs(samples.get('process_start_time_seconds')! * 1e3 - Date.now()) < 3_600_000);
});

test('a delay of the event loop appears in the next scrape only', async () => {
  await scrape(app);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const untilMs = performance.now() + 300;
  while (performance.now() < untilMs);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const name = 'nodejs_eventloop_lag_max_seconds';
  const max = (await scrape(app)).get(name)!;
  assert.ok(max > 0.25 && max < 5, `${max}`);
  // On a busy machine it may take some scrapes until no long delay occurs.
  while ((await scrape(app)).get(name)! >= max);
});

test('every metric has a help text, a base unit and the suffix of its type', async () => {
  const { text } = await ask(app, { path: '/metrics' });
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
    name: name!,
    type: type!,
  }));
  assert.ok(types.length > 40);
  for (const { name, type } of types) {
    assert.match(text, new RegExp(`^# HELP ${name} \\S.{5,}$`, 'm'));
    assert.match(name, /^(?:weir|process|nodejs)_[a-z0-9_]+$/);
    assert.doesNotMatch(name, /_(?:ms|us|milliseconds|kb|mb)(?:_|$)/);
    assert.equal(name.endsWith('_total'), type === 'counter', name);
  }
});

test('counting a call takes microseconds', () => {
  const metrics = new Metrics({
    version: '0',
    hasEndpoint: () => true,
    read: () => {
      throw new Error('no one scrapes here');
    },
  });
  const count = (times: number) => {
    const startMs = performance.now();
    for (let call = 0; call < times; call++) {
      metrics.countCall('logs.all', { status: 200, code: 'ok', seconds: 0.001 });
    }
    return ((performance.now() - startMs) / times) * 1e3;
  };
  count(10_000);
  const microseconds = Math.min(...Array.from({ length: 5 }, () => count(10_000)));
  metrics.close();
  assert.ok(microseconds < 20, `${microseconds} µs`);
});

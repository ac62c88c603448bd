/**
 * The service that `cached.ts` asks, in a process of its own: the product's app, with a definition
 * whose answers have a size, and beside the product's routes one that gives the same bytes as a
 * constant. Prints the port it listens on.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import { must } from '../engine/assert.ts';
import { PostHistory } from '../src/watch/post-history.ts';
import { beginHistory } from '../src/watch/service-state.ts';
import { moduleUrl } from '../test/support/program-words.ts';

/** `dist/src` for numbers; `src` has the modules in the form of this one: through tsx they are slower. */
const [token = '', folder = 'dist/src'] = process.argv.slice(2);

const { createApp } = await load<typeof import('../src/http/app.ts')>('http/app');
const { loadCatalogue } =
  await load<typeof import('../src/definition/catalogue.ts')>('definition/catalogue');
const { createClock } = await load<typeof import('../src/clock.ts')>('clock');
const { EndpointCaller } =
  await load<typeof import('../src/call/endpoint-call.ts')>('call/endpoint-call');
const { EventIds } = await load<typeof import('../src/follow/event-ids.ts')>('follow/event-ids');
const { EventReader } =
  await load<typeof import('../src/follow/event-reader.ts')>('follow/event-reader');
const { Followers } = await load<typeof import('../src/follow/followers.ts')>('follow/followers');
const { HttpServer } = await load<typeof import('../src/http/http-server.ts')>('http/http-server');
const { InstanceKey } = await load<typeof import('../src/instance-key.ts')>('instance-key');
const { openBackend } =
  await load<typeof import('../src/store/log-backend.ts')>('store/log-backend');
const { Metrics } = await load<typeof import('../src/metrics/metrics.ts')>('metrics/metrics');
const { getProfile } = await load<typeof import('../src/profile.ts')>('profile');
const { Readiness } = await load<typeof import('../src/readiness.ts')>('readiness');
const { sendBytes } = await load<typeof import('../src/http/response.ts')>('http/response');
const { parseSettings } = await load<typeof import('../src/settings.ts')>('settings');
const { CallerQueries } =
  await load<typeof import('../src/call/caller-queries.ts')>('call/caller-queries');
const { openTokens } = await load<typeof import('../src/access/tokens.ts')>('access/tokens');

/** Rows of the form of `functions.invocation-stats`, about 200 bytes each; parameters as it has them. */
const DEFINITION = `-- id: 5d3c8b1e-0d6b-4b0e-9a55-3f0f4f6c2a11
-- name: bench.rows
-- cache: 900s
-- warm: 300s
-- param: project string required
-- param: function_id string
-- param: rows int64 required
SELECT t AS timestamp, 12 AS min_execution_time, 480 AS max_execution_time,
  30.5 AS avg_execution_time, 48 AS p95_execution_time, 96 AS p99_execution_time,
  1024 AS count, 16 AS error_count, @project AS project, @function_id AS function_id
FROM UNNEST(GENERATE_TIMESTAMP_ARRAY(
  TIMESTAMP '2026-01-15T00:00:01Z',
  TIMESTAMP_ADD(TIMESTAMP '2026-01-15T00:00:00Z', INTERVAL @rows SECOND),
  INTERVAL 1 SECOND)) AS t
`;

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  writeFileSync(join(dataDir, 'rows.sql'), DEFINITION);
  const settings = parseSettings({ DATA_DIR: dataDir, PRIVATE_ACCESS_TOKEN: token, WORKERS: '1' });
  const clock = createClock({ wallMs: () => Date.now(), monotonicMs: () => performance.now() });
  const log = (): void => {};
  const backend = openBackend({ settings, log });
  const catalogue = await loadCatalogue({ folder: dataDir, engine: backend.engine });
  const { tokens } = await openTokens({ ...settings, wallMs: clock.wallMs });
  const readiness = new Readiness();
  readiness.becomeReady();
  const caller = new EndpointCaller({ engine: backend.engine, clock });
  const { intake } = backend;
  const read = () => ({ backend: backend.stats(), calls: caller.stats() });
  const metrics = new Metrics({
    hasEndpoint: () => true,
    version: 'bench',
    read,
  });
  const profile = getProfile('default');
  const events = backend.published;
  const ids = new EventIds(InstanceKey.random());
  const reader = new EventReader({
    ...{ engine: backend.engine, events, ids },
    nowUs: () => clock.nowUs(),
  });
  const history = beginHistory({ backend, clock });
  const serviceState = () => {
    throw new Error('nobody asks how the service is');
  };
  const app = createApp({
    ...{ history, serviceState, posts: new PostHistory(clock.wallMs) },
    followers: new Followers({ reader, events, ids }),
    profile,
    catalogue,
    caller,
    ...{ engine: backend.engine, callerQueries: new CallerQueries(backend.engine) },
    intake,
    defaultSource: must(intake.listSources()[0]),
    tokens,
    readiness,
    clock,
    log,
    metrics,
  });
  addConstantRoute(app.listener);
  const server = await HttpServer.listen(app, { host: '127.0.0.1', port: 0 }, profile);
  process.once('SIGTERM', async () => {
    await server.drain({ drainMs: 0 });
    await backend.close(clock.nowUs());
    metrics.close();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(0);
  });
  console.log(`port ${server.port}`);
}

/**
 * `/constant/:size` gives that many bytes of JSON. A route added to the finished app would come after
 * the one that says there is nothing; it is moved to where calls by name are.
 */
function addConstantRoute(app: Express): void {
  const bodies = new Map<string, Buffer>();
  app.get('/api/constant/:size', (request, response) => {
    const size = String(request.params['size']);
    let body = bodies.get(size);
    if (body === undefined) {
      body = Buffer.from(`"${'x'.repeat(Number(size) - 2)}"`);
      bodies.set(size, body);
    }
    sendBytes(response, 200, 'application/json; charset=utf-8', [body]);
  });
  const { stack } = app.router;
  const isCall = (layer: (typeof stack)[number]) =>
    layer.route?.path === '/api/endpoints/:idOrName';
  const place = stack.findIndex(isCall);
  if (place === -1) throw new Error('calls by name have another path now');
  stack.splice(place + 1, 0, stack.pop()!);
}

/** A module of the product, as it is built or in the form of this one. */
async function load<Module>(name: string): Promise<Module> {
  const file = `../${folder}/${name}.${folder === 'src' ? 'ts' : 'js'}`;
  return (await import(moduleUrl(file, import.meta.url).href)) as Module;
}

await main();

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { ask, NOW_US, PRIVATE } from '../src/harness.ts';

const EVENTS_PER_POST = 20;
const SENDERS = 8;

/** What the stop finds under way: as many posts have been acknowledged by then. */
const POSTS_BEFORE = 100;

type Heard = {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly isLast: boolean;
};

function start(dataDir: string): Promise<Service> {
  const settings = parseSettings({
    PORT: '0',
    DATA_DIR: dataDir,
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

function portOf(service: Service): number {
  return Number(new URL(service.url).port);
}

/** Sends one thing after another on one kept connection, until an answer says that it ends. */
async function sendOn(
  port: number,
  what: { readonly method: string; readonly path: string; readonly body?: string },
  heard: (answer: Heard) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let isLast = false; !isLast; ) {
    const answer = await new Promise<Heard>((resolve, reject) => {
      const headers = { 'X-API-KEY': PRIVATE, 'Content-Type': 'application/json' };
      const sent = request({ port, host: '127.0.0.1', agent, headers, ...what });
      sent.on('error', reject).on('response', (response: IncomingMessage) => {
        const { 'retry-after': retryAfter, connection } = response.headers;
        const status = response.statusCode!;
        response
          .resume()
          .on('error', reject)
          .on('end', () => resolve({ status, retryAfter, isLast: connection === 'close' }));
      });
      sent.end(what.body);
    });
    heard(answer);
    isLast = answer.isLast;
  }
  agent.destroy();
}

test('a stop during posts and calls fails none of them, and loses nothing acknowledged', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    const service = await start(dataDir);
    const port = portOf(service);
    const events = Array.from({ length: EVENTS_PER_POST }, () => ({ project: 'p', metadata: {} }));
    const post = {
      method: 'POST',
      path: '/api/logs?source_name=cloudflare.logs.prod',
      body: JSON.stringify(events),
    };
    const call = { method: 'GET', path: '/api/endpoints/logs.all?project=p' };
    const posts: Heard[] = [];
    const calls: Heard[] = [];
    let stopped: Promise<void> | undefined;
    const senders = Array.from({ length: SENDERS }, () =>
      sendOn(port, post, (answer) => {
        posts.push(answer);
        if (posts.length === POSTS_BEFORE) stopped = service.stop();
      }),
    );
    const callers = [call, call].map((what) => sendOn(port, what, (answer) => calls.push(answer)));
    await Promise.all([...senders, ...callers]);
    await stopped;
    for (const { status, retryAfter, isLast } of [...posts, ...calls]) {
      assert([200, 503].includes(status), `got ${status}`);
      assert.equal(status === 503, retryAfter !== undefined);
      if (status === 503) assert(isLast);
    }
    const acknowledged = posts.filter(({ status }) => status === 200).length;
    assert(acknowledged >= POSTS_BEFORE);
    const next = await start(dataDir);
    const { json } = await ask({ port: portOf(next) }, { path: '/api/sources' });
    const stored = json.result.find(
      ({ name }: { name: string }) => name === 'cloudflare.logs.prod',
    );
    await next.stop();
    assert.equal(stored.events, acknowledged * EVENTS_PER_POST);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('a readiness check reports at once that the service stops', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    const service = await start(dataDir);
    const port = portOf(service);
    assert.equal((await ask({ port }, { path: '/ready' })).status, 200);
    const stopped = service.stop();
    const answer = await ask({ port }, { path: '/ready' });
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.connection, 'close');
    await stopped;
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

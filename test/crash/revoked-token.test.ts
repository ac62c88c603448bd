import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findStorePath } from '../../ingest/data-folder.ts';
import { programWords } from '../support/program-words.ts';

type Started = { readonly child: ChildProcess; readonly url: string };

const PRIVATE = 'private';

/** `weir start`, once it takes calls. */
async function start(dataDir: string): Promise<Started> {
  const settings = { PORT: '0', WORKERS: '1', DATA_DIR: dataDir, PRIVATE_ACCESS_TOKEN: PRIVATE };
  const child = spawn(process.execPath, [...programWords('src/main.ts'), 'start'], {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', () => reject(new Error(`it ended: ${out}`)));
    child.stdout?.on('data', (chunk) => {
      out += chunk;
      const found = /"url":"(http:[^"]+)".*\n/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, url };
}

async function ask(url: string, token: string, path: string, request: RequestInit = {}) {
  const headers = { 'X-API-KEY': token, 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { ...request, headers });
  return { status: response.status, text: await response.text() };
}

async function makeToken(url: string, name: string): Promise<{ id: string; token: string }> {
  const body = JSON.stringify({ name, scopes: ['query'] });
  const answer = await ask(url, PRIVATE, '/api/tokens', { method: 'POST', body });
  equal(answer.status, 201, answer.text);
  return JSON.parse(answer.text).result;
}

async function kill({ child }: Started): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

test('acknowledged changes of tokens survive a kill: new ones are valid, revoked ones are not', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-revoked-'));
  const path = '/api/endpoints/logs.all?project=alpha';
  let running = await start(dataDir);
  try {
    const { url } = running;
    const [kept, revoked] = [await makeToken(url, 'kept'), await makeToken(url, 'revoked')];
    equal((await ask(url, revoked.token, path)).status, 200);
    const answer = await ask(url, PRIVATE, `/api/tokens/${revoked.id}`, { method: 'DELETE' });
    // At once behind the answer.
    await kill(running);
    equal(answer.status, 204);
    // As a kill amid the next change would leave it.
    await writeFile(join(await findStorePath(dataDir), 'tokens.json.new'), '{"version":2,"tok');
    running = await start(dataDir);
    deepEqual(
      [
        (await ask(running.url, kept.token, path)).status,
        (await ask(running.url, revoked.token, path)).status,
      ],
      [200, 401],
    );
    equal((await makeToken(running.url, 'revoked')).id === revoked.id, false);
  } finally {
    await kill(running);
    await rm(dataDir, { recursive: true });
  }
});

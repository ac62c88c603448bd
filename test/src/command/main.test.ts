import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { programWords } from '../../support/program-words.ts';
import { fileOf } from '../definition/service-with-definitions.ts';
import { ask } from '../harness.ts';

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs the program. `seen` is called with its output so far and a function that stops it. */
async function run(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  seen: (out: string, stop: () => void) => void = () => {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...programWords('src/main.ts'), ...words], {
    env: { PATH: process.env['PATH'], PORT: '0', WORKERS: '1', ...environment },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
    seen(out, () => child.kill('SIGTERM'));
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/** Starts the service, reads its health, and stops it. */
async function startAndStop(dataDir: string): Promise<Ended & { health: number }> {
  let health = 0;
  let isAsked = false;
  const ended = await run(['start'], { DATA_DIR: dataDir }, (out, stop) => {
    const port = /"url":"http:\/\/127\.0\.0\.1:(\d+)".*usage\.api-counts/.exec(out)?.[1];
    if (port === undefined || isAsked) return;
    isAsked = true;
    void ask({ port: Number(port) }, { path: '/health' }).then((answer) => {
      health = answer.status;
      stop();
    });
  });
  return { ...ended, health };
}

test('start prints new tokens, never logs them, and ends with 0 at SIGTERM', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    const ended = await startAndStop(dataDir);
    assert.deepEqual([ended.code, ended.health], [0, 200], ended.err);
    const tokens = ended.out.match(/weir_[0-9A-Za-z]{49}/g) ?? [];
    assert.equal(tokens.length, 2);
    assert(!tokens.some((token) => ended.err.includes(token)));
    const events = ended.err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event)
      // On a busy machine its threads may not have started when they are told to end.
      .filter((event) => event !== 'work_left');
    assert.deepEqual(events, ['started', 'stopped']);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('invalid settings end a start with 1 and every problem, without a stack trace', async () => {
  const { code, err } = await run(['start'], { PORT: 'x', RETENTION_DAYS: '-1' });
  assert.equal(code, 1);
  const { event, error } = JSON.parse(err);
  assert.equal(event, 'start_failed');
  assert.match(error, /^PORT must be .*\nRETENTION_DAYS must be .*$/);
});

test('an invalid definition file ends a strict start with 1, its position and a caret', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    const endpointsDir = join(folder, 'endpoints');
    await mkdir(endpointsDir);
    await writeFile(join(endpointsDir, 'a.sql'), fileOf(1, 'app.a', 'SELECT 1 AS x 2 AS y'));
    const environment = { DATA_DIR: join(folder, 'data'), ENDPOINTS_DIR: endpointsDir };
    const { code, err } = await run(['start', '--strict'], environment);
    assert.equal(code, 1);
    const { error } = JSON.parse(err);
    assert.match(error, /a\.sql:4:15: expected .*; got "2"\n/);
    assert.match(error, /\nSELECT 1 AS x 2 AS y\n {14}\^$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the version is printed, and an unknown command is reported with the nearest', async () => {
  const [version, word] = await Promise.all([run(['--version'], {}), run(['strat'], {})]);
  assert.deepEqual([version.code, version.err], [0, '']);
  assert.match(version.out, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual([word.code, word.out], [2, '']);
  assert.match(word.err, /got "strat"; did you mean start\?/);
});

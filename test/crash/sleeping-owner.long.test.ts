import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { programWords } from '../support/program-words.ts';

const PRIVATE = 'private';

/** A host name and process ids of its own, as in another container. */
const ELSEWHERE = ['--uts', '--pid', '--fork', '--kill-child', 'sh', '-c'];

type Started = { readonly child: ChildProcess; readonly url: string; readonly err: () => string };

function canBeElsewhere(): boolean {
  return spawnSync('unshare', [...ELSEWHERE, 'hostname elsewhere']).status === 0;
}

/** `weir start`, once it takes calls. */
async function start(dataDir: string, isElsewhere = false): Promise<Started> {
  const settings = { PORT: '0', WORKERS: '1', DATA_DIR: dataDir, PRIVATE_ACCESS_TOKEN: PRIVATE };
  const words = [process.execPath, ...programWords('src/main.ts'), 'start'];
  const script = 'hostname elsewhere && exec "$0" "$@"';
  const [program, ...rest] = isElsewhere ? ['unshare', ...ELSEWHERE, script, ...words] : words;
  const child = spawn(program!, rest, {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', () => reject(new Error(`it ended: ${out}${err}`)));
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const found = /"url":"(http:[^"]+)".*\n/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, url, err: () => err };
}

const HEADERS = { 'X-API-KEY': PRIVATE, 'Content-Type': 'application/json' };

/** The status of the answer; 0 when the connection ended without one. */
async function post({ url }: Started, event_message: string): Promise<number> {
  const body = JSON.stringify({ project: 'p', event_message, metadata: {} });
  const path = `${url}/api/logs?source_name=cloudflare.logs.prod`;
  try {
    return (await fetch(path, { method: 'POST', headers: HEADERS, body })).status;
  } catch {
    return 0;
  }
}

async function messages({ url }: Started): Promise<readonly string[]> {
  const path = `${url}/api/endpoints/logs.all?project=p&project_tier=ENTERPRISE&limit=1000`;
  const answer = await fetch(path, { headers: HEADERS });
  equal(answer.status, 200);
  const { result } = (await answer.json()) as { result: readonly { event_message: string }[] };
  return result.map(({ event_message }) => event_message).sort();
}

async function kill({ child }: Started): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const isHere = canBeElsewhere();
const skip = isHere ? false : 'namespaces cannot be made here';

test('a suspended process whose folder another host takes loses nothing that it acknowledged, and ends', {
  skip,
}, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-sleeping-'));
  const running: Started[] = [];
  const acknowledged: string[] = [];
  const send = async (to: Started, message: string): Promise<number> => {
    const status = await post(to, message);
    if (status === 200) acknowledged.push(message);
    return status;
  };
  try {
    const first = await start(dataDir);
    running.push(first);
    deepEqual(await Promise.all(['a', 'b'].map((name) => send(first, name))), [200, 200]);
    // It falls asleep amid posts; logs.all gives 100 rows at most.
    const amid = Array.from({ length: 80 }, (_, n) => send(first, `amid ${n}`));
    await amid[20];
    first.child.kill('SIGSTOP');
    const second = await start(dataDir, true);
    running.push(second);
    equal(await send(second, 'of the second'), 200);
    const ended = once(first.child, 'exit');
    first.child.kill('SIGCONT');
    const late = Array.from({ length: 20 }, (_, n) => send(first, `late ${n}`));
    for (const status of await Promise.all(late)) notEqual(status, 200);
    await Promise.all(amid);
    deepEqual(await ended, [1, null]);
    match(first.err(), /DATA_DIR: the folder is in use by another weir: .* on elsewhere/);
    equal(await send(second, 'after'), 200);
    const seen = await messages(second);
    deepEqual(
      acknowledged.filter((message) => !seen.includes(message)),
      [],
    );
    equal(new Set(seen).size, seen.length);
    await kill(second);
    const third = await start(dataDir);
    running.push(third);
    deepEqual(await messages(third), seen);
  } finally {
    for (const one of running) await kill(one);
    await rm(dataDir, { recursive: true });
  }
});

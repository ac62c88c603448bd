import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { Random } from '../../src/traffic/random.ts';
import { numberFrom } from '../fuzz/seed.ts';
import { type Compiled, compiled } from './compiled.ts';
import { LIFE_SEED, StoreLedger } from './store-ledger.ts';
import { allRows, openStore } from './store-model.ts';

/** Points of a test that are tried, spread over all of them; `WEIR_STRACE_POINTS=10000` is each. */
const POINTS = numberFrom('WEIR_STRACE_POINTS', 4);

/** Every call by which the life changes the disk. */
const CHANGES = [
  ...['write', 'writev', 'pwrite64', 'fdatasync', 'fsync', 'ftruncate', 'openat'],
  ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'mkdir', 'mkdirat'],
] as const;

/** The `nth` call of a kind, the first being 1. */
type Point = { readonly call: string; readonly nth: number };

/** What an undisturbed life asks of the disk. */
type Course = {
  readonly points: readonly Point[];
  /** Relative to its folder; calls are counted for these alone. */
  readonly paths: readonly string[];
};

let entry: Promise<Compiled> | undefined;
let course: Promise<Course> | undefined;
after(async () => (await entry)?.remove());

/** Runs the scripted life below a command; what it said. */
async function live(folder: string, command: readonly string[]): Promise<string[]> {
  entry ??= compiled('test/crash/scripted-life.ts');
  const [program, ...rest] = [...command, process.execPath, (await entry).path, folder];
  const child = spawn(program!, rest, {
    // Calls are counted by thread: with one thread for files all of them are.
    env: { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout!.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  return text.split('\n').slice(0, -1);
}

function strace(...options: readonly string[]): string[] {
  return ['strace', '-f', '-qq', ...options];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-strace-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function observed(): Promise<Course> {
  return inFolder(async (folder) => {
    const data = join(folder, 'data');
    const output = join(folder, 'trace');
    const said = await live(data, strace('-y', '-o', output, '-e', `trace=${CHANGES.join(',')}`));
    assert.equal(said.at(-1), 'end');
    const points: Point[] = [];
    const counts = new Map<string, number>();
    const paths = new Set<string>();
    for (const line of (await readFile(output, 'utf8')).split('\n')) {
      const found = [...line.matchAll(/[<"](\/[^<>"]*)[>"]/g)]
        .map(([, path]) => path!)
        .filter((path) => path === data || path.startsWith(`${data}/`));
      const call = /^\d+ +(\w+)\(/.exec(line)?.[1];
      if (found.length === 0 || call === undefined) continue;
      for (const path of found) paths.add(path.slice(data.length));
      const nth = (counts.get(call) ?? 0) + 1;
      counts.set(call, nth);
      points.push({ call, nth });
    }
    return { points, paths: [...paths] };
  });
}

/** Whether what is on disk is what the life said: all that it kept, once, and each post as a whole. */
async function check(dataDir: string, said: readonly string[]): Promise<void> {
  const random = new Random(LIFE_SEED);
  const ledger = new StoreLedger();
  const posts = new Map<string, ReturnType<StoreLedger['next']>>();
  let nowUs = 0;
  for (const line of said) {
    const [word, first, second] = line.split(' ');
    if (word === 'sent') posts.set(first!, ledger.next(random, Number(second)));
    if (word === 'kept') ledger.settle(posts.get(first!)!, 'kept');
    if (word === 'sent' || word === 'now') {
      nowUs = Math.max(nowUs, Number(word === 'now' ? first : second));
      ledger.believe(nowUs);
    }
  }
  const opened = await openStore({ disk: new NodeDisk(), dataDir, nowUs });
  try {
    ledger.check(await allRows(opened));
    assert.deepEqual(opened.damages, []);
  } finally {
    await opened.durable.close();
  }
}

/** One life for each point of some calls, each on a folder of its own, and looked at afterwards. */
async function atEachPoint(
  context: TestContext,
  calls: readonly string[],
  injection: (point: Point) => string,
): Promise<readonly string[][]> {
  if (spawnSync('strace', ['-V']).error !== undefined) {
    context.skip('strace is not installed');
    return [];
  }
  course ??= observed();
  const { points, paths } = await course;
  const all = points.filter(({ call }) => calls.includes(call));
  const step = Math.max(1, all.length / POINTS);
  const lives: string[][] = [];
  let hitCount = 0;
  for (let index = 0; index < all.length; index += step) {
    const point = all[Math.floor(index)]!;
    await inFolder(async (folder) => {
      const data = join(folder, 'data');
      const filter = paths.flatMap((path) => ['-P', `${data}${path}`]);
      const inject = `inject=${point.call}:${injection(point)}:when=${point.nth}`;
      const trace = join(folder, 'trace');
      const said = await live(
        data,
        strace('-o', trace, ...filter, '-e', `trace=${point.call}`, '-e', inject),
      );
      if (/\(INJECTED\)|killed by SIGKILL/.test(await readFile(trace, 'utf8'))) hitCount++;
      await check(data, said).catch((cause: unknown) => {
        throw new Error(inject, { cause });
      });
      lives.push(said);
    });
  }
  context.diagnostic(`${lives.length} of ${all.length} points`);
  // The order of the last calls may differ from life to life.
  assert(hitCount >= lives.length * 0.9, `${hitCount} of ${lives.length} points were met`);
  return lives;
}

test('killed at any call that changes the disk, a store has what it acknowledged, once and whole', async (context) => {
  const lives = await atEachPoint(context, CHANGES, () => 'signal=KILL');
  const cut = lives.filter((said) => said.at(-1) !== 'end');
  assert(cut.length >= lives.length * 0.9, `${cut.length} of ${lives.length} lives were cut`);
});

for (const [calls, code] of [
  [['fdatasync', 'fsync'], 'EIO'],
  [['write', 'writev', 'pwrite64'], 'ENOSPC'],
  [['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'ftruncate'], 'EIO'],
  [['openat', 'mkdir', 'mkdirat'], 'EMFILE'],
] as const) {
  test(`a store that gets ${code} of ${calls[0]} and its like has what it acknowledged`, async (context) => {
    const lives = await atEachPoint(context, calls, () => `error=${code}`);
    for (const said of lives) assert.match(said.at(-1)!, /^(end|failed)$/);
    // A start may fail for one call that did. A life that has started goes on.
    assert(lives.length === 0 || lives.some((said) => said.at(-1) === 'end'), 'lives ended well');
  });
}

test('where writes end short, and files cannot grow, a store has what it acknowledged', async (context) => {
  if (spawnSync('prlimit', ['-V']).error !== undefined) {
    context.skip('prlimit is not installed');
    return;
  }
  let refusedCount = 0;
  for (let limit = 500; limit <= 3_500; limit += Math.max(50, Math.ceil(3_000 / POINTS))) {
    await inFolder(async (folder) => {
      const said = await live(folder, ['prlimit', `--fsize=${limit}`]);
      await check(folder, said).catch((cause: unknown) => {
        throw new Error(`files of at most ${limit} bytes`, { cause });
      });
      assert.match(said.at(-1)!, /^(end|failed)$/);
      refusedCount += said.filter((line) => line.startsWith('refused')).length;
    });
  }
  assert(refusedCount > 0, 'posts were refused');
});

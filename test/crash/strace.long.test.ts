import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { budgetOf } from '../support/budget.ts';
import { programWords } from '../support/program-words.ts';
import { allRows, openStore } from './opened-store.ts';
import { progressOf } from './progress.ts';
import { LIFE_SEED, StoreLedger } from './store-ledger.ts';

/** Points of a test that are tried, spread over all of them; `WEIR_STRACE_POINTS=10000` is each. */
const POINTS = budgetOf('WEIR_STRACE_POINTS', { fast: 3, all: 4 });

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
  /** Lines of strace. */
  readonly trace: readonly string[];
};

let course: Promise<Course> | undefined;

/** Runs the scripted life below a command; what it said. */
async function live(folder: string, command: readonly string[]): Promise<string[]> {
  const [program, ...rest] = [
    ...command,
    process.execPath,
    ...programWords('test/crash/scripted-life.ts'),
    folder,
  ];
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
  // Without a filter in the system itself each call of any kind stops the process; a signal that is
  // injected is lost with it.
  const isFiltered = !options.some((option) => option.includes('signal='));
  return ['strace', '-f', ...(isFiltered ? ['--seccomp-bpf'] : []), '-qq', ...options];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-strace-'));
  try {
    await mkdir(join(folder, 'data'));
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
    assertEvicted(said);
    const points = new Map<string, Point>();
    // Of each call of each thread: strace counts them so.
    const counts = new Map<string, number>();
    const paths = new Set<string>();
    const trace = (await readFile(output, 'utf8')).split('\n');
    for (const line of trace) {
      const found = [...line.matchAll(/[<"](\/[^<>"]*)[>"]/g)]
        .map(([, path]) => path!)
        .filter((path) => path === data || path.startsWith(`${data}/`));
      const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
      if (found.length === 0 || call === undefined) continue;
      for (const path of found) paths.add(path.slice(data.length));
      const nth = (counts.get(`${thread} ${call}`) ?? 0) + 1;
      counts.set(`${thread} ${call}`, nth);
      points.set(`${call} ${nth}`, { call, nth });
    }
    return { points: [...points.values()], paths: [...paths], trace };
  });
}

function assertEvicted(said: readonly string[]): void {
  const counts = said.filter((line) => line.startsWith('evicted ')).map((line) => line.slice(8));
  assert(
    counts.some((count) => Number(count) > 0),
    `blocks left memory: ${counts.join(', ')}`,
  );
}

/** Whether what is on disk is what the life said: all that it kept, once, and each post as a whole. */
async function check(dataDir: string, said: readonly string[]): Promise<void> {
  const random = new Random(LIFE_SEED);
  const ledger = new StoreLedger();
  const posts = new Map<string, ReturnType<StoreLedger['next']>>();
  let nowUs = 0;
  for (const line of said) {
    const [word, first, second] = line.split(' ');
    assert.notEqual(word, 'wrong', line);
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

function hasStrace(context: TestContext): boolean {
  const isThere = spawnSync('strace', ['-V']).error === undefined;
  if (!isThere) context.skip('strace is not installed');
  return isThere;
}

/** One life for each point of some calls, each on a folder of its own, and looked at afterwards. */
async function atEachPoint(
  context: TestContext,
  calls: readonly string[],
  injection: (point: Point) => string,
): Promise<readonly string[][]> {
  if (!hasStrace(context)) return [];
  course ??= observed();
  const { points, paths } = await course;
  const all = points.filter(({ call }) => calls.includes(call));
  const step = Math.max(1, all.length / POINTS);
  const lives: string[][] = [];
  let hitCount = 0;
  const progress = progressOf(`strace ${calls[0]} and its like`, Math.ceil(all.length / step));
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
    progress(lives.length);
  }
  const kinds = new Map<string, number>();
  for (const { call } of all) kinds.set(call, (kinds.get(call) ?? 0) + 1);
  const counts = [...kinds].map(([call, count]) => `${count} ${call}`).join(', ');
  context.diagnostic(`${lives.length} of ${all.length} points: ${counts}`);
  // The order of the last calls may differ from life to life.
  assert(hitCount >= lives.length * 0.9, `${hitCount} of ${lives.length} points were met`);
  return lives;
}

test('each post is acknowledged after a sync of the log that began after it, and concurrent posts share syncs', async (context) => {
  if (!hasStrace(context)) return;
  course ??= observed();
  const { trace } = await course;
  /** Posts that were sent, by number, with how many syncs of the log had begun then. */
  const begunBefore = new Map<string, number>();
  /** Number of the sync that each thread has under way. */
  const underWay = new Map<string, number>();
  let begun = 0;
  let ended = 0;
  let lastEnded = 0;
  let kept = 0;
  const files = new Set<string>();
  for (const line of trace) {
    const [, word, post] = /write\(1<[^>]*>, "(sent|kept) (\d+)/.exec(line) ?? [];
    if (word === 'sent') begunBefore.set(post!, begun);
    if (word === 'kept') {
      kept++;
      assert(lastEnded > begunBefore.get(post!)!, `post ${post} was synced before it was kept`);
    }
    const thread = line.split(' ')[0]!;
    const file = /fdatasync\(\d+<([^>]*\/log\/[^>]*)>/.exec(line)?.[1];
    if (file !== undefined) {
      files.add(file);
      underWay.set(thread, ++begun);
    }
    if (!/fdatasync.*\) += 0$/.test(line) || !underWay.has(thread)) continue;
    lastEnded = Math.max(lastEnded, underWay.get(thread)!);
    underWay.delete(thread);
    ended++;
  }
  context.diagnostic(`${kept} posts, ${files.size} files of the log, ${ended} syncs of them`);
  assert(kept > 20 && kept === begunBefore.size);
  assert(ended < kept, `${ended} syncs for ${kept} posts`);
});

test('a store killed at any call that changes the disk has what it acknowledged, once and whole', async (context) => {
  // A file that is made is there, and empty, at its first write.
  const calls = CHANGES.filter((call) => call !== 'openat');
  const lives = await atEachPoint(context, calls, () => 'signal=KILL');
  const cut = lives.filter((said) => said.at(-1) !== 'end');
  assert(cut.length >= lives.length * 0.9, `${cut.length} of ${lives.length} lives were cut`);
});

for (const [calls, code] of [
  [['fdatasync', 'fsync'], 'EIO'],
  [['write', 'writev', 'pwrite64'], 'ENOSPC'],
  [['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'ftruncate'], 'EIO'],
  [['openat', 'mkdir', 'mkdirat'], 'EMFILE'],
] as const) {
  test(`a store whose ${calls[0]} and similar calls fail with ${code} has what it acknowledged`, async (context) => {
    const lives = await atEachPoint(context, calls, () => `error=${code}`);
    for (const said of lives) assert.match(said.at(-1)!, /^(end|failed)$/);
    // A start may fail for one call that did. A life that has started goes on.
    assert(lives.length === 0 || lives.some((said) => said.at(-1) === 'end'), 'lives ended well');
  });
}

test('with short writes and files that cannot grow, a store has what it acknowledged', async (context) => {
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

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { recoverLog } from '../../ingest/log/log-recovery.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import { numberFrom } from '../fuzz/seed.ts';
import { idsOf } from '../support/small-batch.ts';

/** Lives of each kind; `WEIR_STRACE_POINTS=16` is the long form, and there is no short one. */
const POINTS = numberFrom('WEIR_STRACE_POINTS', 0);
/** A life makes fewer calls of each kind than these. */
const CALLS_MAX = 16;

const CHANGES = ['write', 'fdatasync', 'fsync', 'unlink', 'openat'];

/** Runs the scripted life with some call of the system answered otherwise; what it said. */
async function live(folder: string, injection: readonly string[]): Promise<string[]> {
  const life = ['--import', 'tsx', 'test/crash/scripted-life.ts', folder];
  const child = spawn(
    'strace',
    ['-f', '-qq', '-o', '/dev/null', ...injection, process.execPath, ...life],
    {
      // Calls are counted by thread: with one thread for files all of them are.
      env: { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  return text.split('\n');
}

/** Whether what is on disk is what the life said: all that it kept, whole, once. */
async function check(folder: string, said: readonly string[]): Promise<void> {
  const disk = new NodeDisk();
  const found = new Map<number, number>();
  const recovered = await recoverLog({
    ...{ disk, folder: join(folder, 'log'), quarantine: new Quarantine(disk, join(folder, 'q')) },
    apply: async (record) => {
      const [first, second] = idsOf(record.batch());
      assert.equal(second, `${first}${'.'.repeat(500)}`);
      assert(!found.has(Number(first)), `post ${first} is there once`);
      found.set(Number(first), record.sequence);
    },
    onDamage: () => {},
    onProgress: () => {},
  });
  assert.deepEqual([recovered.damages, recovered.recordsLost], [[], 0]);
  const numbersOf = (word: string): number[][] =>
    said.flatMap((line) => {
      const [first, ...rest] = line.split(' ');
      return first === word ? [rest.map(Number)] : [];
    });
  const trimmedBefore = Math.max(0, ...numbersOf('trim').map(([sequence]) => sequence!));
  const sent = new Set(numbersOf('sent').map(([post]) => post!));
  for (const [post, sequence] of numbersOf('kept') as [number, number][]) {
    if (sequence >= trimmedBefore) assert.equal(found.get(post), sequence, `post ${post} was kept`);
  }
  for (const post of found.keys()) assert(sent.has(post), `post ${post} was sent`);
}

/** One life for each point, each on a folder of its own, and looked at by a second one. */
async function atEachPoint(
  context: TestContext,
  injectionAt: (point: number, folder: string) => readonly string[],
): Promise<readonly string[][]> {
  if (spawnSync('strace', ['-V']).error !== undefined) {
    context.skip('strace is not installed');
    return [];
  }
  if (POINTS === 0) context.skip('WEIR_STRACE_POINTS is not set');
  const lives: string[][] = [];
  for (let point = 0; point < POINTS; point++) {
    const folder = await mkdtemp(join(tmpdir(), 'weir-strace-'));
    try {
      const said = await live(folder, injectionAt(point, folder));
      await check(folder, said);
      lives.push(said);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return lives;
}

test('killed at any call that changes the disk, a log has what it acknowledged', async (context) => {
  for (const call of CHANGES) {
    // Node opens files of its own while it starts: only those of the log are counted.
    const lives = await atEachPoint(context, (point, folder) => {
      const names = [1, 2, 3, 4, 5, 6].map((number) => join(folder, 'log', `0000000${number}.log`));
      const paths = [join(folder, 'log'), ...names].flatMap((path) => ['-P', path]);
      const when = 1 + Math.floor((point * CALLS_MAX) / POINTS);
      return [...paths, '-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${when}`];
    });
    assert(lives.length === 0 || lives.some((said) => !said.includes('end')), `${call} was met`);
  }
});

for (const [call, code] of [
  ['fdatasync', 'EIO'],
  ['write', 'ENOSPC'],
] as const) {
  test(`a log goes on in a new file after ${code} of ${call}, without the posts under way`, async (context) => {
    const lives = await atEachPoint(context, (point, folder) => [
      ...['-P', join(folder, 'log', '00000001.log'), '-e', `trace=${call}`],
      ...['-e', `inject=${call}:error=${code}:when=${2 + (point % 2)}`],
    ]);
    for (const said of lives) {
      assert(said.includes('write_failed') && said.includes('write_resumed'), said.join('\n'));
      assert(
        said.some((line) => line.startsWith('refused')),
        said.join('\n'),
      );
      assert.equal(said.at(-2), 'end');
    }
  });
}

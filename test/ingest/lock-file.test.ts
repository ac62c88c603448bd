import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LockedError, LockFile } from '../../ingest/lock-file.ts';
import { programWords } from '../support/program-words.ts';

const NOW_US = Date.UTC(2026, 0, 15, 12) * 1000;

async function inFolder(work: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-lock-'));
  try {
    await work(join(folder, 'lock'), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A process that takes the lock, says whether it has it, and keeps it until it is killed. */
async function otherProcess(path: string): Promise<{ child: ChildProcess; said: string }> {
  const words = [...programWords('test/ingest/lock-holder.ts'), path, String(NOW_US)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout!, 'data');
  return { child, said: String(text).trim() };
}

/** Replaces a file at once, as an owner does: a heartbeat between truncation and write would find no owner in it. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.aside`, text);
  await rename(`${path}.aside`, path);
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a second owner is refused with the name of the first, until that one releases the lock', async () => {
  await inFolder(async (path, folder) => {
    const first = await LockFile.take(path, NOW_US);
    await assert.rejects(LockFile.take(path, NOW_US), (error) => {
      assert(error instanceof LockedError);
      const wanted = new RegExp(`process ${process.pid} on .+, since 2026-01-15T12:00:00.000Z`);
      return wanted.test(error.message);
    });
    await first.release();
    const second = await LockFile.take(path, NOW_US);
    await first.release();
    assert.deepEqual(await readdir(folder), ['lock'], 'it is no longer its own to release');
    await second.release();
    assert.deepEqual(await readdir(folder), []);
  });
});

test('the lock of another process holds while it lives, and is taken over when it was killed', async () => {
  await inFolder(async (path, folder) => {
    const { child, said } = await otherProcess(path);
    assert.equal(said, 'taken');
    await assert.rejects(LockFile.take(path, NOW_US), new RegExp(`process ${child.pid} on`));
    await kill(child);
    const lock = await LockFile.take(path, NOW_US);
    await lock.release();
    assert.deepEqual(await readdir(folder), []);
  });
});

test('a pid that now belongs to another program holds no lock', async () => {
  await inFolder(async (path) => {
    const lock = await LockFile.take(path, NOW_US);
    const owner = JSON.parse(await readFile(path, 'utf8'));
    await lock.release();
    await writeFile(path, JSON.stringify({ ...owner, processStart: '1' }));
    await (await LockFile.take(path, NOW_US)).release();
  });
});

test('a copy of a folder that is in use is free, its lock copied or not', async () => {
  await inFolder(async (path) => {
    const lock = await LockFile.take(path, NOW_US);
    await inFolder(async (copy) => {
      await writeFile(copy, await readFile(path));
      await (await LockFile.take(copy, NOW_US)).release();
    });
    await assert.rejects(LockFile.take(path, NOW_US), LockedError);
    await lock.release();
  });
});

test('of many that find a dead lock at the same moment, one wins', async () => {
  await inFolder(async (path, folder) => {
    for (let round = 0; round < 20; round++) {
      const lock = await LockFile.take(path, NOW_US);
      const owner = JSON.parse(await readFile(path, 'utf8'));
      await lock.release();
      // Dead as well is one who died while it took the lock over.
      await writeFile(path, JSON.stringify({ ...owner, processStart: '1', nonce: 'aaaaaaaa-1' }));
      if (round % 2 === 1) {
        const guard = { ...owner, processStart: '2', nonce: 'bbbbbbbb-1' };
        await writeFile(`${path}.aaaaaaaa`, JSON.stringify(guard));
      }
      const takers = Array.from({ length: 8 }, () => LockFile.take(path, NOW_US));
      const outcomes = await Promise.allSettled(takers);
      const won = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' ? [outcome.value] : [],
      );
      assert.equal(won.length, 1, `round ${round}`);
      await won[0]!.release();
      assert.deepEqual(await readdir(folder), []);
    }
  });
});

test('a lock of another host holds while it changes, and no longer when it stands still', async () => {
  await inFolder(async (path) => {
    // One that changes is not watched for long, unless its disk stands still.
    const timing = { beatMs: 10, watchMs: 10_000, lookMs: 5 };
    const living = await LockFile.take(path, NOW_US, timing);
    const owner = JSON.parse(await readFile(path, 'utf8'));
    await replaceFile(path, JSON.stringify({ ...owner, host: 'elsewhere' }));
    await assert.rejects(LockFile.take(path, NOW_US, timing), /on elsewhere, since/);
    await living.release();
    await replaceFile(path, JSON.stringify({ ...owner, host: 'elsewhere' }));
    const brief = { ...timing, watchMs: 50 };
    await (await LockFile.take(path, NOW_US, brief)).release();
    await writeFile(path, 'not ours');
    await (await LockFile.take(path, NOW_US, brief)).release();
  });
});

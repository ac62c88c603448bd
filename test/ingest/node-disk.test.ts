import assert from 'node:assert/strict';
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { systemReason } from '../../ingest/system-reason.ts';

const disk = new NodeDisk();

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-disk-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('parts are written end to end, however many and however large', async () => {
  await inFolder(async (folder) => {
    // Joined up to 256 KiB; a call of the system takes 1,024 parts.
    for (const [count, size] of [
      [0, 0],
      [1, 5],
      [3, 0],
      [1023, 300],
      [1024, 300],
      [3000, 300],
      [2, 300_000],
    ] as const) {
      const path = join(folder, `${count}-${size}`);
      const parts = Array.from({ length: count }, (_, index) => Buffer.alloc(size, index));
      const file = await disk.create(path);
      await file.write(parts);
      await file.write([Buffer.from('behind')]);
      await file.sync();
      await file.close();
      const wanted = Buffer.concat([...parts, Buffer.from('behind')]);
      assert(wanted.equals(await readFile(path)), `${count} parts of ${size} bytes`);
    }
  });
});

test('a write of which the system takes only some bytes at a time is finished', async (context) => {
  await inFolder(async (folder) => {
    const handle = await open(join(folder, 'any'), 'w');
    await handle.close();
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    const { writev } = prototype;
    let callCount = 0;
    // Really short, and amid a part: the first 7 bytes of what is left.
    context.mock.method(prototype, 'writev', function (this: FileHandle, parts: Uint8Array[]) {
      callCount += 1;
      return writev.call(this, [Buffer.concat(parts).subarray(0, 7)]);
    });
    const path = join(folder, 'short');
    const file = await disk.create(path);
    const small = Array.from({ length: 9 }, (_, index) => Buffer.alloc(index, 65 + index));
    await file.write(small);
    await file.write([Buffer.from('behind')]);
    await file.close();
    const wanted = Buffer.concat([...small, Buffer.from('behind')]);
    assert.equal(callCount, Math.ceil(36 / 7) + 1);
    assert(wanted.equals(await readFile(path)));
  });
});

test('a file that is removed, replaced or under another folder is not in its place', async () => {
  await inFolder(async (folder) => {
    const inner = join(folder, 'inner');
    await mkdir(inner);
    const path = join(inner, 'f');
    const file = await disk.create(path);
    const gone = { name: 'DiskError', code: 'ENOENT', path };
    await file.checkPlace();
    await rename(inner, join(folder, 'away'));
    await assert.rejects(file.checkPlace(), gone);
    await rename(join(folder, 'away'), inner);
    await file.checkPlace();
    await rename(path, `${path}.away`);
    await writeFile(path, '');
    await assert.rejects(file.checkPlace(), gone);
    await rename(`${path}.away`, path);
    await file.checkPlace();
    await rm(path);
    await assert.rejects(file.checkPlace(), gone);
    await file.close();
  });
});

test('a file is read from any offset, up to its end', async () => {
  await inFolder(async (folder) => {
    await writeFile(join(folder, 'f'), '0123456789');
    const reader = await disk.open(join(folder, 'f'));
    assert.equal(reader.size, 10);
    const target = Buffer.alloc(4, 'x');
    assert.equal(await reader.read(target, 3), 4);
    assert.equal(target.toString(), '3456');
    assert.equal(await reader.read(target, 8), 2);
    assert.equal(target.toString(), '8956');
    assert.equal(await reader.read(target, 10), 0);
    await reader.close();
  });
});

test('files are cut, renamed in place of others, removed and listed', async () => {
  await inFolder(async (folder) => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    await writeFile(a, 'new content');
    await writeFile(b, 'old');
    await disk.truncate(a, 3);
    await disk.rename(a, b);
    await disk.syncFolder(folder);
    assert.equal(await readFile(b, 'utf8'), 'new');
    assert.deepEqual(await disk.list(folder), ['b']);
    await disk.remove(b);
    assert.deepEqual(await disk.list(folder), []);
    assert.deepEqual(await disk.list(join(folder, 'none')), []);
    await disk.makeFolder(join(folder, 'deep'));
    await disk.makeFolder(join(folder, 'deep'));
    assert((await disk.freeBytes(folder)) > 0);
  });
});

test('only the owner may read stored files', async () => {
  await inFolder(async (folder) => {
    await disk.makeFolder(join(folder, 'log'));
    await (await disk.create(join(folder, 'log', 'f'))).close();
    assert.equal((await stat(join(folder, 'log'))).mode & 0o777, 0o700);
    assert.equal((await stat(join(folder, 'log', 'f'))).mode & 0o777, 0o600);
  });
});

test('what the system refuses is a DiskError with its code, the path and the reason in words', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'f');
    await writeFile(path, '');
    const refusals: [code: string, work: () => Promise<unknown>][] = [
      ['EEXIST', () => disk.create(path)],
      ['ENOENT', () => disk.open(join(folder, 'none'))],
      ['ENOENT', () => disk.remove(join(folder, 'none'))],
      ['ENOENT', () => disk.truncate(join(folder, 'none'), 0)],
      ['ENOENT', () => disk.rename(join(folder, 'none'), path)],
      ['ENOENT', () => disk.syncFolder(join(folder, 'none'))],
      ['ENOENT', () => disk.freeBytes(join(folder, 'none'))],
      ['ENOTDIR', () => disk.list(path)],
      ['EEXIST', () => disk.makeFolder(path)],
      // A folder that was renamed must not be made anew by those who still write below its old name.
      ['ENOENT', () => disk.makeFolder(join(folder, 'none', 'log'))],
    ];
    for (const [code, work] of refusals) {
      await assert.rejects(work, (error) => {
        assert(error instanceof DiskError);
        assert(error.path.startsWith(folder));
        return error.code === code && error.message.endsWith(`: ${systemReason(error)}`);
      });
    }
  });
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk, DiskFile } from '../../ingest/disk/disk.ts';
import { writeDurably } from '../../ingest/durable-file.ts';
import { SYNC_BYTES_MAX } from '../../ingest/limits.ts';
import { MemoryDisk } from './memory-disk.ts';

test('a file is synced every SYNC_BYTES_MAX bytes, however it is divided into parts, and has the bytes written', async () => {
  const parts = [3, SYNC_BYTES_MAX - 1, 0, 2 * SYNC_BYTES_MAX + 7, 5].map((size, index) =>
    new Uint8Array(size).fill(index + 1),
  );
  const memory = new MemoryDisk();
  await memory.makeFolder();
  const syncs: number[] = [];
  await writeDurably(countingSyncs(memory, syncs), '/data/a.segment', parts);
  const size = 3 * SYNC_BYTES_MAX + 14;
  equal(
    syncs.reduce((sum, bytes) => sum + bytes, 0),
    size,
  );
  ok(syncs.every((bytes) => bytes > 0 && bytes <= SYNC_BYTES_MAX));
  deepEqual(await memory.list('/data'), ['a.segment']);
  const written = new Uint8Array(size);
  const reader = await memory.open('/data/a.segment');
  equal(await reader.read(written, 0), size);
  deepEqual(Buffer.from(written), Buffer.concat(parts));
});

/** A disk that notes how many bytes each sync of a new file made durable. */
function countingSyncs(disk: Disk, syncs: number[]): Disk {
  const create = async (path: string): Promise<DiskFile> => {
    const file = await disk.create(path);
    let size = 0;
    return {
      write: (parts) => {
        size += parts.reduce((sum, part) => sum + part.byteLength, 0);
        return file.write(parts);
      },
      sync: () => {
        syncs.push(size);
        size = 0;
        return file.sync();
      },
      checkPlace: () => file.checkPlace(),
      close: () => file.close(),
    };
  };
  return new Proxy(disk, {
    get: (target, key) => {
      if (key === 'create') return create;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

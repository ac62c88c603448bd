import { deepEqual, equal } from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { edgeEvents } from '../column/edge-events.ts';
import { at, DAY, type DataFolder, withFolder } from './data-folder.ts';
import { partsOfVersion2 } from './file-version-2.ts';

/** Together these are a large segment, whose blocks do not lie as in memory. */
const EVENT_COUNT = 5_000;

test('a folder with files of version 2 opens, and merging makes one of version 3 of them', async () => {
  await withFolder(async (data) => {
    const buffers: SharedArrayBuffer[] = [];
    for (const seed of [1, 2]) {
      const events = edgeEvents(EVENT_COUNT, seed).map((event, n) => ({
        ...event,
        timestampUs: at(n),
        project: `p${n % 250}`,
      }));
      const sequence = await data.post('logs', events);
      for (const file of await data.store('logs', sequence)) buffers.push(await toVersion2(file));
    }
    const folder = await recovered(data);
    const old = folder.segments('logs');
    deepEqual(await Promise.all(old.map(versionOf)), [2, 2]);
    const loaded = await Promise.all(old.map((file) => file.load()));
    deepEqual(
      loaded.map(({ buffer }) => Buffer.from(new Uint8Array(buffer))),
      buffers.map((buffer) => Buffer.from(new Uint8Array(buffer))),
    );
    const whole = mergeSegments(buffers);
    await folder.replace(whole, old);
    const [merged, ...others] = (await recovered(data)).segments('logs');
    deepEqual([await versionOf(merged!), others], [3, []]);
    const { buffer } = await merged!.load();
    equal(Buffer.compare(new Uint8Array(buffer), new Uint8Array(whole)), 0);
  });
});

async function versionOf({ path }: SegmentFile): Promise<number> {
  return (await readFile(path)).readUInt32LE(4);
}

/** Writes a file anew as an older program wrote it; resolves to the bytes of its segment. */
async function toVersion2(file: SegmentFile): Promise<SharedArrayBuffer> {
  const { buffer } = await file.load();
  await writeFile(file.path, Buffer.concat(partsOfVersion2(packImage(buffer), file.envelope)));
  return buffer;
}

async function recovered(data: DataFolder): Promise<SegmentFolder> {
  const { folder } = await SegmentFolder.recover({
    ...{ disk: new NodeDisk(), path: join(data.path, 'segments') },
    quarantinePath: join(data.path, 'quarantine'),
    ...{ retentionNowUs: at(0, DAY + 1), retentionUs: 90 * PARTITION_US },
    pack: async (buffer) => packImage(buffer),
  });
  return folder;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SealedSegmentHandle, Segment } from '../../engine/column/segment.ts';
import type { MemoryGauge } from '../../engine/column/segment-backing.ts';
import { endReading } from '../../engine/column/segment-reader.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { absentBlocks } from '../../ingest/segment-blocks.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import type { partsOfVersion2 } from '../ingest/file-version-2.ts';
import { batchOf, type TestEvent } from './batch-of.ts';
import { textsOf } from './vector-texts.ts';

/** Bytes that a gauge has room for, where all may stay in memory. */
export const ROOM_FOR_ALL = 2 ** 30;

const ORIGIN = { id: 1, source: 's', partition: 20_468, covered: [], replaced: [], awaits: [] };

let idNext = 5_000_000;

/** An id that no other segment of these tests has. */
export function newSegmentId(): number {
  return idNext++;
}

/** One sealed segment of all these events. */
export function sealedOf(events: readonly TestEvent[]): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e15 })[0]!;
}

/** A segment in a file, which `pack` makes, and a handle with nothing of it in memory. */
export async function stored(
  folder: string,
  buffer: SharedArrayBuffer,
  gauge: MemoryGauge,
  pack: typeof partsOfVersion2 = (image, origin) => packSegment(image, origin).parts,
): Promise<SealedSegmentHandle & { readonly path: string }> {
  const id = newSegmentId();
  const path = join(folder, `${id}.segment`);
  await writeFile(path, Buffer.concat(pack(packImage(buffer), ORIGIN)));
  const file = await SegmentFile.open(new NodeDisk(), path);
  return { kind: 'sealed', id, path, ...absentBlocks(file, gauge) };
}

/** Works in a folder that is removed afterwards. */
export async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-image-'));
  try {
    await work(folder);
  } finally {
    endReading();
    await rm(folder, { recursive: true });
  }
}

/** What a project has in a segment. */
export function rowsOfProject(segment: Segment, projectKey: string): unknown {
  return segment.runs(projectKey).map(({ start, count }) => {
    const rows = Int32Array.from({ length: count }, (_, index) => start + index);
    return [
      textsOf(segment.timestamps(rows, count)),
      textsOf(segment.messages(rows, count)),
      textsOf(segment.roots(rows, count)),
    ];
  });
}

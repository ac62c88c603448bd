import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Batch } from '../../engine/column/batch.ts';
import { divideRows } from '../../engine/column/divide-rows.ts';
import { SegmentRows } from '../../engine/column/merge-input.ts';
import { mergePart, mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { type ExtractFrom, SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { SealedSegmentHandle, Segment } from '../../engine/column/segment.ts';
import { type MemoryGauge, newMemoryGauge } from '../../engine/column/segment-backing.ts';
import { SegmentImage } from '../../engine/column/segment-image.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { decodeBatch, decodeEnvelope, encodeBody } from '../../ingest/log/record-body.ts';
import { PARTITION_US, toPartition } from '../../ingest/partition.ts';
import {
  absentBlocks,
  copyWithout,
  countBlocks,
  residentBlocks,
  type SegmentBlocks,
} from '../../ingest/segment-blocks.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import type { SegmentsOf } from '../random-sql/engine-answer.ts';

/** Some events behind those before them, as they came in, or as the log gave them back. */
type Rows = { readonly batch: Batch; readonly arrivalBase: number };

/** Readers are remembered by the ids of segments: none may be that of a segment made elsewhere. */
let segmentCount = 1_000_000_000;

/** Room for all there is, and none: in bytes. */
const ROOM = 2 ** 30;
const NO_ROOM = 0;

/**
 * The same events in every form that a store may have them in, by name. A further form of a segment is a
 * further entry. Files are written to `folder` and read when a query needs them: they must stay until
 * then. Whoever has run a query of `passing` forms calls `endReading`, as a worker does.
 */
export async function segmentForms(
  events: readonly TestEvent[],
  folder: string,
): Promise<ReadonlyMap<string, SegmentsOf>> {
  const thirds = cut(events, 3);
  const [first, second, third] = thirds as [Rows, Rows, Rows];
  const whole = cut(events, 1);
  const files = await store(seal(thirds), folder);
  const mergedFiles = await store(merge(seal(thirds)), folder);
  const reloaded = await load(files);
  const forms: Readonly<Record<string, readonly SegmentSource[]>> = {
    open: open(whole),
    sealed: sealed(seal(whole)),
    'open, a segment each': open(cut(events, events.length)),
    'half sealed': [...sealed(seal([first])), ...open([second, third])],
    merged: sealed(merge(seal(thirds))),
    reloaded: sealed(reloaded),
    'merged and reloaded': sealed(await load(mergedFiles)),
    'merged of reloaded': sealed(merge(reloaded)),
    evicted: evicted(files, ROOM),
    'evicted, read by projects': extracted(files),
    'merged, evicted, read by projects': extracted(mergedFiles),
    'evicted, passing': evicted(files, NO_ROOM),
    'partly evicted': await partlyEvicted(files),
    'merged and evicted': evicted(mergedFiles, ROOM),
    'merged and evicted, passing': evicted(mergedFiles, NO_ROOM),
    'merged and partly evicted': await partlyEvicted(mergedFiles),
    'merged of evicted': sealed(merge(files.map((file) => SegmentImage.whole(absent(file))))),
    'divided by project': sealed(divide(files)),
    'divided and evicted': evicted(await store(divide(mergedFiles), folder), ROOM),
    replayed: open(whole.map(replay)),
    'replayed and sealed': sealed(seal(whole.map(replay))),
    'some of each': [
      ...sealed(await load(await store(merge(seal([first])), folder))),
      ...evicted(await store(seal([replay(second)]), folder), ROOM),
      ...open([replay(third)]),
    ],
  };
  return new Map(
    Object.entries(forms).map(([name, segments]) => [
      name,
      (scan) => segments.map((segmentFor) => segmentFor(scan.projectKey)),
    ]),
  );
}

type SegmentSource = (projectKey: string | undefined) => Segment;

/** Events in some parts of about one size, some of them perhaps empty. */
function cut(events: readonly TestEvent[], partCount: number): Rows[] {
  return Array.from({ length: partCount }, (_, part) => {
    const from = Math.floor((part * events.length) / partCount);
    const to = Math.floor(((part + 1) * events.length) / partCount);
    return { batch: batchOf(events.slice(from, to)), arrivalBase: from };
  });
}

function openSegmentOf({ batch, arrivalBase }: Rows): OpenSegment {
  const segment = new OpenSegment({ id: ++segmentCount, arrivalBase });
  segment.append(batch, 0, batch.rowCount);
  segment.publish();
  return segment;
}

function open(parts: readonly Rows[]): SegmentSource[] {
  return parts.map((part) => {
    const segment = openSegmentOf(part);
    return (projectKey) => readSegment(segment.handle(projectKey));
  });
}

function sealed(buffers: readonly SharedArrayBuffer[]): SegmentSource[] {
  return buffers.map((buffer) => {
    const handle = { kind: 'sealed', id: ++segmentCount, buffer } as const;
    return () => readSegment(handle);
  });
}

function seal(parts: readonly Rows[]): SharedArrayBuffer[] {
  return parts.flatMap((part) =>
    sealSegment(openSegmentOf(part).handle(), { partitionUs: PARTITION_US }),
  );
}

/** One segment for each day. */
function merge(buffers: readonly SharedArrayBuffer[]): SharedArrayBuffer[] {
  const ofDay = new Map<number, SharedArrayBuffer[]>();
  for (const buffer of buffers) {
    const day = toPartition(readFooter(buffer).timestampUsMin);
    ofDay.set(day, [...(ofDay.get(day) ?? []), buffer]);
  }
  return [...ofDay.values()].map((some) => mergeSegments(some));
}

/** Of each day in three parts, or a few more. */
function divide(files: readonly SegmentFile[]): SharedArrayBuffer[] {
  const days = new Set(files.map(({ envelope }) => envelope.partition));
  return [...days].flatMap((day) => {
    const ofDay = files.filter(({ envelope }) => envelope.partition === day);
    const rowCount = ofDay.reduce((sum, { envelope }) => sum + envelope.rowCount, 0);
    const segments = ofDay.map((file) => new SegmentRows(SegmentImage.apart(absent(file))));
    return divideRows(segments, Math.ceil(rowCount / 3)).map((part) => mergePart(segments, part));
  });
}

/** Each in a file of its own. */
async function store(
  buffers: readonly SharedArrayBuffer[],
  folder: string,
): Promise<SegmentFile[]> {
  const files: SegmentFile[] = [];
  for (const buffer of buffers) {
    const id = ++segmentCount;
    const partition = toPartition(readFooter(buffer).timestampUsMin);
    const origin = { id, source: 'logs', partition, covered: [], replaced: [], awaits: [] };
    const path = join(folder, `${id}.segment`);
    await writeFile(path, Buffer.concat(packSegment(packImage(buffer), origin).parts));
    files.push(await SegmentFile.open(new NodeDisk(), path));
  }
  return files;
}

async function load(files: readonly SegmentFile[]): Promise<SharedArrayBuffer[]> {
  const loaded: SharedArrayBuffer[] = [];
  for (const file of files) {
    const { buffer, damagedColumns } = await file.load();
    if (damagedColumns.length > 0) throw new Error(`damaged: ${damagedColumns.join(', ')}`);
    loaded.push(buffer);
  }
  return loaded;
}

/** For each query anew nothing is in memory. With `NO_ROOM` nothing stays there. */
function evicted(files: readonly SegmentFile[], roomBytes: number): SegmentSource[] {
  const gauge = newMemoryGauge(roomBytes);
  return files.map((file) => () => readSegment(absent(file, gauge)));
}

/** How many were read. */
export const extracts = { count: 0 };

/** Rows of one project are taken out of the segment wherever they lie together. */
function extracted(files: readonly SegmentFile[]): SegmentSource[] {
  return files.map((file) => () => {
    const handle = absent(file);
    const { imageSize } = file.envelope;
    const image = SegmentImage.open(handle);
    const whole = SealedSegmentReader.open(image.buffer, image.need);
    const { read, expect } = image;
    const from = { imageSize, read, expect, rowsMax: Number.POSITIVE_INFINITY };
    const ofProject = (projectKey: string): Segment => {
      const extract = whole.extractOf(projectKey, from);
      extracts.count += Number(extract !== undefined);
      return extract?.segment ?? whole;
    };
    return Object.assign(readSegment(handle), {
      ofProject,
      newestOf: (projectKey: string) => newestParts(whole, projectKey, from),
    });
  });
}

/** One row, then two, and so on. */
function* newestParts(
  whole: SealedSegmentReader,
  projectKey: string,
  from: ExtractFrom,
): Generator<Segment> {
  let skipped = 0;
  for (let count = 1; ; count++) {
    const part = whole.extractOf(projectKey, from, { skipped, count });
    if (part === undefined) break;
    extracts.count++;
    skipped += count;
    yield part.segment;
  }
  if (skipped === 0) yield whole;
}

function absent(file: SegmentFile, gauge: MemoryGauge = newMemoryGauge(ROOM)): SealedSegmentHandle {
  return handleOf(absentBlocks(file, gauge));
}

/** Every other block has left; the first query that needs one brings it back. */
async function partlyEvicted(files: readonly SegmentFile[]): Promise<SegmentSource[]> {
  const gauge = newMemoryGauge(ROOM);
  const sources: SegmentSource[] = [];
  for (const [index, file] of files.entries()) {
    const { buffer } = await file.load();
    const blocks = residentBlocks(file, gauge, { buffer, usedAt: 0 });
    const leaving = new Set<number>();
    for (let block = index % 2; block < countBlocks(blocks.backing); block += 2) {
      leaving.add(block);
    }
    const handle = handleOf(await copyWithout(blocks, leaving));
    sources.push(() => readSegment(handle));
  }
  return sources;
}

function handleOf(blocks: SegmentBlocks): SealedSegmentHandle {
  return { kind: 'sealed', id: ++segmentCount, ...blocks };
}

/** Through a record of the log. */
function replay({ batch, arrivalBase }: Rows): Rows {
  const body = encodeBody({ source: 'logs', receivedUs: 0, arrivalBase, batch });
  // As a record lies in a file: at a multiple of its alignment.
  const bytes = new Uint8Array(Buffer.concat(body.parts));
  const envelope = decodeEnvelope(bytes.slice(0, body.envelopeSize));
  const replayed = decodeBatch(envelope, bytes.slice(body.envelopeSize));
  return { batch: replayed, arrivalBase: envelope.arrivalBase };
}

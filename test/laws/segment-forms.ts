import type { Batch } from '../../engine/column/batch.ts';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import type { SegmentHandle } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { decodeBatch, decodeEnvelope, encodeBody } from '../../ingest/log/record-body.ts';
import { PARTITION_US, partitionOf } from '../../ingest/partition.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import { Random } from '../../src/traffic/random.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import type { SegmentsOf } from '../random-sql/engine-answer.ts';
import { ModelDisk } from '../support/model-disk.ts';

/** Some events behind those before them, as they came in, or as the log gave them back. */
type Rows = { readonly batch: Batch; readonly arrivalBase: number };

/** Readers are remembered by the ids of segments: none may be that of a segment made elsewhere. */
let segmentCount = 1_000_000_000;

/**
 * The same events in every form that a store may have them in, by name. A further form of a segment is a
 * further entry.
 */
export async function segmentForms(
  events: readonly TestEvent[],
): Promise<ReadonlyMap<string, SegmentsOf>> {
  const thirds = cut(events, 3);
  const [first, second, third] = thirds as [Rows, Rows, Rows];
  const whole = cut(events, 1);
  const forms: Readonly<Record<string, readonly SegmentSource[]>> = {
    open: open(whole),
    sealed: sealed(seal(whole)),
    'open, a segment each': open(cut(events, events.length)),
    'half sealed': [...sealed(seal([first])), ...open([second, third])],
    merged: sealed(merge(seal(thirds))),
    reloaded: sealed(await reload(seal(thirds))),
    'merged and reloaded': sealed(await reload(merge(seal(thirds)))),
    'merged of reloaded': sealed(merge(await reload(seal(thirds)))),
    replayed: open(whole.map(replay)),
    'replayed and sealed': sealed(seal(whole.map(replay))),
    'some of each': [
      ...sealed(await reload(merge(seal([first])))),
      ...sealed(seal([replay(second)])),
      ...open([replay(third)]),
    ],
  };
  return new Map(
    Object.entries(forms).map(([name, segments]) => [
      name,
      (scan) => segments.map((handleFor) => readSegment(handleFor(scan.projectKey))),
    ]),
  );
}

type SegmentSource = (projectKey: string | undefined) => SegmentHandle;

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
    return (projectKey) => segment.handle(projectKey);
  });
}

function sealed(buffers: readonly SharedArrayBuffer[]): SegmentSource[] {
  return buffers.map((buffer) => {
    const handle = { kind: 'sealed', id: ++segmentCount, buffer } as const;
    return () => handle;
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
    const day = partitionOf(readFooter(buffer).timestampUsMin);
    ofDay.set(day, [...(ofDay.get(day) ?? []), buffer]);
  }
  return [...ofDay.values()].map(mergeSegments);
}

/** Through segment files. */
async function reload(buffers: readonly SharedArrayBuffer[]): Promise<SharedArrayBuffer[]> {
  const disk = new ModelDisk(new Random(1));
  const loaded: SharedArrayBuffer[] = [];
  for (const [id, buffer] of buffers.entries()) {
    const partition = partitionOf(readFooter(buffer).timestampUsMin);
    const origin = { id, source: 'logs', partition, covered: [], replaced: [] };
    const path = `/data/${id}.segment`;
    disk.put(path, new Uint8Array(Buffer.concat((await packSegment(buffer, origin)).parts)));
    const { buffer: again, damagedColumns } = await (await SegmentFile.open(disk, path)).load();
    if (damagedColumns.length > 0) throw new Error(`damaged: ${damagedColumns.join(', ')}`);
    loaded.push(again);
  }
  return loaded;
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

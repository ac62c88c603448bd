import type { PackedImage } from '../../engine/column/packed-image.ts';
import { encodeSegmentEnvelope } from '../../ingest/segment-envelope.ts';
import { createHead, HEAD_CRC_OFFSET, headCrc } from '../../ingest/segment-layout.ts';
import type { SegmentOrigin } from '../../ingest/segment-packing.ts';

/** Offset in the table of a FlatBuffer of the field that version 3 has more. */
const RANKS_ENTRY = 4 + 2 * 15;

/** The parts of a segment file as programs wrote it before the order of blocks was stated: they lay as in memory. */
export function partsOfVersion2(image: PackedImage, origin: SegmentOrigin): readonly Uint8Array[] {
  const envelope = withoutRanks(encodeSegmentEnvelope({ ...origin, ...image }));
  const head = Buffer.from(createHead(envelope));
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(headCrc(head, envelope), HEAD_CRC_OFFSET);
  return [head, envelope, ...storedInMemoryOrder(image), envelope, head];
}

function withoutRanks(envelope: Uint8Array): Uint8Array {
  const bytes = envelope.slice();
  const view = new DataView(bytes.buffer);
  const table = view.getInt32(0, true);
  view.setUint16(table - view.getInt32(table, true) + RANKS_ENTRY, 0, true);
  return bytes;
}

function storedInMemoryOrder({ blocks, ranks, parts }: PackedImage): Uint8Array[] {
  const all = Buffer.concat(parts);
  const stored = new Array<Uint8Array>(blocks.length);
  let end = 0;
  for (const index of [...blocks.keys()].sort((one, other) => ranks[one]! - ranks[other]!)) {
    const { storedSize } = blocks[index]!;
    stored[index] = all.subarray(end, end + storedSize);
    end += storedSize;
  }
  return stored;
}

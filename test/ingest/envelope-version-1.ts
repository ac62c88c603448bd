import { Builder } from 'flatbuffers';
import type { PackedBlock, PackedImage } from '../../engine/column/packed-image.ts';
import type { SegmentOrigin } from '../../ingest/segment-packing.ts';

/** An envelope as programs wrote it before files had awaited ones and compressed tables of blocks. */
export function envelopeOfVersion1(
  image: PackedImage,
  blocks: readonly PackedBlock[],
  origin: Omit<SegmentOrigin, 'awaits'>,
): Uint8Array {
  const builder = new Builder(1024);
  const source = builder.createString(origin.source);
  const covered = vector(
    builder,
    origin.covered.flatMap(({ fromSequence, throughSequence }) => [fromSequence, throughSequence]),
    'float64',
  );
  const replaced = vector(builder, origin.replaced, 'float64');
  const words = blocks.flatMap(({ offset, size, storedSize, crc }) => [
    offset,
    size,
    storedSize,
    crc,
  ]);
  const table = vector(builder, words, 'int32');
  const frame = builder.createByteVector(image.frame);
  builder.startObject(13);
  builder.addFieldFloat64(0, origin.id, 0);
  builder.addFieldOffset(1, source, 0);
  builder.addFieldInt32(2, origin.partition, 0);
  builder.addFieldInt32(3, image.rowCount, 0);
  builder.addFieldFloat64(4, image.timestampUsMin, 0);
  builder.addFieldFloat64(5, image.timestampUsMax, 0);
  builder.addFieldFloat64(6, image.arrivalMin, 0);
  builder.addFieldFloat64(7, image.arrivalMax, 0);
  builder.addFieldOffset(8, covered, 0);
  builder.addFieldOffset(9, replaced, 0);
  builder.addFieldInt32(10, image.imageSize | 0, 0);
  builder.addFieldOffset(11, table, 0);
  builder.addFieldOffset(12, frame, 0);
  builder.finish(builder.endObject());
  return builder.asUint8Array();
}

function vector(builder: Builder, values: readonly number[], type: 'float64' | 'int32'): number {
  const size = type === 'float64' ? 8 : 4;
  builder.startVector(size, values.length, size);
  for (const value of values.toReversed()) {
    if (type === 'float64') builder.addFloat64(value);
    else builder.addInt32(value | 0);
  }
  return builder.endVector();
}

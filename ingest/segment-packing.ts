import type { PackedImage } from '../engine/columns.ts';
import {
  decodeSegmentEnvelope,
  encodeSegmentEnvelope,
  type SegmentEnvelope,
} from './segment-envelope.ts';
import { createHead } from './segment-layout.ts';

/** What an envelope states beside the contents of its segment. */
export type SegmentOrigin = Pick<
  SegmentEnvelope,
  'id' | 'source' | 'partition' | 'covered' | 'replaced' | 'awaits'
>;

export type PackedSegment = {
  readonly envelope: SegmentEnvelope;
  /** All bytes of the file; to be written end to end. */
  readonly parts: readonly Uint8Array[];
  readonly byteSize: number;
};

/** Encodes a packed segment as the bytes of its file. */
export function packSegment(image: PackedImage, origin: SegmentOrigin): PackedSegment {
  const { parts: stored, ...rest } = image;
  const bytes = encodeSegmentEnvelope({ ...origin, ...rest });
  const head = createHead(bytes);
  const parts = [head, bytes, ...stored, bytes, head];
  const byteSize = parts.reduce((sum, part) => sum + part.length, 0);
  return { envelope: decodeSegmentEnvelope(bytes), parts, byteSize };
}

import { readFooter } from '../engine/column/sealed-layout.ts';
import { SliceSource } from '../engine/column/slice.ts';
import { type NameBlock, ProjectHashes } from './project-hashes.ts';
import type { SegmentEnvelope } from './segment-envelope.ts';

/** What a sealed segment says of itself without being read. Holds on to no buffer. */
export type SegmentSummary = {
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /** The last row to arrive. */
  readonly arrivalMax: number;
  /** Bytes of the whole segment in memory. */
  readonly byteSize: number;
  /** Bytes that this summary takes; 0 when it is left out. */
  readonly indexSize?: number;
  /** False only when no row is of the project and none of mixed ones. */
  mayHoldProject(projectKey: string): boolean;
};

/** Throws when the buffer is not a sealed segment. */
export function summarizeSegment(buffer: SharedArrayBuffer): SegmentSummary {
  const { groups, ...footer } = readFooter(buffer);
  const source = new SliceSource(buffer);
  const { bytes, offsets } = groups.names;
  const names = { bytes: source.bytes(bytes), offsets: source.unsigned32(offsets) };
  return summaryOf({ ...footer, imageSize: buffer.byteLength }, names, groups.hasMixed);
}

/** Of a stored segment, whose project keys are `names`. */
export function summarizeEnvelope(
  envelope: SegmentEnvelope,
  names: NameBlock,
  hasMixed: boolean,
): SegmentSummary {
  return summaryOf(envelope, names, hasMixed);
}

type Extent = Pick<
  SegmentEnvelope,
  'rowCount' | 'timestampUsMin' | 'timestampUsMax' | 'arrivalMax' | 'imageSize'
>;

function summaryOf(extent: Extent, names: NameBlock, hasMixed: boolean): SegmentSummary {
  const { imageSize, rowCount, timestampUsMin, timestampUsMax, arrivalMax } = extent;
  const range = { rowCount, timestampUsMin, timestampUsMax, arrivalMax, byteSize: imageSize };
  if (hasMixed) return { ...range, mayHoldProject: () => true };
  const projects = new ProjectHashes(names);
  return {
    ...range,
    indexSize: projects.byteSize,
    mayHoldProject: (projectKey) => projects.mayHold(projectKey),
  };
}

import { readFooter, SliceSource } from '../engine/columns.ts';
import { type NameBlock, ProjectHashes } from './project-hashes.ts';
import type { SegmentEnvelope } from './segment-envelope.ts';

/** The properties of a sealed segment that are known without reading it. Does not refer to its buffer. */
export type SegmentSummary = {
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /** The arrival number of the last row. */
  readonly arrivalMax: number;
  /** Bytes of the whole segment in memory. */
  readonly byteSize: number;
  /** Distinct project keys of the rows. */
  readonly projectCount: number;
  /** Bytes of this summary; 0 if left out. */
  readonly indexSize?: number;
  /** False only if no row has the project, and no row has mixed projects. */
  mayHoldProject(projectKey: string): boolean;
};

/** Throws if the buffer is not a sealed segment. */
export function summarizeSegment(buffer: SharedArrayBuffer): SegmentSummary {
  const { groups, ...footer } = readFooter(buffer);
  const source = new SliceSource(buffer);
  const { bytes, offsets } = groups.names;
  const names = { bytes: source.bytes(bytes), offsets: source.unsigned32(offsets) };
  return createSummary({ ...footer, imageSize: buffer.byteLength }, names, groups.hasMixed);
}

/** The summary of a stored segment whose project keys are `names`. */
export function summarizeEnvelope(
  envelope: SegmentEnvelope,
  names: NameBlock,
  hasMixed: boolean,
): SegmentSummary {
  return createSummary(envelope, names, hasMixed);
}

type Extent = Pick<
  SegmentEnvelope,
  'rowCount' | 'timestampUsMin' | 'timestampUsMax' | 'arrivalMax' | 'imageSize'
>;

function createSummary(extent: Extent, names: NameBlock, hasMixed: boolean): SegmentSummary {
  const { imageSize, rowCount, timestampUsMin, timestampUsMax, arrivalMax } = extent;
  const projectCount = names.offsets.length - 1;
  const range = {
    ...{ rowCount, timestampUsMin, timestampUsMax, arrivalMax },
    ...{ byteSize: imageSize, projectCount },
  };
  if (hasMixed) return { ...range, mayHoldProject: () => true };
  const projects = new ProjectHashes(names);
  return {
    ...range,
    indexSize: projects.byteSize,
    mayHoldProject: (projectKey) => projects.mayHold(projectKey),
  };
}

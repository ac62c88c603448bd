import type { GroupResult } from './asking.ts';

/** What one engine did, in the order of the calls. */
export type EngineResult = {
  readonly name: string;
  readonly first: readonly GroupResult[];
  readonly busiest: readonly GroupResult[];
};

/** What a peer did in a process of its own. */
export type PeerResult = EngineResult & {
  readonly version: string;
  /** The most memory that its process took, as the system counts it. */
  readonly peakBytes: number;
  /** Whether files were read from the disk: whether the system forgot what it had of them before each group. */
  readonly isCacheDropped: boolean;
};
